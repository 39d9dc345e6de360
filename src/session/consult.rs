//! The question whether something of the project may be used. While the question is open, messages wait in the queue, and
//! a running turn goes on.

use super::{Phase, Session, Step, say};
use crate::event::{Event, Matter, Ruling, TurnId};
use crate::message::CallId;

/// A question. It is never saved: if the answer is still needed, the program asks again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Consult {
    pub id: CallId,
    pub about: Matter,
    pub question: String,
}

impl Session {
    /// Whether this is the id of the open question about something of the project.
    pub fn is_consulting(&self, question: &CallId) -> bool {
        self.consult.as_ref().is_some_and(|it| it.id == *question)
    }

    pub(super) fn consult(&mut self, consult: Consult, step: &mut Step) {
        if self.consult.is_some() {
            return self.later.push(consult);
        }
        let Consult { id, about, question } = consult;
        self.record(Event::Consulted { id, about, question }, step);
    }

    /// Takes the user's answer. If the user gives a reason, the model is told.
    pub(super) fn rule_consult(&mut self, id: &CallId, ruling: Ruling, step: &mut Step) {
        let turn = self.turn().unwrap_or(TurnId(self.turns));
        if let Ruling::Denied { reason } = &ruling
            && !reason.is_empty()
            && let Some(open) = &self.consult
        {
            self.record(Event::Noted { text: say::left_out(open.about, reason) }, step);
        }
        self.record(Event::Ruled { turn, call: id.clone(), ruling }, step);
        if !self.later.is_empty() {
            let next = self.later.remove(0);
            self.consult(next, step);
        } else if self.phase == Phase::Idle {
            self.prompt_next(step);
        }
    }
}
