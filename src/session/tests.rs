//! Tests single cases of the session, as scripts of inputs that a person can read.

mod compact;
mod coordinator;
mod files;
mod gate;
mod inquiries;
mod laws;
mod limits;
mod modes;
mod plans;
mod repeats;
mod spending;
mod workers;

use super::*;
use crate::event::{Access, Awaited, Failure, Guarded, Handoff, Item, Mode, Remote, Ruling, Trim};
use crate::message::{CallId, Input as Arguments, ToolAnswer, ToolCall, Usage};
use crate::rules::Judgement;
use expect_test::{Expect, expect};
use limits::{limited, overloaded};
use serde_json::json;

const T1: TurnId = TurnId(1);

fn opened() -> Session {
    let mut session = Session::default();
    let (system, model) = ("be good".to_owned(), "mine/m".to_owned());
    session.through(Input::Open { system, instructions: Vec::new(), model, root: "/p".into() });
    session
}

fn send(text: &str) -> Input {
    Input::Send { text: text.into(), context: Vec::new(), steer: false }
}

fn steer(text: &str) -> Input {
    Input::Send { text: text.into(), context: Vec::new(), steer: true }
}

fn call(id: &str, tool: &str) -> ToolCall {
    ToolCall { id: CallId(id.into()), tool: tool.into(), input: Arguments::Json(json!({"of": id})) }
}

/// A reply with these calls. The first letter of a call's tool decides which access the call needs.
fn reply(turn: TurnId, text: &str, calls: &[(&str, &str)]) -> Input {
    let mut blocks = Vec::new();
    if !text.is_empty() {
        blocks.push(Block::Text { text: text.into() });
    }
    blocks.extend(calls.iter().map(|(id, tool)| Block::Call(call(id, tool))));
    let stop = if calls.is_empty() { Stop::EndTurn } else { Stop::ToolUse };
    let plan =
        |(id, tool): &(&str, &str)| Plan { call: CallId((*id).into()), access: gate::access(tool) };
    let plans = calls.iter().map(plan).collect();
    let usage = Usage { input: 10, output: 5, ..Usage::default() };
    Input::Replied {
        turn,
        reply: Reply { blocks, stop, usage, model: String::new(), by: String::new() },
        plans,
    }
}

fn answer(id: &str) -> ToolAnswer {
    ToolAnswer::done(&CallId(id.into()), format!("answer of {id}"), "")
}

fn answered(turn: TurnId, id: &str) -> Input {
    Input::Answered { turn, answer: answer(id) }
}

fn rule(id: &str, ruling: Ruling) -> Input {
    Input::Rule { call: CallId(id.into()), ruling }
}

fn entered(turn: TurnId, id: &str) -> Input {
    let (call, path, what) = (CallId(id.into()), "/p/a".into(), Awaited::hunks(2));
    Input::Entered { turn, entry: Entry { call, path, what, diff: None } }
}

fn applied(id: &str) -> Input {
    Input::Applied { files: vec![("/p/a".into(), true)], answer: answer(id), claims: Vec::new() }
}

