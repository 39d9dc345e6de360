//! A background job, as its conversation knows it.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Job {
    pub command: String,
    /// What the model is to be told about the end of the job; empty while the job runs.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
}

impl Job {
    pub fn is_running(&self) -> bool {
        self.note.is_empty()
    }
}
