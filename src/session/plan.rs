//! Plans that the model submits in plan mode. Such a call ends the turn; the user then approves the plan, sends it back
//! or drops it.

use super::fork::is_shown;
use super::{Event, Session, Step, say};
use crate::event::{Mode, PlanStage, PlanVerdict, Submitted, TurnId};
use crate::message::{Block, CallId, Message};

impl Session {
    /// The model has submitted a plan, which ends the turn. Where nobody answers, the plan is the turn's result, and
    /// nothing waits.
    pub(super) fn submit_plan(&mut self, turn: TurnId, call: &CallId, step: &mut Step) {
        let is_attended = !self.nobody_answers();
        if is_attended {
            self.record(Event::PlanSubmitted { turn, call: call.clone() }, step);
        }
        self.has_run(turn, say::submitted(call, is_attended), step);
    }

    /// Takes the user's decision on the plan of this call. A decision on another plan changes nothing: the user has not
    /// seen the plan that waits.
    pub(super) fn decide_plan(&mut self, call: &CallId, verdict: PlanVerdict, step: &mut Step) {
        if self.planning.waiting() != Some(call) {
            return;
        }
        self.record(Event::PlanDecided { call: call.clone(), verdict }, step);
        let mode = match verdict {
            PlanVerdict::Approve { mode } => mode,
            PlanVerdict::SendBack => Mode::Plan,
            PlanVerdict::Drop => {
                let text = say::PLAN_DROPPED_FOR_USER.to_owned();
                return self.record(Event::Told { text }, step);
            }
        };
        if mode != self.mode {
            self.choose_mode(mode, step);
        }
    }

    pub(super) fn apply_plan(&mut self, event: &Event) {
        match event {
            Event::PlanSubmitted { call, .. } => {
                if let Some(before) = self.planning.waiting().cloned() {
                    self.summarize_plan(&before, say::PLAN_REPLACED);
                }
                self.planning.last =
                    Some(Submitted { call: call.clone(), stage: PlanStage::Waiting });
                self.notes.retain(|it| it != say::PLAN_DROPPED);
            }
            Event::PlanDecided { call, verdict } => {
                self.summarize_plan(call, verdict.words());
                let stage = match verdict {
                    PlanVerdict::Approve { .. } => PlanStage::Approved,
                    PlanVerdict::SendBack => PlanStage::SentBack,
                    PlanVerdict::Drop => {
                        self.planning.last = None;
                        self.notes.push(say::PLAN_DROPPED.into());
                        return;
                    }
                };
                self.planning.last = Some(Submitted { call: call.clone(), stage });
            }
            _ => (),
        }
    }

    /// Changes the words at the end of the line of a plan's call. The model does not read them.
    fn summarize_plan(&mut self, id: &CallId, words: &str) {
        let blocks = self.messages.iter_mut().rev().flat_map(|it| &mut it.blocks);
        let mut answers = blocks.filter_map(|it| match it {
            Block::Answer(it) if it.id == *id => Some(it),
            _ => None,
        });
        if let Some(answer) = answers.next() {
            words.clone_into(&mut answer.summary);
        }
    }

    /// Forgets a plan whose call the conversation no longer has. If the message that told the model the user's decision
    /// was taken back, the plan waits again.
    pub(super) fn forget_removed_plan(&mut self) {
        let Some(Submitted { call, stage }) = &mut self.planning.last else { return };
        let has_call = |it: &Message| {
            it.blocks.iter().any(|it| matches!(it, Block::Call(it) if it.id == *call))
        };
        match self.messages.iter().rposition(has_call) {
            None => self.planning.last = None,
            Some(at) if !self.messages[at..].iter().any(is_shown) => *stage = PlanStage::Waiting,
            Some(_) => (),
        }
    }
}
