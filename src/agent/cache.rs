//! Reports in the debug log when a provider's cache is lost shortly after it was filled.

use super::sampler::{Cached, Sampler, Sent};
use crate::message::{Reply, Request, Usage};
use crate::provider::prefix::first_difference;
use serde_json::Value;
use std::time::Duration;
use tokio::time::Instant;

/// The shortest lifetime of a provider's cache (Anthropic and `OpenAI`: five minutes), less a margin.
const LIFE: Duration = Duration::from_secs(240);

impl Sampler {
    /// Compares the last two requests to one model. If the second read far less from the cache than the first had left
    /// there, logs the first difference between them.
    pub(super) fn watch_cache(&mut self, reply: &Reply) {
        let Some(sent) = self.sent.clone() else { return };
        let now = Cached { sent, usage: reply.usage, at: Instant::now() };
        let Some(before) = self.cached.replace(now) else { return };
        let same_model = before.sent.1.model == self.sent.as_ref().map_or("", |it| &it.1.model);
        let facts = self.models.resolve(&reply.by).map(|it| it.facts);
        let least = facts.map_or(0, |it| u64::from(it.cache_minimum));
        if !same_model || before.at.elapsed() > LIFE || !missed(before.usage, reply.usage, least) {
            return;
        }
        let body = |(provider, request): &Sent| -> Option<Value> {
            let kept = Request { tail: String::new(), ..(**request).clone() };
            let shown = self.models.without_keys(provider.shown(&kept)?.1);
            serde_json::from_str(&shown).ok()
        };
        let bodies = body(&before.sent).zip(self.sent.as_ref().and_then(body));
        let why = bodies.map(|(before, after)| first_difference(&before, &after));
        let why = why.flatten().unwrap_or_else(|| {
            "this request continues the earlier \
            one"
            .to_owned()
        });
        let had = before.usage.cache_read + before.usage.cache_write;
        let read = reply.usage.cache_read;
        tracing::debug!("the cache was missed: {read} of {had} cached tokens were read; {why}");
    }
}

/// Whether less than half of the cached tokens were read. Providers do not cache prompts of fewer than `least` tokens.
fn missed(before: Usage, now: Usage, least: u64) -> bool {
    let had = before.cache_read.saturating_add(before.cache_write);
    now.read() >= least.max(1) && now.cache_read < had / 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reading_less_than_half_of_the_cached_tokens_is_a_miss() {
        let usage =
            |input, cache_read, cache_write| Usage { input, cache_read, cache_write, output: 1 };
        assert!(missed(usage(5, 0, 1000), usage(1010, 0, 0), 1010));
        assert!(missed(usage(5, 1000, 1000), usage(5, 900, 1100), 1010));
        assert!(!missed(usage(5, 1000, 1000), usage(5, 2000, 10), 1010));
        assert!(!missed(usage(5, 0, 1000), usage(1009, 0, 0), 1010));
        assert!(!missed(usage(1000, 0, 0), usage(1010, 0, 0), 1010));
        assert!(!missed(usage(5, 0, 1000), usage(0, 0, 0), 1010));
    }
}
