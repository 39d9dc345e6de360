//! A tool call in the chat.

use super::team::WorkerRow;
use crate::message::{FileDiff, ToolAnswer, ToolCall};

/// The meaning of the words at the right end of a call's line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tone {
    Plain,
    Failed,
    Running,
    /// The call waits for the user.
    Waits,
}

/// A tool call in the chat.
#[derive(Debug, Clone)]
pub(super) struct Tool {
    pub(super) call: Option<ToolCall>,
    pub(super) name: String,
    pub(super) answer: Option<ToolAnswer>,
    /// The session in which a subagent works on the call.
    pub(super) session: Option<String>,
    /// What the call changes in each file, as far as it is known.
    pub(super) diff: Vec<FileDiff>,
    pub(super) live: String,
    /// One line for each worker that the call has ordered.
    pub(super) rows: Vec<WorkerRow>,
    /// Whether the lines in `rows` are shown while the call is closed.
    pub(super) has_rows: bool,
    pub(super) open: bool,
    pub(super) began_ms: Option<u64>,
    /// The words at the right end of the call's line if the turn ends without an answer.
    pub(super) if_unanswered: &'static str,
    /// The block of the folded run to which the call belongs.
    pub(super) run: Option<usize>,
}

impl Tool {
    pub(super) fn new(name: &str, call: Option<&ToolCall>) -> Tool {
        Tool {
            call: call.cloned(),
            name: name.to_owned(),
            answer: None,
            session: None,
            diff: Vec::new(),
            live: String::new(),
            rows: Vec::new(),
            has_rows: true,
            open: false,
            began_ms: None,
            if_unanswered: "not run",
            run: None,
        }
    }

    /// Whether lines below the call's own are shown.
    pub(super) fn is_open(&self) -> bool {
        self.open || !self.rows().is_empty()
    }

    /// The lines about workers that are shown.
    pub(super) fn rows(&self) -> &[WorkerRow] {
        if self.open || self.has_rows { &self.rows } else { &[] }
    }

    /// Hides all lines below the call's own, or shows them all.
    pub(super) fn toggle(&mut self) {
        (self.open, self.has_rows) = (!self.is_open(), self.rows.is_empty());
    }

    pub(super) fn if_unanswered_tone(&self) -> Tone {
        if self.if_unanswered == UNDECIDED { Tone::Plain } else { Tone::Failed }
    }
}

/// The words for an edit on which the user has not decided.
pub(super) const UNDECIDED: &str = "under review";
