//! The model's tools, each in a file of its own, and sets of tools. The system prompt and the tools in a request are
//! made from a set.

pub mod clip;
pub mod comment;
pub mod confinement;
pub mod diagnostics;
pub mod disk;
pub mod environment;
pub mod formatter;
pub mod front;
pub mod git;
pub mod image;
pub mod jobs;
pub mod lsp;
pub mod path;
pub mod pdf;
pub mod scene;
pub mod skills;
pub mod submit_plan;
pub mod task;
pub mod todo;
pub mod tree;
pub mod walk;
pub mod workers;
pub mod worktree;

mod allowed;
mod ask;
mod call;
mod code_action;
mod definition;
mod delete;
mod edit;
mod fetch;
mod format;
mod glob;
mod grep;
mod hover;
mod job;
mod job_input;
mod lines;
mod list;
mod named;
mod patch;
mod planted;
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
mod web_search;
mod work;
mod write;
#[cfg(test)]
pub mod tests;

pub use allowed::{Consented, Resolved, resolved, savable};
pub use call::{Call, Calls, Ran, run, short};
pub use table::{Toolset, own, searching};
use work::typed;
pub use work::{
    Acting, Author, Deed, Fetching, Reading, Reads, Run, Running, Searching, Work, runner,
};

use crate::edit::{Misfit, Proposal};
use crate::event::{Guarded, TurnId};
use crate::message::{Builtin, CallId, Image, ToolSpec};
use crate::reach::Reach;
use crate::rules::Rules;
use crate::text::Text;
use crate::web::Web;
use futures::future::BoxFuture;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::sync::mpsc;

/// The largest file that is read, in bytes.
pub const LIMIT: u64 = 50_000_000;

/// A tool: one that is built into Caliban, or one that is defined while the program runs.
pub struct Tool {
    pub name: String,
    /// Tells the model what the tool does and when to use it. The first sentence is also in the system prompt and in
    /// the help.
    pub purpose: String,
    /// JSON Schema of the arguments.
    pub schema: Value,
    pub author: Author,
    pub work: Work,
}

impl Tool {
    /// The tool as a model sees it.
    fn spec(&self) -> ToolSpec {
        let Tool { name, purpose, schema, .. } = self;
        ToolSpec { name: name.clone(), purpose: purpose.clone(), schema: schema.clone() }
    }

    /// The tool's identity, if it is built into Caliban.
    pub fn builtin(&self) -> Option<Builtin> {
        Builtin::of(&self.name)
    }

    /// Whether the tool's calls have effects outside of Caliban. All earlier events have to be safe on disk before such
    /// a call runs.
    pub fn acts(&self) -> bool {
        matches!(self.work, Work::Act(_))
    }

    /// Whether the tool's answers only contain text that was read or printed, so that the model can get the text again
    /// by another call. A second call of `comment`, for example, would show the comments twice.
    pub fn reads(&self) -> bool {
        matches!(self.author, Author::Files | Author::Command | Author::Web) && !self.edits()
    }

    /// Whether the tool's calls propose edits, which the user decides on.
    pub fn edits(&self) -> bool {
        matches!(self.work, Work::Edit { .. } | Work::Refactor(_))
    }

