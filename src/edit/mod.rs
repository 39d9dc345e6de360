//! A model's edits of a file, their results, and the user's decisions on them. Does no input or output.

mod back;
mod change;
mod chunk;
mod decision;
mod fate;
mod fold;
mod formatted;
pub mod kept;
mod ladder;
mod later;
mod lines;
mod merge;
mod misfit;
mod nearest;
mod numbers;
mod outcome;
mod patch;
mod places;
mod plan;
mod resolve;
mod sides;
mod stack;
mod unified;
mod written;
#[cfg(test)]
mod tests;

pub use back::Back;
pub use change::{Change, Edit, Part, Proposal, Replacement, Whole};
pub use chunk::Chunk;
pub use decision::{Decision, Reason, decisions, follow, reasons};
pub use fate::{Decided, Fate, Outcome, Revision, Since};
pub use formatted::{Formatting, formatted_since};
pub use ladder::Rung;
pub use merge::{Merged, merge};
pub use misfit::Misfit;
pub use outcome::{Reported, elsewhere, outcome_among};
pub use patch::parse as parse_patch;
pub use plan::{Changed, Refusal, Texts, apply};
pub use resolve::resolve;
pub use sides::outcome;
pub use stack::{Manner, Stack};
pub use unified::{unified, whole_diff};
pub use written::{reformatted, written};

use serde::Deserialize;
use std::fmt;

/// The format in which a model writes edits, which depends on its training.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// Each edit gives the old and the new text. The tools are `edit` and `write`.
    #[default]
    Replace,
    /// Patches in the format of `apply_patch`.
    Patch,
    /// Whole files only, for models that are too small to repeat a text exactly.
    Whole,
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Format::Replace => "replace",
            Format::Patch => "patch",
            Format::Whole => "whole",
        })
    }
}
