//! What is known of the models: sizes, and how each takes what a request can ask for.

/// One model. What is not known is what every model can do.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Facts {
    /// In tokens; 0 where it is not known.
    pub window: u32,
    /// The longest reply, in tokens.
    pub max_output: u32,
    pub thinking: ThinkingKind,
    /// Takes a temperature.
    pub temperature: bool,
}

/// How a model is told to think before it answers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ThinkingKind {
    /// There is nothing to say: it does not, or it does as it will.
    #[default]
    Unasked,
    /// With a number of tokens (Claude to 4.5, Gemini 2.5).
    Budget,
    /// As much as it sees fit, within a named effort (Claude from 4.6).
    Adaptive,
    /// With a named effort (GPT-5, o-series, Gemini 3, gpt-oss).
    Named,
}

const UNKNOWN: Facts =
    Facts { window: 0, max_output: 8192, thinking: ThinkingKind::Unasked, temperature: true };

const K: u32 = 1024;

/// Beginning of the model's name (behind the last `/`), window, longest reply; from the vendors' model pages.
const MODELS: [(&str, u32, u32); 34] = [
    ("claude-opus-4-1", 200_000, 32_000),
    ("claude-opus-4-2", 200_000, 32_000),
    ("claude-opus-4", 200_000, 64_000),
    ("claude-opus-4-0", 200_000, 32_000),
    ("claude-sonnet-4", 200_000, 64_000),
    ("claude-haiku-4", 200_000, 64_000),
    ("claude-3-7-sonnet", 200_000, 64_000),
    ("claude-3-5", 200_000, 8192),
    ("claude-3", 200_000, 4096),
    ("claude", 200_000, 32_000),
    ("gpt-5", 400_000, 128_000),
    ("gpt-5-chat", 128_000, 16_384),
    ("gpt-4.1", 1_047_576, 32_768),
    ("gpt-4o", 128_000, 16_384),
    ("gpt-oss", 128 * K, 32 * K),
    ("o1", 200_000, 100_000),
    ("o3", 200_000, 100_000),
    ("o4-mini", 200_000, 100_000),
    ("gemini-3", 1024 * K, 64 * K),
    ("gemini-2.5", 1024 * K, 65_535),
    ("gemini-2.0", 1024 * K, 8192),
    ("deepseek-chat", 128_000, 8192),
    ("deepseek-reasoner", 128_000, 32_000),
    ("mistral-large", 128_000, 16_384),
    ("mistral-medium", 128_000, 16_384),
    ("devstral", 128_000, 16_384),
    ("codestral", 256_000, 16_384),
    ("magistral", 128_000, 32_000),
    ("grok-4", 256_000, 32_000),
    ("grok-3", 131_072, 16_384),
    ("grok-code-fast", 256_000, 10_000),
    ("kimi-k2", 256 * K, 16_384),
    ("qwen3-coder", 256 * K, 32 * K),
    ("llama-3.3", 128 * K, 32 * K),
];

impl Facts {
    /// By the longest beginning that fits; for a model the table does not know, no window and a short reply.
    pub fn of(model: &str) -> Facts {
        let name = model.rsplit('/').next().unwrap_or(model).to_lowercase();
        MODELS
            .iter()
            .filter(|(start, ..)| name.starts_with(start))
            .max_by_key(|(start, ..)| start.len())
            .map_or(UNKNOWN, |&(_, window, max_output)| Facts { window, max_output, ..UNKNOWN })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_beginning_wins() {
        let of = |model: &str| (Facts::of(model).window, Facts::of(model).max_output);
        assert_eq!(of("claude-sonnet-4-5-20250929"), (200_000, 64_000));
        assert_eq!(of("claude-opus-4-20250514"), (200_000, 32_000));
        assert_eq!(of("claude-opus-4-5"), (200_000, 64_000));
        assert_eq!(of("anthropic/claude-3-5-haiku-latest"), (200_000, 8192));
        assert_eq!(of("Qwen/Qwen3-Coder-480B-A35B-Instruct-FP8"), (262_144, 32_768));
        assert_eq!(of("my-own"), (0, 8192));
    }
}
