//! The vendors' models, from the vendors' own web pages in November 2026. Facts that are not on these pages are left
//! out here.

use super::model::{Facts, Price, ThinkingKind, UNKNOWN};

const K: u32 = 1024;
const M: u32 = 1_000_000;
/// The window of GPT models from 5.4 on.
const GPT: u32 = 1_050_000;

use ThinkingKind::{Adaptive, Always, Budget, Named, Unasked};

const fn model(window: u32, max_output: u32) -> Facts {
    Facts { window, max_output, ..UNKNOWN }
}

/// A model that reads no images.
const fn blind(window: u32, max_output: u32) -> Facts {
    Facts { images: Some(false), ..model(window, max_output) }
}

/// A model that reads images. `sampled` says whether it accepts a temperature.
const fn seeing(window: u32, max_output: u32, thinking: ThinkingKind, sampled: bool) -> Facts {
    Facts { thinking, temperature: sampled, images: Some(true), ..model(window, max_output) }
}

/// A Claude model that decides how much it thinks. `least` is `Facts::cache_minimum`.
const fn adaptive(least: u32, price: Price) -> Facts {
    let facts = seeing(M, 128_000, Adaptive, false);
    Facts { cache_minimum: least, price: Some(price), ..facts }
}

/// A Claude model whose thinking cannot be switched off, and whose thoughts are valid only after exactly the messages
/// before them.
const fn always(least: u32, price: Price) -> Facts {
    Facts { thinking: Always, bound: true, ..adaptive(least, price) }
}

/// A Claude model that thinks within a budget, if a request asks for thinking.
const fn budget(max_output: u32, least: u32, price: Price) -> Facts {
    let facts = seeing(200_000, max_output, Budget, true);
    Facts { cache_minimum: least, price: Some(price), ..facts }
}

/// A model whose thinking is set by a named effort and that accepts no temperature. Prompts of at least 1024 tokens are
/// cached.
const fn named(window: u32, max_output: u32, price: Price) -> Facts {
    let facts = seeing(window, max_output, Named, false);
    Facts { cache_minimum: 1024, price: Some(price), ..facts }
}

/// A model that does not think.
const fn plain(window: u32, max_output: u32, price: Price) -> Facts {
    let facts = seeing(window, max_output, Unasked, true);
    Facts { cache_minimum: 1024, price: Some(price), ..facts }
}

const fn gemini(thinking: ThinkingKind, max_output: u32, price: Option<Price>) -> Facts {
    Facts { cache_minimum: 4096, price, ..seeing(1024 * K, max_output, thinking, true) }
}

/// The prices of input, output, cache reads and cache writes, in USD per million tokens.
const fn usd(input: f64, output: f64, cache_read: f64, cache_write: f64) -> Price {
    Price { input, output, cache_read, cache_write, long: None }
}

/// Prices of a vendor where writing to the cache costs as much as plain input.
const fn flat(input: f64, output: f64, cache_read: f64) -> Price {
    usd(input, output, cache_read, input)
}

/// Adds the prices of long prompts: above this many tokens, the prices of input and output are multiplied by these
/// factors.
const fn long(price: Price, above: u64, input: f64, output: f64) -> Price {
    Price { long: Some((above, input, output)), ..price }
}

const OPUS_4_5: Price = usd(5.0, 25.0, 0.5, 6.25);
const OPUS_4: Price = usd(15.0, 75.0, 1.5, 18.75);
const SONNET_4: Price = usd(3.0, 15.0, 0.3, 3.75);

const fn gpt_6(price: Price) -> Facts {
    named(GPT, 128_000, long(price, 272_000, 2.0, 1.5))
}

/// Beginnings of the names of models that were trained on `apply_patch`.
pub(super) const PATCHING: [&str; 4] = ["gpt-5", "gpt-6", "codex", "gpt-codex"];

