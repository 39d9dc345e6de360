//! The sessions of a project on disk, one of them that is open, and what the opening has found.

use super::disk::Disk;
use super::file::{Draft, SessionFile};
use super::journal::Journal;
use super::stamp::Stamp;
use super::unknown::Unknown;
use crate::message::Block;
use crate::session::Session;
use std::collections::HashSet;
use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;

/// The sessions of one project.
#[derive(Debug, Clone)]
pub struct Project {
    pub(super) disk: Arc<dyn Disk>,
    pub(super) dir: PathBuf,
    pub(super) root: PathBuf,
}

/// An open session on disk. The session is locked until this is dropped.
#[derive(Debug)]
pub struct Store {
    pub(super) disk: Arc<dyn Disk>,
    pub(super) dir: PathBuf,
    /// The project's root.
    pub(super) root: PathBuf,
    pub(super) name: String,
    pub(super) header: SessionFile,
    /// The size of the session's file, in bytes.
    pub(super) size: u64,
    /// Fields in the file's messages that the program does not know. `None` until they are first needed.
    pub(super) unknown: Option<Unknown>,
    /// The stamp (such as the time of modification) of the session's file when this program last read or wrote it.
    pub(super) stamp: Option<Stamp>,
    /// The copy of the session's file with another program's changes.
    pub(super) edited: Option<PathBuf>,
    pub(super) journal: Journal,
    /// Journal lines that are not on disk yet.
    pub(super) backlog: Vec<u8>,
    /// A draft that is not on disk yet.
    pub(super) draft: Option<Draft>,
    /// The names of the outputs that have a file. Files of `unsynced` outputs are not synced to disk yet.
    pub(super) kept: HashSet<String>,
    pub(super) unsynced: Vec<String>,
    /// The folder to which the outputs of a cleared conversation move after the next save.
    pub(super) cleared: Option<PathBuf>,
    pub(super) _lock: File,
}

/// The result of opening a session.
#[derive(Debug)]
pub struct Opened {
    pub store: Store,
    /// The session; `None` if there was no session with this name.
    pub session: Option<Session>,
    /// Whether the journal had events that the session's file did not have.
    pub replayed: bool,
    /// Whether the last turn was interrupted.
    pub interrupted: bool,
    /// The part of an interrupted reply that had already arrived.
    pub partial: Vec<Block>,
    pub draft: Draft,
    /// Sentences for the user about files that were set aside or cannot be read.
    pub warnings: Vec<String>,
}
