//! The dialects by name, and the address at which each takes a request.

use crate::provider::facts::ThinkingKind;
use serde::Deserialize;

/// A protocol spoken over HTTP. Its name in the configuration is the value of `providers.*.dialect`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Dialect {
    Anthropic,
    #[serde(rename = "openai-chat")]
    OpenAiChat,
    #[serde(rename = "openai-responses")]
    OpenAiResponses,
    Gemini,
    Ollama,
}

impl Dialect {
    /// The dialect with this name in the configuration.
    pub fn named(name: &str) -> Option<Dialect> {
        match name {
            "anthropic" => Some(Dialect::Anthropic),
            "openai-chat" | "openai" => Some(Dialect::OpenAiChat),
            "openai-responses" => Some(Dialect::OpenAiResponses),
            "gemini" => Some(Dialect::Gemini),
            "ollama" => Some(Dialect::Ollama),
            _ => None,
        }
    }

    /// The address to which a request for this model is sent, made from the endpoint's base URL. `{model}` in the base
    /// URL is replaced by the model's name. A query in the base URL stays at the end.
    pub fn url(self, base: &str, model: &str) -> String {
        let (place, query) = base.split_at(base.find('?').unwrap_or(base.len()));
        let place = place.replace("{model}", model);
        match self {
            Dialect::Anthropic => format!("{place}/v1/messages{query}"),
            Dialect::OpenAiChat => format!("{place}/chat/completions{query}"),
            Dialect::OpenAiResponses => format!("{place}/responses{query}"),
            Dialect::Gemini => {
                let model = model.strip_prefix("models/").unwrap_or(model);
                format!("{place}/v1beta/models/{model}:streamGenerateContent?alt=sse")
            }
            Dialect::Ollama => format!("{place}/api/chat{query}"),
        }
    }

    /// How a model of this dialect is told to think, if the table of known models does not have the model.
    pub fn thinking(self) -> ThinkingKind {
        if self == Dialect::Anthropic { ThinkingKind::Budget } else { ThinkingKind::Named }
    }
}
