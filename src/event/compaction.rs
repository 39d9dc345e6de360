//! The part of a conversation that later requests replace by a summary.

use serde::{Deserialize, Serialize};

/// In later requests a hand-off replaces all messages before `at`. The session keeps these messages.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Compaction {
    /// The index of the first message that requests still contain.
    pub at: usize,
    /// The index of the note that has the hand-off.
    pub note: usize,
    /// The model's summary. The next compaction updates it.
    pub summary: String,
    /// The estimated number of tokens by which later requests are shorter.
    pub saved: u64,
    /// The paths of instructions and the names of skills that the hand-off has no room for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
}

/// A summary of the messages before `at`, and the texts that the model gets with the summary.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Handoff {
    pub at: usize,
    pub summary: String,
    /// The message at the beginning of later requests. It has the summary and the texts that are kept word for word.
    pub text: String,
    /// The estimated number of tokens by which later requests are shorter.
    pub saved: u64,
    /// The sentence for the user.
    pub told: String,
    /// The paths of instructions and the names of skills that the hand-off has no room for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
}
