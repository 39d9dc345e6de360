//! Tests compactions between the requests of a turn, and while no turn runs.

use super::*;

fn compact() -> Input {
    Input::Compact { model: "mine/m".into(), focus: String::new(), told: "Compacting.".into() }
}

fn compacted(turn: u32, at: usize) -> Input {
    let (summary, text, told) =
        ("short".to_owned(), "hand-off".to_owned(), "Compacted.".to_owned());
    let handoff = Handoff { at, summary, text, saved: 3, told, left_out: Vec::new() };
    let usage = Usage { input: 7, ..Usage::default() };
    Input::Compacted { turn: TurnId(turn), handoff, usage, cost: Some(0.25) }
}

fn failed(turn: u32) -> Input {
    let (why, usage) = ("Not compacted.".to_owned(), Usage::default());
    Input::NotCompacted { turn: TurnId(turn), why, is_lasting: true, usage, cost: Some(0.0) }
}

#[test]
fn a_compaction_before_a_request_sends_the_request_at_its_end() {
    for end in [compacted(1, 1), failed(1)] {
        let mut session = opened();
        session.through(send("go"));
        assert_eq!(session.through(compact()).effects.len(), 1);
        session.through(steer("and this"));
        assert_eq!(session.queue.len(), 1);
        let step = session.through(end);
        assert_eq!(step.effects, [Effect::Sample { turn: T1 }]);
        assert!(session.queue.is_empty());
        assert!(matches!(session.phase, Phase::Sampling { requests: 1, tries: 1, .. }));
    }
}

#[test]
fn a_message_sent_while_an_idle_conversation_is_compacted_begins_the_next_turn() {
    let sent = [send("go"), reply(T1, "Done.", &[]), compact(), send("next"), send("later")];
    check(
        sent.into_iter().chain([compacted(1, 3), reply(TurnId(2), "Next.", &[])]).collect(),
        expect![[r#"
            sample 1
            compact 1
            sample 2
            sample 3
            user: go
            assistant: Done.
            note: Compacting.
            note: Compacted. <hand-off>
            user: next
            assistant: Next.
            user: later
        "#]],
    );
}

#[test]
fn a_stop_ends_the_compaction_and_its_turn() {
    check(
        vec![send("go"), compact(), Input::Cancel { partial: None }, compacted(1, 1)],
        expect![[r#"
            sample 1
            compact 1
            abort
            user: go
            note: Compacting.
            note: Stopped.
        "#]],
    );
    check(
        vec![
            send("go"),
            reply(T1, "Done.", &[]),
            compact(),
            send("next"),
            Input::Cancel { partial: None },
            compacted(1, 3),
        ],
        expect![[r#"
            sample 1
            compact 1
            abort
            user: go
            assistant: Done.
            note: Compacting.
            note: Not compacted: stopped. The conversation goes on as it was.
        "#]],
    );
}

#[test]
fn a_compaction_at_the_wrong_time_changes_nothing() {
    let mut session = opened();
    session.through(send("go"));
    session.through(reply(T1, "", &[("c1", "run")]));
    assert_eq!(session.through(compact()), Step::default());
    assert_eq!(session.through(compacted(1, 1)), Step::default());
    assert_eq!(session.through(Input::Uncompact { told: "Undone.".into() }), Step::default());
    session.through(rule("c1", Ruling::Once));
    session.through(answered(T1, "c1"));
    session.through(compact());
    assert_eq!(session.through(compacted(2, 1)), Step::default());
    assert_eq!(session.through(compacted(1, 99)), Step::default());
    assert_eq!(session.through(compacted(1, 2)).effects.len(), 1);
    assert_eq!((session.context, session.usage.input, session.spent), (12, 17, 0.25));
    session.through(reply(T1, "Done.", &[]));
    session.through(Input::Uncompact { told: "Undone.".into() });
    assert_eq!((session.context, session.compactions.len()), (18, 0));
    assert!(session.keeps_whole);
}

/// Adding or removing the system prompt moves all messages by one index.
#[test]
fn requests_still_begin_with_the_hand_off_after_the_system_prompt_is_removed() {
    let mut session = opened();
    session.through(send("go"));
    session.through(reply(T1, "Done.", &[]));
    session.through(compact());
    session.through(compacted(1, session.boundary()));
    for system in ["", "be better", ""] {
        let choose = Input::ChooseSystem { system: system.into(), instructions: Vec::new() };
        session.through(choose);
        assert_eq!(session.handoff(), Some("hand-off"));
        let rest = &session.messages[session.beginning()..];
        assert!(rest.iter().all(|it| it.role == Role::Note), "{rest:?}");
    }
}

/// A session's file may contain any numbers.
#[test]
fn the_next_request_is_valid_even_if_a_compaction_has_wrong_positions() {
    for (at, note) in [(usize::MAX, usize::MAX), (9, 0), (0, 3), (usize::MAX, 4), (2, 4)] {
        let mut session = opened();
        session.through(send("go"));
        session.through(reply(T1, "Done.", &[]));
        session.through(compact());
        session.through(compacted(1, session.boundary()));
        let summary = String::new();
        session.compactions = vec![crate::event::Compaction {
            at,
            note,
            summary,
            saved: u64::MAX,
            left_out: Vec::new(),
        }];
        session.through(Input::ChooseSystem { system: String::new(), instructions: Vec::new() });
        session.through(send("next"));
        laws::assert_valid(&session);
        assert!(session.boundary() <= session.messages.len());
    }
}

#[test]
fn no_summary_is_asked_for_while_a_spending_limit_is_reached() {
    let limits = Limits { session: Limit::new(None, Some(20)), ..Limits::default() };
    let mut session = Session { limits, ..opened() };
    session.through(send("go"));
    session.through(reply(T1, "Done.", &[]));
    assert_eq!(session.through(compact()).effects.len(), 1);
    session.through(compacted(1, session.boundary()));
    // with the summary the spending limit is reached
    assert_eq!(session.through(compact()), Step::default());
    session.through(send("next"));
    assert!(matches!(session.phase, Phase::Limited { .. }));
}

#[test]
fn going_back_to_a_message_before_a_compaction_undoes_the_compaction() {
    let mut session = opened();
    session.through(send("go"));
    session.through(reply(T1, "Done.", &[]));
    session.through(compact());
    session.through(compacted(1, session.boundary()));
    let end = session.messages.len();
    session.through(send("next"));
    session.through(reply(TurnId(2), "Next.", &[]));
    session.go_back(end);
    assert_eq!(session.handoff(), Some("hand-off"));
    session.go_back(end - 1);
    assert_eq!((session.handoff(), session.beginning()), (None, 1));
}
