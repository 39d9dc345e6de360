//! Locked paths that git changes with the user's consent. All running commands of a conversation know of them, so that
//! the watch of none takes back what the user has agreed to.

use super::repositories::left;
use super::tracked::Marks;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::sync::watch;

#[derive(Default)]
pub(in crate::tool) struct Agreed {
    /// The paths that running commands may change.
    running: Vec<PathBuf>,
    /// The paths that commands could change, as they were when these commands ended.
    done: BTreeMap<PathBuf, Marks>,
}

/// The user's consent for one command, until the command has ended.
pub(super) struct Consent {
    all: Arc<watch::Sender<Agreed>>,
    paths: Vec<PathBuf>,
    /// The locked paths below these, when the command has ended.
    below: Vec<PathBuf>,
}

impl Agreed {
    /// Whether the path is as a command has left it that could change the path with the user's consent, or such a
    /// command runs.
    pub(super) fn has(&self, path: &Path) -> bool {
        let is_left = |it: &Marks| left(path).as_ref() == Some(it);
        self.running.iter().any(|it| path.starts_with(it))
            || self.done.get(path).is_some_and(is_left)
    }

    /// Whether a command that has ended could change the path. Then its mount in other commands may be gone.
    pub(super) fn was_open(&self, path: &Path) -> bool {
        self.done.contains_key(path)
    }

    fn end(&mut self, path: &Path) {
        if let Some(at) = self.running.iter().position(|it| it == path) {
            self.running.swap_remove(at);
        }
    }
}

/// Does something that writes a locked file in the user's name.
pub(super) fn writing<T>(all: &watch::Sender<Agreed>, file: &Path, write: impl FnOnce() -> T) -> T {
    all.send_modify(|it| it.running.push(file.to_owned()));
    let done = write();
    let marks = left(file);
    all.send_modify(|it| {
        it.end(file);
        if let Some(known) = it.done.get_mut(file) {
            *known = marks.unwrap_or_default();
        }
    });
    done
}

impl Consent {
    pub(super) fn new(all: Arc<watch::Sender<Agreed>>, paths: Vec<PathBuf>) -> Consent {
        all.send_modify(|it| it.running.extend(paths.iter().cloned()));
        Consent { all, paths, below: Vec::new() }
    }

    /// These locked paths below the others are open too.
    pub(super) fn with(&mut self, below: Vec<PathBuf>) {
        self.below = below;
    }
}

impl Drop for Consent {
    fn drop(&mut self) {
        let all = self.paths.iter().chain(&self.below);
        let left: Vec<_> = all.map(|it| (it, left(it))).collect();
        self.all.send_modify(|all| {
            for (path, marks) in left {
                if self.paths.contains(path) {
                    all.end(path);
                }
                // nothing that appears later at a path without a file is what the command has left
                all.done.insert(path.clone(), marks.unwrap_or_default());
            }
        });
    }
}