/// Compares the effects of a script of inputs, one effect a line, and the messages at its end.
#[expect(clippy::needless_pass_by_value, reason = "a table's row gives its snapshot away")]
fn check(inputs: Vec<Input>, expect: Expect) {
    let mut session = opened();
    let mut said = String::new();
    for input in inputs {
        for effect in session.through(input).effects {
            said.push_str(&match effect {
                Effect::Admit { .. } | Effect::Release { .. } => {
                    unreachable!("`through` lets every call through")
                }
                Effect::Sample { turn } => format!("sample {}\n", turn.0),
                Effect::Run { call, .. } => format!("run {}\n", call.id),
                Effect::Propose { calls, .. } => {
                    let ids: Vec<&str> = calls.iter().map(|it| it.id.0.as_str()).collect();
                    format!("propose {}\n", ids.join(" "))
                }
                Effect::Rest { time, .. } => format!("rest {} ms\n", time.as_millis()),
                Effect::Compact { turn, .. } => format!("compact {}\n", turn.0),
                Effect::Abort { .. } => "abort\n".to_owned(),
                Effect::Employ { worker, .. } => format!("employ {worker}\n"),
                Effect::Dismiss { worker, .. } => format!("dismiss {worker}\n"),
            });
        }
    }
    for message in &session.messages[1..] {
        said.push_str(&format!("{:?}:", message.role).to_lowercase());
        for block in &message.blocks {
            said.push_str(&match block {
                Block::Text { text } => format!(" {text}"),
                Block::Notice { text, .. } => format!(" <{text}>"),
                Block::Call(call) => format!(" {}({})", call.tool, call.id),
                Block::Answer(answer) => format!(" {}=[{}]", answer.id, answer.text),
                other => format!(" {other:?}"),
            });
        }
        said.push('\n');
    }
    let asking = session.asking().map(|it| it.call.id.0.clone());
    if let Some(id) = asking {
        said.push_str(&format!("asking {id}\n"));
    }
    expect.assert_eq(&said);
}

