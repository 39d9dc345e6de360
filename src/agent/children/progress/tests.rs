use super::*;
use crate::event::{Failure, TurnId};
use crate::message::Stop;
use expect_test::{Expect, expect};

const TURN: TurnId = TurnId(1);

fn replied(text: &str) -> Event {
    let reply = Reply {
        blocks: vec![Block::Text { text: text.to_owned() }],
        stop: Stop::EndTurn,
        usage: Usage { input: 1_000, output: 200, ..Usage::default() },
        model: String::new(),
        by: String::new(),
    };
    Event::Replied { turn: TURN, reply, plans: Vec::new() }
}

fn answered(from: Option<Origin>) -> Event {
    let id = CallId("c1".into());
    let foreign = from.map(|from| Foreign { from, own: 0 });
    let answer = ToolAnswer { foreign, ..ToolAnswer::done(&id, "text".into(), "") };
    Event::Answered { turn: TURN, answer }
}

fn ended(why: End) -> Event {
    Event::Ended { turn: TURN, why }
}

/// The answer to the parent's call after these events.
fn answer(events: &[Event]) -> ToolAnswer {
    let mut progress = Progress::new(SessionId("main-task".into()), "/p".into(), false);
    for it in events {
        drop(progress.event(it));
    }
    assert!(progress.has_ended());
    progress.answer(&CallId("t1".into()), Path::new("/nowhere"))
}

fn check(events: &[Event], expected: &Expect) {
    let ToolAnswer { text, failed, summary, .. } = answer(events);
    expected.assert_eq(&format!("{text}\nfailed: {failed}, summary: {summary}"));
}

