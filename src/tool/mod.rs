//! What the model can do: one file a tool, and all of them as a set. The system prompt and the schemas sent to the
//! provider are projections of the set.

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

/// A tool. Where it comes from makes no difference.
pub struct Tool {
    pub name: String,
    /// For the model: what it does, when to use it. The first sentence also stands in the system prompt and the help.
    pub purpose: String,
    /// JSON Schema of the arguments.
    pub schema: Value,
    pub work: Work,
}

/// What a tool does, and so how its calls are treated.
pub enum Work {
    /// Reads: run at once and together. `paths` are what it will touch, for the check of the workspace's bounds.
    Read { paths: Paths, run: Run },
    /// Edits: parsed here, resolved and proposed together by the agent. Paths are as written. Offered to the models
    /// that write their edits in one of `formats`.
    Edit { parse: Parse, formats: Vec<Format> },
    /// Edits too, as a language server makes them: what is asked of it is asked first.
    Refactor { ask: Ask },
    /// Keeps something of Caliban's own: run as reads are, and nothing of the user's is touched.
    Own { run: Run },
    /// Acts: `command` gives what it runs, for the question to the user and for what they allow.
    Act { command: Command, run: Run },
}

/// Runs with arguments that fit the schema. An `Err` is text for the model: which argument, why, what is
/// valid, what to try.
pub type Run = Arc<
    dyn for<'a> Fn(&'a Desk, CallId, Value) -> BoxFuture<'a, Result<Done, String>> + Send + Sync,
>;
/// A closure as what a tool runs.
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
    /// As a model sees it.
    fn spec(&self) -> ToolSpec {
        let Tool { name, purpose, schema, .. } = self;
        ToolSpec { name: name.clone(), purpose: purpose.clone(), schema: schema.clone() }
    }

    /// Whether its calls have effects outside: what was decided before one must survive even a loss of power.
    pub fn acts(&self) -> bool {
        matches!(self.work, Work::Act { .. })
    }

    /// Whether its calls may change files by themselves.
    pub fn changes(&self) -> bool {
        matches!(self.work, Work::Act { .. } | Work::Own { .. })
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Done {
    /// For the model.
    pub text: String,
    /// A few words for the right end of the tool's line: `80 lines`, `7 matches`.
    pub summary: String,
}

/// What a tool may touch.
#[derive(Clone)]
pub struct Desk {
    /// What the model can do.
    pub tools: Toolset,
    /// Canonical.
    pub root: PathBuf,
    pub home: Option<PathBuf>,
    /// The user's folder for what is theirs in every project.
    pub config: PathBuf,
    /// Which files may be read and written.
    pub reach: Reach,
    pub workspace: Arc<dyn Workspace>,
    /// Where the texts go that are read for the model, if somebody keeps in mind what it has seen.
    pub seen: Option<mpsc::UnboundedSender<(PathBuf, Source)>>,
    /// A running command's output, for the chat.
    pub output: mpsc::UnboundedSender<(CallId, String)>,
    /// The variables that no command gets, and the secrets that no answer shows.
    pub secrets: environment::Secrets,
    /// Where the whole of a clipped output is kept, readable by `read` without a question.
    pub overflow: PathBuf,
    /// This program's file, which guards commands.
    pub program: PathBuf,
}

impl Desk {
    /// A text for the model.
    pub async fn read(&self, path: &Path) -> Result<Source, Unreadable> {
        let source = self.workspace.read(path).await?;
        if let Some(seen) = &self.seen {
            // Who keeps it in mind may have ended.
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
    /// Hunks in it that wait for the user's decision.
    pub pending: u32,
}

impl Source {
    /// For the model, below the text: that it is not agreed to. Empty where it is.
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
    /// Why, to follow the file's name in a sentence.
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
    /// In the buffer, pending, with this many hunks.
    Entered {
        hunks: u32,
    },
    /// In the buffer and written, to be reviewed afterwards.
    Written {
        hunks: u32,
        /// Why it is not on disk after all; empty where it is.
        unsaved: String,
        /// What the user's own autocommands made of the text meanwhile, a formatter's for instance.
        text: Option<Text>,
    },
    /// The text is no longer the one the proposal was made from; here is what it is. Match again.
    Moved(Option<Text>),
    Refused(Misfit),
    /// Another of its group was not fit to enter, so none did. Match again.
    Withheld,
    /// The turn was stopped before it could enter.
    Stopped,
}

/// Tells a file's text from an earlier one without reading it: where two are equal, so are the texts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Stamp {
    /// Equal to none that says something.
    #[default]
    Unknown,
    /// Text stands in it that the user has not decided on.
    Undecided,
    /// Its text is a changed buffer's.
    Buffer(String),
    Disk(String),
}

/// The user's files: through the editor's buffers where a text is loaded and changed there, else the
/// disk. The only way of file content to and from a tool.
pub trait Workspace: Send + Sync {
    fn read<'a>(&'a self, path: &'a Path) -> BoxFuture<'a, Result<Source, Unreadable>>;
    /// Puts proposals before the user, all at once; answers in the same order once each has arrived. Those of one call
    /// enter together, or none does.
    fn propose(&self, turn: TurnId, proposals: Vec<Proposal>) -> BoxFuture<'_, Vec<Arrival>>;
    /// Paths of loaded buffers within the root whose text differs from the disk: for searches, which walk the disk.
    fn changed(&self) -> BoxFuture<'_, Vec<PathBuf>>;
    /// Saves these files where they are changed and nothing in them is undecided; gives those that still are not on disk.
    fn save(&self, paths: Vec<PathBuf>) -> BoxFuture<'_, Vec<PathBuf>>;
    /// Of each of these files, in their order.
    fn stamps(&self, paths: Vec<PathBuf>) -> BoxFuture<'_, Vec<Stamp>>;
    /// The model knows this text of a file now. A verdict tells it of the user's own changes against this text.
    fn told(&self, path: &Path, text: &Text);
    /// Of a turn's proposals, those that have not entered yet do not enter any more.
    fn halt(&self, turn: TurnId);
    /// Makes the change of one file as if the user had made it, and saves the file. Gives why it could not be saved, empty
    /// where it was; an `Err` says why nothing was done.
    fn restore(&self, change: Proposal) -> BoxFuture<'_, Result<String, String>>;
    /// A file was written on disk: what shows it reads it anew.
    fn refresh(&self, path: PathBuf) -> BoxFuture<'_, ()>;
    /// Asks the user's language servers. An `Err` is text for the model.
    fn consult(&self, question: lsp::Question) -> BoxFuture<'_, Result<lsp::Findings, String>>;
}
