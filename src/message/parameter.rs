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
    /// How hard the model should think, as a word such as `low` or `high`.
    Effort,
    /// The object that asks for reasoning.
    Reasoning,
    ReasoningSummary,
    /// Asks for thinking, or switches it off.
    Thinking,
    ThinkingDisplay,
    /// The header that lets a model think between its tool calls.
    InterleavedThinking,
    /// Asks for the usage of tokens at the end of a stream.
    StreamOptions,
    /// Tells the provider not to store the conversation.
    Store,
    PromptCacheKey,
    /// Asks for encrypted reasoning, which is sent back with the next request.
    Include,
    /// Marks the part of the request that the provider should cache.
    CacheControl,
    /// Images. Each image that is left out is replaced by a sentence.
    Images,
    /// The system prompt. Its text then begins the first message.
    System,
    /// The provider's own search of the web.
    Search,
}
