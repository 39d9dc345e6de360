//! What is said of the user's files: their text, the turns that changed them, and taking one of those back.

use crate::agent::Rewind;
use crate::conversation::report::{RewindFile, TurnRow};
use crate::event::SessionId;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

#[derive(Debug, Clone, Deserialize)]
pub struct RewindWanted {
    pub session: SessionId,
    pub entry: Option<u32>,
    pub paths: Option<Vec<PathBuf>>,
}

impl From<RewindWanted> for (SessionId, Rewind) {
    fn from(it: RewindWanted) -> (SessionId, Rewind) {
        let rewind = match (it.entry, it.paths) {
            (None, _) => Rewind::List,
            (Some(entry), None) => Rewind::Preview { entry },
            (Some(entry), Some(paths)) => Rewind::Do { entry, paths },
        };
        (it.session, rewind)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Turns {
    pub session: SessionId,
    pub turns: Vec<TurnRow>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Preview {
    pub session: SessionId,
    pub entry: u32,
    pub title: String,
    pub files: Vec<RewindFile>,
}

/// The answer to `ToNvim::Restore`.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct Restored {
    #[serde(default)]
    pub done: bool,
    #[serde(default)]
    pub why: String,
}

/// The answer to `ToNvim::Read`.
#[derive(Debug, Clone, Default, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "the wire has independent flags")]
pub struct BufferText {
    #[serde(default)]
    pub loaded: bool,
    #[serde(default)]
    pub pending: u32,
    pub text: Option<String>,
    #[serde(default)]
    pub eol: bool,
    #[serde(default)]
    pub dos: bool,
    #[serde(default)]
    pub bom: bool,
}
