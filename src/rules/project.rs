//! The rules of one project, and the files as the project's commands will see them.

use super::rule::Rule;
use crate::reach::Reach;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A file that git's index names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tracked {
    pub path: PathBuf,
    /// Whether the file differs from what the index knows of it.
    pub is_changed: bool,
}

/// The files as a command will see them. The rules themselves read no disk.
pub trait Tree: Send + Sync {
    /// The names in a folder, each with whether it is a folder itself. None if it is no folder; `None` if there are too
    /// many.
    fn entries(&self, folder: &Path) -> Option<Vec<(String, bool)>>;

    /// The names in a folder, as in `entries`.
    fn names(&self, folder: &Path) -> Option<Vec<String>> {
        Some(self.entries(folder)?.into_iter().map(|it| it.0).collect())
    }

    /// Of the files that git's index names in the repository around a folder, those for which `keep` holds. `None` if there
    /// is no index, or one that cannot be read.
    fn tracked(&self, folder: &Path, keep: &mut dyn FnMut(&Path) -> bool) -> Option<Vec<Tracked>>;

    /// The lines of the files in a folder that tell git and searches what to leave out.
    fn ignored(&self, folder: &Path) -> Vec<String>;

    /// Whether there is something at this path, be it a link that leads nowhere.
    fn is_there(&self, path: &Path) -> bool;

    /// All spellings of a path that occur while its links are followed: first the given path, last the real path. None
    /// if the links form a loop.
    fn trail(&self, path: &Path) -> Vec<PathBuf>;
}

/// The rules of one project.
#[derive(Clone, Default)]
pub struct Rules {
    pub all: Vec<Rule>,
    pub(super) root: PathBuf,
    /// The rules about protected paths; `None` in tests and for an agent without files.
    pub(super) reach: Option<Reach>,
    /// Whether the sandbox of commands is complete: it protects files and has no network.
    pub(super) contains: bool,
    /// The files as a command will see them; `None` in tests.
    pub(super) tree: Option<Arc<dyn Tree>>,
    /// The spellings of the root.
    pub(super) roots: Vec<PathBuf>,
}

impl PartialEq for Rules {
    fn eq(&self, other: &Rules) -> bool {
        self.all == other.all && self.contains == other.contains
    }
}

impl fmt::Debug for Rules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.all.fmt(f)
    }
}
