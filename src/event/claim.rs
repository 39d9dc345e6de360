//! What verdicts say about files on disk. The words for the model are made when a request is sent, from what is on disk
//! then.

use crate::message::CallId;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// What a verdict on a call says about a file on disk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    pub call: CallId,
    pub path: PathBuf,
    #[serde(flatten)]
    pub what: Claimed,
    /// The words at the end of the call's line once all its text is saved, and whether they tell a failure.
    pub summary: String,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub failed: bool,
    /// Whether the model has been told.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub told: bool,
}

impl Claim {
    /// The claim that a text of this hash is in the file's buffer only.
    pub fn unsaved(call: CallId, path: PathBuf, why: &str, settled: String) -> Claim {
        let what = Claimed::Unsaved { why: why.to_owned(), settled, disk: None, lines: None };
        Claim { call, path, what, summary: String::new(), failed: false, told: false }
    }

    /// Why the text is not on disk; empty if the claim is about something else.
    pub fn why(&self) -> &str {
        match &self.what {
            Claimed::Unsaved { why, .. } => why,
            Claimed::Gone { .. } => "",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "claim", rename_all = "snake_case")]
pub enum Claimed {
    /// The text on which the user has decided is in the file's buffer only.
    Unsaved {
        why: String,
        /// The hash of that text.
        settled: String,
        /// The hash of the text on disk at the decision, if it is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        disk: Option<String>,
        /// What of the call's changes was on disk at the decision, if it is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        lines: Option<OnDisk>,
    },
    /// There is no file. `keeps` says whether its buffer still holds a text.
    Gone { keeps: Option<Keeps> },
}

/// The text that the buffer of a deleted file holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Keeps {
    /// A text of the user's own.
    Own,
    /// The file's former text.
    Former,
}

/// How many of a call's changes of a file are on disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct OnDisk {
    pub total: usize,
    pub there: usize,
    /// In the place of how many changes other lines are.
    pub other: usize,
    /// Whether the user has agreed to none of the changes.
    pub is_absent: bool,
}

/// A file as it is when a request is about to be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standing {
    pub path: PathBuf,
    pub disk: Disk,
    pub buffer: Buffer,
}

impl Standing {
    /// Whether the file's buffer holds a text that is not on disk.
    pub fn is_held(&self) -> bool {
        match (&self.buffer, &self.disk) {
            (Buffer::Absent, _) => false,
            (Buffer::Text(held), Disk::Text(saved)) => held != saved,
            (Buffer::Text(_) | Buffer::Unknown, _) => true,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Buffer {
    /// No buffer of the file is loaded.
    Absent,
    /// The hash of the text.
    Text(String),
    /// The editor does not answer.
    Unknown,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Disk {
    Absent,
    /// The hash of the text.
    Text(String),
    Unread,
}

/// What a request tells about a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Told {
    /// The call to whose verdict the text belongs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<CallId>,
    /// Whether the verdict goes as a note, and not as the answer to the call.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_note: bool,
    pub text: String,
}
