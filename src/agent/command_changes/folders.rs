//! The folders that a command has made or moved. A rewind removes those that it leaves empty.

use super::super::checkpoints::Planned;
use crate::store::checkpoints::Content;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The folders that had files before a command, with their inodes.
pub(super) struct Folders {
    root: PathBuf,
    inodes: BTreeMap<PathBuf, u64>,
    /// When they were listed.
    until: SystemTime,
}

impl Folders {
    pub(super) fn of<'a>(
        root: &Path,
        files: impl Iterator<Item = &'a PathBuf>,
        until: SystemTime,
    ) -> Folders {
        let mut inodes = BTreeMap::new();
        for file in files {
            for folder in file.ancestors().skip(1).take_while(|it| *it != root) {
                if inodes.contains_key(folder) {
                    break;
                }
                let inode = fs::symlink_metadata(folder).map_or(0, |it| it.ino());
                inodes.insert(folder.to_owned(), inode);
            }
        }
        Folders { root: root.to_owned(), inodes, until }
    }

    /// Notes for each file that is there now the highest folder that a command has made for it.
    pub(super) async fn named(self, mut planned: Vec<Planned>) -> Vec<Planned> {
        let name = move || {
            for it in planned.iter_mut().filter(|it| it.after != Ok(Content::Absent)) {
                let all = it.path.ancestors().skip(1).take_while(|it| *it != self.root);
                it.folder = all.take_while(|it| self.is_made(it)).last().map(Path::to_owned);
            }
            planned
        };
        tokio::task::spawn_blocking(name).await.unwrap_or_default()
    }

    /// A folder that had no file before may still be the user's.
    fn is_made(&self, folder: &Path) -> bool {
        let there = fs::symlink_metadata(folder).ok().filter(fs::Metadata::is_dir);
        let Some(there) = there.filter(|_| !self.inodes.contains_key(folder)) else { return false };
        let is_new = there.created().is_ok_and(|it| it >= self.until);
        is_new || self.inodes.values().any(|it| *it == there.ino())
    }
}
