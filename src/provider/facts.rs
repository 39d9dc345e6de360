//! What is known of the models: sizes, prices, and how each takes what a request can ask for. The user's own
//! word stands before the table's.

mod table;

use crate::edit::Format;
use crate::event::Tuning;
use crate::message::{Effort, Usage};

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
    /// Reads images.
    pub images: bool,
    /// Fewest tokens of a prompt that the provider caches; 0 where it caches none, or it is not known.
    pub cache_minimum: u32,
    /// Absent where it is not known.
    pub price: Option<Price>,
    /// How it writes its edits.
    pub edits: Format,
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
    /// The same, and it cannot be kept from it (Claude from 5.5, Fable).
    Always,
    /// With a named effort (GPT-5, o-series, Gemini 3, gpt-oss).
    Named,
}

/// USD per million tokens.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Price {
    /// Of what neither came from the cache nor went into it.
    pub input: f64,
    pub output: f64,
    pub cache_read: f64,
    pub cache_write: f64,
    /// For a prompt of more than so many tokens: what is read and what is written cost so many times as much.
    pub long: Option<(u64, f64, f64)>,
}

/// `models['provider/model']` of the configuration.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct UserModel {
    pub window: Option<u32>,
    pub price: Option<Price>,
    /// The window that a server on this machine is told to give it, in tokens.
    pub num_ctx: Option<u32>,
    pub edits: Option<Format>,
    pub tuning: Tuning,
}

const UNKNOWN: Facts = Facts {
    window: 0,
    max_output: 8192,
    thinking: ThinkingKind::Unasked,
    temperature: true,
    images: false,
    cache_minimum: 0,
    price: None,
    edits: Format::Replace,
};

/// Models of so many billion parameters or fewer are better at writing a file anew than at repeating a part of it
/// exactly (reference: harness.md §1.1).
const SMALL: f64 = 9.0;

impl Facts {
    /// By the longest beginning that fits; for a model the table does not know, no window and a short reply.
    pub fn of(model: &str) -> Facts {
        let name = model.rsplit('/').next().unwrap_or(model).to_lowercase();
        // OpenRouter writes `claude-sonnet-4.5`.
        let dashed = name.replace('.', "-");
        table::MODELS
            .iter()
            .filter(|(start, _)| name.starts_with(start) || dashed.starts_with(start))
            .max_by_key(|(start, _)| start.len())
            .map_or(UNKNOWN, |(_, facts)| *facts)
            .writing(edits(&name))
    }

    fn writing(self, edits: Format) -> Facts {
        Facts { edits, ..self }
    }

    /// With the user's word on the model. `kind` is how it is told to think where only the user knows that it does.
    #[must_use]
    pub fn with(self, user: &UserModel, kind: ThinkingKind) -> Facts {
        let says_effort = user.tuning.thinking.is_some_and(|it| it != Effort::Off);
        let unasked = self.thinking == ThinkingKind::Unasked;
        Facts {
            window: user.window.or(user.num_ctx).unwrap_or(self.window),
            max_output: user.tuning.max_output.unwrap_or(self.max_output),
            thinking: if says_effort && unasked { kind } else { self.thinking },
            temperature: self.temperature || user.tuning.temperature.is_some(),
            price: user.price.or(self.price),
            edits: user.edits.unwrap_or(self.edits),
            ..self
        }
    }
}

/// The newest model of a line, whose name is written with a `*` for the version: the table's first of it.
pub fn newest(line: &str) -> &'static str {
    let (start, end) = line.split_once('*').unwrap_or((line, ""));
    let mut names = table::MODELS.iter().map(|(name, _)| *name);
    names.find(|it| it.starts_with(start) && it.ends_with(end)).unwrap_or_default()
}

/// How a model of this name, in lower case, writes its edits.
fn edits(name: &str) -> Format {
    let parts = name.split(|c: char| !c.is_ascii_alphanumeric() && c != '.');
    let billions = parts.filter_map(|it| it.strip_suffix('b')?.parse::<f64>().ok());
    let size = billions.reduce(f64::max);
    if table::PATCHING.iter().any(|start| name.starts_with(start)) {
        Format::Patch
    } else if size.is_some_and(|it| it <= SMALL) {
        Format::Whole
    } else {
        Format::Replace
    }
}

impl Price {
    /// What one request and its reply cost, in USD.
    #[expect(clippy::cast_precision_loss, reason = "token counts are far below 2^52")]
    pub fn of(&self, usage: Usage) -> f64 {
        let (read, written) = match self.long {
            Some((above, read, written)) if usage.read() > above => (read, written),
            _ => (1.0, 1.0),
        };
        let prompt = self.input * usage.input as f64
            + self.cache_read * usage.cache_read as f64
            + self.cache_write * usage.cache_write as f64;
        (read * prompt + written * self.output * usage.output as f64) / 1e6
    }
}

#[cfg(test)]
mod tests;
