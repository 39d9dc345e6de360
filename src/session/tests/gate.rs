//! Tests that every call passes one gate before it runs, and one before it is answered.

use super::*;
use crate::policy::{self, Decision, Question};
use crate::text::unseen;
use std::collections::{HashSet, VecDeque};

impl Session {
    /// Takes an input, and lets every call through both gates at once, as the agent does.
    pub(crate) fn through(&mut self, input: Input) -> Step {
        let mut all = Step::default();
        let mut inputs = std::collections::VecDeque::from([input]);
        while let Some(input) = inputs.pop_front() {
            let Step { events, effects, decisions } = self.step(input);
            all.events.extend(events);
            all.decisions.extend(decisions);
            for effect in effects {
                match effect {
                    Effect::Admit { turn, calls } => {
                        inputs.push_back(Input::Admitted { turn, calls });
                    }
                    Effect::Release { turn, calls } => {
                        inputs.push_back(Input::Released { turn, calls });
                    }
                    effect => all.effects.push(effect),
                }
            }
        }
        all
    }
}

/// The access of a call in the tests, by the name of its tool.
pub(super) fn access(tool: &str) -> Access {
    match tool {
        "read" => Access::Read,
        "peek" => Access::Guarded(Guarded {
            tool: "peek".into(),
            path: "it".into(),
            ..Guarded::default()
        }),
        "edit" => Access::Edit { paths: Vec::new() },
        "plan" => Access::Plan,
        "run" => Access::Act {
            command: "it".into(),
            outside: None,
            background: false,
            hosts: Vec::new(),
            unlocked: Vec::new(),
        },
        "ask" => Access::Ask { questions: inquiries::questions() },
        "task" => Access::Delegate { title: "it".into() },
        "format" => Access::Format { command: "it".into(), path: "a".into() },
        "input" => {
            Access::Input { job: 1, command: "it".into(), text: "it".into(), is_contained: false }
        }
        "fetch" => Access::Fetch { url: "it".into(), host: "it".into() },
        "search" => Access::Search { query: "it".into(), host: "it".into() },
        "remote" => Access::Remote(Remote { name: "mcp__a__b".into(), ..Remote::default() }),
        it if it.starts_with("w:") => Access::Workers(workers::act(it)),
        _ => Access::Never("no such tool".into()),
    }
}

/// The gates of a test: which calls wait at each, which have passed the first one and have not begun, which have begun,
/// and which of them have passed the second one.
#[derive(Default)]
pub(super) struct Gates {
    entering: VecDeque<(TurnId, Vec<CallId>)>,
    leaving: VecDeque<(TurnId, Vec<CallId>)>,
    admitted: HashSet<CallId>,
    begun: HashSet<CallId>,
    released: HashSet<CallId>,
}

impl Gates {
    /// Takes an input. Checks that no call begins that has not passed the first gate since it last began, and that no
    /// call that has run is answered before it has passed the second one.
    pub(super) fn step(&mut self, session: &mut Session, input: Input, at_once: bool) -> Step {
        let mut all = session.step(input);
        self.take(&all);
        while at_once && !(self.entering.is_empty() && self.leaving.is_empty()) {
            let passed = if self.leaving.is_empty() { self.admit() } else { self.release() };
            let step = session.step(passed);
            self.take(&step);
            all.events.extend(step.events);
            all.effects.extend(step.effects);
        }
        all
    }

    /// The calls that have waited longest pass the first gate.
    pub(super) fn admit(&mut self) -> Input {
        let (turn, calls) = self.entering.pop_front().unwrap_or_default();
        self.admitted.extend(calls.iter().cloned());
        Input::Admitted { turn, calls }
    }

    /// The calls that have waited longest pass the second gate.
    pub(super) fn release(&mut self) -> Input {
        let (turn, calls) = self.leaving.pop_front().unwrap_or_default();
        self.released.extend(calls.iter().cloned());
        Input::Released { turn, calls }
    }

