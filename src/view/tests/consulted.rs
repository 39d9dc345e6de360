//! Questions about no call: whether one waits, makes way, and comes back.

use super::*;

#[test]
fn a_question_about_no_call_outlasts_the_turn_and_one_about_a_call_ends_with_it() {
    for about in
        [Matter::Instructions, Matter::Rules, Matter::Recipient, Matter::Port, Matter::Subagent]
    {
        let id = CallId("q1".into());
        let mut view = view_of(&[
            prompted("go"),
            replied(vec![Part::Call(call("c1", "shell", json!({"command": "a"})))]),
            Event::Asked {
                turn: TurnId(1),
                call: CallId("c1".into()),
                question: "Run it?".into(),
                offer: Offer::default(),
            },
            Event::Consulted {
                id: id.clone(),
                about,
                question: "Use it?".into(),
                offer: Offer::default(),
            },
            Event::Ended { turn: TurnId(1), why: End::Cancelled },
        ]);
        let mut buffer = Buffer::default();
        buffer.drain(&mut view);
        assert!(buffer.text().contains("? Use it?"), "{about:?}: {}", buffer.text());
        assert!(!buffer.text().contains("? Run it?"), "{about:?}: {}", buffer.text());
        view.event(&Event::Ruled { turn: TurnId(1), call: id, ruling: Ruling::Once }, 0);
        buffer.drain(&mut view);
        assert!(!buffer.text().contains("? Use it?"), "{about:?}: {}", buffer.text());
    }
}

/// The job of the port ends while a subagent asks: the session then does not ask about the port again.
#[test]
fn a_question_that_made_way_for_another_comes_back_only_if_it_is_asked_again() {
    let consulted = |id: &str, about| Event::Consulted {
        id: CallId(id.into()),
        about,
        question: format!("Use {id}?"),
        offer: Offer::default(),
    };
    let mut view = view_of(&[consulted("port", Matter::Port), consulted("sub", Matter::Subagent)]);
    let mut buffer = Buffer::default();
    buffer.drain(&mut view);
    assert!(buffer.text().contains("? Use sub?"), "{}", buffer.text());
    assert!(!buffer.text().contains("? Use port?"), "{}", buffer.text());
    let call = CallId("sub".into());
    view.event(&Event::Ruled { turn: TurnId(1), call, ruling: Ruling::Once }, 0);
    buffer.drain(&mut view);
    assert!(!buffer.text().contains("? Use"), "{}", buffer.text());
    view.event(&consulted("port", Matter::Port), 0);
    buffer.drain(&mut view);
    assert!(buffer.text().contains("? Use port?"), "{}", buffer.text());
}
