//! The user's files, as tools read and change them.

use super::lsp::question::{Findings, Question};
use super::scene;
use crate::edit::{Misfit, Proposal};
use crate::event::{Buffer, Disk, Standing, TurnId};
use crate::text::Text;
use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The largest file that is read, in bytes.
pub const LIMIT: u64 = 50_000_000;

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
            Unreadable::NotUtf8 => "is not UTF-8 text (it may be Latin-1 or UTF-16)".into(),
            Unreadable::TooLarge(bytes) => format!("is too large ({} MB)", bytes / 1_000_000),
            Unreadable::Other(why) => format!("cannot be read: {why}"),
        }
    }
}

/// A file on disk, as it was read.
pub fn seen(read: Result<Text, Unreadable>) -> Disk {
    match read {
        Ok(text) => Disk::Text(text.sha256_hex()),
        Err(Unreadable::Absent) => Disk::Absent,
        Err(_) => Disk::Unread,
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

/// Files that a command has renamed: their new paths, by the former ones.
pub type Moved = BTreeMap<PathBuf, PathBuf>;

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
    /// How these files are on disk and in their buffers.
    fn standings(&self, paths: Vec<PathBuf>) -> BoxFuture<'_, Vec<Standing>> {
        Box::pin(async move {
            let mut all = Vec::new();
            for path in paths {
                let disk = seen(self.read(&path).await.map(|it| it.text));
                all.push(Standing { path, disk, buffer: Buffer::Absent });
            }
            all
        })
    }
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
    /// Tells the editor that a command or a job begins, or that it has ended and renamed these files. After its end, the
    /// buffers take over what it has changed on disk; while a job runs, also before.
    fn command(&self, _ended: Option<Moved>, _is_job: bool) -> BoxFuture<'_, ()> {
        Box::pin(async {})
    }
    /// Shows comments on lines of files to the user, in addition to those that are shown already.
    fn comment(&self, comments: Vec<Comment>);
    /// Removes all comments that are shown.
    fn uncomment(&self);
    /// Asks what the user has in a part of the editor. The error is a sentence for the user.
    fn scene(&self, part: scene::Part) -> BoxFuture<'_, Result<scene::Scene, String>>;
    /// Asks the user's language servers. The error is text for the model.
    fn consult(&self, question: Question) -> BoxFuture<'_, Result<Findings, String>>;
}

/// A comment of the model on a line of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Comment {
    /// The absolute path.
    pub path: PathBuf,
    /// Counted from 0.
    pub line: u32,
    pub severity: Severity,
    pub text: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    Error,
    Warning,
    Info,
    Hint,
}
