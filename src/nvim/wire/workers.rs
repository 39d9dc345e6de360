//! The messages about a coordinator and its workers.

use crate::agent::{Command, WorkerWanted};
use crate::event::{Mode, SessionId, WorkerId};
use serde::Deserialize;

/// A mode as the user chooses it. A conversation that becomes a coordinator keeps the mode that it had.
#[derive(Debug, Clone, Copy, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ChosenMode {
    Plan,
    Ask,
    AutoEdit,
    Auto,
    Coordinator,
}

/// Stops a worker of a session's coordinator, or sends it a message.
#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct WorkerMessage {
    pub session: SessionId,
    pub worker: WorkerId,
    /// The message. If absent, the worker is stopped.
    pub text: Option<String>,
}

impl From<ChosenMode> for Command {
    fn from(it: ChosenMode) -> Command {
        Command::ChooseMode(Some(match it {
            ChosenMode::Coordinator => return Command::Coordinate,
            ChosenMode::Plan => Mode::Plan,
            ChosenMode::Ask => Mode::Ask,
            ChosenMode::AutoEdit => Mode::AutoEdit,
            ChosenMode::Auto => Mode::Auto,
        }))
    }
}

impl From<WorkerMessage> for (SessionId, Command) {
    fn from(it: WorkerMessage) -> (SessionId, Command) {
        let wanted = it.text.map_or(WorkerWanted::Stop, WorkerWanted::Message);
        (it.session, Command::Worker(it.worker, wanted))
    }
}
