//! A command that the user has changed takes the place of the model's command. The policy decides again whether it may
//! begin, and the call's answer tells the model about the change. The policy also decides again about a call that turns
//! out to need another access.

use super::{Open, Phase, Session, State, Step, audit};
use crate::event::{Access, Event};
use crate::message::{CallId, ToolAnswer};
use crate::text::unseen;
use std::collections::BTreeMap;

/// The longest command that can be changed in the editor, in bytes.
pub(super) const LONGEST: usize = 20_000;

impl Session {
    /// By changing a command the user consents to the new command, unless it has a character that cannot be seen. A
    /// rule may still deny it.
    pub(super) fn change(&mut self, call: CallId, command: String, step: &mut Step) {
        let Some(turn) = self.turn() else { return };
        let asks = |it: &&Open| {
            let is_command = matches!(it.access, Access::Act { .. });
            it.call.id == call && is_command && matches!(it.state, State::Asking { .. })
        };
        if self.open().iter().find(asks).is_none() || command.trim().is_empty() {
            return;
        }
        step.decisions.push(audit::changed(&command));
        self.record(Event::Changed { turn, call, command }, step);
        self.advance(turn, step);
    }

    pub(super) fn apply_change(&mut self, id: &CallId, command: &str) {
        let Some(Open { access: Access::Act { outside, background, hosts, .. }, .. }) =
            self.open().iter().find(|it| it.call.id == *id)
        else {
            return;
        };
        let access = Access::Act {
            command: command.to_owned(),
            outside: outside.clone(),
            background: *background,
            hosts: hosts.clone(),
            unlocked: Vec::new(),
        };
        let judged = self.judged(&access);
        let Phase::Acting { open, .. } = &mut self.phase else { return };
        let Some(it) = open.iter_mut().find(|it| it.call.id == *id) else { return };
        it.call.set_command(command);
        let is_plain = unseen::exact(command) == command;
        it.state = if is_plain { State::Allowed } else { State::Ready };
        (it.access, it.judged, it.is_changed) = (access, judged, true);
    }

    pub(super) fn apply_need(&mut self, id: &CallId, access: &Access) {
        let judged = self.judged(access);
        let Phase::Acting { open, .. } = &mut self.phase else { return };
        if let Some(it) = open.iter_mut().find(|it| it.call.id == *id) {
            (it.access, it.judged, it.state) = (access.clone(), judged, State::Ready);
        }
    }

    /// The commands of formatters that running calls may use.
    pub fn formatters(&self) -> BTreeMap<CallId, String> {
        let running = self.open().iter().filter(|it| it.state == State::Running);
        let command = |it: &Open| match &it.access {
            Access::Format { command, .. } => Some((it.call.id.clone(), command.clone())),
            _ => None,
        };
        running.filter_map(command).collect()
    }

    /// The answer to a call. If the user changed the command of the call, the answer names the new command.
    pub(super) fn with_change(&self, answer: ToolAnswer) -> ToolAnswer {
        match self.open().iter().find(|it| it.call.id == answer.id) {
            Some(it) => it.told(answer),
            None => answer,
        }
    }
}

impl Open {
    /// Whether the call has not begun, and no question about it is open.
    pub(super) fn is_waiting(&self) -> bool {
        matches!(self.state, State::Ready | State::Allowed) && self.result.is_none()
    }

    /// Whether the call runs, and no answer waits at the second gate.
    pub(super) fn is_running(&self) -> bool {
        self.state == State::Running && self.result.is_none()
    }

    /// Whether the call waits for the user's verdict on its edits.
    pub(super) fn is_under_review(&self) -> bool {
        matches!(self.state, State::Reviewing { .. }) && self.result.is_none()
    }

    pub(super) fn told(&self, answer: ToolAnswer) -> ToolAnswer {
        let Access::Act { command, .. } = &self.access else { return answer };
        if !self.is_changed {
            return answer;
        }
        let summary = format!("changed · {}", answer.summary);
        ToolAnswer { summary, changed: Some(command.clone()), ..answer }
    }
}
