//! A call that ends the turn, because the user has to answer before the model goes on. The calls before it are done
//! first, the calls after it are skipped. So every call has one answer, and the user's answer begins the next turn.

use super::{Event, Open, Session, State, Step, say, under_review};
use crate::event::{Access, End, TurnId};
use crate::message::ToolAnswer;
use crate::policy::Decision;

impl Session {
    /// Whether no user can answer a question of the model: nobody attends the turn, or another agent gave the
    /// conversation its task.
    pub fn nobody_answers(&self) -> bool {
        self.is_unattended() || self.subagent_of().is_some()
    }

    /// Whether the turn ends with this call. If nobody can answer, a question does not end the turn, but a plan still
    /// does: the plan is the turn's result.
    pub(super) fn ends(&self, it: &Open) -> bool {
        it.access.ends_turn() && (it.access == Access::Plan || !self.nobody_answers())
    }

    /// The index of the call with which the turn will end.
    fn last_call(&self) -> Option<usize> {
        let is_last = |it: &Open| {
            self.ends(it) && it.state == State::Ready && self.decide(it) == Decision::Allow
        };
        self.open().iter().position(is_last)
    }

    /// Answers the calls after the one with which the turn will end. None of them has begun.
    pub(super) fn skip_after_last_call(&mut self, turn: TurnId, step: &mut Step) {
        let Some(at) = self.last_call() else { return };
        let tool = &self.open()[at].call.tool;
        let later = self.open()[at + 1..].iter().filter(|it| !matches!(it.state, State::Done(_)));
        let skipped: Vec<ToolAnswer> = later.map(|it| say::skipped(&it.call.id, tool)).collect();
        for answer in skipped {
            self.record(Event::Answered { turn, answer }, step);
        }
    }

    /// Whether all other calls of the reply are answered.
    pub(super) fn is_last_left(&self, last: &Open) -> bool {
        let is_done = |it: &Open| matches!(it.state, State::Done(_));
        self.open().iter().all(|it| it.call.id == last.call.id || is_done(it))
    }

    /// The call with which the turn will end, if all others are answered or wait only for the user's review.
    fn awaited_last_call(&self) -> Option<&Open> {
        let last = &self.open()[self.last_call()?];
        let rests = |it: &Open| matches!(it.state, State::Done(_) | State::Reviewing { .. });
        self.open().iter().all(|it| it.call.id == last.call.id || rests(it)).then_some(last)
    }

    /// Whether the turn ends as soon as no edit is on its way to the editor any more.
    pub fn awaits_last_call(&self) -> bool {
        self.awaited_last_call().is_some()
    }

    /// Called when no edit is on its way to the editor any more. Ends the turn with its last call, if only reviews keep
    /// the turn from ending.
    pub(super) fn landed(&mut self, turn: TurnId, step: &mut Step) {
        let last = self.awaited_last_call().cloned();
        if let Some(last) = last.filter(|_| self.turn() == Some(turn)) {
            self.begin(turn, last, step);
        }
    }

    /// Ends the turn with this answer to its last call. Reviews go on after the turn.
    pub(super) fn end_with(&mut self, turn: TurnId, answer: ToolAnswer, step: &mut Step) {
        self.answer_all_that_ran(turn, step);
        let last = self.open().iter().find(|it| it.call.id == answer.id);
        let tool = last.map(|it| it.call.tool.clone()).unwrap_or_default();
        let reviewing = self.open().iter().filter_map(|it| match &it.state {
            State::Reviewing { what, .. } => {
                Some(under_review::undecided_at_end(&it.call.id, *what, &tool))
            }
            _ => None,
        });
        for answer in reviewing.collect::<Vec<_>>() {
            self.record(Event::Answered { turn, answer }, step);
        }
        self.record(Event::Answered { turn, answer }, step);
        self.end(turn, End::Done, step);
    }
}
