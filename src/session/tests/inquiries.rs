//! Tests the model's questions to the user, and the calls before and after them.

use super::*;
use crate::event::{Offer, Parent, SessionId};
use crate::message::inquiry::AnswerOption;
use crate::message::{Given, Inquiry, Question};

/// Two questions: one option of the first may be chosen, several of the second.
pub(super) fn questions() -> Vec<Question> {
    let question = |text: &str, options: [&str; 2], multiple| {
        let option = |it: &str| AnswerOption { label: it.into(), about: String::new() };
        Question { text: text.into(), options: options.map(option).into(), multiple }
    };
    vec![question("Which?", ["one", "two"], false), question("What?", ["red", "blue"], true)]
}

/// A response to the question that is next, or to no question if none is open.
pub(super) fn respond(session: &Session, response: Response) -> Input {
    let open = session.inquiry().and_then(|it| Some((it.0.clone(), it.1.next()?.0)));
    let (call, question) = open.unwrap_or((CallId("none".into()), 0));
    Input::Respond { call, question, response }
}

/// A session whose first turn has ended with the questions of the call `c1`.
fn asked() -> Session {
    let mut session = opened();
    session.through(send("go"));
    session.through(reply(T1, "", &[("c1", "ask")]));
    assert!(session.inquiry().is_some());
    session
}

/// Takes these responses; returns the last step.
fn given(session: &mut Session, responses: Vec<Response>) -> Step {
    let mut step = Step::default();
    for response in responses {
        let input = respond(session, response);
        step = session.through(input);
    }
    step
}

/// The texts of the last message.
fn last(session: &Session) -> Vec<&str> {
    let blocks = session.messages.last().unwrap().blocks.iter();
    let text = |it| match it {
        &Block::Text { ref text } | &Block::Notice { ref text, .. } => text.as_str(),
        Block::Excerpt(it) => it.text.as_str(),
        other => panic!("{other:?}"),
    };
    blocks.map(text).collect()
}

