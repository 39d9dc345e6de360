//! The user's spending limits, per turn and per session. If one is reached, the user is asked before the next
//! request.

use super::limits::{Limit, Limits, Spent};
use super::{Effect, Phase, Session, Step, say};
use crate::event::{End, Event, Ruling, TurnId};
use crate::message::CallId;

impl Session {
    /// Sends the next request. If a spending limit is reached, asks the user first.
    pub(super) fn sample(&mut self, turn: TurnId, step: &mut Step) {
        match self.limit_reached() {
            None => step.effects.push(Effect::Sample { turn }),
            Some(reached) if self.is_unattended() => {
                self.end_at_limit(turn, say::limit_ended(&reached), step);
            }
            Some(reached) => {
                let id = CallId::own(format_args!("limit-{}-{}", turn.0, self.messages.len()));
                let question = say::limit_reached(&reached);
                self.record(Event::Limited { turn, id, question }, step);
            }
        }
    }

    /// The spending limit that is reached, in words for the user.
    pub fn limit_reached(&self) -> Option<String> {
        let now = self.spent_so_far();
        let session = self.limits.session.reached("this conversation", "limit.", now);
        session.or_else(|| self.limits.turn.reached("this turn", "limit.turn_", now))
    }

    fn spent_so_far(&self) -> Spent {
        Spent { usd: self.spent, tokens: self.usage.total() }
    }

    /// Called when a turn begins: the limit of a turn counts from here.
    pub(super) fn begin_spending(&mut self) {
        let anew = self.limits.turn.anew();
        if anew != Limit::default() {
            self.limits.turn = Limit { from: self.spent_so_far(), ..anew };
        }
    }

    /// Takes the user's answer to the question about a spending limit: the turn goes on or ends.
    pub(super) fn rule_limit(&mut self, id: &CallId, ruling: Ruling, step: &mut Step) {
        let Phase::Limited { turn, .. } = self.phase else { return };
        self.record(Event::Ruled { turn, call: id.clone(), ruling: ruling.clone() }, step);
        match ruling {
            Ruling::Once | Ruling::Session => self.go_on(turn, step),
            Ruling::Denied { reason } => {
                if !reason.is_empty() {
                    self.record(super::input::noted(say::stopped_at_limit(&reason)), step);
                }
                self.break_off(None, End::Cancelled, step);
            }
        }
    }

    /// Whether this is the id of the question about a limit that waits for the user.
    pub(super) fn is_limited_by(&self, question: &CallId) -> bool {
        matches!(&self.phase, Phase::Limited { id, .. } if id == question)
    }

    pub(super) fn apply_limited(&mut self, asked: &CallId) {
        // when a session is read from disk, a running retry has the phase `Resting`, because no event records the
        // beginning of a retry
        if let Phase::Sampling { turn, requests, tries }
        | Phase::Resting { turn, requests, tries } = self.phase
        {
            self.phase = Phase::Limited { turn, requests, tries, id: asked.clone() };
        }
    }

    pub(super) fn apply_limit_ruling(&mut self, ruling: &Ruling) {
        let now = self.spent_so_far();
        match ruling {
            Ruling::Once => {
                // the limit of the turn is extended like that of the session, so that the turn can go on
                let Limits { session, turn, .. } = &mut self.limits;
                for it in [session, turn] {
                    if it.reached("", "", now).is_some() {
                        it.extend(now);
                    }
                }
            }
            Ruling::Session => {
                self.limits = Limits { requests: self.limits.requests, ..Limits::default() };
            }
            Ruling::Denied { .. } => return,
        }
        if let Phase::Limited { turn, requests, tries, .. } = self.phase {
            self.phase = Phase::Sampling { turn, requests, tries };
        }
    }
}
