//! The messages about whole sessions: to list, rename, copy, delete, export or take over a session.

use crate::agent;
use crate::conversation::report::{AgentRow, SkillRow, UndoOffer};
use crate::event::SessionId;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Asks for the sessions of the project, the latest first. The answer is `sessions`.
#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ListSessions {
    /// Only sessions that contain this text are listed. An empty text lists all sessions.
    pub text: String,
}

/// Asks for the first and the last messages of a session on disk. The answer is `peeked`.
#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PeekSession {
    /// The number of the question, which the answer repeats.
    pub id: u32,
    pub session: SessionId,
    /// The root of the session's project, if it is another worktree of the repository.
    pub root: Option<PathBuf>,
}

/// Renames a session.
#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RenameSession {
    pub session: SessionId,
    /// The new name. A text that cannot be a name becomes the session's title.
    pub name: String,
}

/// Copies a session and opens the copy.
#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ForkSession {
    pub session: SessionId,
    /// How many of the user's last messages are left out. If absent, the copy is complete.
    pub after: Option<u32>,
    /// Whether the copy ends with a message of the user: the reply to the last message that is kept is left out too.
    pub is_prompt: bool,
}

/// Takes a conversation back to before a message of the user. If turns since then have changed files, the answer is
/// `undo`.
#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct UndoWanted {
    pub session: SessionId,
    /// How many messages of the user come after the message to which the conversation goes back.
    #[serde(default)]
    pub after: u32,
    /// The user's answer to `undo`.
    pub choice: Option<UndoChoice>,
}

#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct UndoChoice {
    /// The index of the message, as in `undo`.
    pub message: u32,
    /// The files of the later turns are rewound too.
    pub files: bool,
}

impl From<UndoWanted> for (SessionId, agent::Undo) {
    fn from(it: UndoWanted) -> (SessionId, agent::Undo) {
        let undo = match it.choice {
            Some(UndoChoice { message, files }) => {
                agent::Undo::Chosen { message: message as usize, files }
            }
            None => agent::Undo::Message { after: it.after as usize },
        };
        (it.session, undo)
    }
}

/// Moves a session into the trash. A running turn is stopped.
#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct DeleteSession {
    pub session: SessionId,
}

/// Writes a session to a file: JSON if the name ends in `.json`, Markdown otherwise.
#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ExportSession {
    pub session: SessionId,
    /// The file's absolute path. If empty, the file is `{session}.md` in the project.
    pub file: String,
    /// A file that exists is overwritten.
    pub force: bool,
}

/// The user's choice what to do about a session that is open in another Neovim.
#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Claim {
    pub session: SessionId,
    pub way: Way,
    /// The root of the session's project, if it is another project. A session of another project can only be copied.
    pub root: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Way {
    Read,
    /// Opens a copy.
    Fork,
    /// Opens the session once the other Neovim has closed it.
    Take,
}

/// Another Neovim takes this session over. This Neovim has closed the session's reviews already.
#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Yield {
    pub session: SessionId,
    /// A description of the other Neovim, for messages to the user.
    pub by: String,
}

/// The user asked for a session that is open in another Neovim.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Held {
    pub session: SessionId,
    /// A description of the other Neovim, for messages to the user; empty if nothing is known about it.
    pub by: String,
    /// The address on which the other Neovim listens; empty if it is not known.
    pub server: String,
}

/// A text for the clipboard.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Copied {
    pub text: String,
}

/// The user wants to choose among the messages that were sent in this project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct History {
    pub session: SessionId,
}

/// The user wants the windows of the session's chat closed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Exit {
    pub session: SessionId,
}

/// The user is asked whether to rewind files together with the conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Undo {
    pub session: SessionId,
    #[serde(flatten)]
    pub offer: UndoOffer,
}

/// A session has a new name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Renamed {
    pub session: SessionId,
    /// The new name.
    pub to: SessionId,
}

/// A session was deleted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Deleted {
    pub session: SessionId,
}

/// A model or a provider that the user can choose.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Offer {
    pub name: String,
    /// A few words about the item; may be empty.
    pub about: String,
    /// What is known of a model: its window, whether it reads images, and its price. An unknown fact is empty. A
    /// provider has no facts.
    pub facts: Vec<String>,
}

/// The answer to `list_sessions`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Sessions {
    /// The text that was searched for; empty for all sessions.
    pub text: String,
    pub sessions: Vec<SessionRow>,
}

/// The answer to `peek_session`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Peeked {
    pub id: u32,
    pub lines: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SessionRow {
    pub name: String,
    pub title: String,
    /// Seconds since the session was saved.
    pub age: u64,
    pub bytes: u64,
    pub turns: u32,
    pub open: WhereOpen,
    /// Why the session cannot be opened.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// The first line that contains the text that was searched for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<String>,
    /// If the session is a subagent's: the session that gave it its task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<SessionId>,
    /// The root of the session's project, if it is another worktree of the repository.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub root: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum WhereOpen {
    Here,
    /// The session is open in another Neovim.
    Elsewhere,
    Nowhere,
}

/// The named agents of the project and of the user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Agents {
    pub session: SessionId,
    /// The user's first.
    pub agents: Vec<AgentRow>,
    /// Whether the file of the only agent is to be opened, because the user has named it.
    pub open: bool,
}

/// The skills of the project and of the user, from which the user chooses one for the next message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Skills {
    pub session: SessionId,
    /// The project's first.
    pub skills: Vec<SkillRow>,
}
