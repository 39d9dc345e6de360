//! The files that the user is likely to mention: those that are open in the editor, and those used recently.

use super::{Place, Search};
use crate::context::mention;
use crate::reach::Reading;
use crate::tool::path;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// What is added to the score of an open file that matches, and of a recent one. A matching letter at the beginning of
/// a word scores about as much as `OPEN`.
const OPEN: u32 = 24;
const RECENT: u32 = 16;

/// Absolute paths, the likeliest first.
#[derive(Debug, Clone, Default)]
pub struct Near {
    /// The files that are open in the editor.
    pub open: Vec<PathBuf>,
    /// Files that were used recently. Completion does not offer those outside of the project.
    pub recent: Vec<PathBuf>,
}

/// A near file as a mention names it.
pub(super) struct File {
    pub path: String,
    /// Whether the file lies in the project, so that its path is relative.
    pub is_inside: bool,
    pub bonus: u32,
}

impl File {
    pub(super) fn place(&self) -> Place {
        let write = if self.is_inside { mention::write } else { mention::spell };
        Place { text: write(&self.path), path: self.path.clone(), is_near: true }
    }
}

impl Search {
    /// The near files that may be mentioned, each once: the open ones first. An open file may be missing on disk,
    /// because it was never written.
    pub(super) fn near(&self, near: &Near) -> Vec<File> {
        let open = near.open.iter().map(|it| (it, OPEN));
        let recent = near.recent.iter().filter(|it| it.starts_with(&self.root));
        let recent = recent.map(|it| (it, RECENT));
        let mut seen = HashSet::new();
        let all = open.chain(recent).filter(|(it, _)| seen.insert(it.as_path()));
        all.filter_map(|(path, bonus)| self.file(path, bonus)).collect()
    }

    fn file(&self, path: &Path, bonus: u32) -> Option<File> {
        let is_free = !matches!(self.reach.reading(path), Reading::Never(_));
        // a path with replacement characters is not the file's real path: the name is not UTF-8
        let may_be_new = bonus == OPEN && !path.to_str()?.contains(char::REPLACEMENT_CHARACTER);
        let is_file = || path.metadata().map_or(may_be_new, |it| it.is_file());
        let is_inside = path.starts_with(&self.root);
        let shown = path::tilde(&self.root, self.home.as_deref(), path);
        (path.is_absolute() && is_free && is_file()).then_some(File {
            path: shown,
            is_inside,
            bonus,
        })
    }
}
