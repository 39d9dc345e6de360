//! Facts about models: sizes, prices, and the form in which each model accepts the parameters of a request. The user's
//! configuration overrides the table.

mod model;
mod table;

pub use model::{Facts, Price, ThinkingKind};

use crate::edit::Format;
use crate::event::Tuning;
use crate::message::{Effort, Usage};
use model::UNKNOWN;
use serde::Deserialize;

/// The share of a model's window at which a conversation is trimmed or compacted. `None` means never.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Share(pub Option<f64>);

impl Share {
    pub const NEVER: Share = Share(None);
    /// The default shares for trimming and for compacting.
    pub const TRIM: Share = Share(Some(0.5));
    pub const COMPACT: Share = Share(Some(0.75));

    /// The number of tokens that are this share of a window.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a window is far below 2^52, and a share is from 0 to 1"
    )]
    pub fn of(self, window: u64) -> Option<u64> {
        self.0.map(|it| (window as f64 * it.clamp(0.0, 1.0)) as u64)
    }
}

/// The settings `models['provider/model']` of the configuration.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct UserModel {
    pub window: Option<u32>,
    pub price: Option<Price>,
    /// The size of the context window, in tokens, that a request asks a local server for.
    pub num_ctx: Option<u32>,
    pub edits: Option<Format>,
    /// Whether the model reads images.
    pub vision: Option<bool>,
    /// How the model calls tools.
    pub calls: Option<Calls>,
    pub tuning: Tuning,
    pub trim: Option<Share>,
    pub compact: Option<Share>,
}

/// How a model calls tools.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Calls {
    /// In the form that the dialect has for it.
    #[default]
    Native,
    /// In its text, because the server does not know the form of the model's calls.
    Text,
}

/// Models with at most this many billion parameters write whole files, because they are bad at repeating a part of a
/// file exactly.
const SMALL: f64 = 9.0;

impl Facts {
    /// The facts about a model, from the table's entry whose name is the longest prefix of the model's name. If there
    /// is no such entry, the window is unknown and the limit of replies is low.
    pub fn of(model: &str) -> Facts {
        let name = plain(model);
        place(&name).map_or(UNKNOWN, |at| table::MODELS[at].1).writing(edits(&name))
    }

    fn writing(self, edits: Format) -> Facts {
        Facts { edits, ..self }
    }

    /// These facts, overridden by the user's configuration. If only the user says that the model can think, `kind` is
    /// how the model is told to think.
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
            images: user.vision.or(self.images),
            ..self
        }
    }
}

/// The model's name in lower case, without the vendor's name before the last `/`.
fn plain(model: &str) -> String {
    model.rsplit('/').next().unwrap_or(model).to_lowercase()
}

/// The index of the table's entry whose name is the longest prefix of a model's plain name.
fn place(name: &str) -> Option<usize> {
    // `OpenRouter` writes `claude-sonnet-4.5` for `claude-sonnet-4-5`
    let dashed = name.replace('.', "-");
    let rows = table::MODELS.iter().enumerate();
    rows.filter(|(_, (start, _))| name.starts_with(start) || dashed.starts_with(start))
        .max_by_key(|(_, (start, _))| start.len())
        .map(|(at, _)| at)
}

/// A sort key for models of one line, such as `claude-sonnet-*`: the newest comes first, unknown models come last.
pub fn rank(model: &str) -> usize {
    place(&plain(model)).unwrap_or(usize::MAX)
}

/// The newest model of a line such as `claude-sonnet-*`, where `*` stands for the version: the first match in the
/// table.
pub fn newest(line: &str) -> &'static str {
    let (start, end) = line.split_once('*').unwrap_or((line, ""));
    let mut names = table::MODELS.iter().map(|(name, _)| *name);
    names.find(|it| it.starts_with(start) && it.ends_with(end)).unwrap_or_default()
}

/// The format in which a model with this name writes edits. The name has to be in lower case.
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
    /// The cost of one request and its reply, in USD.
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
