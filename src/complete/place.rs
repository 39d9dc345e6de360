//! A file or folder that completion offers.

use crate::context::mention;

/// A file or folder that a mention may name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The path as it is shown: relative to the project, or as the user began to write it. A folder's path ends in a
    /// slash.
    pub path: String,
    /// The text of the mention.
    pub text: String,
    /// Whether the file is open or was used recently.
    pub is_near: bool,
}

pub(super) fn relative(path: &str) -> Place {
    Place { text: mention::write(path), path: path.to_owned(), is_near: false }
}
