//! How a turn ended.

use super::Failure;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum End {
    Done,
    Cancelled,
    Failed(Failure),
    /// The reply ended in a way that the user has to know about: cut by `max_tokens`, refused, or for an unknown
    /// reason.
    Stopped(String),
    /// The editor or the program ended in the middle of the turn. This is noticed when the session is opened again.
    Interrupted,
    /// The conversation was copied in the middle of the turn, which goes on in the original. Only the copy has this end.
    Copied,
}
