//! Tests that texts which the model has already are not sent again.

use super::*;
use crate::event::Trim;

/// Sends a message for each of these texts of the file `a`, with the text as an excerpt. Returns the texts of the
/// excerpts that the session then has.
fn excerpts(session: &mut Session, texts: &[&str]) -> Vec<String> {
    let before = session.excerpts().count();
    for text in texts {
        let text = text.repeat(100);
        let excerpt = Excerpt { path: "a".into(), text, ..Excerpt::default() };
        let (text, context) = ("see".to_owned(), vec![excerpt]);
        session.through(Input::Send { text, context, steer: false });
        let turn = TurnId(session.turns);
        session.through(reply(turn, "seen", &[]));
    }
    let all = session.excerpts().skip(before);
    all.map(|it| format!("{}{}", it.text.chars().take(1).collect::<String>(), it.note)).collect()
}

#[test]
fn a_text_is_sent_again_unless_it_is_the_last_text_that_the_model_got_of_that_file() {
    let same = "same text as when it was last sent, so not sent again";
    let found = excerpts(&mut opened(), &["x", "x", "y", "x", "x"]);
    assert_eq!(found, ["x", same, "y", "x", same]);
}

#[test]
fn a_text_that_was_trimmed_is_sent_again() {
    let mut session = opened();
    assert_eq!(excerpts(&mut session, &["x"]), ["x"]);
    let items = vec![Trim { item: Item::Excerpt(0), line: "a is trimmed".into() }];
    session.through(Input::Trim { items, tokens: 1, told: "Trimmed.".into() });
    assert_eq!(excerpts(&mut session, &["x"]), ["x"]);
}

#[test]
fn a_text_that_was_compacted_is_sent_again() {
    let mut session = opened();
    assert_eq!(excerpts(&mut session, &["x"]), ["x"]);
    let (model, focus, told) = (String::new(), String::new(), String::new());
    session.through(Input::Compact { model, focus, told });
    let (turn, usage, cost) = (TurnId(session.turns), Usage::default(), None);
    let (at, text) = (session.boundary(), "hand-off".to_owned());
    let handoff = Handoff {
        at,
        summary: String::new(),
        text,
        saved: 0,
        told: String::new(),
        left_out: Vec::new(),
    };
    session.through(Input::Compacted { turn, handoff, usage, cost });
    assert_eq!(excerpts(&mut session, &["x"]), ["x"]);
}

/// A call that the model repeats because its answers are no longer in the requests is no loop.
#[test]
fn a_read_whose_answer_was_trimmed_may_be_repeated() {
    for is_trimmed in [true, false] {
        let mut session = opened();
        session.through(send("go"));
        for n in 0..20 {
            let id = format!("r{n}");
            let mut input = reply(T1, "", &[(&id, "read")]);
            if let Input::Replied { reply, .. } = &mut input
                && let Block::Call(call) = &mut reply.blocks[0]
            {
                call.input = Arguments::Json(json!({"path": "same"}));
            }
            session.through(input);
            let mut same = answer(&id);
            "the same".clone_into(&mut same.text);
            session.through(Input::Answered { turn: T1, answer: same });
            let items = vec![Trim { item: Item::Call(CallId(id)), line: "trimmed".into() }];
            if is_trimmed {
                session.through(Input::Trim { items, tokens: 1, told: "Trimmed.".into() });
            }
        }
        assert_eq!(session.phase != Phase::Idle, is_trimmed);
    }
}