#[test]
fn the_parent_gets_the_last_reply_and_how_the_turn_ended() {
    check(
        &[replied("I look."), answered(None), replied("It is there."), ended(End::Done)],
        &expect![[r#"
            It is there.
            [Its conversation is `main-task`: 2 requests · 2,400 tokens.]
            failed: false, summary: 2 requests · 2,400 tokens"#]],
    );
    check(
        &[replied("Half of it."), ended(End::Stopped("Stopped after 12 requests.".into()))],
        &expect![[r#"
            Half of it.
            [The subagent ended before its task was done: Stopped after 12 requests.]
            [Its conversation is `main-task`: 1 request · 1,200 tokens.]
            failed: false, summary: not finished"#]],
    );
    check(
        &[ended(End::Cancelled)],
        &expect![[r#"
            [The subagent ended before its task was done: Stopped.]
            [Its conversation is `main-task`: 0 requests · 0 tokens.]
            failed: true, summary: not finished"#]],
    );
    check(
        &[replied(" "), ended(End::Done)],
        &expect![[r#"
            [The subagent ended without a report.]
            [Its conversation is `main-task`: 1 request · 1,200 tokens.]
            failed: false, summary: 1 request · 1,200 tokens"#]],
    );
}

/// The parent's model must not take a stranger's words in the report for the subagent's own.
#[test]
fn the_report_of_a_subagent_that_read_a_strangers_text_counts_as_a_strangers_text() {
    let page = || Some(Origin::Web("https://a.org".into()));
    for (read, expected) in [
        (vec![None], None),
        (vec![Some(Origin::Command), None], Some(Origin::Command)),
        (vec![page()], Some(Origin::Subagent)),
        (vec![Some(Origin::Command), page()], Some(Origin::Subagent)),
        (vec![page(), Some(Origin::Command)], Some(Origin::Subagent)),
        (vec![Some(Origin::Subagent)], Some(Origin::Subagent)),
    ] {
        let mut events: Vec<Event> = read.into_iter().map(answered).collect();
        events.extend([replied("A report\nof two lines."), ended(End::Done)]);
        let ToolAnswer { foreign, text, .. } = answer(&events);
        assert_eq!(foreign.as_ref().map(|it| it.from.clone()), expected);
        if let Some(foreign) = foreign {
            assert_eq!(foreign.split(&text).0, "A report\nof two lines.");
        }
    }
}

#[test]
fn a_subagent_reports_the_cost_of_each_request() {
    let mut progress = Progress::new(SessionId("main-task".into()), "/p".into(), false);
    let spent = |news: Vec<News>| {
        let all = news.into_iter().filter_map(|it| match it {
            News::Spent { usage, cost } => Some((usage.total(), cost)),
            _ => None,
        });
        all.collect::<Vec<_>>()
    };
    assert_eq!(spent(progress.event(&Event::Spent { cost: Some(0.5) })), [(0, Some(0.5))]);
    assert_eq!(spent(progress.event(&Event::Spent { cost: None })), [(0, None)]);
    assert_eq!(spent(progress.event(&replied("x"))), [(1_200, Some(0.0))]);
    let failure = Failure::Offline { host: "a.org".into(), why: "no route".into() };
    assert_eq!(spent(progress.event(&ended(End::Failed(failure)))), []);
}

#[test]
fn the_coordinator_learns_why_a_worker_ended_early() {
    let told = |requests: usize, why: End| {
        let mut progress = Progress::new(SessionId("main-w1".into()), "/p".into(), false);
        let replies = (0..requests).map(|_| replied("I look."));
        for it in replies.chain([ended(why)]) {
            drop(progress.event(&it));
        }
        (progress.hand_off(Path::new("/nowhere")).text, progress.is_stopped_by_user())
    };
    let (text, by_user) = told(1, End::Cancelled);
    assert!(text.contains("The user stopped the worker.") && by_user, "{text}");
    let limit = "Stopped after 5 requests in one turn. Send a message to go on.";
    let (text, by_user) = told(5, End::Stopped(limit.into()));
    assert!(text.contains("The worker used up its 5 requests.") && !by_user, "{text}");
    assert!(!text.contains("Send a message"), "{text}");
}

#[test]
fn the_report_does_not_say_of_a_file_that_is_not_on_disk_that_it_changed() {
    let id = CallId("c1".into());
    let input = crate::message::Input::Json(serde_json::json!({}));
    let call = ToolCall { id: id.clone(), tool: "edit".to_owned(), input };
    let Event::Replied { mut reply, .. } = replied("It is done.") else { unreachable!() };
    reply.blocks.push(Block::Call(call));
    let access = Access::Edit { paths: vec!["a.rs".into(), "b.rs".into()] };
    let plans = vec![Plan { call: id, access }];
    let unsaved = Event::Unsaved { paths: vec!["a.rs".into()] };
    let events =
        [Event::Replied { turn: TURN, reply, plans }, unsaved, answered(None), ended(End::Done)];
    let text = answer(&events).text;
    let changed = "[It changed `b.rs`.]\n[It changed in the editor, but not on disk: `a.rs`.]";
    assert!(text.contains(changed), "{text}");
}

#[test]
fn the_report_names_each_file_that_renaming_a_symbol_changed() {
    let (id, tool) = (CallId("c1".into()), "rename_symbol".to_owned());
    let input = crate::message::Input::Json(serde_json::json!({}));
    let call = ToolCall { id: id.clone(), tool, input };
    let Event::Replied { mut reply, .. } = replied("It is done.") else { unreachable!() };
    reply.blocks.push(Block::Call(call));
    let access = Access::Edit { paths: vec!["a.rs".into()] };
    let plan = Plan { call: id.clone(), access };
    let proposed = |path: &str| Event::Proposed {
        turn: TURN,
        call: id.clone(),
        path: path.into(),
        what: crate::event::Awaited::default(),
        diff: None,
    };
    let text = answer(&[
        Event::Replied { turn: TURN, reply, plans: vec![plan] },
        proposed("/p/a.rs"),
        proposed("/p/b.rs"),
        answered(None),
        ended(End::Done),
    ])
    .text;
    assert!(text.contains("[It changed `a.rs`, `b.rs`.]"), "{text}");
}
