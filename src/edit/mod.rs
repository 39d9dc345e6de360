//! A model's edits of a file, their results, and the user's decisions on them. Does no input or output.

mod back;
mod chunk;
mod decision;
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
mod plan;
mod resolve;
mod stack;
mod unified;
mod written;
#[cfg(test)]
mod tests;

pub use back::Back;
pub use chunk::Chunk;
pub use decision::{Decision, Reason, decisions, follow, reasons};
pub use formatted::Formatting;
pub use ladder::Rung;
pub use merge::{Merged, merge};
pub use outcome::{Reported, elsewhere, outcome, outcome_among};
pub use patch::parse as parse_patch;
pub use plan::{Changed, Refusal, Texts, apply};
pub use resolve::resolve;
pub use stack::{Manner, Stack};
pub use unified::{unified, whole_diff};
pub use written::{reformatted, written};

use crate::message::CallId;
use crate::text::Text;
use serde::Deserialize;
use std::fmt;
use std::path::{Path, PathBuf};

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

/// One edit of a tool call. A call is a list of edits, each applied to the result of the edit before it. Either all
/// edits of a call are applied or none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    /// The file's path: absolute once resolved; before that, as the model wrote it.
    pub path: PathBuf,
    pub change: Change,
}

impl Edit {
    /// The file's path, and its new path if it is renamed.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        let to = match &self.change {
            Change::Whole(whole) => whole.to(),
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
    /// The chunks of a patch, each of which matches at one place. Either all chunks are applied or none.
    Patch(Vec<Chunk>),
    /// The file gets the text `content`, but only if it still has the text with the hash `from` (`Text::sha256_hex`).
    Become {
        from: String,
        content: String,
    },
    /// The file is deleted or renamed; its text is not changed.
    Whole(Whole),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replacement {
    /// The text to replace. It must be in the file exactly once, unless `everywhere` is set.
    pub old: String,
    pub new: String,
    /// Replaces `old` at every place, from the top down. Places that overlap a replaced one are skipped.
    pub everywhere: bool,
}

/// Why an edit does not fit. `say` explains it to the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Misfit {
    /// The text does not contain `old`. `nearest` is the first line, from 1, of the most similar block. `is_stale` says
    /// that the text has changed since the model saw it.
    Absent { nearest: Option<u32>, old: String, is_stale: bool },
    /// `old` is at several places. `at` has the line, from 1, at which each place begins, for at most a hundred places.
    /// A line with two places is listed twice. `by` are the tolerances that were used.
    Ambiguous { at: Vec<u32>, by: Vec<Rung> },
    /// `old` and `new` are equal, or the file already has the written text.
    Unchanged,
    /// The text does not contain `old`, but already contains `new` at this line, from 1.
    AlreadyApplied { at: u32 },
    /// `old` is empty, but the file is not.
    EmptyOld,
    /// The file does not exist.
    NoFile,
    /// The file to be created already exists.
    Exists,
    /// Chunk `at` of `of`, counted from 1, does not fit. The misfit's `old` has the chunk's lines without the added
    /// lines.
    Chunk { at: usize, of: usize, misfit: Box<Misfit> },
    /// The call replaces the text of a whole file that the model has not read.
    Unread,
    /// The call replaces the text of a whole file, but the text has changed since the model read it.
    Stale,
    /// The file cannot be changed, for this reason: for example it is read-only, open in another Neovim, or a folder.
    Refused(String),
}

/// A change that waits for the user. All edits of one reply to one file form one proposal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proposal {
    /// The part of each call, in the order of the calls.
    pub parts: Vec<Part>,
    /// The file's absolute path.
    pub path: PathBuf,
    /// The text before the changes; `None` if the file is new.
    pub before: Option<Text>,
    pub after: Text,
    /// Whether the text is written to disk as soon as it is in the buffer, and reviewed afterwards.
    pub at_once: bool,
    pub whole: Option<Whole>,
    /// Whether the file is not text. Then `before` and `after` do not have its content.
    pub is_binary: bool,
}

