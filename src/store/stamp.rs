//! Recognises a changed file without reading it.

use serde::{Deserialize, Serialize};
use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Distinguishes versions of a file. Each save replaces a session's file by a new one, so each version has another
/// inode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Stamp {
    inode: u64,
    bytes: u64,
    /// The time of modification since 1970, in seconds and nanoseconds.
    modified: (i64, i64),
}

impl Stamp {
    pub(super) fn of(file: &Metadata) -> Stamp {
        let modified = (file.mtime(), file.mtime_nsec());
        Stamp { inode: file.ino(), bytes: file.len(), modified }
    }

    /// The stamp of the file at this path; `None` if there is no such file.
    pub(super) fn at(path: &Path) -> Option<Stamp> {
        fs::metadata(path).ok().map(|it| Stamp::of(&it))
    }
}
