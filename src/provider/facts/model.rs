//! What is known about one model.

use crate::edit::Format;

/// The facts about one model. Facts that are not known have values that work with every model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Facts {
    /// The context window in tokens; 0 if not known.
    pub window: u32,
    /// The longest reply, in tokens.
    pub max_output: u32,
    pub thinking: ThinkingKind,
    /// Whether the model accepts a temperature.
    pub temperature: bool,
    /// Whether the model reads images. `None` if that is not known: then images are sent until a server refuses them.
    pub images: Option<bool>,
    /// The fewest tokens of a prompt that the provider caches; 0 if the provider caches nothing, or if the number is
    /// not known.
    pub cache_minimum: u32,
    /// The price of tokens; `None` if it is not known.
    pub price: Option<Price>,
    /// The format in which the model writes edits.
    pub edits: Format,
    /// Whether the model's thoughts are valid only after exactly the messages before them, so that these messages may
    /// not change any more.
    pub bound: bool,
}

/// How a model is told to think before it answers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ThinkingKind {
    /// A request says nothing about thinking: the model does not think, or decides by itself.
    #[default]
    Unasked,
    /// A request names a number of tokens for thinking (Claude up to 4.5, Gemini 2.5).
    Budget,
    /// A request names an effort, within which the model decides how much it thinks (Claude from 4.6).
    Adaptive,
    /// Like `Adaptive`, but thinking cannot be switched off (Claude from 5.5, Fable).
    Always,
    /// A request names an effort (GPT-5, o-series, Gemini 3, gpt-oss).
    Named,
}

/// Prices in USD per million tokens.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Price {
    /// The price of tokens that were neither read from the cache nor written to it.
    pub input: f64,
    pub output: f64,
    pub cache_read: f64,
    pub cache_write: f64,
    /// For long prompts: the number of tokens above which a prompt is long, and the factors by which the prices of
    /// input and output rise.
    pub long: Option<(u64, f64, f64)>,
}

pub(super) const UNKNOWN: Facts = Facts {
    window: 0,
    max_output: 8192,
    thinking: ThinkingKind::Unasked,
    temperature: true,
    images: None,
    cache_minimum: 0,
    price: None,
    edits: Format::Replace,
    bound: false,
};