/// The beginning of a model's name (after the last `/`), and the model's facts. Within a line of models, the newest
/// comes first.
pub(super) const MODELS: [(&str, Facts); 74] = [
    ("claude-fable-5-1", always(4096, usd(10.0, 50.0, 0.25, 12.5))),
    ("claude-fable-5", Facts { bound: false, ..always(512, usd(10.0, 50.0, 1.0, 12.5)) }),
    ("claude-opus-5-5", always(4096, usd(4.0, 20.0, 0.2, 5.0))),
    ("claude-opus-5", adaptive(512, OPUS_4_5)),
    ("claude-opus-4-8", adaptive(1024, OPUS_4_5)),
    ("claude-opus-4-7", adaptive(2048, OPUS_4_5)),
    ("claude-opus-4-6", Facts { temperature: true, ..adaptive(4096, OPUS_4_5) }),
    ("claude-opus-4-5", budget(64_000, 4096, OPUS_4_5)),
    ("claude-opus-4-1", budget(32_000, 1024, OPUS_4)),
    ("claude-opus-4-2", budget(32_000, 1024, OPUS_4)),
    ("claude-opus-4-0", budget(32_000, 1024, OPUS_4)),
    ("claude-sonnet-5-5", always(512, usd(2.0, 10.0, 0.1, 2.5))),
    ("claude-sonnet-5", adaptive(1024, usd(2.0, 10.0, 0.2, 2.5))),
    ("claude-sonnet-4-6", Facts { temperature: true, ..adaptive(1024, SONNET_4) }),
    ("claude-sonnet-4-5", budget(64_000, 1024, SONNET_4)),
    ("claude-sonnet-4-2", budget(64_000, 1024, SONNET_4)),
    ("claude-sonnet-4-0", budget(64_000, 1024, SONNET_4)),
    ("claude-haiku-5-5", always(4096, long(usd(0.1, 0.5, 0.01, 0.125), 100_000, 5.0, 5.0))),
    ("claude-haiku-4-5", budget(64_000, 4096, usd(1.0, 5.0, 0.1, 1.25))),
    ("claude-3-7-sonnet", budget(64_000, 1024, SONNET_4)),
    ("claude-3-5-sonnet", Facts { thinking: Unasked, ..budget(8192, 1024, SONNET_4) }),
    (
        "claude-3-5-haiku",
        Facts { thinking: Unasked, ..budget(8192, 2048, usd(0.8, 4.0, 0.08, 1.0)) },
    ),
    ("claude-3", model(200_000, 4096)),
    ("claude", model(200_000, 32_000)),
    ("gpt-6-astra", gpt_6(usd(10.0, 50.0, 1.0, 12.5))),
    ("gpt-6.1-sol", gpt_6(usd(2.0, 10.0, 0.1, 2.5))),
    ("gpt-6-sol", gpt_6(usd(2.0, 10.0, 0.2, 2.5))),
    ("gpt-6-luna", gpt_6(usd(0.1, 0.5, 0.01, 0.125))),
    ("gpt-6", Facts { price: None, ..gpt_6(flat(0.0, 0.0, 0.0)) }),
    ("gpt-5.6-terra", gpt_6(usd(2.0, 12.0, 0.2, 2.5))),
    ("gpt-5.6", Facts { price: None, ..gpt_6(flat(0.0, 0.0, 0.0)) }),
    ("gpt-5.5", gpt_6(flat(5.0, 30.0, 0.5))),
    ("gpt-5.5-pro", gpt_6(flat(30.0, 180.0, 3.0))),
    ("gpt-5.4", gpt_6(flat(2.5, 15.0, 0.25))),
    ("gpt-5.4-mini", named(400_000, 128_000, flat(0.75, 4.5, 0.075))),
    ("gpt-5.4-nano", named(400_000, 128_000, flat(0.2, 1.25, 0.02))),
    ("gpt-5.3-codex", named(400_000, 128_000, flat(1.75, 14.0, 0.175))),
    ("gpt-5.2", named(400_000, 128_000, flat(1.75, 14.0, 0.175))),
    ("gpt-5", named(400_000, 128_000, flat(1.25, 10.0, 0.125))),
    ("gpt-5-mini", named(400_000, 128_000, flat(0.25, 2.0, 0.025))),
    ("gpt-5-nano", named(400_000, 128_000, flat(0.05, 0.4, 0.005))),
    ("gpt-5-pro", Facts { price: None, ..named(400_000, 128_000, flat(0.0, 0.0, 0.0)) }),
    ("gpt-5-chat", plain(128_000, 16_384, flat(1.25, 10.0, 0.125))),
    ("gpt-4.1", plain(1_047_576, 32_768, flat(2.0, 8.0, 0.5))),
    ("gpt-4.1-mini", plain(1_047_576, 32_768, flat(0.4, 1.6, 0.1))),
    ("gpt-4.1-nano", plain(1_047_576, 32_768, flat(0.1, 0.4, 0.025))),
    ("gpt-4o", plain(128_000, 16_384, flat(2.5, 10.0, 1.25))),
    ("gpt-4o-mini", plain(128_000, 16_384, flat(0.15, 0.6, 0.075))),
    ("gpt-oss", Facts { thinking: Named, ..blind(128 * K, 32 * K) }),
    ("o1", named(200_000, 100_000, flat(15.0, 60.0, 7.5))),
    ("o3", named(200_000, 100_000, flat(2.0, 8.0, 0.5))),
    ("o3-mini", Facts { images: Some(false), ..named(200_000, 100_000, flat(1.1, 4.4, 0.55)) }),
    ("o4-mini", named(200_000, 100_000, flat(1.1, 4.4, 0.275))),
    ("gemini-3", gemini(Named, 64 * K, None)),
    ("gemini-3.1-pro", gemini(Named, 64 * K, Some(long(flat(2.0, 12.0, 0.2), 200_000, 2.0, 1.5)))),
    ("gemini-3-pro", gemini(Named, 64 * K, Some(long(flat(2.0, 12.0, 0.2), 200_000, 2.0, 1.5)))),
    ("gemini-3.8-flash", gemini(Named, 64 * K, Some(flat(0.75, 3.75, 0.075)))),
    ("gemini-3.5-flash", gemini(Named, 64 * K, Some(flat(1.5, 9.0, 0.15)))),
    ("gemini-3-flash", gemini(Named, 64 * K, Some(flat(0.5, 3.0, 0.05)))),
    ("gemini-2.5", gemini(Budget, 65_535, None)),
    (
        "gemini-2.5-pro",
        gemini(Budget, 65_535, Some(long(flat(1.25, 10.0, 0.125), 200_000, 2.0, 1.5))),
    ),
    ("gemini-2.5-flash", gemini(Budget, 65_535, Some(flat(0.3, 2.5, 0.03)))),
    ("gemini-2.5-flash-lite", gemini(Budget, 65_535, Some(flat(0.1, 0.4, 0.01)))),
    ("gemini-2.0", gemini(Unasked, 8192, None)),
    ("deepseek-flash", model(M, 384_000)),
    ("deepseek-v4", model(M, 384_000)),
    ("mistral-large", model(128_000, 16_384)),
    ("mistral-medium", model(128_000, 16_384)),
    ("devstral", model(128_000, 16_384)),
    ("codestral", blind(256_000, 16_384)),
    ("magistral", model(128_000, 32_000)),
    ("kimi-k2", model(256 * K, 16_384)),
    ("qwen3-coder", blind(256 * K, 32 * K)),
    ("llama-3.3", blind(128 * K, 32 * K)),
];
