//! Parts of a conversation that later requests replace by one line each.

use crate::message::CallId;
use serde::{Deserialize, Serialize};

/// A tool result or an excerpt, and the line that replaces it in requests. The session keeps the whole text.
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
    /// An excerpt in a user's message, by its number in `Session::excerpts`.
    Excerpt(u32),
}
