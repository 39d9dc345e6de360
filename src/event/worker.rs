//! The workers of a coordinator: subagents that work beside each other while the turn of their conversation goes on.

use super::id::{SessionId, TurnId, number};
use crate::message::{CallId, Origin};
use serde::{Deserialize, Deserializer, Serialize};
use std::fmt;

/// The number of a worker in its conversation, from 1. It is shown as `w3`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct WorkerId(pub u32);

impl fmt::Display for WorkerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "w{}", self.0)
    }
}

impl<'de> Deserialize<'de> for WorkerId {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<WorkerId, D::Error> {
        number(from).map(WorkerId)
    }
}

/// The kind of work that a worker does. The role decides the worker's tools and prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum WorkerRole {
    /// Reads and searches.
    Explorer,
    /// Edits the files that it owns, and runs commands.
    Implementer,
    /// Reads and runs commands, and edits nothing.
    Verifier,
    /// Reads what others have found, and shortens it.
    Summarizer,
}

/// The roles in the order in which they are listed.
pub const ROLES: [WorkerRole; 4] =
    [WorkerRole::Explorer, WorkerRole::Implementer, WorkerRole::Verifier, WorkerRole::Summarizer];

impl WorkerRole {
    pub fn name(self) -> &'static str {
        match self {
            WorkerRole::Explorer => "explorer",
            WorkerRole::Implementer => "implementer",
            WorkerRole::Verifier => "verifier",
            WorkerRole::Summarizer => "summarizer",
        }
    }
}

/// Where a worker works.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Isolation {
    /// In the user's files. The worker's edits are proposals to the user.
    #[default]
    Shared,
    /// In a git worktree of its own.
    Worktree,
}

impl Isolation {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    fn is_shared(&self) -> bool {
        *self == Isolation::Shared
    }
}

/// What a coordinator wants of a new worker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Order {
    pub role: WorkerRole,
    /// A few words for the user.
    pub title: String,
    /// Everything that the worker is told. Empty once the worker has begun.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub prompt: String,
    /// The files and folders that an implementer may edit. Paths are written as in `Access::Edit`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub owns: Vec<String>,
    #[serde(default, skip_serializing_if = "Isolation::is_shared")]
    pub isolation: Isolation,
}

/// The worker's number, role and files, as its own session stores them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Post {
    pub worker: WorkerId,
    pub role: WorkerRole,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub owns: Vec<String>,
}

impl Post {
    /// Why the worker may not edit this path; `None` if it owns the path. The path is written as in `Access::Edit`.
    pub fn refusal(&self, path: &str) -> Option<String> {
        let is_owned = self.owns.iter().any(|it| is_within(it, path));
        (!is_owned).then(|| {
            let owns = self.owns.join("`, `");
            format!(
                "Not edited: `{path}` is not yours. You may edit `{owns}` only. Go on without this edit, and name it in \
                 your hand-off."
            )
        })
    }
}

/// Whether a path is `folder`, or lies in it.
fn is_within(folder: &str, path: &str) -> bool {
    let below = path.strip_prefix(folder).map(|rest| rest.is_empty() || rest.starts_with('/'));
    folder == "." && !path.starts_with('/') || below == Some(true)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum WorkerState {
    /// Other workers have to end before this one begins.
    Waiting,
    Running,
    Finished,
    /// The worker broke off: it failed, ran out of requests, or died with the program.
    Failed,
    Stopped,
}

impl WorkerState {
    pub fn is_over(self) -> bool {
        !matches!(self, WorkerState::Waiting | WorkerState::Running)
    }

    pub fn name(self) -> &'static str {
        match self {
            WorkerState::Waiting => "waits in line",
            WorkerState::Running => "running",
            WorkerState::Finished => "finished",
            WorkerState::Failed => "failed",
            WorkerState::Stopped => "stopped",
        }
    }
}

/// The result of a worker, as its coordinator gets it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HandOff {
    /// The hand-off as JSON, and Caliban's own lines below it.
    pub text: String,
    /// The origin of strangers' texts that the worker has read; `None` if it has read none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub foreign: Option<Origin>,
    /// Whether the work is not finished, or the report does not have the form that was asked for.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_partial: bool,
}

/// A worker, as its coordinator's conversation knows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Worker {
    /// The call that has ordered the worker.
    pub call: CallId,
    #[serde(flatten)]
    pub order: Order,
    pub state: WorkerState,
    /// The worker's own session, once it is open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionId>,
    /// What the worker has reported last, in one line.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub notice: String,
    /// Whether the worker waits for the user: for an answer or for a review.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub waits: bool,
    /// Whether the worker was told to stop.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_dismissed: bool,
    /// The result, once the worker has ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<HandOff>,
    /// Whether the coordinator has got the result.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_read: bool,
    /// The requests and tokens that the worker has used, once it has ended.
    #[serde(default, deserialize_with = "number")]
    pub requests: u32,
    #[serde(default, deserialize_with = "crate::message::count")]
    pub tokens: u64,
}

impl Worker {
    pub fn new(call: CallId, order: Order) -> Worker {
        Worker {
            call,
            order,
            state: WorkerState::Waiting,
            session: None,
            notice: String::new(),
            waits: false,
            is_dismissed: false,
            result: None,
            is_read: false,
            requests: 0,
            tokens: 0,
        }
    }

    pub fn end(&mut self, state: WorkerState, result: HandOff) {
        (self.state, self.result, self.waits) = (state, Some(result), false);
        self.order.prompt.clear();
    }

    /// Whether the end of a turn has ended the worker. The worker's own hand-off may still arrive.
    pub fn is_cut_off(&self) -> bool {
        self.is_unread() && self.requests == 0 && self.session.is_some()
    }

    /// Whether the worker has ended and the coordinator has not got its result.
    pub fn is_unread(&self) -> bool {
        self.state.is_over() && !self.is_read
    }
}

/// What a coordinator does with its workers by a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WorkerAct {
    Spawn(Vec<Order>),
    List,
    /// Waits until all of these workers have ended; with `is_any`, until one of them has. If none is named, all workers
    /// are meant.
    Await {
        workers: Vec<String>,
        is_any: bool,
    },
    Result(String),
    Stop(String),
}

/// An event of a coordinator and its workers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum WorkerEvent {
    /// The conversation becomes a coordinator, or is none any more.
    Coordinating {
        is_on: bool,
    },
    /// The call has ordered a worker, which waits in line.
    Ordered {
        call: CallId,
        worker: WorkerId,
        order: Order,
    },
    Began {
        worker: WorkerId,
    },
    /// The worker works in the session of this name.
    Placed {
        worker: WorkerId,
        session: SessionId,
    },
    /// The worker begins to wait for the user, or does not wait any more.
    Waits {
        worker: WorkerId,
        waits: bool,
    },
    /// The worker reports its progress.
    Noticed {
        worker: WorkerId,
        text: String,
    },
    /// The user or the coordinator has told the worker to stop.
    Dismissed {
        worker: WorkerId,
    },
    Ended {
        worker: WorkerId,
        state: WorkerState,
        result: HandOff,
        #[serde(default, deserialize_with = "number")]
        requests: u32,
        #[serde(default, deserialize_with = "crate::message::count")]
        tokens: u64,
    },
    /// The coordinator gets these results.
    Read {
        workers: Vec<WorkerId>,
    },
    /// A reply that would have ended the turn does not end it, because workers run or results are unread. `text` tells
    /// this to the model.
    Held {
        turn: TurnId,
        text: String,
    },
}
