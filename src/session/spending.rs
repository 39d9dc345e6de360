//! The user's spending limits, per turn and per session. If one is reached, the user is asked before the next
//! request.

use super::{Effect, Phase, Session, Step, say};
use crate::event::{End, Event, Profile, Ruling, TurnId};
use crate::message::CallId;

/// The limits of a session on spending and on requests. They are the user's settings, and are never saved.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Limits {
    pub session: Limit,
    pub turn: Limit,
    /// The most requests of one turn. The turn ends there without a question.
    pub requests: Option<u32>,
}

/// The most that may be spent before the user is asked. `None` means no limit.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Limit {
    pub usd: Option<f64>,
    /// The most tokens of requests and replies together, whether cached or not.
    pub tokens: Option<u64>,
    /// The amount that the session had spent when the limit began to count.
    from: Spent,
    /// Whether the user has allowed the same amount once more.
    is_extended: bool,
    /// Whether `usd` and `tokens` are the named agent's own limits, and not those of the user's settings.
    of_agent: [bool; 2],
}

/// The amount that a session has spent. `usd` leaves out replies whose price is not known.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Spent {
    usd: f64,
    tokens: u64,
}

impl Limit {
    pub fn new(usd: Option<f64>, tokens: Option<u64>) -> Limit {
        Limit { usd, tokens, ..Limit::default() }
    }

    /// The limit as the user has set it, counting from zero.
    fn anew(self) -> Limit {
        Limit { of_agent: self.of_agent, ..Limit::new(self.usd, self.tokens) }
    }

    /// If the limit is reached, the words for the amount that was spent. `name` is the beginning of the setting's name;
    /// the fields of an agent begin with `max_`.
    fn reached(&self, spender: &str, name: &str, now: Spent) -> Option<String> {
        let usd = now.usd - self.from.usd;
        let tokens = now.tokens.saturating_sub(self.from.tokens);
        let since = if self.is_extended { " since you allowed more" } else { "" };
        let [of_usd, of_tokens] = self.of_agent.map(|it| if it { "max_" } else { name });
        if let Some(limit) = self.usd.filter(|it| usd >= *it) {
            return Some(format!("{spender} has cost ${usd:.2}{since} ({of_usd}usd = {limit})"));
        }
        let limit = self.tokens.filter(|it| tokens >= *it)?;
        Some(format!("{spender} has used {tokens} tokens{since} ({of_tokens}tokens = {limit})"))
    }

    fn extend(&mut self, now: Spent) {
        (self.from, self.is_extended) = (now, true);
    }
}

impl Limits {
    /// The limits as the user has set them, for a session that has spent nothing.
    #[must_use]
    pub fn anew(self) -> Limits {
        Limits { session: self.session.anew(), turn: self.turn.anew(), ..self }
    }

    /// These limits, or those of a named agent where they are lower.
    #[must_use]
    pub fn within(self, agent: &Profile) -> Limits {
        let usd = least(self.turn.usd, agent.max_usd);
        let tokens = least(self.turn.tokens, agent.max_tokens);
        let of_agent = [usd != self.turn.usd, tokens != self.turn.tokens];
        let turn = Limit { usd, tokens, of_agent, ..self.turn };
        Limits { turn, requests: least(self.requests, agent.max_turns), ..self }
    }

    /// Whether one of the limits is in USD.
    pub fn count_money(&self) -> bool {
        self.session.usd.is_some() || self.turn.usd.is_some()
    }
}

/// The lower one of two limits. `None` is no limit.
fn least<T: PartialOrd>(a: Option<T>, b: Option<T>) -> Option<T> {
    match (a, b) {
        (Some(a), Some(b)) => Some(if b < a { b } else { a }),
        (a, b) => a.or(b),
    }
}

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
