//! The tools of the model, each in a file of its own, and sets of tools. The system prompt and the schemas in a
//! request are made from a set.

pub mod clip;
pub mod disk;
pub mod environment;
pub mod lsp;
pub mod path;
pub mod skills;
pub mod walk;

mod definition;
mod delete;
mod diagnostics;
mod edit;
mod front;
mod glob;
mod grep;
mod hover;
mod list;
mod patch;
mod plan;
mod read;
mod references;
mod rename;
mod rename_symbol;
mod schema;
mod shell;
mod skill;
mod symbols;
mod table;
mod todo;
mod write;
#[cfg(test)]
mod tests;

pub use plan::{
    Resolved, access, edits_of, is_malformed_edit, question_of, resolved, run, touched,
};
pub use read::shows_all;
pub use table::{Toolset, own};

use crate::edit::{Edit, Format, Misfit, Proposal};
use crate::event::TurnId;
use crate::message::{CallId, ToolSpec};
use crate::reach::Reach;
use crate::text::Text;
use futures::future::BoxFuture;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::sync::mpsc;

/// The largest file that is read, in bytes.
pub const LIMIT: u64 = 50_000_000;

/// A tool: one of Caliban's own, or one that was made at run time.
pub struct Tool {
    pub name: String,
    /// For the model: what the tool does, and when to use it. The first sentence also stands in the system prompt and
    /// the help.
    pub purpose: String,
    /// JSON Schema of the arguments.
    pub schema: Value,
    pub work: Work,
}

/// The kind of work that a tool does, which decides how its calls are treated.
pub enum Work {
    /// Reads. Such calls run at once and together. `paths` are the paths that a call will read, for the check against
    /// the rules.
    Read { paths: Paths, run: Run },
    /// Edits. Calls are parsed here; the agent resolves and proposes them together. Paths are as written. Offered to
    /// models that write edits in one of `formats`.
    Edit { parse: Parse, formats: Vec<Format> },
    /// Edits that a language server makes. The server is asked before the edits are proposed.
    Refactor { ask: Ask },
    /// Stores something of Caliban's own. Such calls run like reads, and touch nothing of the user's.
    Own { run: Run },
    /// Runs a command. `command` returns it, for the question to the user and for their consent.
    Act { command: Command, run: Run },
}

/// Runs a call whose arguments fit the schema. The error is text for the model: which argument, why, what is valid,
/// what to try.
pub type Run = Arc<
    dyn for<'a> Fn(&'a Desk, CallId, Value) -> BoxFuture<'a, Result<Done, String>> + Send + Sync,
>;
/// Wraps a closure as a tool's `Run`.
pub fn runner<F>(run: F) -> Run
where
    F: for<'a> Fn(&'a Desk, CallId, Value) -> BoxFuture<'a, Result<Done, String>>
        + Send
        + Sync
        + 'static,
{
    Arc::new(run)
}

pub type Paths = Arc<dyn Fn(&Value) -> Vec<String> + Send + Sync>;
pub type Parse = Arc<dyn Fn(&Value) -> Result<Vec<Edit>, String> + Send + Sync>;
pub type Ask = Arc<dyn Fn(&Desk, &Value) -> Result<lsp::Question, String> + Send + Sync>;
pub type Command = Arc<dyn Fn(&Value) -> String + Send + Sync>;

impl Tool {
    /// The tool as a model sees it.
    fn spec(&self) -> ToolSpec {
        let Tool { name, purpose, schema, .. } = self;
        ToolSpec { name: name.clone(), purpose: purpose.clone(), schema: schema.clone() }
    }

    /// Whether its calls have effects outside of Caliban. Events before such a call have to be durable.
    pub fn acts(&self) -> bool {
        matches!(self.work, Work::Act { .. })
    }

