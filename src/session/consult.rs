//! Questions that are not about a call of the conversation: whether something of the project may be used, and whether a
//! call of a subagent may run. While such a question is open, messages wait in the queue, and a running turn goes on.
//! Nothing waits for the answer about a port, and other questions come before it.

use super::{Consult, Phase, Session, Step, say};
use crate::event::{Event, Matter, Ruling, TurnId};
use crate::message::CallId;

impl Session {
    /// Whether this is the id of the question in `consult`.
    pub fn is_consulting(&self, question: &CallId) -> bool {
        self.consult.as_ref().is_some_and(|it| it.id == *question)
    }

    /// Whether messages wait for the answer to the question in `consult`. They do not wait for one about a port.
    pub fn is_held(&self) -> bool {
        self.consult.as_ref().is_some_and(|it| it.about != Matter::Port)
    }

    pub(super) fn consult(&mut self, consult: Consult, step: &mut Step) {
        match &self.consult {
            Some(open) if open.about == Matter::Port && consult.about != Matter::Port => {
                self.later.insert(0, open.clone());
            }
            Some(_) => return self.later.push(consult),
            None => (),
        }
        let Consult { id, about, question, offer } = consult;
        self.record(Event::Consulted { id, about, question, offer }, step);
    }

    /// Takes the user's answer. If the user gives a reason, the model is told.
    pub(super) fn rule_consult(&mut self, id: &CallId, ruling: Ruling, step: &mut Step) {
        let turn = self.turn().unwrap_or(TurnId(self.turns));
        if let Ruling::Denied { reason } = &ruling
            && !reason.is_empty()
            && let Some(open) = &self.consult
            && let Some(text) = say::left_out(open.about, reason)
        {
            self.record(super::input::noted(text), step);
        }
        self.record(Event::Ruled { turn, call: id.clone(), ruling }, step);
        self.consult_next(step);
    }

    /// Withdraws a question that needs no answer any more.
    pub(super) fn withdraw(&mut self, id: &CallId, step: &mut Step) {
        self.later.retain(|it| it.id != *id);
        if self.is_consulting(id) {
            let turn = self.turn().unwrap_or(TurnId(self.turns));
            let ruling = Ruling::Denied { reason: String::new() };
            self.record(Event::Ruled { turn, call: id.clone(), ruling }, step);
            self.consult_next(step);
        }
    }

    /// Asks the next waiting question. If none waits, the next message in the queue begins a turn.
    fn consult_next(&mut self, step: &mut Step) {
        if !self.later.is_empty() {
            let next = self.later.remove(0);
            self.consult(next, step);
        } else if self.phase == Phase::Idle {
            self.prompt_next(step);
        }
    }
}
