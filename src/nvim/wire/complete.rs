//! The composer's completion, and the mentions in its text.

use crate::event::SessionId;
use crate::message::Excerpt;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Asks for the completions at the composer's cursor. The answer is `completed`; only the newest question is answered.
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[derive(Debug, Clone, Deserialize)]
pub struct Complete {
    pub id: u32,
    /// Absent until the session is open.
    pub session: Option<SessionId>,
    /// The text of the cursor's line before the cursor.
    pub line: String,
    /// Whether all lines above the cursor's line are blank, so that the line may be a slash command.
    pub is_first: bool,
    /// Absolute paths of the files that are open in the editor; the one used last comes first.
    pub open: Vec<PathBuf>,
    /// Absolute paths of files that were used recently, the last one first.
    pub recent: Vec<PathBuf>,
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
    Symbol,
}

/// Asks for the sizes of the mentions in a text, or for a preview of the texts that they add. The answer is `weighed`.
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[derive(Debug, Clone, Deserialize)]
pub struct Weigh {
    pub id: u32,
    pub session: SessionId,
    pub text: String,
    /// If present, the answer has a preview of these excerpts and of the excerpts that the mentions add.
    pub preview: Option<Vec<Excerpt>>,
}

/// The answer to `weigh`.
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[derive(Debug, Clone, Serialize)]
pub struct Weighed {
    /// The id of the question.
    pub id: u32,
    pub session: SessionId,
    /// The mentions, in the order of the text.
    pub mentions: Vec<Weight>,
    /// The preview, if it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preview: Option<String>,
}

#[cfg_attr(test, derive(schemars::JsonSchema))]
#[derive(Debug, Clone, Serialize)]
pub struct Weight {
    /// The mention as it is written in the text.
    pub written: String,
    /// The size of the mentioned text, or why there is no such text.
    pub about: String,
    /// Whether the mention cannot be read, or the user will be warned before the message is sent.
    pub is_wrong: bool,
}