#[test]
fn reads_run_together_then_edits_then_commands_in_order() {
    check(
        vec![
            send("go"),
            reply(
                T1,
                "",
                &[("c1", "run"), ("r1", "read"), ("e1", "edit"), ("r2", "read"), ("c2", "run")],
            ),
            answered(T1, "r2"),
            entered(T1, "e1"),
            answered(T1, "r1"),
            Input::Reviewed {
                path: "/p/a".into(),
                answers: vec![answer("e1")],
                claims: Vec::new(),
            },
            rule("c1", Ruling::Session),
            answered(T1, "c1"),
            answered(T1, "c2"),
            reply(T1, "done", &[]),
        ],
        expect![[r#"
            sample 1
            run r1
            run r2
            propose e1
            run c1
            run c2
            sample 1
            user: go
            assistant: run(c1) read(r1) edit(e1) read(r2) run(c2)
            user: c1=[answer of c1] r1=[answer of r1] e1=[answer of e1] r2=[answer of r2] c2=[answer of c2]
            assistant: done
        "#]],
    );
}

#[test]
fn a_stop_leaves_every_call_answered_and_tells_the_model() {
    check(
        vec![
            send("go"),
            reply(T1, "on it", &[("r1", "read"), ("e1", "edit"), ("c1", "run")]),
            entered(T1, "e1"),
            Input::Cancel { partial: None },
            answered(T1, "r1"),
            Input::Reviewed {
                path: "/p/a".into(),
                answers: vec![answer("e1")],
                claims: Vec::new(),
            },
            send("again"),
        ],
        expect![[r#"
            sample 1
            run r1
            propose e1
            abort
            sample 2
            user: go
            assistant: on it read(r1) edit(e1) run(c1)
            user: r1=[Stopped while it ran: the user stopped the turn.] e1=[2 hunks are still under the user's review: the user stopped the turn. The user's verdict on this edit will follow.] c1=[Not run: the user stopped the turn.]
            note: Stopped.
            user: <The user stopped the turn before it was finished.> <answer of e1> again
        "#]],
    );
}

#[test]
fn a_stopped_reply_keeps_its_text_but_not_its_calls() {
    let partial = Reply {
        blocks: vec![Block::Text { text: "half a".into() }, Block::Call(call("r1", "read"))],
        stop: Stop::ToolUse,
        usage: Usage::default(),
        model: String::new(),
        by: String::new(),
    };
    check(
        vec![send("go"), Input::Cancel { partial: Some(partial) }],
        expect![[r#"
            sample 1
            abort
            user: go
            assistant: half a
            note: Stopped.
        "#]],
    );
}

#[test]
fn a_steering_message_joins_the_turn_and_a_queued_one_waits_for_its_end() {
    check(
        vec![
            send("one"),
            send("two"),
            steer("hint"),
            reply(T1, "", &[("r1", "read")]),
            answered(T1, "r1"),
            reply(T1, "done", &[]),
        ],
        expect![[r#"
            sample 1
            run r1
            sample 1
            sample 2
            user: one
            assistant: read(r1)
            user: r1=[answer of r1]
            user: hint
            assistant: done
            user: two
        "#]],
    );
}

#[test]
fn a_message_during_a_review_is_sent_without_waiting_for_the_verdict() {
    check(
        vec![
            send("go"),
            reply(T1, "", &[("e1", "edit"), ("c1", "run")]),
            entered(T1, "e1"),
            send("and then?"),
            Input::Reviewed {
                path: "/p/a".into(),
                answers: vec![answer("e1")],
                claims: Vec::new(),
            },
            reply(T1, "ok", &[]),
            send("next"),
        ],
        expect![[r#"
            sample 1
            propose e1
            sample 1
            sample 2
            user: go
            assistant: edit(e1) run(c1)
            user: e1=[Not all decided yet: 2 hunks of this edit are under review in the user's buffer. Those that the user has accepted so far may be on disk, the others are not. The user sent a message first; the user's verdict on this edit will follow.] c1=[Not run: the user is still reviewing edits of the same reply. Call again if you still need this.]
            user: and then?
            assistant: ok
            user: <answer of e1> next
        "#]],
    );
}

#[test]
fn each_refused_call_tells_the_model_the_reason() {
    check(
        vec![
            send("go"),
            reply(T1, "", &[("x1", "frobnicate"), ("c1", "run"), ("p1", "peek")]),
            rule("p1", Ruling::Once),
            answered(T1, "p1"),
            Input::Unsaved { paths: vec!["a.rs".into()] },
            rule("c1", Ruling::Denied { reason: "not today".into() }),
        ],
        expect![[r#"
            sample 1
            run p1
            sample 1
            user: go
            assistant: frobnicate(x1) run(c1) peek(p1)
            user: x1=[no such tool] c1=[Not run: the user refused, and says: not today
            Accepted, but not on disk yet: a.rs.] p1=[answer of p1]
        "#]],
    );
}

#[test]
fn a_request_is_repeated_only_while_its_turn_still_waits_for_a_reply() {
    let repeat = |told: Option<&str>| Input::Repeat { turn: T1, told: told.map(str::to_owned) };
    check(
        vec![
            send("go"),
            repeat(Some("It does not take this.")),
            repeat(None),
            Input::Cancel { partial: None },
            repeat(Some("Too late.")),
        ],
        expect![[r#"
            sample 1
            sample 1
            sample 1
            abort
            user: go
            note: It does not take this.
            note: Stopped.
        "#]],
    );
}

#[test]
fn temporary_failures_are_retried_and_others_end_the_turn() {
    let failed = |failure: Failure| Input::Failed {
        turn: T1,
        failure,
        by: String::new(),
        partial: None,
        dice: 1000,
    };
    check(
        vec![
            send("go"),
            failed(overloaded(None)),
            Input::Rested { turn: T1 },
            failed(limited(120_000)),
            Input::Rested { turn: T1 },
            failed(Failure::Unauthorized { provider: "mine".into(), said: String::new() }),
        ],
        expect![[r#"
            sample 1
            rest 1000 ms
            sample 1
            rest 120000 ms
            sample 1
            user: go
            note: mine refused the key. Check the key, then send again.
        "#]],
    );
}

#[test]
fn retries_are_limited_and_a_long_wait_is_left_to_the_user() {
    let failed = |failure: Failure| Input::Failed {
        turn: T1,
        failure,
        by: String::new(),
        partial: None,
        dice: 1000,
    };
    let mut session = opened();
    session.through(send("go"));
    let mut tries = 1;
    while !session.through(failed(Failure::Cut)).effects.is_empty() {
        session.through(Input::Rested { turn: T1 });
        tries += 1;
    }
    assert_eq!((tries, &session.phase), (failing::MAX_TRIES, &Phase::Idle));
    for after_ms in [120_001, 5_400_000, 86_400_000] {
        check(
            vec![send("go"), failed(limited(after_ms))],
            match after_ms {
                120_001 => expect![[r#"
                    sample 1
                    user: go
                    note: Rate limited by the provider: the next request may be sent in 3 min. Send again after that time, or choose another model with :Caliban model.
                "#]],
                5_400_000 => expect![[r#"
                    sample 1
                    user: go
                    note: Rate limited by the provider: the next request may be sent in 90 min. Send again after that time, or choose another model with :Caliban model.
                "#]],
                _ => expect![[r#"
                    sample 1
                    user: go
                    note: Rate limited by the provider: the next request may be sent in 24 h. Send again after that time, or choose another model with :Caliban model.
                "#]],
            },
        );
    }
    check(
        vec![send("go"), failed(overloaded(Some(300_000)))],
        expect![[r#"
            sample 1
            user: go
            note: The provider is overloaded: the next request may be sent in 5 min. Send again after that time, or choose another model with :Caliban model.
        "#]],
    );
}

#[test]
fn a_call_repeated_with_the_same_answer_is_refused_and_then_ends_the_turn() {
    let mut session = opened();
    session.through(send("go"));
    let mut refused = 0;
    for n in 0..20 {
        let id = format!("r{n}");
        let mut input = reply(T1, "", &[(&id, "read")]);
        if let Input::Replied { reply, .. } = &mut input
            && let Block::Call(call) = &mut reply.blocks[0]
        {
            call.input = Arguments::Json(json!({"path": "same"}));
        }
        session.through(input);
        if session.phase == Phase::Idle {
            break;
        }
        let mut same = answer(&id);
        "the same".clone_into(&mut same.text);
        let step = session.through(Input::Answered { turn: T1, answer: same });
        refused += u32::from(step.events.is_empty());
    }
    assert_eq!((session.phase, refused), (Phase::Idle, 2), "two refusals, then the end");
    let last = session.messages.last().unwrap();
    let Block::Text { text } = &last.blocks[0] else { panic!("no word at the end") };
    assert_eq!(
        text,
        "Stopped: the model made the same `read` call 6 times. Send a message to go on."
    );
}

fn ending_in(stop: Stop, text: &str, calls: &[(&str, &str)]) -> Input {
    let Input::Replied { turn, reply, plans } = reply(T1, text, calls) else { unreachable!() };
    Input::Replied { turn, reply: Reply { stop, ..reply }, plans }
}

#[test]
fn a_paused_reply_is_sent_back_unchanged_a_limited_number_of_times() {
    let paused = |text| ending_in(Stop::Pause, text, &[]);
    check(
        vec![send("go"), paused("so far"), steer("and"), paused("on"), reply(T1, "done", &[])],
        expect![[r#"
            sample 1
            sample 1
            sample 1
            sample 1
            user: go
            assistant: so far
            assistant: on
            assistant: done
            user: and
        "#]],
    );
    check(
        vec![send("go"), paused("")],
        expect![[r#"
        sample 1
        user: go
        note: The model paused. Send a message to go on.
    "#]],
    );
    let mut session = opened();
    session.through(send("go"));
    let sent = (1..30).take_while(|_| !session.through(paused("on")).effects.is_empty()).count();
    assert_eq!(sent, MAX_PAUSES);
    assert_eq!(session.phase, Phase::Idle);
}

#[test]
fn calls_of_a_refused_or_abnormally_ended_reply_are_not_run() {
    let calls = [("r1", "read"), ("c1", "run")];
    for stop in [Stop::Refusal, Stop::ContextExceeded, Stop::Unknown("flare".into())] {
        let mut session = opened();
        session.through(send("go"));
        let step = session.through(ending_in(stop, "on it", &calls));
        assert_eq!(step.effects, []);
        assert!(matches!(step.events.last(), Some(Event::Ended { why: End::Stopped(_), .. })));
    }
    check(
        vec![send("go"), ending_in(Stop::Refusal, "on it", &calls), send("why?")],
        expect![[r#"
            sample 1
            sample 2
            user: go
            assistant: on it read(r1) run(c1)
            user: r1=[Not run: the turn ended.] c1=[Not run: the turn ended.]
            note: The model refused to answer.
            user: why?
        "#]],
    );
}