    /// Whether the tool's calls may change files without a review.
    pub fn changes(&self) -> bool {
        let is_own = matches!(self.work, Work::Own(_)) && self.author == Author::Known;
        is_own || matches!(self.work, Work::Act(_) | Work::Delegate(_))
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Done {
    /// The text of the answer for the model.
    pub text: String,
    /// Caliban's own lines below the text. Unlike the text, they were never written by a stranger.
    pub after: String,
    /// A few words for the right end of the tool's line: `80 lines`, `7 matches`.
    pub summary: String,
    /// Whether a command ended badly.
    pub fault: bool,
    pub images: Vec<Image>,
    /// The job whose end the text reports.
    pub job_end: Option<u32>,
    /// Lines for the log of permissions.
    pub decisions: Vec<String>,
    /// Sentences for the user alone.
    pub told: Vec<String>,
    /// Lines for the user alone, which the chat shows below the call's line.
    pub shown: Vec<String>,
    /// The locked paths that a git command would change. The command did not start, and runs again if the user agrees.
    pub locked: Vec<String>,
    /// Whether the text is Caliban's own, although the tool also returns texts of others.
    pub is_known: bool,
}

impl Done {
    pub fn new(text: String, summary: impl Into<String>) -> Done {
        Done { text, summary: summary.into(), ..Done::default() }
    }

    /// A text of Caliban's own.
    fn known(text: String, summary: impl Into<String>) -> Done {
        Done { is_known: true, ..Done::new(text, summary) }
    }
}

/// The root folder, files, rules and settings that tools work with.
#[derive(Clone)]
pub struct Desk {
    /// The tools of the model.
    pub tools: Toolset,
    /// The folder in which the tools work: the project's root, or a worktree; canonical.
    pub root: PathBuf,
    /// The project's root if `root` is a worktree.
    pub project: Option<PathBuf>,
    /// The conversation's name, which is written into the file of the to-do list.
    pub session: String,
    pub home: Option<PathBuf>,
    /// The user's own configuration folder.
    pub config: PathBuf,
    /// Which files may be read and written.
    pub reach: Reach,
    /// The user's permission rules. The tools use them to check which files may not be edited. The policy uses the
    /// session's copy.
    pub rules: Arc<Rules>,
    pub workspace: Arc<dyn Workspace>,
    /// Receives each text that is read for the model. `None` if it is not recorded which texts the model knows.
    pub seen: Option<mpsc::UnboundedSender<Seen>>,
    /// The consent that the running call has for paths that are not read without one.
    pub agreed: Option<Guarded>,
    /// Receives the output of running commands, for the chat.
    pub output: mpsc::UnboundedSender<(CallId, String)>,
    /// The variables that no command gets, and the secrets that no answer shows.
    pub secrets: environment::Secrets,
    /// The folder for outputs that were too long to show. `read` may read there without consent.
    pub overflow: PathBuf,
    /// The path of this program, which is also run as the supervisor of commands.
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
        self.saw(path, &source, true);
        Ok(source)
    }

    /// Records that the model sees a text, or a part of it.
    fn saw(&self, path: &Path, source: &Source, is_whole: bool) {
        if let Some(seen) = &self.seen {
            // the send fails if nobody records any more which texts the model knows
            let _ = seen.send(Seen { path: path.to_owned(), source: source.clone(), is_whole });
        }
    }

    /// The project's root, also for a desk in a worktree.
    pub fn project(&self) -> &Path {
        self.project.as_deref().unwrap_or(&self.root)
    }

    /// A path as the user would write it.
    pub fn shown(&self, path: &Path) -> String {
        path::tilde(&self.root, self.home.as_deref(), path)
    }
}

/// A text that was read for the model.
pub struct Seen {
    pub path: PathBuf,
    pub source: Source,
    /// Whether the model sees the whole text.
    pub is_whole: bool,
}

/// A file's text as the user sees it now, with pending changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    pub text: Text,
    /// The number of the text's hunks on which the user has not decided.
    pub pending: u32,
}

impl Source {
    /// The note for the model below the text which says that the user has not accepted all of the text yet. Empty if no
    /// hunk is undecided.
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
    /// The file is larger than `LIMIT`. The number is its size in bytes.
    TooLarge(u64),
    Other(String),
}

impl Unreadable {
    /// The reason as the rest of a sentence that begins with the file's name.
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
        /// Why the file could not be saved; empty if it was saved.
        unsaved: String,
        /// The file's text, if the user's own autocommands (for example a formatter) have changed the proposed text.
        text: Option<Text>,
    },
    /// The file's text is no longer the text from which the proposal was made. The value is the current text; `None` if
    /// the file does not exist. The caller applies the edits again to this text.
    Moved(Option<Text>),
    Refused(Misfit),
    /// The proposal is not in the buffer, because another proposal of its group could not be put into its buffer. The
    /// caller applies the edits again.
    Withheld,
    /// The turn was stopped before the proposal was in the buffer.
    Stopped,
}

