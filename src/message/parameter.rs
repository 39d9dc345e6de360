//! The parts of a request that can be left out, or sent in another form, if a server refuses them.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Parameter {
    /// The older of the two names that Chat Completions has for the limit of a reply; the other is
    /// `MaxCompletionTokens`.
    MaxTokens,
    MaxCompletionTokens,
    MaxOutputTokens,
    Temperature,
    /// How hard the model is to think, by name.
    Effort,
    /// The object that asks for reasoning.
    Reasoning,
    ReasoningSummary,
    /// Asks for thinking, or switches it off.
    Thinking,
    ThinkingDisplay,
    /// The header that lets a model think between its calls.
    InterleavedThinking,
    /// Asks for the usage of tokens at the end of a stream.
    StreamOptions,
    /// Tells the provider to store nothing.
    Store,
    PromptCacheKey,
    /// Asks for encrypted reasoning, which is sent back with the next request.
    Include,
    /// Marks which part of the request a cache keeps.
    CacheControl,
    /// Images. A sentence stands for each image that is left out.
    Images,
}
