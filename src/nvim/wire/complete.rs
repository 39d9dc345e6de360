//! The composer's completion.

use crate::event::SessionId;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Asks for the completions at the cursor of the composer. The answer is `completed`. Only the newest question is
/// answered.
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[derive(Debug, Clone, Deserialize)]
pub struct Complete {
    pub id: u32,
    /// Absent until the session is open.
    pub session: Option<SessionId>,
    /// The text before the cursor in the cursor's line.
    pub line: String,
    /// Only blank lines stand above the line: it may be a slash command.
    pub is_first: bool,
    /// Absolute paths of the files that are open in the editor; the one used last comes first.
    pub open: Vec<PathBuf>,
}

/// The answer to `complete`.
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[derive(Debug, Clone, Serialize)]
pub struct Completed {
    /// The id of the question.
    pub id: u32,
    /// How many bytes before the cursor an item replaces.
    pub replaced: u32,
    /// The items, the best one first.
    pub items: Vec<CompletionItem>,
    /// The program does not know all items yet; the same question will get more soon.
    pub more: bool,
}

#[cfg_attr(test, derive(schemars::JsonSchema))]
#[derive(Debug, Clone, Serialize)]
pub struct CompletionItem {
    pub label: String,
    /// Replaces the line from `start` to the cursor.
    pub text: String,
    pub is: CompletionKind,
    /// A few words about the item; may be empty.
    pub about: String,
}

#[cfg_attr(test, derive(schemars::JsonSchema))]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CompletionKind {
    File,
    Folder,
    Command,
    Word,
    Model,
    Session,
    Skill,
}
