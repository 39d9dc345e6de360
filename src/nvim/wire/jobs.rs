//! The messages about background jobs.

use crate::agent::Command;
use crate::conversation::report::JobRow;
use crate::event::SessionId;
use serde::{Deserialize, Serialize};

/// Asks for the list of a session's background jobs, or stops one of them. The answer is `jobs`, or a sentence.
#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct JobsWanted {
    pub session: SessionId,
    /// The number of the job to stop. If it is `None`, the list of jobs is asked for.
    pub stop: Option<u32>,
}

/// The background jobs of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Jobs {
    pub session: SessionId,
    /// The oldest first.
    pub jobs: Vec<JobRow>,
}

impl From<JobsWanted> for (SessionId, Command) {
    fn from(it: JobsWanted) -> (SessionId, Command) {
        (it.session, it.stop.map_or(Command::ListJobs, Command::StopJob))
    }
}