    /// Whether its calls may change files without a review.
    pub fn changes(&self) -> bool {
        matches!(self.work, Work::Act { .. } | Work::Own { .. })
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Done {
    /// The text for the model.
    pub text: String,
    /// A few words for the right end of the tool's line: `80 lines`, `7 matches`.
    pub summary: String,
}

/// Everything that a tool may use.
#[derive(Clone)]
pub struct Desk {
    /// The tools of the model.
    pub tools: Toolset,
    /// The project's root, canonical.
    pub root: PathBuf,
    pub home: Option<PathBuf>,
    /// The user's own configuration folder.
    pub config: PathBuf,
    /// Which files may be read and written.
    pub reach: Reach,
    pub workspace: Arc<dyn Workspace>,
    /// Receives each text that is read for the model, if somebody keeps track of what the model has seen.
    pub seen: Option<mpsc::UnboundedSender<(PathBuf, Source)>>,
    /// A running command's output, for the chat.
    pub output: mpsc::UnboundedSender<(CallId, String)>,
    /// The variables that no command gets, and the secrets that no answer shows.
    pub secrets: environment::Secrets,
    /// The folder for whole outputs that were clipped. `read` may read there without a question.
    pub overflow: PathBuf,
    /// This program's file, which is run as the supervisor of commands.
    pub program: PathBuf,
}

impl Desk {
    /// Reads a text for the model.
    pub async fn read(&self, path: &Path) -> Result<Source, Unreadable> {
        let source = self.workspace.read(path).await?;
        if let Some(seen) = &self.seen {
            // the receiver may have ended
            let _ = seen.send((path.to_owned(), source.clone()));
        }
        Ok(source)
    }

    /// A path as the user would write it.
    pub fn shown(&self, path: &Path) -> String {
        path::tilde(&self.root, self.home.as_deref(), path)
    }
}

/// A text as the user sees it now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    pub text: Text,
    /// The number of its hunks on which the user has not decided.
    pub pending: u32,
}

impl Source {
    /// A note for the model, to stand below the text, that the user has not accepted all of it. Empty if they have.
    pub fn undecided(&self) -> String {
        match self.pending {
            0 => String::new(),
            1 => "[1 hunk pending: shown here, not yet accepted by the user]\n".to_owned(),
            n => format!("[{n} hunks pending: shown here, not yet accepted by the user]\n"),
        }
    }
}

/// Why a file cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unreadable {
    Absent,
    Folder,
    Binary,
    NotUtf8,
    /// Larger than `LIMIT`; its size in bytes.
    TooLarge(u64),
    Other(String),
}

impl Unreadable {
    /// The reason, to follow the file's name in a sentence.
    pub fn say(&self) -> String {
        match self {
            Unreadable::Absent => "does not exist".into(),
            Unreadable::Folder => "is a folder".into(),
            Unreadable::Binary => "is a binary file".into(),
            Unreadable::NotUtf8 => "is not UTF-8 text".into(),
            Unreadable::TooLarge(bytes) => format!("is too large ({} MB)", bytes / 1_000_000),
            Unreadable::Other(why) => format!("cannot be read: {why}"),
        }
    }
}

/// What became of a proposal that was sent to the editor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Arrival {
    /// It is in the buffer, pending, with this many hunks.
    Entered {
        hunks: u32,
    },
    /// It is in the buffer and on disk, to be reviewed afterwards.
    Written {
        hunks: u32,
        /// Why it is not on disk; empty if it is.
        unsaved: String,
        /// The text that the user's own autocommands made of it, for example a formatter.
        text: Option<Text>,
    },
    /// The text is no longer the one that the proposal was made from; here is the present text. The caller matches
    /// again.
    Moved(Option<Text>),
    Refused(Misfit),
    /// Another proposal of its group could not enter, so none did. The caller matches again.
    Withheld,
    /// The turn was stopped before it could enter.
    Stopped,
}

/// Compares versions of a file without reading it: if two stamps are equal, so are the texts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Stamp {
    /// Never counts as equal to a known stamp.
    #[default]
    Unknown,
    /// The text has pending hunks.
    Undecided,
    /// The text of a changed buffer.
    Buffer(String),
    Disk(String),
}

/// The user's files: a changed buffer's text, or else the file on disk. All file content goes to and from tools
/// through this trait.
pub trait Workspace: Send + Sync {
    fn read<'a>(&'a self, path: &'a Path) -> BoxFuture<'a, Result<Source, Unreadable>>;
    /// Shows proposals to the user, all at once. Returns the arrivals in the same order, once each proposal has
    /// arrived. The proposals of one call enter together or not at all.
    fn propose(&self, turn: TurnId, proposals: Vec<Proposal>) -> BoxFuture<'_, Vec<Arrival>>;
    /// The loaded buffers within the root whose text differs from the disk. A search needs them, because it reads the
    /// disk.
    fn changed(&self) -> BoxFuture<'_, Vec<PathBuf>>;
    /// Saves those of these files that are changed and have no pending hunks. Returns the files that still differ
    /// from the disk.
    fn save(&self, paths: Vec<PathBuf>) -> BoxFuture<'_, Vec<PathBuf>>;
    /// The stamps of these files, in their order.
    fn stamps(&self, paths: Vec<PathBuf>) -> BoxFuture<'_, Vec<Stamp>>;
    /// Records that the model knows this text of a file. A verdict tells the model the user's own changes against
    /// this text.
    fn model_knows(&self, path: &Path, text: &Text);
    /// Proposals of this turn that have not entered yet do not enter any more.
    fn halt(&self, turn: TurnId);
    /// Changes one file as if the user had done it, and saves the file. Returns why it could not be saved, or an
    /// empty text. The error says why nothing was changed.
    fn restore(&self, change: Proposal) -> BoxFuture<'_, Result<String, String>>;
    /// Tells the editor that a file was written on disk, so that it reads the file again.
    fn refresh(&self, path: PathBuf) -> BoxFuture<'_, ()>;
    /// Asks the user's language servers. The error is text for the model.
    fn consult(&self, question: lsp::Question) -> BoxFuture<'_, Result<lsp::Findings, String>>;
}
