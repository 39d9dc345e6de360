//! The workers that the chat shows, and their lines.

use crate::event::{Worker, WorkerId, WorkerRole};
use serde::Serialize;
use std::collections::BTreeMap;

/// The sentence for the user when an answer of the model is held back.
pub(super) const HELD: &str = "The model answered too early, and was told to wait for its workers.";

/// The workers that the chat shows.
#[derive(Debug, Default)]
pub(super) struct Team {
    pub(super) rows: BTreeMap<WorkerId, Row>,
}

/// A line of the chat about a worker.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) worker: Worker,
    /// What the worker does now; empty before it has begun and after it has ended.
    pub(super) doing: String,
}

/// A line of a call about one of its workers, for the keys on it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct WorkerRow {
    pub worker: WorkerId,
    pub role: WorkerRole,
    pub title: String,
    /// What the worker does, in a few words.
    pub state: String,
    /// What the worker has reported last; may be empty.
    pub notice: String,
    /// The worker's own session, once it is open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Whether the worker waits for the user.
    pub waits: bool,
    pub failed: bool,
    /// Whether the worker has ended.
    pub over: bool,
    pub requests: u32,
    pub tokens: u64,
    /// The whole line. The editor cuts it in a narrow window.
    pub line: String,
    /// The first byte of the title in this line, and the first byte of the words about what the worker does.
    pub parts: (u32, u32),
    /// The bytes of these words that a narrow window leaves out first.
    pub spare: u32,
    /// The words beside the line; may be empty.
    pub right: String,
}
