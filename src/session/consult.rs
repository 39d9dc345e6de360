//! The question whether the project's instructions may be used. While the question is open, messages wait in the queue,
//! and a running turn goes on.

use super::{Phase, Session, Step, say};
use crate::event::{Event, Ruling, TurnId};
use crate::message::CallId;

/// The open question. It is never saved: if the answer is still needed, the program asks again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Consult {
    pub id: CallId,
    pub question: String,
}

impl Session {
    /// Whether this is the id of the open question about instructions.
    pub fn is_consulting(&self, question: &CallId) -> bool {
        self.consult.as_ref().is_some_and(|it| it.id == *question)
    }

    /// Takes the user's answer. If the user gives a reason, the model is told.
    pub(super) fn rule_consult(&mut self, id: &CallId, ruling: Ruling, step: &mut Step) {
        let turn = self.turn().unwrap_or(TurnId(self.turns));
        if let Ruling::Denied { reason } = &ruling
            && !reason.is_empty()
        {
            self.record(Event::Noted { text: say::left_out(reason) }, step);
        }
        self.record(Event::Ruled { turn, call: id.clone(), ruling }, step);
        if self.phase == Phase::Idle {
            self.prompt_next(step);
        }
    }
}
