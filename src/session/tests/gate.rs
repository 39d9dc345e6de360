//! Tests that every call passes the gate before it runs.

use super::*;
use crate::policy::{self, Decision, Question};
use crate::text::unseen;
use std::collections::{HashSet, VecDeque};

impl Session {
    /// Takes an input, and lets every call through the gate at once, as the agent does.
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
        it if it.starts_with("w:") => Access::Workers(workers::act(it)),
        _ => Access::Never("no such tool".into()),
    }
}

/// The gate of a test: which calls wait at it, and which have passed it and have not begun.
#[derive(Default)]
pub(super) struct Gate {
    waiting: VecDeque<(TurnId, Vec<CallId>)>,
    passed: HashSet<CallId>,
}

impl Gate {
    /// Takes an input. Checks that no call begins that has not passed the gate since it last began.
    pub(super) fn step(&mut self, session: &mut Session, input: Input, at_once: bool) -> Step {
        let mut all = session.step(input);
        self.take(&all);
        while at_once && !self.waiting.is_empty() {
            let step = session.step(self.admit());
            self.take(&step);
            all.events.extend(step.events);
            all.effects.extend(step.effects);
        }
        all
    }

    /// The calls that have waited longest pass the gate.
    pub(super) fn admit(&mut self) -> Input {
        let (turn, calls) = self.waiting.pop_front().unwrap_or_default();
        self.passed.extend(calls.iter().cloned());
        Input::Admitted { turn, calls }
    }

    fn take(&mut self, step: &Step) {
        for event in &step.events {
            let begun = match event {
                Event::Started { call, .. } | Event::PlanSubmitted { call, .. } => call,
                Event::Answered { answer, .. } if answer.inquiry.is_some() => &answer.id,
                _ => continue,
            };
            assert!(self.passed.remove(begun), "{begun} has not passed the gate");
        }
        for effect in &step.effects {
            if let Effect::Admit { turn, calls } = effect {
                self.waiting.push_back((*turn, calls.clone()));
            }
        }
    }
}

/// Takes all calls from the gate: a replay of the events leaves no call there.
pub(super) fn leave(session: &mut Session) {
    if let Phase::Acting { open, .. } = &mut session.phase {
        for it in open {
            it.at_gate = false;
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

/// Every kind of call waits at the gate once, and nothing of it begins before it has passed.
#[test]
fn every_kind_of_call_passes_the_gate_once() {
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
        let step = session.step(Input::Admitted { turn: T1, calls: calls.clone() });
        assert!(step.events.iter().any(is_begun), "{tool} has not begun");
        let again = session.step(Input::Admitted { turn: T1, calls });
        assert_eq!(again, Step::default(), "{tool} begins twice");
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
