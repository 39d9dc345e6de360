//! Subagents: the task that the session itself has, and the calls on which subagents of the session work.

use super::{Event, Input, Open, Session, State, Step, say, workers};
use crate::event::{Access, Parent};
use crate::policy::{self, Decision, Reason};

impl Session {
    /// The call that began this session, if it is a subagent's own session and no copy.
    pub fn subagent_of(&self) -> Option<&Parent> {
        self.parent.as_ref().filter(|it| !it.is_copy)
    }

    /// Tells a worker before its last request that no further request follows.
    pub(super) fn warn_worker(&mut self, requests: u32) {
        let is_worker = self.subagent_of().is_some_and(|it| it.post.is_some());
        if is_worker && requests == workers::WORKER_REQUESTS {
            self.notes.push(workers::LAST.into());
        }
    }

    /// The calls on which a subagent works.
    pub fn running_children(&self) -> impl Iterator<Item = &Open> {
        self.open()
            .iter()
            .filter(|it| it.state == State::Running && matches!(it.access, Access::Delegate { .. }))
    }

    /// Whether changes of these files, which a subagent has made in a worktree, are written at once. The error says why
    /// they may not even be proposed: the end of a sentence that begins with a file's name.
    pub fn writes_at_once_from_worktree(&self, paths: Vec<String>) -> Result<bool, String> {
        let access = Access::Edit { paths };
        let judged = self.judged(&access);
        match policy::decide(self.mode, &self.granted, &judged, &access) {
            Decision::Allow => Ok(true),
            Decision::Ask(_) if self.is_unattended() => {
                Err("needs a review, and nobody is here for it".to_owned())
            }
            Decision::Ask(_) => Ok(false),
            Decision::Deny(Reason::Rule(why)) => Err(format!("may not be edited: {why}")),
            Decision::Deny(_) => Err(format!("may not be edited in {} mode", self.mode)),
        }
    }

    pub(super) fn delegated(&mut self, input: Input, step: &mut Step) {
        match input {
            Input::Assign { parent } => {
                let post = parent.post.as_ref().map(workers::post);
                let text = post.unwrap_or_else(|| say::SUBAGENT.to_owned());
                self.record(Event::Assigned { parent }, step);
                self.record(super::input::noted(text), step);
            }
            Input::Delegated { turn, call, session } if self.is_running(turn, &call) => {
                self.record(Event::Delegated { turn, call, session }, step);
            }
            Input::ChildSpent { usage, cost } => {
                self.record(Event::ChildSpent { usage, cost }, step);
            }
            _ => (),
        }
    }

    pub(super) fn apply_delegation(&mut self, event: &Event) {
        match event {
            Event::Assigned { parent } => self.parent = Some(parent.clone()),
            Event::ChildSpent { usage, cost } => {
                self.usage += *usage;
                self.spend(*cost);
            }
            _ => (),
        }
    }
}
