//! Edits of a model's calls, and the proposals that they become.

use super::back::Back;
use super::chunk::Chunk;
use crate::message::CallId;
use crate::text::{Text, reviewed_hunks};
use std::path::{Path, PathBuf};

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

    /// The number of hunks in each part, which the verdicts count too; empty if there are more than `most` parts.
    pub fn counts(&self, most: usize) -> Vec<u32> {
        if self.parts.len() > most {
            return Vec::new();
        }
        let count = |(before, after): &(Option<Text>, Text)| {
            let before = before.clone().unwrap_or_default();
            u32::try_from(reviewed_hunks(&before, after).len().max(1)).unwrap_or(u32::MAX)
        };
        self.steps().iter().map(count).collect()
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
