//! The tools of the model, each in a file of its own, and sets of tools. The system prompt and the schemas in a
//! request are made from a set.

pub mod clip;
pub mod comment;
pub mod confinement;
pub mod diagnostics;
pub mod disk;
pub mod environment;
pub mod front;
pub mod git;
pub mod image;
pub mod jobs;
pub mod lsp;
pub mod path;
pub mod pdf;
pub mod scene;
pub mod skills;
pub mod walk;

mod definition;
mod delete;
mod edit;
mod fetch;
mod glob;
mod grep;
mod hover;
mod job;
mod job_input;
mod lines;
mod list;
mod patch;
mod plan;
mod process;
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
pub mod tests;

pub use plan::{
    Resolved, access, edits_of, is_malformed_edit, question_of, resolved, run, touched,
};
pub use read::shows_all;
pub use table::{Toolset, own};

use crate::edit::{Edit, Format, Misfit, Proposal};
use crate::event::{Access, TurnId};
use crate::message::{CallId, Image, ToolSpec};
use crate::reach::Reach;
use crate::rules::Rules;
use crate::text::Text;
use crate::web::Web;
use crate::web::address::Address;
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
    /// Edits files. The tool parses a call; the agent resolves the paths, which are as the model wrote them, and
    /// proposes the edits of several calls together. Offered to models that write edits in one of `formats`.
    Edit { parse: Parse, formats: Vec<Format> },
    /// Edits that a language server makes. The server is asked before the edits are proposed.
    Refactor { ask: Ask },
    /// Uses only Caliban's own data: the todo list and the texts of skills. Such calls run like reads, and change no
    /// other file.
    Own { run: Run },
    /// Fetches a page of the web. `address` returns the address to which a call sends a request; `None` if the call
    /// sends none.
    Fetch { address: Where, run: Run },
    /// Runs a command, or sends input to a running one. `access` returns what the user has to consent to.
    Act { access: Needs, run: Run },
}

/// Runs a call whose arguments fit the schema. The error is text for the model: which argument is wrong, why, which
/// values are valid, and what to try.
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
pub type Where = Arc<dyn Fn(&Value) -> Result<Option<Address>, String> + Send + Sync>;
pub type Needs = Arc<dyn Fn(&Desk, &Value) -> Result<Access, String> + Send + Sync>;

impl Tool {
    /// The tool as a model sees it.
    fn spec(&self) -> ToolSpec {
        let Tool { name, purpose, schema, .. } = self;
        ToolSpec { name: name.clone(), purpose: purpose.clone(), schema: schema.clone() }
    }

    /// Whether the tool's calls have effects outside of Caliban. Earlier events have to be durable before such a call
    /// runs.
    pub fn acts(&self) -> bool {
        matches!(self.work, Work::Act { .. })
    }

    /// Whether an answer of the tool only repeats text that was read or printed, so that the model can get the text by
    /// another call. A second call of `comment` would show the comments twice.
    pub fn reads(&self) -> bool {
        self.name != comment::NAME
            && matches!(self.work, Work::Read { .. } | Work::Act { .. } | Work::Fetch { .. })
    }

    /// Whether the tool's calls propose edits, which the user decides on.
    pub fn edits(&self) -> bool {
        matches!(self.work, Work::Edit { .. } | Work::Refactor { .. })
    }

