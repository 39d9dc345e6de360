//! Tests the limits that end a turn or a reply which would otherwise never end.

use super::*;

pub(super) fn limited(after_ms: u64) -> Failure {
    Failure::RateLimited { after_ms: Some(after_ms), said: String::new() }
}

pub(super) fn overloaded(after_ms: Option<u64>) -> Failure {
    Failure::Overloaded { after_ms, said: String::new() }
}

#[test]
fn a_turn_ends_at_its_limit_of_requests() {
    let mut session = opened();
    session.through(send("go"));
    let mut asked = 1;
    while session.phase != Phase::Idle {
        let id = format!("r{asked}");
        session.through(reply(T1, "", &[(&id, "read")]));
        let step = session.through(answered(T1, &id));
        asked += step.effects.iter().filter(|it| matches!(it, Effect::Sample { .. })).count();
    }
    assert_eq!(asked, MAX_REQUESTS as usize);
    let said = session.messages.last().unwrap();
    let told = "Stopped after 100 requests in one turn. Send a message to go on.";
    assert_eq!(said.blocks, [Block::Text { text: told.into() }]);
}

/// A reply with `count` calls of the tool `read`.
fn reads(count: usize) -> Input {
    let ids: Vec<String> = (0..count).map(|n| format!("r{n}")).collect();
    let calls: Vec<(&str, &str)> = ids.iter().map(|id| (id.as_str(), "read")).collect();
    reply(T1, "", &calls)
}

fn started(step: &Step) -> Vec<String> {
    let run = step.effects.iter().filter_map(|it| match it {
        Effect::Run { call, .. } => Some(call.id.0.clone()),
        _ => None,
    });
    run.collect()
}

/// The answers to the last calls: for each, the id of the call and the answer's text.
fn answers(session: &Session) -> Vec<(String, String)> {
    let message = session.messages.iter().rfind(|it| say::is_answers(it)).unwrap();
    let answers = message.blocks.iter().filter_map(|it| match it {
        Block::Answer(answer) => Some((answer.id.0.clone(), answer.text.clone())),
        _ => None,
    });
    answers.collect()
}

#[test]
fn calls_beyond_the_limit_are_not_run_and_all_are_answered_in_order() {
    for count in [MAX_CALLS, MAX_CALLS + 1, 5 * MAX_CALLS] {
        let mut session = opened();
        session.through(send("go"));
        let mut step = session.through(reads(count));
        let mut waiting = std::collections::VecDeque::from(started(&step));
        let mut taken = 0;
        while let Some(id) = waiting.pop_front() {
            taken += 1;
            step = session.through(answered(T1, &id));
            waiting.extend(started(&step));
        }
        assert_eq!(taken, MAX_CALLS);
        assert_eq!(step.effects, [Effect::Sample { turn: T1 }]);
        let answers = answers(&session);
        let ids: Vec<&str> = answers.iter().map(|it| it.0.as_str()).collect();
        assert_eq!(ids, (0..count).map(|n| format!("r{n}")).collect::<Vec<_>>());
        let refused: Vec<&str> = answers[MAX_CALLS..].iter().map(|it| it.1.as_str()).collect();
        if let Some((first, others)) = refused.split_first() {
            let why = format!("Not run: too many calls. Your reply had {count} calls. At most 200");
            assert!(first.starts_with(&why), "{first}");
            assert!(others.iter().all(|it| *it == "Not run: too many calls"));
        }
        laws::assert_valid(&session);
    }
}

#[test]
fn a_stop_answers_every_call_including_those_beyond_the_limit() {
    let mut session = opened();
    session.through(send("go"));
    session.through(reads(MAX_CALLS + 3));
    session.through(answered(T1, "r1"));
    session.through(Input::Cancel { partial: None });
    let answers = answers(&session);
    let texts: Vec<&str> = answers.iter().map(|it| it.1.as_str()).collect();
    let [cut, unbegun] =
        ["Stopped while it ran: the user stopped the turn.", "Not run: the user stopped the turn."];
    assert_eq!([texts[0], texts[2], texts[MAX_CALLS - 1]], [cut, cut, unbegun]);
    assert_eq!(texts.len(), MAX_CALLS + 3);
    assert!(texts[MAX_CALLS].starts_with("Not run: too many calls. "));
    laws::assert_valid(&session);
}

/// A call that exceeds the limit of one reply is not run, so a model that sends the same call again does not count as
/// looping.
#[test]
fn repeating_a_call_that_was_beyond_the_limit_is_not_a_loop() {
    let mut session = opened();
    session.through(send("go"));
    for round in 0..6 {
        let Input::Replied { turn, mut reply, mut plans } = reads(MAX_CALLS + 1) else { panic!() };
        // each round has new ids; only the call that exceeds the limit has the same arguments in each round
        for (n, block) in reply.blocks.iter_mut().enumerate() {
            let Block::Call(call) = block else { panic!() };
            call.id = CallId(format!("{round}-{n}"));
            if n < MAX_CALLS {
                call.input = Arguments::Json(json!({"of": format!("{round}-{n}")}));
            }
        }
        for (n, plan) in plans.iter_mut().enumerate() {
            plan.call = CallId(format!("{round}-{n}"));
        }
        let mut step = session.through(Input::Replied { turn, reply, plans });
        let mut waiting = std::collections::VecDeque::from(started(&step));
        while let Some(id) = waiting.pop_front() {
            step = session.through(answered(T1, &id));
            waiting.extend(started(&step));
        }
        assert_eq!(step.effects, [Effect::Sample { turn: T1 }], "round {round}");
    }
    let last = reply(T1, "", &[("again", "read")]);
    let Input::Replied { turn, mut reply, plans } = last else { panic!() };
    let Block::Call(call) = &mut reply.blocks[0] else { panic!() };
    call.input = Arguments::Json(json!({"of": format!("r{MAX_CALLS}")}));
    assert_eq!(started(&session.through(Input::Replied { turn, reply, plans })), ["again"]);
}

#[test]
fn the_number_of_concurrent_reads_is_limited() {
    let mut session = opened();
    session.through(send("go"));
    let begun = started(&session.through(reads(MAX_READS + 2)));
    assert_eq!(begun, (0..MAX_READS).map(|n| format!("r{n}")).collect::<Vec<_>>());
    let next = started(&session.through(answered(T1, "r5")));
    assert_eq!(next, [format!("r{MAX_READS}")]);
}
