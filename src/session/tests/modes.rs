//! Tests what each mode allows, and what the model is told about the mode.

use super::*;

fn mode(mode: Mode) -> Input {
    Input::ChooseMode { mode }
}

#[test]
fn plan_mode_runs_reads_and_refuses_edits_and_commands() {
    check(
        vec![
            mode(Mode::Plan),
            send("go"),
            reply(T1, "", &[("r1", "read"), ("e1", "edit"), ("c1", "run"), ("x1", "frobnicate")]),
            answered(T1, "r1"),
            reply(T1, "done", &[]),
        ],
        expect![[r#"
            sample 1
            run r1
            sample 1
            user: <Plan mode is on: calls that edit or run something are refused until the user leaves it. Do not change anything yet. First read the code that the task touches, and ask about what you cannot find out. Then call `plan` once, alone and last, with the whole plan: so exact that somebody else could carry it out without asking, and as short as that allows. The user approves the plan, sends it back with comments, or drops it. A plan that was sent back is submitted again as a whole.> go
            assistant: read(r1) edit(e1) run(c1) frobnicate(x1)
            user: r1=[answer of r1] e1=[Not run: plan mode is on, and `edit` edits or runs something. Use only tools that read, then say what you would do. The user leaves plan mode with `:Caliban mode ask`.] c1=[Not run: plan mode is on, and `run` edits or runs something. Use only tools that read, then say what you would do. The user leaves plan mode with `:Caliban mode ask`.] x1=[no such tool]
            assistant: done
        "#]],
    );
}

/// A running call goes on, and a call that has not begun is refused. The model is told only once, about the last
/// choice.
#[test]
fn a_mode_switched_in_mid_turn_applies_from_the_next_call_on() {
    check(
        vec![
            send("go"),
            reply(T1, "", &[("e1", "edit"), ("c1", "run"), ("c2", "run")]),
            entered(T1, "e1"),
            mode(Mode::Plan),
            Input::Reviewed {
                path: "/p/a".into(),
                answers: vec![answer("e1")],
                claims: Vec::new(),
            },
            mode(Mode::Ask),
            mode(Mode::Plan),
            reply(T1, "", &[("r1", "read")]),
            mode(Mode::Ask),
            answered(T1, "r1"),
            reply(T1, "", &[("c3", "run")]),
            rule("c3", Ruling::Once),
            answered(T1, "c3"),
        ],
        expect![[r#"
            sample 1
            propose e1
            sample 1
            run r1
            sample 1
            run c3
            sample 1
            user: go
            assistant: edit(e1) run(c1) run(c2)
            user: e1=[answer of e1] c1=[Not run: plan mode is on, and `run` edits or runs something. Use only tools that read, then say what you would do. The user leaves plan mode with `:Caliban mode ask`.] c2=[Not run: plan mode is on, and `run` edits or runs something. Use only tools that read, then say what you would do. The user leaves plan mode with `:Caliban mode ask`.]
            user: <Plan mode is on: calls that edit or run something are refused until the user leaves it. Do not change anything yet. First read the code that the task touches, and ask about what you cannot find out. Then call `plan` once, alone and last, with the whole plan: so exact that somebody else could carry it out without asking, and as short as that allows. The user approves the plan, sends it back with comments, or drops it. A plan that was sent back is submitted again as a whole.>
            assistant: read(r1)
            user: r1=[answer of r1]
            user: <Ask mode is on: you may propose edits and commands, and the user decides on each.>
            assistant: run(c3)
            user: c3=[answer of c3]
        "#]],
    );
}

#[test]
fn switching_to_plan_mode_refuses_the_call_of_an_open_question() {
    check(
        vec![
            send("go"),
            reply(T1, "", &[("c1", "run"), ("c2", "run")]),
            rule("c1", Ruling::Session),
            mode(Mode::Plan),
            answered(T1, "c1"),
            reply(T1, "", &[("c3", "run")]),
        ],
        expect![[r#"
            sample 1
            run c1
            sample 1
            sample 1
            user: go
            assistant: run(c1) run(c2)
            user: c1=[answer of c1] c2=[Not run: plan mode is on, and `run` edits or runs something. Use only tools that read, then say what you would do. The user leaves plan mode with `:Caliban mode ask`.]
            user: <Plan mode is on: calls that edit or run something are refused until the user leaves it. Do not change anything yet. First read the code that the task touches, and ask about what you cannot find out. Then call `plan` once, alone and last, with the whole plan: so exact that somebody else could carry it out without asking, and as short as that allows. The user approves the plan, sends it back with comments, or drops it. A plan that was sent back is submitted again as a whole.>
            assistant: run(c3)
            user: c3=[Not run: plan mode is on, and `run` edits or runs something. Use only tools that read, then say what you would do. The user leaves plan mode with `:Caliban mode ask`.]
        "#]],
    );
    check(
        vec![
            send("go"),
            reply(T1, "", &[("c1", "run"), ("p1", "peek")]),
            rule("p1", Ruling::Once),
            answered(T1, "p1"),
            mode(Mode::Plan),
        ],
        expect![[r#"
            sample 1
            run p1
            sample 1
            user: go
            assistant: run(c1) peek(p1)
            user: c1=[Not run: the user refused, and says: they chose plan mode instead] p1=[answer of p1]
            user: <Plan mode is on: calls that edit or run something are refused until the user leaves it. Do not change anything yet. First read the code that the task touches, and ask about what you cannot find out. Then call `plan` once, alone and last, with the whole plan: so exact that somebody else could carry it out without asking, and as short as that allows. The user approves the plan, sends it back with comments, or drops it. A plan that was sent back is submitted again as a whole.>
        "#]],
    );
}

/// An edit that is written at once is answered at once. The user's verdict goes with the next request.
#[test]
fn in_auto_edit_mode_no_edit_waits_for_the_user() {
    check(
        vec![
            mode(Mode::AutoEdit),
            send("go"),
            reply(T1, "", &[("e1", "edit"), ("c1", "run")]),
            entered(T1, "e1"),
            applied("e1"),
            rule("c1", Ruling::Once),
            answered(T1, "c1"),
            Input::Reviewed {
                path: "/p/a".into(),
                answers: vec![answer("e1")],
                claims: Vec::new(),
            },
            reply(T1, "done", &[]),
            send("next"),
        ],
        expect![[r#"
            sample 1
            propose e1
            run c1
            sample 1
            sample 2
            user: <Auto-edit mode is on: your edits are applied and written at once, and the user reviews them afterwards. Each command still needs their consent.> go
            assistant: edit(e1) run(c1)
            user: e1=[answer of e1] c1=[answer of c1]
            assistant: done
            user: <answer of e1> next
        "#]],
    );
}
