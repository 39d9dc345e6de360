//! A turn that nobody attends: a call that would ask the user is denied, and the turn ends at a limit.

use super::{Open, Session, Step, Unattended, audit, say};
use crate::event::{End, Event, Offer, Ruling, TurnId};
use crate::message::CallId;
use crate::policy::Question;

/// The sentence about the end of a turn that nobody attended, if it did not end by itself.
pub fn ending_alone(why: &End) -> Option<String> {
    match why {
        End::Failed(failure) => Some(failure.alone()),
        End::Interrupted => Some("Interrupted: the run ended in the middle of the turn.".into()),
        _ => say::ending(why),
    }
}

impl Session {
    /// Makes the next turn one that nobody attends. The first request of this turn tells the model so.
    pub fn leave_unattended(&mut self) {
        self.notes.push(say::UNATTENDED.into());
        let (messages, usage, spent) = (self.messages.len(), self.usage, self.spent);
        self.unattended = Some(Unattended { messages, usage, spent, ..Unattended::default() });
    }

    /// Forgets the unattended turn, because it did not begin.
    pub fn attend(&mut self) {
        self.unattended = None;
        self.notes.retain(|it| it != say::UNATTENDED);
    }

    /// Whether nobody attends the turn that runs or is about to begin.
    pub fn is_unattended(&self) -> bool {
        self.unattended.as_ref().is_some_and(|it| it.end.is_none())
    }

    /// Denies a call that has not begun, because nobody answers its question.
    pub(super) fn deny_unattended(
        &mut self,
        turn: TurnId,
        it: &Open,
        question: Question<'_>,
        step: &mut Step,
    ) {
        let text = match question {
            Question::Review(paths) => say::review(paths),
            question => question.text().unwrap_or_default(),
        };
        step.decisions.extend(audit::unattended(&it.access));
        self.deny(turn, &it.call.id, text, step);
    }

    /// Records that a question about a call was asked and not answered, and then the answer to the call.
    pub(super) fn deny(&mut self, turn: TurnId, call: &CallId, question: String, step: &mut Step) {
        let answer = say::unattended(call, &question);
        let (call, offer) = (call.clone(), Offer::default());
        let asked = Event::Asked { turn, call: call.clone(), question, offer };
        self.record(asked, step);
        let ruling = Ruling::Denied { reason: "nobody was here to answer".to_owned() };
        self.record(Event::Ruled { turn, call, ruling }, step);
        self.record(Event::Answered { turn, answer }, step);
    }

    /// Denies an edit that has begun, because it would wait for a review.
    pub(super) fn unreviewed(
        &mut self,
        turn: TurnId,
        call: &CallId,
        path: String,
        step: &mut Step,
    ) {
        if self.is_running(turn, call) {
            self.deny(turn, call, say::review(&[path]), step);
            self.advance(turn, step);
        }
    }

    /// Ends a turn that has reached a limit.
    pub(super) fn end_at_limit(&mut self, turn: TurnId, why: String, step: &mut Step) {
        if let Some(it) = &mut self.unattended {
            it.limit.get_or_insert_with(|| why.clone());
        }
        self.end(turn, End::Stopped(why), step);
    }

    /// In an unattended turn, adds a question to those that nobody answered.
    pub(super) fn note_asked(&mut self, question: &str) {
        if let Some(it) = self.unattended.as_mut().filter(|it| it.end.is_none()) {
            it.denied.push(question.to_owned());
        }
    }

    pub(super) fn note_end(&mut self, why: &End) {
        if let Some(it) = self.unattended.as_mut().filter(|it| it.end.is_none()) {
            it.end = Some(why.clone());
        }
    }
}