/// A proposal to delete or rename a file. The file's text stays as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Whole {
    Delete,
    /// `to` is the new path, where no file exists. Absolute once resolved; before that, as the model wrote it.
    Rename {
        to: PathBuf,
    },
}

impl Whole {
    /// The file's new path, if it is renamed.
    pub fn to(&self) -> Option<&Path> {
        match self {
            Whole::Rename { to } => Some(to),
            Whole::Delete => None,
        }
    }
}

/// One call's part of a proposal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    pub call: CallId,
    /// How to get from the text after this part to the text before it. `Proposal::texts` restores the texts before all
    /// parts.
    pub back: Back,
    /// A note for the model, sent with the verdict: which differences were tolerated.
    pub note: String,
}

/// A text before a change and after it.
#[derive(Debug, Clone, Copy)]
pub struct Revision<'a> {
    pub before: &'a Text,
    pub after: &'a Text,
}

impl Proposal {
    /// The file's new path, if it is renamed.
    pub fn to(&self) -> Option<&Path> {
        self.whole.as_ref().and_then(Whole::to)
    }

    /// The text before the first part, and the text after each part.
    pub fn texts(&self) -> Vec<Text> {
        let mut texts = vec![self.after.clone()];
        for part in self.parts.iter().rev() {
            let after = texts.last().cloned().unwrap_or_default();
            texts.push(part.back.before(after).unwrap_or_default());
        }
        texts.reverse();
        texts
    }

    /// The texts before and after each part. A text before a part is `None` if there was no file.
    pub fn steps(&self) -> Vec<(Option<Text>, Text)> {
        let (mut after, mut steps) = (self.after.clone(), Vec::new());
        for part in self.parts.iter().rev() {
            let before = part.back.before(after.clone());
            steps.push((before.clone(), after));
            after = before.unwrap_or_default();
        }
        steps.reverse();
        steps
    }

    /// Forgets the notes, because the model has got them.
    pub fn told(&mut self) {
        self.parts.iter_mut().for_each(|part| part.note.clear());
    }
}

/// The fate of each hunk of a proposal's part, in the settled text: the text that the file has when the review is over.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outcome {
    pub hunks: Vec<Decided>,
    /// Whether another program may have changed the hunks' lines too.
    pub is_outside: bool,
}

/// The fate of one hunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decided {
    pub fate: Fate,
    pub since: Since,
    /// The hunk's line in the settled text, from 1.
    pub line: u32,
    /// The lines that are now in the hunk's place.
    pub lines: Vec<String>,
    /// The index of the first of `lines` in the settled text, from 0.
    pub from: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    Kept,
    Undone,
    /// Accepted, and then changed by a formatter.
    Formatted,
    /// Only some of the hunk's lines were accepted.
    Part,
    /// The lines in the hunk's place are neither the proposed lines nor the old lines.
    Reworked,
    /// A later edit of the model changed the hunk's lines again.
    Superseded,
    /// A formatter has taken the hunk back as the file was written.
    Reverted,
    /// Another program has thrown the hunk away on disk before the user decided on it.
    Thrown,
    /// The review ended without the user's decision on the hunk.
    Left,
}

/// What happened to a hunk's lines after the hunk's fate was decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Since {
    /// Nothing.
    Same,
    /// They are neither the proposed lines nor the old lines.
    Edited,
    /// They are the opposite: the file has the proposed lines of a rejected hunk or of one that a program took away, or
    /// the old lines of an accepted hunk or of one that the user left.
    Reversed,
}

impl Decided {
    /// Whether the file has the old lines in the hunk's place.
    pub fn is_absent(&self) -> bool {
        match self.fate {
            Fate::Undone | Fate::Reverted | Fate::Thrown => self.since == Since::Same,
            Fate::Kept | Fate::Left => self.since == Since::Reversed,
            Fate::Formatted | Fate::Part | Fate::Reworked | Fate::Superseded => false,
        }
    }
}
