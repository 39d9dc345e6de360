//! Which skills of the project the model may have.

use crate::message::Excerpt;
use std::sync::Arc;

/// The skills of the project that the model may have. The user's own skills are always usable.
#[derive(Debug, Clone)]
pub enum Usable {
    All,
    /// The skills whose files have these paths and texts.
    Agreed(Arc<[Excerpt]>),
}

impl Usable {
    /// Whether the model may have the skill of a file with this path and text.
    pub(super) fn has(&self, path: &str, text: &str) -> bool {
        match self {
            Usable::All => true,
            Usable::Agreed(files) => files.iter().any(|it| it.path == path && it.text == text),
        }
    }
}
