//! What a model asks of a file, what it becomes, and what the user made of it. Pure.

mod chunk;
mod decision;
mod fold;
mod formatted;
pub mod kept;
mod ladder;
mod lines;
mod merge;
mod misfit;
mod nearest;
mod numbers;
mod outcome;
mod patch;
mod plan;
mod resolve;
mod unified;
mod written;
#[cfg(test)]
mod tests;

pub use chunk::Chunk;
pub use decision::{Decision, decisions, follow};
pub use formatted::Formatting;
pub use ladder::Rung;
pub use merge::{Merged, merge};
pub use outcome::{Told, elsewhere, outcome, outcome_among, reasons};
pub use patch::parse as parse_patch;
pub use plan::{Changed, Refusal, Texts, apply};
pub use resolve::resolve;
pub use unified::unified;
pub use written::{reformatted, written};

use crate::message::CallId;
use crate::text::Text;
use serde::Deserialize;
use std::fmt;
use std::path::{Path, PathBuf};

/// How a model writes its edits: by what it was trained on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// Old text and new, with the tools `edit` and `write`.
    #[default]
    Replace,
    /// The grammar of `apply_patch`.
    Patch,
    /// Whole files only, for models too small to repeat a text exactly.
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

/// One step of an edit call. A call is a list of them, each applied to the result of the one before, all or none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    /// Absolute, or as the model gave it until it is resolved.
    pub path: PathBuf,
    pub change: Change,
}

impl Edit {
    /// The file, and the path it is to have, if another.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        let to = match &self.change {
            Change::Whole(Whole::Rename { to }) => Some(to.as_path()),
            _ => None,
        };
        [self.path.as_path()].into_iter().chain(to)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    Replace(Replacement),
    /// The whole text of a new or an existing file.
    Write {
        text: String,
    },
    /// A new file, which must not exist.
    Create {
        text: String,
    },
    /// Each chunk at its one place; all of them, or none.
    Patch(Vec<Chunk>),
    /// The very text that another was made to, which was known by its hash (`Text::sha256_hex`).
    Become {
        from: String,
        content: String,
    },
    /// The text stays as it is.
    Whole(Whole),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replacement {
    /// Must stand in the text exactly once, unless `everywhere`.
    pub old: String,
    pub new: String,
    /// Replaces every place from the top, none overlapping the one before.
    pub everywhere: bool,
}

/// What a change makes of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fit {
    pub text: Text,
    /// For the model: what was tolerated, and where; empty where the match was exact.
    pub note: String,
}

/// Why an edit does not fit. `say` explains it to the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Misfit {
    /// `old` is nowhere; the line (from 1) where the block nearest to it begins, and whether the text is another than
    /// the model has seen.
    Absent { nearest: Option<u32>, old: String, is_stale: bool },
    /// `old` begins at each of these lines (from 1, a line twice if it does so twice); the first hundred places.
    Ambiguous { at: Vec<u32>, by: Vec<Rung> },
    /// `old` and `new` are the same, or the written text is the file's.
    Unchanged,
    /// `old` is absent and `new` is there already, at this line (from 1).
    AlreadyApplied { at: u32 },
    /// `old` is empty and the file is not.
    EmptyOld,
    /// The file does not exist.
    NoFile,
    /// The file that was to be created does exist.
    Exists,
    /// One of a patch's chunks (`at` from 1, of so many) does not fit; for it `old` is its lines but the added ones.
    Chunk { at: usize, of: usize, misfit: Box<Misfit> },
    /// A whole-file write over a text the model has not read.
    Unread,
    /// A whole-file write over a text that changed since the model read it.
    Stale,
    /// The file cannot be changed, and why: read-only, not modifiable, open elsewhere, a folder …
    Refused(String),
}

/// A change that waits for the user. All edits of one reply to one file make one proposal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proposal {
    /// Each call's own part: the text before it and after it. Never empty; each begins where the one before ended.
    pub parts: Vec<Part>,
    /// Absolute.
    pub path: PathBuf,
    /// `None`: the file is new.
    pub before: Option<Text>,
    pub after: Text,
    /// Written as soon as it is in the buffer, and reviewed afterwards.
    pub at_once: bool,
    pub whole: Option<Whole>,
    /// It is no text: `before` and `after` say nothing of it.
    pub is_binary: bool,
}

/// What is proposed for a file as a whole, its text left alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Whole {
    Delete,
    /// Absolute, or as the model gave it until it is resolved; nothing is there.
    Rename {
        to: PathBuf,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    pub call: CallId,
    pub before: Text,
    pub after: Text,
    /// For the model, with the verdict: what was tolerated.
    pub note: String,
}

impl Proposal {
    /// The path that the file is to have, if another.
    pub fn to(&self) -> Option<&Path> {
        match &self.whole {
            Some(Whole::Rename { to }) => Some(to),
            _ => None,
        }
    }

    /// It was written, and the model told: what stood there then (`None`: what was proposed) is what the user reviews.
    pub fn written_as(&mut self, text: Option<&Text>) {
        self.parts.iter_mut().for_each(|part| part.note.clear());
        if let (Some(text), Some(last)) = (text, self.parts.last_mut()) {
            self.after.clone_from(text);
            last.after.clone_from(text);
        }
    }
}

/// What became of one part's hunks in the text the user settled on.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outcome {
    pub hunks: Vec<Decided>,
}

/// One hunk's fate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decided {
    pub fate: Fate,
    /// It was accepted or rejected, and the text in its place changed after that.
    pub is_edited: bool,
    /// Where it stands in the settled text, from 1.
    pub line: u32,
    /// The lines that stand there now.
    pub lines: Vec<String>,
    /// Where `lines` begin in the settled text, from 0.
    pub from: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    Kept,
    Undone,
    /// Kept, but a formatter has laid it out anew.
    Formatted,
    /// Some of its lines were accepted.
    Part,
    /// Neither what was proposed nor what was there before.
    Reworked,
    /// A later edit of the model's changed it again.
    Superseded,
}
