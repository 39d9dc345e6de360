//! What follows a failed request: another try after a pause, a request without the thoughts that were refused, or the
//! end of the turn.

use super::{Effect, Phase, Session, Step, say};
use crate::event::{End, Event, Failure, TurnId};
use crate::message::{Block, Reply};
use std::time::Duration;

/// The most tries of one request, the first included.
pub(super) const MAX_TRIES: u32 = 6;

impl Session {
    pub(super) fn failed(
        &mut self,
        turn: TurnId,
        (failure, by): (Failure, String),
        partial: Option<Reply>,
        dice: u32,
        step: &mut Step,
    ) {
        if matches!(failure, Failure::Thoughts { .. }) && self.has_thoughts(&by) {
            return self.drop_thoughts(turn, by, step);
        }
        let Phase::Sampling { tries, .. } = self.phase else { return };
        if failure.is_passing() && tries < MAX_TRIES {
            let time = back_off(&failure, tries, dice);
            let wait_ms = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
            self.record(Event::Retried { turn, failure, wait_ms }, step);
            step.effects.push(Effect::Rest { turn, time });
            return;
        }
        self.keep(turn, partial, step);
        self.end(turn, End::Failed(failure), step);
    }

    /// Sends the request again without the part that the provider refused. `told` is the sentence for the user, if the
    /// user does not know this yet.
    pub(super) fn repeat(&mut self, turn: TurnId, told: Option<String>, step: &mut Step) {
        if !self.is_sampling(turn) {
            return;
        }
        if let Some(text) = told {
            self.record(Event::Told { text }, step);
        }
        self.sample(turn, step);
    }

    /// Sends the request again without the thoughts that the model's provider refused.
    fn drop_thoughts(&mut self, turn: TurnId, model: String, step: &mut Step) {
        let text = say::thoughts_dropped(&model);
        self.record(Event::ThoughtsDropped { turn, model }, step);
        self.record(Event::Told { text }, step);
        self.sample(turn, step);
    }

    /// Whether the next request would send any of this model's thoughts back to it.
    fn has_thoughts(&self, model: &str) -> bool {
        let own = self.messages.iter().filter(|it| it.by == model);
        own.flat_map(|it| &it.blocks)
            .any(|it| matches!(it, Block::Thinking { .. } | Block::Raw { .. }))
    }

    pub(super) fn rested(&mut self, of: TurnId, step: &mut Step) {
        if let Phase::Resting { turn, requests, tries } = self.phase
            && turn == of
        {
            self.phase = Phase::Sampling { turn, requests, tries };
            self.go_on(turn, step);
        }
    }

    /// Sends the request after a pause.
    pub(super) fn go_on(&mut self, turn: TurnId, step: &mut Step) {
        // if the model is to continue its last reply, that reply has to stay the last message
        if self.pauses() == 0 {
            self.take_steered(turn, step);
        }
        self.sample(turn, step);
    }
}

/// The wait before the next try: the wait that the provider asks for, if any. Otherwise the wait doubles with each try,
/// from 0.5 s to 30 s, and the random number `dice` shortens it by up to three quarters, so that many programs do not
/// ask at the same moment.
fn back_off(failure: &Failure, tries: u32, dice: u32) -> Duration {
    failure.after_ms().map_or_else(|| exponential(tries, dice), Duration::from_millis)
}

fn exponential(tries: u32, dice: u32) -> Duration {
    let cap = 500_u64.saturating_mul(1 << tries.min(10)).min(30_000);
    Duration::from_millis(cap / 4 + cap * 3 / 4 * u64::from(dice.min(1000)) / 1000)
}