#[test]
fn ask_ends_the_turn_after_the_calls_before_it_and_skips_those_after_it() {
    check(
        vec![
            send("go"),
            reply(T1, "", &[("c1", "read"), ("c2", "ask"), ("c3", "read"), ("c4", "ask")]),
            answered(T1, "c1"),
        ],
        expect![[r#"
            sample 1
            run c1
            user: go
            assistant: read(c1) ask(c2) read(c3) ask(c4)
            user: c1=[answer of c1] c2=[Your questions are on the user's screen, and the turn ends here. The user's next message answers them.] c3=[Skipped: your call of `ask` before this one ends the turn. Call again after the user's answer if you still need this.] c4=[Skipped: your call of `ask` before this one ends the turn. Call again after the user's answer if you still need this.]
        "#]],
    );
}

#[test]
fn ask_waits_for_edits_on_their_way_to_the_editor_but_not_for_reviews() {
    let reviewed =
        || Input::Reviewed { path: "/p/a".into(), answers: vec![answer("c1")], claims: Vec::new() };
    check(
        vec![
            send("go"),
            Input::Landed { turn: T1 },
            reply(T1, "", &[("c1", "edit"), ("c2", "ask"), ("c3", "run")]),
            Input::Landed { turn: T1 },
            entered(T1, "c1"),
            Input::Landed { turn: T1 },
            reviewed(),
            send("yes"),
        ],
        expect![[r#"
            sample 1
            propose c1
            sample 2
            user: go
            assistant: edit(c1) ask(c2) run(c3)
            user: c1=[Not all decided yet: 2 hunks of this edit are under review in the user's buffer. Those that the user has accepted so far may be on disk, the others are not. Your call of `ask` ended the turn first; the user's verdict on this edit will follow.] c2=[Your questions are on the user's screen, and the turn ends here. The user's next message answers them.] c3=[Skipped: your call of `ask` before this one ends the turn. Call again after the user's answer if you still need this.]
            user: <answer of c1> yes
        "#]],
    );
    let mut session = opened();
    session.through(send("go"));
    session.through(reply(T1, "", &[("c1", "edit"), ("c2", "ask")]));
    session.through(entered(T1, "c1"));
    assert_eq!((session.turn(), session.awaits_last_call()), (Some(T1), true));
    session.through(reviewed());
    assert_eq!((session.turn(), session.inquiry().is_some()), (None, true));
}

#[test]
fn ask_waits_for_the_commands_before_it() {
    check(
        vec![
            send("go"),
            reply(T1, "", &[("c1", "run"), ("c2", "ask")]),
            Input::Landed { turn: T1 },
            rule("c1", Ruling::Once),
            answered(T1, "c1"),
        ],
        expect![[r#"
            sample 1
            run c1
            user: go
            assistant: run(c1) ask(c2)
            user: c1=[answer of c1] c2=[Your questions are on the user's screen, and the turn ends here. The user's next message answers them.]
        "#]],
    );
}

#[test]
fn a_refused_call_of_ask_skips_nothing() {
    let mut session = opened();
    session.through(send("go"));
    let Input::Replied { turn, reply, mut plans } = reply(T1, "", &[("c1", "ask"), ("c2", "read")])
    else {
        unreachable!()
    };
    plans[0].access = Access::Never("too many options".into());
    let step = session.through(Input::Replied { turn, reply, plans });
    assert!(matches!(&step.effects[..], [Effect::Run { call, .. }] if call.id.0 == "c2"));
    session.through(answered(T1, "c2"));
    assert_eq!(session.inquiry(), None);
    assert!(matches!(session.phase, Phase::Sampling { .. }));
}

#[test]
fn ask_does_not_end_the_turn_if_nobody_can_answer() {
    let unattended = |session: &mut Session| session.leave_unattended();
    let subagent = |session: &mut Session| {
        let parent = Parent {
            session: SessionId("main".into()),
            call: CallId("t1".into()),
            is_tainted: false,
            limits: Vec::new(),
            post: None,
            is_copy: false,
        };
        session.through(Input::Assign { parent });
    };
    for alone in [unattended as fn(&mut Session), subagent] {
        let mut session = opened();
        alone(&mut session);
        session.through(send("go"));
        let step = session.through(reply(T1, "", &[("c1", "ask"), ("c2", "read")]));
        assert!(matches!(&step.effects[..], [Effect::Run { call, .. }] if call.id.0 == "c2"));
        session.through(answered(T1, "c2"));
        assert_eq!(session.inquiry(), None);
        let Some(Block::Answer(answer)) = session.messages.last().unwrap().blocks.first() else {
            panic!()
        };
        assert_eq!(
            answer.text,
            "Nobody is here to answer. Decide yourself, go on, and name in your final answer what you assumed."
        );
        assert_eq!(session.unattended.map(|it| it.denied.len()).unwrap_or_default(), 0);
    }
}

#[test]
fn the_answers_to_all_questions_are_the_next_prompt() {
    let mut session = asked();
    let step = given(&mut session, vec![Response::Choose(vec![1])]);
    assert_eq!(step.effects, []);
    let marks = [Response::Mark(1), Response::Mark(0), Response::Mark(1), Response::Done];
    let step = given(&mut session, marks.into());
    assert_eq!(step.effects, [Effect::Sample { turn: TurnId(2) }]);
    assert_eq!(last(&session), ["1. Which?\n   → two\n2. What?\n   → red"]);
    assert_eq!(session.inquiry(), None);
}

#[test]
fn an_answer_can_be_in_the_users_own_words_be_left_out_or_be_taken_back() {
    let mut session = asked();
    let words = Response::Words("a third\none".into());
    let responses = vec![Response::Skip, Response::Back, words, Response::Skip];
    given(&mut session, responses);
    assert_eq!(
        last(&session),
        ["1. Which?\n   → (own words) a third\n   one\n2. What?\n   → (no answer)"]
    );
}

#[test]
fn marks_go_with_the_users_own_words_and_with_a_message() {
    let marked = || {
        let mut session = asked();
        let marks = vec![Response::Choose(vec![0]), Response::Mark(1), Response::Mark(0)];
        given(&mut session, marks);
        session
    };
    let mut session = marked();
    given(&mut session, vec![Response::Words("and green".into())]);
    let answers = "1. Which?\n   → one\n2. What?\n   → red; blue";
    assert_eq!(last(&session), [format!("{answers}; (own words) and green")]);
    let mut session = asked();
    given(&mut session, vec![Response::Skip, Response::Mark(1), Response::Choose(vec![0])]);
    assert_eq!(last(&session), ["1. Which?\n   → (no answer)\n2. What?\n   → red; blue"]);
    let mut session = marked();
    session.through(send("as I said"));
    assert_eq!(last(&session), [answers, "as I said"]);
    // marks are answers even if no earlier question is answered
    let mut session = asked();
    given(&mut session, vec![Response::Skip, Response::Mark(1)]);
    session.through(send("go on"));
    assert_eq!(last(&session)[0], "1. Which?\n   → (no answer)\n2. What?\n   → blue");
}

#[test]
fn impossible_and_late_responses_change_nothing() {
    let mut session = asked();
    let before = session.clone();
    let responses = [
        Response::Mark(0),
        Response::Choose(vec![2]),
        Response::Choose(vec![0, 1]),
        Response::Choose(Vec::new()),
        Response::Done,
        Response::Words(" \n".into()),
        Response::Words("x".repeat(20_001)),
        Response::Back,
    ];
    for response in responses {
        let input = respond(&session, response);
        assert_eq!(session.through(input), Step::default());
    }
    let late = [("c1", 1), ("c2", 0)];
    for (call, question) in late {
        let call = CallId(call.into());
        let response = Response::Choose(vec![0]);
        assert_eq!(session.through(Input::Respond { call, question, response }), Step::default());
    }
    assert_eq!(session, before);
}

#[test]
fn questions_that_are_all_skipped_send_nothing_and_the_model_is_told_with_the_next_prompt() {
    let mut session = asked();
    let step = given(&mut session, vec![Response::Skip, Response::Skip]);
    assert_eq!((step.effects, session.inquiry()), (Vec::new(), None));
    session.through(send("do it your way"));
    assert_eq!(last(&session), [say::UNANSWERED, "do it your way"]);
}

#[test]
fn a_message_answers_the_questions_with_the_answers_so_far() {
    let mut session = asked();
    given(&mut session, vec![Response::Choose(vec![0])]);
    session.through(send("and the rest as you like"));
    assert_eq!(
        last(&session),
        ["1. Which?\n   → one\n2. What?\n   → (no answer)", "and the rest as you like"]
    );
}

#[test]
fn a_message_that_was_sent_before_the_questions_does_not_answer_them() {
    let mut session = opened();
    session.through(send("go"));
    session.through(send("queued"));
    session.through(reply(T1, "", &[("c1", "ask")]));
    assert_eq!((session.turn(), session.queue.len()), (None, 1));
    session.through(send("my answer"));
    assert_eq!(last(&session), ["my answer"]);
    session.through(reply(TurnId(2), "Good.", &[]));
    assert_eq!(last(&session), ["queued"]);
}

#[test]
fn answers_wait_for_another_question_and_can_be_taken_back_from_the_queue() {
    let mut session = asked();
    let about = crate::event::Matter::Instructions;
    let (id, question, offer) = (CallId("q".into()), "Use them?".into(), Offer::default());
    let consult = Consult { id, about, question, offer };
    session.through(Input::Consult(consult));
    let step = given(&mut session, vec![Response::Choose(vec![0]), Response::Skip]);
    assert_eq!((step.effects, session.queue.len()), (Vec::new(), 1));
    session.through(Input::Unqueue { id: session.queue[0].id });
    assert_eq!(session.inquiry().unwrap().1.given, []);
    given(&mut session, vec![Response::Choose(vec![1]), Response::Skip]);
    session.through(rule("q", Ruling::Once));
    assert_eq!(last(&session), ["1. Which?\n   → two\n2. What?\n   → (no answer)"]);
}

#[test]
fn questions_are_open_again_once_their_answer_is_taken_back() {
    let mut session = asked();
    given(&mut session, vec![Response::Choose(vec![1]), Response::Skip]);
    session.through(reply(TurnId(2), "Good.", &[]));
    assert_eq!(session.inquiry(), None);
    let at = session.prompt(0).unwrap().at;
    session.go_back(at);
    assert_eq!(session.inquiry().unwrap().1, &Inquiry::new(questions()));
    session.go_back(session.prompt(0).unwrap().at);
    assert_eq!(session.inquiry(), None);
}

#[test]
fn a_copy_has_the_open_questions_too() {
    let session = asked();
    assert_eq!(session.fork(None).inquiry(), session.inquiry());
}

#[test]
fn open_questions_survive_a_compaction() {
    let mut session = asked();
    let at = session.boundary();
    let compact = Input::Compact { model: String::new(), focus: String::new(), told: "…".into() };
    session.through(compact);
    let handoff = Handoff {
        at,
        summary: "short".into(),
        text: "hand-off".into(),
        saved: 1,
        told: "Compacted.".into(),
        left_out: Vec::new(),
    };
    session.through(Input::Compacted { turn: T1, handoff, usage: Usage::default(), cost: None });
    assert!(session.inquiry().is_some());
    laws::assert_valid(&session);
    given(&mut session, vec![Response::Choose(vec![1]), Response::Skip]);
    laws::assert_valid(&session);
}

#[test]
fn questions_from_a_file_that_no_tool_would_ask_are_removed() {
    let many = |n: usize| std::iter::repeat_n(questions()[0].clone(), n).collect::<Vec<_>>();
    let with = |change: fn(&mut Inquiry)| {
        let mut inquiry = Inquiry::new(questions());
        change(&mut inquiry);
        inquiry
    };
    let cases = [
        Inquiry::new(Vec::new()),
        Inquiry::new(many(5)),
        with(|it| it.questions[0].text = "x".repeat(1_000_000)),
        with(|it| it.questions[0].text = "a\u{1b}[31mb".into()),
        with(|it| it.questions[0].options.clear()),
        with(|it| it.questions[1].options = vec![AnswerOption::default(); 5]),
        with(|it| it.questions[1].options[0].label = "a\u{202e}b".into()),
        with(|it| it.questions[1].options[0].about = "a\nb".into()),
        with(|it| it.given = vec![Given::Chosen(vec![usize::MAX])]),
        with(|it| it.given = vec![Given::Skipped, Given::Skipped, Given::Skipped]),
        with(|it| it.given = vec![Given::Words("x".repeat(1_000_000))]),
        with(|it| it.marked = vec![0]),
    ];
    for inquiry in cases {
        let mut session = asked();
        let answer = session.messages.last_mut().and_then(|it| it.blocks.first_mut());
        if let Some(Block::Answer(it)) = answer {
            it.inquiry = Some(Box::new(inquiry));
        }
        session.distrust(std::path::Path::new("/p"));
        assert_eq!(session.inquiry(), None);
    }
    let mut session = asked();
    session.distrust(std::path::Path::new("/p"));
    assert!(session.inquiry().is_some());
}
