//! The messages about turns that nobody attends.

use crate::conversation::ran;
use crate::event::SessionId;
use serde::{Deserialize, Serialize};

/// Begins a new session with a turn that nobody attends. The answer is `ran`.
#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Run {
    pub text: String,
}

/// A turn that nobody attended has ended.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Ran {
    pub session: SessionId,
    /// The exit code of `caliban run`.
    pub code: u8,
    /// The model's last words.
    pub answer: String,
    /// The lines of the summary.
    pub summary: Vec<String>,
    /// The changes of files, in the format of git.
    pub diff: String,
}

impl Ran {
    pub(super) fn of(session: SessionId, ran: &ran::Ran) -> Ran {
        let (code, answer) = (ran.exit.code(), ran.answer.clone());
        Ran { session, code, answer, summary: ran.summary(), diff: ran.diff() }
    }
}
