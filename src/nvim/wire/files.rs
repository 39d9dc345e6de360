//! The messages about the user's files: their text, the turns that changed them, and rewinding one of these turns.

use crate::agent::Rewind;
use crate::conversation::report::{RewindFile, TurnRow};
use crate::event::SessionId;
use crate::tool::comment::Comment;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Asks for a list of the turns that changed files, for a preview of rewinding one turn, or to rewind one turn.
#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RewindWanted {
    pub session: SessionId,
    /// The turn to preview or to rewind. If absent, the answer is `turns`.
    pub entry: Option<u32>,
    /// Whether all later turns are rewound too.
    #[serde(default)]
    pub later: bool,
    /// Whether the preview is only looked at while the user chooses a turn.
    #[serde(default)]
    pub look: bool,
    /// The absolute paths of the files to rewind. If absent, the answer is `preview`.
    pub paths: Option<Vec<PathBuf>>,
}

impl From<RewindWanted> for (SessionId, Rewind) {
    fn from(it: RewindWanted) -> (SessionId, Rewind) {
        let rewind = match (it.entry, it.paths) {
            (None, _) => Rewind::List,
            (Some(entry), None) => Rewind::Preview { entry, later: it.later, look: it.look },
            (Some(entry), Some(paths)) => Rewind::Do { entry, later: it.later, paths },
        };
        (it.session, rewind)
    }
}

/// The turns that changed files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Turns {
    pub session: SessionId,
    /// The turns, the latest first.
    pub turns: Vec<TurnRow>,
}

/// The preview of a rewind: what would happen to each file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Preview {
    pub session: SessionId,
    pub entry: u32,
    /// All later turns are rewound too.
    pub later: bool,
    /// The preview is only looked at while the user chooses a turn.
    pub look: bool,
    pub title: String,
    /// What the turn did that no rewind takes back, in sentences.
    pub notes: Vec<String>,
    pub files: Vec<RewindFile>,
}

/// The answer to `restore`.
#[derive(Debug, Clone, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Restored {
    pub done: bool,
    /// If `done` is false: why nothing was done. If `done` is true: why the text is not saved on disk, or the empty
    /// string if it is.
    pub why: String,
}

/// The answer to `read`.
#[derive(Debug, Clone, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[expect(clippy::struct_excessive_bools, reason = "the wire has independent flags")]
pub struct BufferText {
    pub loaded: bool,
    /// How many hunks of the file are pending.
    pub pending: u32,
    /// The buffer's text, if it is modified.
    pub text: Option<String>,
    #[serde(default)]
    pub eol: bool,
    #[serde(default)]
    pub dos: bool,
    #[serde(default)]
    pub bom: bool,
}

/// A part of the answer to `held_texts`.
#[derive(Debug, Clone, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct HeldText {
    /// The hash of the buffer's text (`Text::sha256_hex`); empty if no buffer of the file is loaded.
    pub text: String,
    /// The hash of the text on disk, if a buffer is loaded and the file can be read in the buffer's encoding.
    pub disk: Option<String>,
}

/// The answer to `decided_so_far`.
#[derive(Debug, Clone, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PartlyDecided {
    /// How many changes were accepted, rejected and so on, such as `1 rejected`; empty if none or all are decided.
    pub words: Vec<String>,
    /// The user's reasons for rejections.
    pub reasons: Vec<String>,
}

/// Comments of a code review. They are shown in addition to the comments that are shown already.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Comments {
    pub session: SessionId,
    pub comments: Vec<Comment>,
}

/// Removes the comments of earlier code reviews.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Uncomment {
    pub session: SessionId,
}
