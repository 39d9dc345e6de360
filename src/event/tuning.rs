//! The settings of a model (thinking, temperature, maximal output), and how they are written after the model's name.

use crate::message::Effort;
use crate::nearest;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A model's settings. For a missing setting, the provider's default applies.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Tuning {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thinking: Option<Effort>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// The most tokens of a reply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_output: Option<u32>,
}

const NAMES: [&str; 3] = ["thinking", "temperature", "max_output"];
const EFFORTS: [(&str, Effort); 5] = [
    ("off", Effort::Off),
    ("low", Effort::Low),
    ("medium", Effort::Medium),
    ("high", Effort::High),
    ("max", Effort::Max),
];

impl Tuning {
    /// Returns these settings, with each missing one taken from `other`.
    #[must_use]
    pub fn or(self, other: Tuning) -> Tuning {
        Tuning {
            thinking: self.thinking.or(other.thinking),
            temperature: self.temperature.or(other.temperature),
            max_output: self.max_output.or(other.max_output),
        }
    }

    pub fn is_empty(&self) -> bool {
        *self == Tuning::default()
    }

    /// Splits `openai/gpt-5 thinking=high temperature=0.2` into the model's name, which may be missing, and the
    /// settings. The error is a sentence.
    pub fn parse(text: &str) -> Result<(&str, Tuning), String> {
        let mut tuning = Tuning::default();
        let mut model = "";
        for word in text.split_whitespace() {
            match word.split_once('=') {
                Some((name, value)) => tuning.set(name, value)?,
                None if model.is_empty() => model = word,
                None => return Err(format!("Name one model, not both {model} and {word}.")),
            }
        }
        Ok((model, tuning))
    }

    fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
        let expected = match name {
            "thinking" => {
                self.thinking = EFFORTS.iter().find(|it| it.0 == value).map(|it| it.1);
                self.thinking.is_none().then_some("off, low, medium, high or max")
            }
            "temperature" => {
                self.temperature = value.parse().ok().filter(|it| (0.0..=2.0).contains(it));
                self.temperature.is_none().then_some("a number from 0 to 2")
            }
            "max_output" => {
                self.max_output = value.parse().ok().filter(|it| *it > 0);
                self.max_output.is_none().then_some("a number of tokens")
            }
            _ => {
                let hint = nearest::find(name, NAMES).map_or_else(
                    || format!("The settings are: {}.", NAMES.join(", ")),
                    |it| format!("Did you mean {it}?"),
                );
                return Err(format!("A model has no setting called {name}. {hint}"));
            }
        };
        expected.map_or(Ok(()), |it| Err(format!("{name} must be {it}, not `{value}`.")))
    }
}

/// Shows the settings in words, for example `thinking high, temperature 0.2`.
impl fmt::Display for Tuning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let effort = EFFORTS.iter().find(|it| Some(it.1) == self.thinking);
        let parts = [
            effort.map(|it| format!("thinking {}", it.0)),
            self.temperature.map(|it| format!("temperature {it}")),
            self.max_output.map(|it| format!("at most {it} tokens")),
        ];
        f.write_str(&parts.into_iter().flatten().collect::<Vec<_>>().join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    #[test]
    fn settings_after_a_models_name_are_read_or_refused_with_the_reason() {
        let lines = [
            "openai/gpt-5 thinking=high temperature=0.2 max_output=9",
            "thinking=off",
            "",
            "a b",
            "a thinkin=high",
            "a colour=red",
            "a thinking=hard",
            "a temperature=3",
            "a temperature=NaN",
            "a max_output=-1",
        ];
        let said = lines.map(|line| match Tuning::parse(line) {
            Ok((model, tuning)) => format!("[{model}] {tuning}\n"),
            Err(why) => format!("{why}\n"),
        });
        expect![[r#"
            [openai/gpt-5] thinking high, temperature 0.2, at most 9 tokens
            [] thinking off
            [] 
            Name one model, not both a and b.
            A model has no setting called thinkin. Did you mean thinking?
            A model has no setting called colour. The settings are: thinking, temperature, max_output.
            thinking must be off, low, medium, high or max, not `hard`.
            temperature must be a number from 0 to 2, not `3`.
            temperature must be a number from 0 to 2, not `NaN`.
            max_output must be a number of tokens, not `-1`.
        "#]]
        .assert_eq(&said.concat());
    }
}
