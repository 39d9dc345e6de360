//! Locked files that a program in the sandbox creates, but that belong to the repository: a program that has git built
//! in checks out a branch. What the repository held before the conversation stays. Anything else is taken back, and
//! then the next commit must not record a deletion.

use crate::tool::git::baseline::{Baseline, Blob, Blobs, LARGEST, content};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The most files below a locked path that are looked at.
const MOST: usize = 1000;
/// The folder, in the repository's own, for what is taken back. No program runs it, and no commit takes it up.
pub(super) const FOLDER: &str = "refused";

/// Files and links with what tells that they have changed.
pub(super) type Marks = BTreeMap<PathBuf, String>;

pub(super) struct Tracked {
    baseline: Arc<Baseline>,
    origins: BTreeMap<PathBuf, Origin>,
    /// The locked paths that were taken back.
    held: BTreeSet<PathBuf>,
}

/// What is known about a locked path that has appeared.
struct Origin {
    blobs: Blobs,
    /// Its files at the last look.
    seen: Marks,
    /// Its files when each had a content that the repository held for it.
    whole: Option<Marks>,
}

impl Tracked {
    pub(super) fn new(baseline: Arc<Baseline>) -> Tracked {
        Tracked { baseline, origins: BTreeMap::new(), held: BTreeSet::new() }
    }

    /// Whether the repository held each file at and below this path before the conversation. Before the last look, a
    /// file may be written at this moment: then its beginning suffices.
    pub(super) async fn is_known(&mut self, path: &Path, is_last: bool) -> bool {
        let Some(now) = marks(path) else { return false };
        self.is_held(path, now.clone(), is_last).await
            && (!is_last || self.is_checked_out(path, &now).await)
    }

    async fn is_held(&mut self, path: &Path, now: Marks, is_last: bool) -> bool {
        if !self.origins.contains_key(path) {
            let blobs = self.baseline.blobs(path).await;
            let origin = Origin { blobs, seen: Marks::new(), whole: None };
            self.origins.insert(path.to_owned(), origin);
        }
        let Some(origin) = self.origins.get_mut(path) else { return false };
        if origin.blobs.is_empty() {
            return false;
        }
        if origin.whole.as_ref() == Some(&now) {
            return true;
        }
        let mut is_whole = true;
        for (file, mark) in &now {
            let Some((blobs, (is_link, bytes))) = origin.blobs.get(file).zip(content(file)) else {
                return false;
            };
            let id = self.baseline.id(bytes.clone()).await;
            if id.is_some_and(|id| blobs.contains(&Blob { is_link, id })) {
                continue;
            }
            is_whole = false;
            let is_growing = !is_last && !is_link && origin.seen.get(file) != Some(mark);
            if !is_growing || !self.baseline.begins(blobs, &bytes).await {
                return false;
            }
        }
        is_whole &= marks(path).as_ref() == Some(&now);
        if is_whole {
            origin.whole = Some(now.clone());
        }
        origin.seen = now;
        true
    }

    /// Whether the commit that is checked out has each of these files as it is on disk. Else the content came from
    /// another branch, and not by a checkout.
    async fn is_checked_out(&self, path: &Path, now: &Marks) -> bool {
        let mut files = BTreeMap::new();
        for file in now.keys() {
            let Some((is_link, bytes)) = content(file) else { return false };
            let Some(id) = self.baseline.id(bytes).await else { return false };
            files.insert(file.clone(), Blob { is_link, id });
        }
        self.baseline.proves(path, &files).await && marks(path).as_ref() == Some(now)
    }

    /// The place for a path that is taken back; the names after it are tried if it is in use.
    pub(super) fn place(&mut self, path: &Path) -> PathBuf {
        self.held.insert(path.to_owned());
        self.baseline.folder().join(FOLDER).join(path.file_name().unwrap_or_default())
    }

    /// Has the next commits keep the files that were taken back and that the index has. Returns them, for each path.
    pub(super) async fn keep(&mut self) -> Vec<(PathBuf, Vec<PathBuf>)> {
        let mut kept = Vec::new();
        for path in &self.held {
            let was_whole = self.origins.get(path).is_some_and(|it| it.whole.is_some());
            let mut files = self.baseline.expected(path, !was_whole).await;
            files.retain(|it| it.symlink_metadata().is_err());
            if !files.is_empty() && self.baseline.keep(&files).await {
                kept.push((path.clone(), files));
            }
        }
        kept
    }
}

/// The files and links at and below a path; `None` if there is anything else, or too much.
pub(super) fn marks(path: &Path) -> Option<Marks> {
    let mut marks = Marks::new();
    mark(path, &mut marks).then_some(marks)
}

fn mark(path: &Path, marks: &mut Marks) -> bool {
    let Ok(there) = fs::symlink_metadata(path) else { return false };
    if there.is_dir() {
        let Ok(entries) = fs::read_dir(path) else { return false };
        return entries.flatten().all(|it| mark(&it.path(), marks));
    }
    let (mtime, ctime) = ((there.mtime(), there.mtime_nsec()), (there.ctime(), there.ctime_nsec()));
    let text = format!("{} {} {mtime:?} {ctime:?}", there.ino(), there.len());
    marks.insert(path.to_owned(), text);
    (there.is_file() || there.is_symlink()) && there.len() <= LARGEST && marks.len() <= MOST
}