/// Identifies a version of a file without reading the file: if two stamps are equal, so are the texts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Stamp {
    /// Nothing is known. This stamp is different from all others.
    #[default]
    Unknown,
    /// The text has pending hunks.
    Undecided,
    /// The text of a changed buffer.
    Buffer(String),
    Disk(String),
}

/// The user's files. If a file is changed in a buffer, its text is that of the buffer, otherwise that of the file on
/// disk. Tools read and write files only through this trait.
pub trait Workspace: Send + Sync {
    fn read<'a>(&'a self, path: &'a Path) -> BoxFuture<'a, Result<Source, Unreadable>>;
    /// Whether the user has written this file from a buffer: the file has the text of a loaded buffer, in which the user
    /// has decided every hunk.
    fn has_written<'a>(&'a self, _path: &'a Path) -> BoxFuture<'a, bool> {
        Box::pin(async { false })
    }
    /// Shows proposals to the user, all at the same time. Returns the editor's answers in the same order, once all are
    /// known. Either all proposals of a call are put into their buffers or none.
    fn propose(&self, turn: TurnId, proposals: Vec<Proposal>) -> BoxFuture<'_, Vec<Arrival>>;
    /// Whether the user reviews changes that are written at once.
    fn reviews(&self) -> bool {
        true
    }
    /// The files of the project that have a loaded buffer with a text that differs from the disk. A search reads files
    /// from disk, so it needs to know these files.
    fn changed(&self) -> BoxFuture<'_, Vec<PathBuf>>;
    /// Saves those of these files whose buffer is changed and has no pending hunks. A file with unsaved text of the
    /// user's own is saved only if `agreed` has its path. Returns the files whose text still differs from the disk.
    fn save(&self, paths: Vec<PathBuf>, agreed: Vec<PathBuf>) -> BoxFuture<'_, Vec<PathBuf>>;
    /// The stamps of these files, in their order.
    fn stamps(&self, paths: Vec<PathBuf>) -> BoxFuture<'_, Vec<Stamp>>;
    /// How the user has decided so far on changes of this file that are written already, in sentences for the model.
    /// `None` if none or all are decided.
    fn decided<'a>(&'a self, _path: &'a Path) -> BoxFuture<'a, Option<String>> {
        Box::pin(async { None })
    }
    /// Records that the model knows this text of a file. Later the model is told the user's own changes to this text.
    fn model_knows(&self, path: &Path, text: &Text);
    /// Makes sure that proposals of this turn that are not in a buffer yet do not get there any more.
    fn halt(&self, turn: TurnId);
    /// Changes one file as if the user had done it, without a review, and saves the file. Returns the reason if the
    /// file could not be saved, otherwise an empty text. The error says why nothing was changed.
    fn restore(&self, change: Proposal) -> BoxFuture<'_, Result<String, String>>;
    /// Tells the editor that a file was written on disk, so that it reads the file again.
    fn refresh(&self, path: PathBuf) -> BoxFuture<'_, ()>;
    /// Tells the editor that a command begins or has ended. After its end, the buffers take over what it has changed on
    /// disk.
    fn command(&self, _ended: bool) -> BoxFuture<'_, ()> {
        Box::pin(async {})
    }
    /// Shows comments on lines of files to the user, in addition to those that are shown already.
    fn comment(&self, comments: Vec<comment::Comment>);
    /// Removes all comments that are shown.
    fn uncomment(&self);
    /// Asks what the user has in a part of the editor. The error is a sentence for the user.
    fn scene(&self, part: scene::Part) -> BoxFuture<'_, Result<scene::Scene, String>>;
    /// Asks the user's language servers. The error is text for the model.
    fn consult(&self, question: lsp::Question) -> BoxFuture<'_, Result<lsp::Findings, String>>;
}
