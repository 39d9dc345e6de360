//! The built-in endpoints.

use crate::provider::dialect::{Dialect, Quirks};
use crate::provider::facts::newest;

pub(super) struct Row {
    pub(super) name: &'static str,
    pub(super) base_url: &'static str,
    /// The environment variable that has the key; empty if no key is needed.
    pub(super) key: &'static str,
    /// The environment variable that overrides the base URL; empty if there is none.
    pub(super) base_variable: &'static str,
    pub(super) dialect: Dialect,
    pub(super) quirks: Quirks,
    /// The default model, by name or as a pattern that stands for the newest model of a line (`claude-sonnet-*`).
    /// Empty if the user has to choose.
    model: &'static str,
}

impl Row {
    /// The default model's name; empty if there is none.
    pub(super) fn default_model(&self) -> String {
        named(self.model)
    }

    /// The newest Claude model of this line, such as `opus`; `None` if the provider is not known to have one.
    pub(super) fn claude(&self, line: &str) -> Option<String> {
        let (house, name) = self.model.rsplit_once('/').unwrap_or(("", self.model));
        let pattern = format!("claude-{line}-*");
        let has = name.starts_with("claude-") && !newest(&pattern).is_empty();
        has.then(|| match house {
            "" => named(&pattern),
            house => named(&format!("{house}/{pattern}")),
        })
    }

    pub(super) fn has_default(&self) -> bool {
        !self.model.is_empty()
    }
}

/// The name of a model that is given by name or as a pattern.
fn named(model: &str) -> String {
    if !model.contains('*') {
        return model.to_owned();
    }
    match model.split_once('/') {
        Some((house, line)) => format!("{house}/{}", dotted(newest(line))),
        None => newest(model).to_owned(),
    }
}

/// The model's name in `OpenRouter`'s spelling: `claude-sonnet-5.5` for `claude-sonnet-5-5`.
fn dotted(name: &str) -> String {
    let is_number = |it: &str| it.bytes().all(|byte| byte.is_ascii_digit());
    match name.rsplit_once('-') {
        Some((rest, minor)) if is_number(minor) && rest.ends_with(|c: char| c.is_ascii_digit()) => {
            format!("{rest}.{minor}")
        }
        _ => name.to_owned(),
    }
}

pub(super) const PLAIN: Quirks = Quirks::NONE;

/// The quirks of vendors whose models show their thoughts, and think only if the request asks for it.
const SWITCHED: Quirks = Quirks { reasoning_back: true, thinking_switch: true, ..PLAIN };

/// The quirks of servers that format the conversation with the model's own chat template.
const TEMPLATE: Quirks = Quirks { alternate: true, ..PLAIN };

const fn row(
    name: &'static str,
    base_url: &'static str,
    key: &'static str,
    model: &'static str,
) -> Row {
    Row {
        name,
        base_url,
        key,
        base_variable: "",
        dialect: Dialect::OpenAiChat,
        quirks: PLAIN,
        model,
    }
}

/// The built-in endpoints. If the user has chosen no model, the first one that has a key is used.
pub(super) const TABLE: [Row; 20] = [
    Row {
        base_variable: "ANTHROPIC_BASE_URL",
        dialect: Dialect::Anthropic,
        ..row("anthropic", "https://api.anthropic.com", "ANTHROPIC_API_KEY", "claude-sonnet-*")
    },
    Row {
        base_variable: "OPENAI_BASE_URL",
        dialect: Dialect::OpenAiResponses,
        quirks: Quirks { completion_tokens: true, ..PLAIN },
        ..row("openai", "https://api.openai.com/v1", "OPENAI_API_KEY", "gpt-*-sol")
    },
    Row {
        base_variable: "GOOGLE_GEMINI_BASE_URL",
        dialect: Dialect::Gemini,
        ..row(
            "gemini",
            "https://generativelanguage.googleapis.com",
            "GEMINI_API_KEY",
            "gemini-*-flash",
        )
    },
    Row {
        quirks: Quirks { reasoning_object: true, cache_marks: true, ..PLAIN },
        ..row(
            "openrouter",
            "https://openrouter.ai/api/v1",
            "OPENROUTER_API_KEY",
            "anthropic/claude-sonnet-*",
        )
    },
    row("groq", "https://api.groq.com/openai/v1", "GROQ_API_KEY", "openai/gpt-oss-120b"),
    Row {
        quirks: SWITCHED,
        ..row("deepseek", "https://api.deepseek.com/v1", "DEEPSEEK_API_KEY", "deepseek-v4-pro")
    },
    Row {
        quirks: Quirks {
            no_stream_options: true,
            short_ids: true,
            thinking_parts: true,
            reply_after_tool: true,
            ..PLAIN
        },
        ..row("mistral", "https://api.mistral.ai/v1", "MISTRAL_API_KEY", "devstral-medium-latest")
    },
    row("xai", "https://api.x.ai/v1", "XAI_API_KEY", "grok-code-fast-1"),
    row("together", "https://api.together.xyz/v1", "TOGETHER_API_KEY", "openai/gpt-oss-120b"),
    row("cerebras", "https://api.cerebras.ai/v1", "CEREBRAS_API_KEY", "gpt-oss-120b"),
    row("fireworks", "https://api.fireworks.ai/inference/v1", "FIREWORKS_API_KEY", ""),
    Row {
        quirks: SWITCHED,
        ..row("moonshot", "https://api.moonshot.ai/v1", "MOONSHOT_API_KEY", "")
    },
    Row { quirks: SWITCHED, ..row("zai", "https://api.z.ai/api/paas/v4", "ZAI_API_KEY", "") },
    row("nvidia", "https://integrate.api.nvidia.com/v1", "NVIDIA_API_KEY", ""),
    row("huggingface", "https://router.huggingface.co/v1", "HF_TOKEN", ""),
    Row {
        base_variable: "AZURE_OPENAI_ENDPOINT",
        quirks: Quirks { completion_tokens: true, ..PLAIN },
        ..row("azure", "", "AZURE_OPENAI_API_KEY", "")
    },
    Row {
        base_variable: "OLLAMA_HOST",
        dialect: Dialect::Ollama,
        ..row("ollama", "http://127.0.0.1:11434", "", "")
    },
    Row { quirks: TEMPLATE, ..row("llamacpp", "http://127.0.0.1:8080/v1", "", "") },
    Row { quirks: TEMPLATE, ..row("lmstudio", "http://127.0.0.1:1234/v1", "", "") },
    Row { quirks: TEMPLATE, ..row("vllm", "http://127.0.0.1:8000/v1", "", "") },
];
