//! The files that the user is likely to mention: those that are open in the editor, and those used recently.

use super::place::Place;
use crate::context::mention;
use std::path::PathBuf;

/// What is added to the score of an open file that matches, and of a recent one. A matching letter at the beginning of
/// a word scores about as much as `OPEN`.
pub(super) const OPEN: u32 = 24;
pub(super) const RECENT: u32 = 16;

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
