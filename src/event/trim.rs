//! Parts of a conversation that later requests name in one line instead of repeating them.

use crate::message::CallId;
use serde::{Deserialize, Serialize};

/// A result or an excerpt, and the line that stands in its place in requests. The session keeps the whole text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trim {
    #[serde(flatten)]
    pub item: Item,
    pub line: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Item {
    /// The answer of this call.
    Call(CallId),
    /// An excerpt in a message of the user's role, by its number in `Session::excerpts`.
    Excerpt(u32),
}