    /// Whether the tool's calls may change files without a review.
    pub fn changes(&self) -> bool {
        matches!(self.work, Work::Act { .. } | Work::Own { .. })
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Done {
    /// The text for the model.
    pub text: String,
    /// Caliban's own words below the text, which may be a stranger's.
    pub after: String,
    /// A few words for the right end of the tool's line: `80 lines`, `7 matches`.
    pub summary: String,
    pub images: Vec<Image>,
    /// The job whose end the text tells.
    pub job_end: Option<u32>,
}

impl Done {
    pub fn new(text: String, summary: impl Into<String>) -> Done {
        let (summary, after) = (summary.into(), String::new());
        Done { text, after, summary, images: Vec::new(), job_end: None }
    }
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
    /// The user's permission rules. Here the tools see which files may not be edited; the policy asks the session.
    pub rules: Arc<Rules>,
    pub workspace: Arc<dyn Workspace>,
    /// Receives each text that is read for the model. `None` if nobody keeps track of the texts that the model knows.
    pub seen: Option<mpsc::UnboundedSender<(PathBuf, Source)>>,
    /// A running command's output, for the chat.
    pub output: mpsc::UnboundedSender<(CallId, String)>,
    /// The variables that no command gets, and the secrets that no answer shows.
    pub secrets: environment::Secrets,
    /// The folder for whole outputs that were clipped. `read` may read there without a question.
    pub overflow: PathBuf,
    /// This program's file, which is run as the supervisor of commands.
    pub program: PathBuf,
    pub web: Web,
    /// The sandbox of commands.
    pub confinement: confinement::Confinement,
    /// The commands that run in the background.
    pub jobs: jobs::Jobs,
}

impl Desk {
    /// Reads a text for the model.
    pub async fn read(&self, path: &Path) -> Result<Source, Unreadable> {
        let source = self.workspace.read(path).await?;
        if let Some(seen) = &self.seen {
            // the send fails if nobody keeps track of the texts any more
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
    /// The number of the text's hunks on which the user has not decided.
    pub pending: u32,
}

impl Source {
    /// A note for the model below the text: the user has not accepted all of the text. Empty if no hunk is undecided.
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
    /// The file is larger than `LIMIT`; holds its size in bytes.
    TooLarge(u64),
    Other(String),
}

impl Unreadable {
    /// The reason, as the end of a sentence that begins with the file's name.
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

/// The editor's answer to a proposal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Arrival {
    /// The proposal is in the buffer as this many undecided hunks.
    Entered {
        hunks: u32,
    },
    /// The proposal is in the buffer and on disk. The user may review it afterwards.
    Written {
        hunks: u32,
        /// Why the file could not be saved; empty if it is saved.
        unsaved: String,
        /// The file's text, if the user's own autocommands (for example a formatter) have changed the proposed text.
        text: Option<Text>,
    },
    /// The file's text is no longer the text from which the proposal was made. Holds the present text, if it is known.
    /// The caller matches the edits again.
    Moved(Option<Text>),
    Refused(Misfit),
    /// The proposal is not in the buffer, because another proposal of its group could not enter its buffer. The caller
    /// matches the edits again.
    Withheld,
    /// The turn was stopped before the proposal was in the buffer.
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
    /// an answer of the editor. The proposals of one call enter their buffers together or not at all.
    fn propose(&self, turn: TurnId, proposals: Vec<Proposal>) -> BoxFuture<'_, Vec<Arrival>>;
    /// The loaded buffers within the root whose text differs from the file on disk. A search reads files from the disk,
    /// so it needs to know these buffers.
    fn changed(&self) -> BoxFuture<'_, Vec<PathBuf>>;
    /// Saves each of these files whose buffer is changed and has no pending hunks. Returns the files that still differ
    /// from the disk.
    fn save(&self, paths: Vec<PathBuf>) -> BoxFuture<'_, Vec<PathBuf>>;
    /// The stamps of these files, in their order.
    fn stamps(&self, paths: Vec<PathBuf>) -> BoxFuture<'_, Vec<Stamp>>;
    /// Records that the model knows this text of a file. Later the model is told the user's own changes to this text.
    fn model_knows(&self, path: &Path, text: &Text);
    /// Stops the proposals of this turn that are not yet in a buffer.
    fn halt(&self, turn: TurnId);
    /// Changes one file as if the user had done it, and saves the file. Returns why it could not be saved, or an
    /// empty text. The error says why nothing was changed.
    fn restore(&self, change: Proposal) -> BoxFuture<'_, Result<String, String>>;
    /// Tells the editor that a file was written on disk, so that it reads the file again.
    fn refresh(&self, path: PathBuf) -> BoxFuture<'_, ()>;
    /// Shows comments on lines of files to the user, besides those that are shown already.
    fn comment(&self, comments: Vec<comment::Comment>);
    /// Removes all comments.
    fn uncomment(&self);
    /// Asks what the user has in the editor. The error is a sentence for the user.
    fn scene(&self, part: scene::Part) -> BoxFuture<'_, Result<scene::Scene, String>>;
    /// Asks the user's language servers. The error is text for the model.
    fn consult(&self, question: lsp::Question) -> BoxFuture<'_, Result<lsp::Findings, String>>;
}