    fn take(&mut self, step: &Step) {
        let ends = step.events.iter().any(|it| matches!(it, Event::Ended { .. }));
        for event in &step.events {
            match event {
                Event::Started { call, .. } | Event::PlanSubmitted { call, .. } => {
                    assert!(self.admitted.remove(call), "{call} has not passed the first gate");
                    self.begun.insert(call.clone());
                }
                // the call did not run after all
                Event::Needed { call, .. } | Event::Asked { call, .. } => {
                    self.begun.remove(call);
                }
                Event::Answered { answer, .. } => {
                    let has_asked = answer.inquiry.is_some();
                    let begins = has_asked && self.admitted.remove(&answer.id);
                    assert!(begins || !has_asked, "{} has not passed the first gate", answer.id);
                    let has_run = begins || self.begun.contains(&answer.id);
                    let is_early = ends || under_review::is_before_verdict(answer);
                    let is_free = self.released.contains(&answer.id);
                    assert!(is_early || is_free || !has_run, "{} is answered early", answer.id);
                }
                _ => (),
            }
        }
        for effect in &step.effects {
            match effect {
                Effect::Admit { turn, calls } => self.entering.push_back((*turn, calls.clone())),
                Effect::Release { turn, calls } => self.leaving.push_back((*turn, calls.clone())),
                _ => (),
            }
        }
    }
}

/// Forgets what no event records of the open calls: the gates, and how the rules judged a call before it was to begin.
pub(super) fn leave(sessions: [&mut Session; 2]) {
    for session in sessions {
        if let Phase::Acting { open, .. } = &mut session.phase {
            for it in open {
                it.at_gate = false;
                it.result = None;
                it.judged = Judgement::default();
            }
        }
    }
}

/// Whether all calls of an effect were allowed by the policy or by the user, and edits are written at once only in a
/// mode that does so.
pub(super) fn may_begin(session: &Session, effect: &Effect, events: &[Event]) -> bool {
    let begun = match effect {
        Effect::Run { call, .. } => std::slice::from_ref(call),
        Effect::Propose { calls, .. } => calls,
        _ => &[],
    };
    // a consent answers a question, and is valid only for the access that the question was about
    let is_ruled = |id: &CallId| {
        let (mut is_asked, mut is_ruled) = (false, false);
        for event in events {
            match event {
                Event::Asked { call, .. } if call == id => is_asked = true,
                Event::Needed { call, .. } if call == id => (is_asked, is_ruled) = (false, false),
                Event::Ruled { call, ruling: Ruling::Once | Ruling::Session, .. } if call == id => {
                    is_ruled |= std::mem::take(&mut is_asked);
                }
                Event::Changed { call, command, .. } if call == id => {
                    is_ruled |= std::mem::take(&mut is_asked) && unseen::exact(command) == *command;
                }
                _ => (),
            }
        }
        is_ruled
    };
    if matches!(effect, Effect::Propose { at_once: true, .. }) && session.mode < Mode::AutoEdit {
        return false;
    }
    begun.iter().all(|call| {
        let open = session.open().iter().find(|it| it.call.id == call.id).unwrap();
        match policy::decide(session.mode, &session.granted, &open.judged, &open.access) {
            Decision::Allow => true,
            Decision::Ask(question) => {
                matches!(question, Question::Review(_)) || is_ruled(&call.id)
            }
            Decision::Deny(_) => false,
        }
    })
}

