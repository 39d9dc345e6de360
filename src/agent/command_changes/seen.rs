//! The state of one path before a command, and where the earlier content can be found.

use crate::regular;
use crate::store::checkpoints::Content;
use crate::tool::Moved;
use std::collections::BTreeMap;
use std::fs::{self, Metadata};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// The most bytes of one file that are kept in memory while a command runs, because git could not restore them.
const LARGEST: u64 = 1 << 20;

/// The state of one path.
pub(super) struct Seen {
    pub(super) stamp: Stamp,
    pub(super) origin: Origin,
}

/// Where the earlier content of a file can be found.
pub(super) enum Origin {
    InMemory(Content),
    /// In git, under this object name.
    Git(String),
    /// Nowhere: the file is too large, or all files together are.
    None,
    /// There was no file. The text that is there now may have been in a place that is not compared.
    Elsewhere,
}

/// What tells that a file has changed. No link is followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stamp {
    Absent,
    /// The state of a folder is that of its files.
    Folder,
    There {
        inode: u64,
        size: u64,
        modified: (i64, i64),
        changed: (i64, i64),
        /// The kind of the file and its permissions.
        mode: u32,
    },
}

/// A file's inode, its size and its time.
pub(super) type FileId = (u64, u64, (i64, i64));

impl Stamp {
    pub(super) fn of(path: &Path) -> Stamp {
        match fs::symlink_metadata(path) {
            Ok(it) if it.is_dir() => Stamp::Folder,
            Ok(it) => Stamp::There {
                inode: it.ino(),
                size: it.len(),
                modified: (it.mtime(), it.mtime_nsec()),
                changed: (it.ctime(), it.ctime_nsec()),
                mode: it.mode(),
            },
            Err(_) => Stamp::Absent,
        }
    }

    /// The permissions of a regular file.
    pub(super) fn mode(self) -> Option<u32> {
        match self {
            Stamp::There { mode, .. } if mode & 0o170_000 == 0o100_000 => Some(mode & 0o7777),
            _ => None,
        }
    }

    pub(super) fn inode(self) -> Option<u64> {
        self.content().map(|it| it.0)
    }

    /// What a file keeps when it is renamed or gets other permissions.
    pub(super) fn content(self) -> Option<FileId> {
        match self {
            Stamp::There { inode, size, modified, .. } => Some((inode, size, modified)),
            Stamp::Absent | Stamp::Folder => None,
        }
    }

    /// Whether both are the same file with the same content, although its permissions may differ.
    pub(super) fn has_content_of(self, other: Stamp) -> bool {
        self.content().is_some() && self.content() == other.content()
    }

    /// Whether the file was last changed before this time, in seconds since 1970.
    pub(super) fn is_older_than(self, time: i64) -> bool {
        matches!(self, Stamp::There { changed, .. } if changed.0 < time)
    }
}

/// The files that were renamed, of those that differ: the same file with the same content is under another path.
pub(super) fn moved(found: &[(PathBuf, Seen)]) -> Moved {
    let now = |it: &Path| Stamp::of(it);
    let is_gone = |it: &&(PathBuf, Seen)| now(&it.0) == Stamp::Absent;
    let is_new = |it: &&(PathBuf, Seen)| it.1.stamp == Stamp::Absent;
    let new = found.iter().rev().filter(is_new);
    let new: BTreeMap<_, _> = new.filter_map(|it| Some((now(&it.0).content()?, &it.0))).collect();
    let to = |(from, seen): &(PathBuf, Seen)| {
        let to = new.get(&seen.stamp.content()?)?;
        Some((from.clone(), (*to).clone()))
    };
    found.iter().filter(is_gone).filter_map(to).collect()
}

/// How much may still be kept in memory.
pub(super) struct Room {
    pub(super) files: usize,
    pub(super) bytes: u64,
}

impl Seen {
    /// A path that was not listed, because nothing was there.
    pub(super) fn nothing() -> Seen {
        Seen { stamp: Stamp::Absent, origin: Origin::InMemory(Content::Absent) }
    }

    /// A file that git tracks and that has not changed since. `name` is its object name.
    pub(super) fn tracked(path: &Path, name: String) -> Seen {
        let stamp = Stamp::of(path);
        let origin = if stamp.mode().is_some() { Origin::Git(name) } else { small(path) };
        Seen { stamp, origin }
    }

    /// Loads a file that git could not restore.
    pub(super) fn load(path: &Path, room: &mut Room) -> Seen {
        let stamp = Stamp::of(path);
        let is_file = |it: &Metadata| it.is_file();
        let origin = match fs::symlink_metadata(path).ok().filter(is_file).map(|it| it.len()) {
            None => small(path),
            Some(size) if size > LARGEST || size > room.bytes || room.files == 0 => Origin::None,
            Some(size) => {
                *room = Room { files: room.files - 1, bytes: room.bytes - size };
                regular::read(path).map_or(Origin::None, |it| Origin::InMemory(Content::of(it)))
            }
        };
        Seen { stamp, origin }
    }
}

/// The content of a path that is no regular file.
fn small(path: &Path) -> Origin {
    match fs::symlink_metadata(path) {
        Ok(it) if it.is_file() => Origin::None,
        _ => Content::at(path).map_or(Origin::None, Origin::InMemory),
    }
}

/// The set-user-ID, set-group-ID and sticky bits, which no rewind sets.
pub(super) fn is_special(mode: Option<u32>) -> bool {
    mode.is_some_and(|it| fs::Permissions::from_mode(it).mode() & 0o7000 != 0)
}
