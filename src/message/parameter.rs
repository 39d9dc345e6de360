//! Parts of a request that it can do without, or can say in another way, where a server refuses them.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Parameter {
    /// Of the two names for the limit of a reply in Chat Completions, one is as good as the other.
    MaxTokens,
    MaxCompletionTokens,
    MaxOutputTokens,
    Temperature,
    /// How much the model is to think, by name.
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
    /// Asks for sealed reasoning, which goes back with the next request.
    Include,
    /// Marks what a cache is to keep.
    CacheControl,
}
