//! Tests spending limits: the question before the next request, and the user's answers.

use super::*;

/// A session with these spending limits. Each reply has 15 tokens.
fn limited(session: Limit, turn: Limit) -> Session {
    Session { limits: Limits { session, turn, requests: None }, ..opened() }
}

fn tokens(count: u64) -> Limit {
    Limit::new(None, Some(count))
}

/// The id and text of the question that a step asks.
fn asked(step: &Step) -> Option<(CallId, &str)> {
    step.events.iter().find_map(|it| match it {
        Event::Limited { id, question, .. } => Some((id.clone(), question.as_str())),
        _ => None,
    })
}

fn samples(step: &Step) -> bool {
    step.effects.iter().any(|it| matches!(it, Effect::Sample { .. }))
}

/// A turn whose read is answered, so that the next request is due.
fn due(session: &mut Session, turn: TurnId, id: &str) -> Step {
    session.through(reply(turn, "", &[(id, "read")]));
    session.through(answered(turn, id))
}

#[test]
fn when_a_spending_limit_is_reached_the_user_is_asked_before_the_next_request() {
    let mut session = limited(tokens(30), Limit::default());
    assert!(samples(&session.through(send("go"))));
    assert!(samples(&due(&mut session, T1, "a")));
    let step = due(&mut session, T1, "b");
    assert!(!samples(&step));
    let (id, question) = asked(&step).unwrap();
    expect![[
        "The spending limit is reached: this conversation has used 30 tokens (limit.tokens = 30). Send the next request?"
    ]]
    .assert_eq(question);
    // late results, the end of a pause and answers to other questions do not make the turn go on
    for it in [Input::Rested { turn: T1 }, rule("a", Ruling::Once), answered(T1, "b"), send("more")]
    {
        assert!(!samples(&session.through(it)));
    }
    let step = session.through(Input::Rule { call: id.clone(), ruling: Ruling::Once });
    assert!(samples(&step));
    assert_eq!(session.through(Input::Rule { call: id, ruling: Ruling::Once }), Step::default());
    // the same amount may be spent again
    assert!(samples(&due(&mut session, T1, "c")));
    let step = due(&mut session, T1, "d");
    let (id, question) = asked(&step).unwrap();
    assert!(question.contains("has used 30 tokens since you allowed more"), "{question}");
    let step = session.through(Input::Rule { call: id, ruling: Ruling::Session });
    assert!(samples(&step));
    for id in ["e", "f", "g"] {
        assert!(samples(&due(&mut session, T1, id)));
    }
}

#[test]
fn the_spending_limit_of_a_turn_counts_from_the_turns_prompt() {
    let mut session = limited(Limit::default(), tokens(20));
    session.through(send("go"));
    session.through(reply(T1, "done", &[]));
    assert!(samples(&session.through(send("go on"))));
    assert!(samples(&due(&mut session, TurnId(2), "a")));
    let step = due(&mut session, TurnId(2), "b");
    assert!(
        asked(&step).unwrap().1.contains("this turn has used 30 tokens (limit.turn_tokens = 20)")
    );
}

#[test]
fn refusing_to_go_beyond_a_spending_limit_ends_the_turn_and_tells_the_model_the_reason() {
    let mut session = limited(tokens(15), Limit::default());
    session.through(send("go"));
    let step = due(&mut session, T1, "a");
    let (id, _) = asked(&step).unwrap();
    let ruling = Ruling::Denied { reason: "too dear".into() };
    let step = session.through(Input::Rule { call: id, ruling });
    assert!(matches!(step.events.last(), Some(Event::Ended { why: End::Cancelled, .. })));
    assert!(session.notes.iter().any(|it| it.ends_with("and says: too dear")));
    // at the next prompt the user is asked again
    let step = session.through(send("go on"));
    assert!(!samples(&step) && asked(&step).is_some());
}

#[test]
fn a_limit_in_usd_counts_only_replies_whose_price_is_known() {
    let mut session = limited(Limit::new(Some(0.5), None), Limit::default());
    session.through(send("go"));
    session.through(Input::Spend { cost: None });
    assert!(samples(&due(&mut session, T1, "a")));
    session.through(Input::Spend { cost: Some(0.7) });
    let step = due(&mut session, T1, "b");
    assert!(asked(&step).unwrap().1.contains("has cost $0.70 (limit.usd = 0.5)"));
}

#[test]
fn before_a_retry_the_user_is_asked_if_a_spending_limit_was_reached_meanwhile() {
    let mut session = limited(Limit::new(Some(0.5), None), Limit::default());
    session.through(send("go"));
    let failed = Input::Failed {
        turn: T1,
        failure: Failure::Cut,
        by: String::new(),
        partial: None,
        dice: 0,
    };
    session.through(failed);
    session.through(Input::Spend { cost: Some(0.5) });
    let step = session.through(Input::Rested { turn: T1 });
    assert!(!samples(&step) && asked(&step).is_some());
}

#[test]
fn a_session_file_cannot_raise_a_spending_limit() {
    let mut session = limited(tokens(15), Limit::default());
    session.through(send("go"));
    let step = due(&mut session, T1, "a");
    let id = asked(&step).unwrap().0;
    session.through(Input::Rule { call: id, ruling: Ruling::Session });
    assert_eq!(session.limits, Limits::default());
    session.through(Input::Leave { partial: None });
    session.distrust(std::path::Path::new("/p"));
    session.limits.session = tokens(15);
    assert!(asked(&session.through(send("go on"))).is_some());
}
