//! Translates the effort that the user has chosen into the form that a model accepts.

use super::facts::{Facts, ThinkingKind};
use crate::message::{Effort, Thinking};

/// The smallest thinking budget, in tokens, that Anthropic accepts. Gemini accepts smaller ones.
const LEAST: u32 = 1024;

impl Facts {
    /// How a request that limits its reply to `max_tokens` asks for thinking. If the user has chosen no effort, models
    /// with a budget do not think, and other models use the provider's default.
    pub fn thinking(&self, effort: Option<Effort>, max_tokens: u32) -> Option<Thinking> {
        match (self.thinking, effort) {
            (ThinkingKind::Unasked, _) | (ThinkingKind::Budget | ThinkingKind::Named, None) => None,
            (ThinkingKind::Always, Some(Effort::Off)) => Some(Thinking::Adaptive(Effort::Low)),
            (_, Some(Effort::Off)) => Some(Thinking::Off),
            (ThinkingKind::Budget, Some(effort)) => budget(effort, max_tokens),
            // `high` is the vendor's own default
            (ThinkingKind::Adaptive | ThinkingKind::Always, None) => {
                Some(Thinking::Adaptive(Effort::High))
            }
            (ThinkingKind::Adaptive | ThinkingKind::Always, Some(effort)) => {
                Some(Thinking::Adaptive(effort))
            }
            (ThinkingKind::Named, Some(effort)) => Some(Thinking::Named(effort)),
        }
    }
}

/// The thinking budget for an effort. Thinking counts towards the limit of the reply, so a quarter of the limit is left
/// for the answer. `None` if too few tokens remain for thinking.
fn budget(effort: Effort, max_tokens: u32) -> Option<Thinking> {
    let wanted = match effort {
        Effort::Off => 0,
        Effort::Low => 2048,
        Effort::Medium => 8192,
        Effort::High => 16_384,
        // the largest budget that all Gemini 2.5 models accept
        Effort::Max => 24_576,
    };
    let tokens = wanted.min(max_tokens - max_tokens / 4);
    (tokens >= LEAST && tokens < max_tokens).then_some(Thinking::Budget(tokens))
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;
    use std::fmt::Write;

    #[test]
    fn an_effort_becomes_the_kind_of_thinking_that_the_model_offers() {
        let mut text = String::new();
        let efforts = [Effort::Off, Effort::Low, Effort::Medium, Effort::High, Effort::Max];
        let efforts = efforts.map(Some);
        let kinds = [
            ThinkingKind::Unasked,
            ThinkingKind::Budget,
            ThinkingKind::Adaptive,
            ThinkingKind::Always,
            ThinkingKind::Named,
        ];
        for thinking in kinds {
            let facts = Facts { thinking, ..Facts::of("my-own") };
            for effort in std::iter::once(None).chain(efforts) {
                let said = facts.thinking(effort, 32_000);
                writeln!(text, "{thinking:?} {effort:?}: {said:?}").unwrap();
            }
        }
        expect![[r#"
            Unasked None: None
            Unasked Some(Off): None
            Unasked Some(Low): None
            Unasked Some(Medium): None
            Unasked Some(High): None
            Unasked Some(Max): None
            Budget None: None
            Budget Some(Off): Some(Off)
            Budget Some(Low): Some(Budget(2048))
            Budget Some(Medium): Some(Budget(8192))
            Budget Some(High): Some(Budget(16384))
            Budget Some(Max): Some(Budget(24000))
            Adaptive None: Some(Adaptive(High))
            Adaptive Some(Off): Some(Off)
            Adaptive Some(Low): Some(Adaptive(Low))
            Adaptive Some(Medium): Some(Adaptive(Medium))
            Adaptive Some(High): Some(Adaptive(High))
            Adaptive Some(Max): Some(Adaptive(Max))
            Always None: Some(Adaptive(High))
            Always Some(Off): Some(Adaptive(Low))
            Always Some(Low): Some(Adaptive(Low))
            Always Some(Medium): Some(Adaptive(Medium))
            Always Some(High): Some(Adaptive(High))
            Always Some(Max): Some(Adaptive(Max))
            Named None: None
            Named Some(Off): Some(Off)
            Named Some(Low): Some(Named(Low))
            Named Some(Medium): Some(Named(Medium))
            Named Some(High): Some(Named(High))
            Named Some(Max): Some(Named(Max))
        "#]]
        .assert_eq(&text);
    }

    #[test]
    fn a_thinking_budget_leaves_tokens_for_the_answer() {
        let facts = Facts { thinking: ThinkingKind::Budget, ..Facts::of("my-own") };
        let tokens = |max| facts.thinking(Some(Effort::Max), max);
        assert_eq!(tokens(8192), Some(Thinking::Budget(6144)));
        assert_eq!(tokens(1366), Some(Thinking::Budget(1025)));
        assert_eq!(tokens(1024), None);
        assert_eq!(tokens(0), None);
    }
}