/// Every kind of call waits at each gate once. Nothing of it begins before it has passed the first one, and its answer is
/// seen by nobody before it has passed the second one.
#[test]
fn every_kind_of_call_passes_each_gate_once() {
    for (tool, mode) in [
        ("read", Mode::Ask),
        ("peek", Mode::Ask),
        ("edit", Mode::Ask),
        ("edit", Mode::Auto),
        ("format", Mode::Ask),
        ("run", Mode::Ask),
        ("input", Mode::Ask),
        ("fetch", Mode::Ask),
        ("search", Mode::Ask),
        ("ask", Mode::Ask),
        ("task", Mode::Ask),
        ("w:list", Mode::Ask),
        ("plan", Mode::Plan),
        ("remote", Mode::Auto),
        ("remote", Mode::Plan),
    ] {
        let mut session = opened();
        session.step(Input::ChooseMode { mode });
        session.step(send("go"));
        let mut step = session.step(reply(T1, "", &[("c1", tool)]));
        if session.asking().is_some() {
            assert_eq!(step.effects, [], "{tool} begins before the user has answered");
            step = session.step(rule("c1", Ruling::Once));
        }
        let calls = vec![CallId("c1".into())];
        assert_eq!(step.effects, [Effect::Admit { turn: T1, calls: calls.clone() }], "{tool}");
        let is_begun = |it: &Event| !matches!(it, Event::Ruled { .. } | Event::Replied { .. });
        assert!(!step.events.iter().any(is_begun), "{tool}: {:?}", step.events);
        assert_eq!(session.step(Input::Note { text: "later".into() }).effects, [], "{tool}");
        let mut step = session.step(Input::Admitted { turn: T1, calls: calls.clone() });
        let again = session.step(Input::Admitted { turn: T1, calls: calls.clone() });
        assert_eq!(again, Step::default(), "{tool} begins twice");
        let runs = |it: &Effect| matches!(it, Effect::Run { .. } | Effect::Propose { .. });
        if step.effects.iter().any(runs) {
            assert!(step.events.iter().any(is_begun), "{tool} has not begun");
            step = session.step(answered(T1, "c1"));
        }
        let released = || Input::Released { turn: T1, calls: calls.clone() };
        assert_eq!(step.effects, [Effect::Release { turn: T1, calls: calls.clone() }], "{tool}");
        let is_answered = |it: &Event| matches!(it, Event::Answered { .. });
        assert!(!step.events.iter().any(is_answered), "{tool}: {:?}", step.events);
        assert_eq!(session.step(answered(T1, "c1")), Step::default(), "{tool} has two answers");
        let step = session.step(released());
        assert!(step.events.iter().any(is_answered), "{tool} is not answered");
        let again = session.step(released());
        assert_eq!(again, Step::default(), "{tool} is answered twice");
    }
}

/// A call at the gate follows the mode, and is not begun after a stop.
#[test]
fn a_call_at_the_gate_follows_the_mode_and_the_stop() {
    let at_gate = || {
        let mut session = opened();
        session.step(Input::ChooseMode { mode: Mode::AutoEdit });
        session.step(send("go"));
        session.step(reply(T1, "", &[("c1", "edit"), ("c2", "edit")]));
        session
    };
    let admitted =
        || Input::Admitted { turn: T1, calls: vec![CallId("c1".into()), CallId("c2".into())] };
    let mut session = at_gate();
    session.step(Input::ChooseMode { mode: Mode::Ask });
    let step = session.step(admitted());
    assert!(
        matches!(&step.effects[..], [Effect::Propose { calls, at_once: false, .. }] if calls.len() == 2),
        "{:?}",
        step.effects
    );
    let mut session = at_gate();
    session.step(Input::ChooseMode { mode: Mode::Plan });
    let step = session.step(admitted());
    assert_eq!(step.effects, [Effect::Sample { turn: T1 }], "both are refused");
    let mut session = at_gate();
    session.step(Input::Cancel { partial: None });
    assert_eq!(session.step(admitted()), Step::default());
}

/// What a call has answered is kept if the turn ends while the call is at the second gate, and a later verdict is told
/// as one.
#[test]
fn the_answer_at_the_second_gate_outlives_the_turn() {
    let at_gate = |kind: &str, answer: Input| {
        let mut session = opened();
        session.through(Input::ChooseMode { mode: Mode::AutoEdit });
        session.through(send("go"));
        session.through(reply(T1, "", &[("c1", kind)]));
        let step = session.step(answer);
        assert_eq!(step.effects, [Effect::Release { turn: T1, calls: vec![CallId("c1".into())] }]);
        session
    };
    let released = || Input::Released { turn: T1, calls: vec![CallId("c1".into())] };
    for end in [
        Input::Cancel { partial: None },
        Input::Leave { partial: None },
        Input::Stop { landed: Vec::new() },
        Input::End { partial: None, why: "it is over".into() },
    ] {
        let mut session = at_gate("read", answered(T1, "c1"));
        let events = session.step(end.clone()).events;
        let given = events.iter().find_map(|it| match it {
            Event::Answered { answer, .. } => Some(answer),
            _ => None,
        });
        assert_eq!(given, Some(&answer("c1")), "{end:?}");
        assert_eq!(session.step(released()), Step::default(), "{end:?}");
    }
    let mut session = at_gate("edit", applied("c1"));
    let step = session.step(Input::Reviewed {
        path: "/p/a".into(),
        answers: vec![answer("c1")],
        claims: Vec::new(),
    });
    let is_noted = |it: &Event| matches!(it, Event::Noted { .. });
    assert!(step.events.iter().any(is_noted), "{:?}", step.events);
    assert_eq!(session.step(released()).effects, [Effect::Sample { turn: T1 }]);
}
