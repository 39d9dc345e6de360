//! The limits of a session on spending and on requests.

use crate::event::Profile;
use crate::text::counted;

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
    pub(super) from: Spent,
    /// Whether the user has allowed the same amount once more.
    pub(super) is_extended: bool,
    /// Whether `usd` and `tokens` are the named agent's own limits, and not those of the user's settings.
    pub(super) of_agent: [bool; 2],
}

/// The amount that a session has spent. `usd` leaves out replies whose price is not known.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Spent {
    pub(super) usd: f64,
    pub(super) tokens: u64,
}

impl Limit {
    pub fn new(usd: Option<f64>, tokens: Option<u64>) -> Limit {
        Limit { usd, tokens, ..Limit::default() }
    }

    /// The limit as the user has set it, counting from zero.
    pub(super) fn anew(self) -> Limit {
        Limit { of_agent: self.of_agent, ..Limit::new(self.usd, self.tokens) }
    }

    /// If the limit is reached, the words for the amount that was spent. `name` is the beginning of the setting's name;
    /// the fields of an agent begin with `max_`.
    pub(super) fn reached(&self, spender: &str, name: &str, now: Spent) -> Option<String> {
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

    pub(super) fn extend(&mut self, now: Spent) {
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

/// The sentence for the user at the end of a turn that made as many requests as it may.
pub(super) fn too_many_requests(made: u32) -> String {
    let requests = counted(made, "request");
    format!("Stopped after {requests} in one turn. Send a message to go on.")
}
