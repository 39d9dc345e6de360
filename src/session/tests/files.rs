//! Tests calls that change several files, and verdicts that arrive before the message that the edit is in its buffer.

use super::*;

fn in_file(path: &str) -> Input {
    let (call, path, what) = (CallId("e1".into()), path.into(), Awaited::hunks(2));
    Input::Entered { turn: T1, entry: Entry { call, path, what, diff: None } }
}

pub(super) fn verdict(path: &str, answers: Vec<ToolAnswer>) -> Input {
    Input::Reviewed { path: path.into(), answers, claims: Vec::new() }
}

#[test]
fn a_call_on_two_files_is_answered_once_both_files_are_decided() {
    let begun =
        vec![send("go"), reply(T1, "", &[("e1", "edit")]), in_file("/p/a"), in_file("/p/b")];
    let mut session = opened();
    for input in begun.iter().chain([&verdict("/p/a", vec![])]) {
        session.through(input.clone());
    }
    let state = State::Reviewing { path: "/p/b".into(), what: Awaited::hunks(4) };
    assert_eq!(session.open()[0].state, state);
    assert_eq!(session.reviewing, [PathBuf::from("/p/b")]);
    let rest = [verdict("/p/a", vec![]), verdict("/p/b", vec![answer("e1")])];
    check(
        begun.into_iter().chain(rest).collect(),
        expect![[r#"
            sample 1
            propose e1
            sample 1
            user: go
            assistant: edit(e1)
            user: e1=[answer of e1]
        "#]],
    );
}

#[test]
fn a_verdict_may_arrive_before_the_report_that_its_edit_is_in_the_buffer() {
    check(
        vec![
            send("go"),
            reply(T1, "", &[("e1", "edit")]),
            verdict("/p/a", vec![answer("e1")]),
            in_file("/p/a"),
        ],
        expect![[r#"
            sample 1
            propose e1
            sample 1
            user: go
            assistant: edit(e1)
            user: e1=[answer of e1]
        "#]],
    );
}

/// A call may also begin because a new mode or rule allows it while its question is open.
#[test]
fn only_an_answer_to_its_question_lets_a_command_save_text_of_the_users_own() {
    for is_answered in [true, false] {
        let mut session = opened();
        session.through(send("go"));
        session.through(Input::Unsaved { paths: vec!["a.rs".into()] });
        session.through(reply(T1, "", &[("c1", "run")]));
        assert_eq!(session.open()[0].named_unsaved, ["a.rs"]);
        if is_answered {
            session.through(rule("c1", Ruling::Once));
        } else {
            session.apply(&Event::Started { turn: T1, call: CallId("c1".into()) });
        }
        assert_eq!(session.open()[0].state, State::Running);
        assert_eq!(session.open()[0].named_unsaved.is_empty(), !is_answered);
    }
}
