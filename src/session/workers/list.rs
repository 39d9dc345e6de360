//! The workers of a conversation.

use crate::event::{Worker, WorkerId, WorkerState};
use std::collections::BTreeMap;

/// The most workers whose results are kept after the coordinator has read them.
const KEPT: usize = 64;

/// The most requests that a worker may make.
pub const WORKER_REQUESTS: u32 = 12;

/// A conversation's workers.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Workers {
    /// Whether the conversation is a coordinator, which hands its work out.
    pub is_on: bool,
    pub all: BTreeMap<WorkerId, Worker>,
    /// The number of the last worker.
    pub last: u32,
    /// Whether a worker has reported its progress. The coordinator gets the report with each request, and a stranger's
    /// text may be in it.
    pub has_noticed: bool,
    /// How many replies of the turn were held; see `finish`.
    pub(in crate::session) held: u32,
}

impl Workers {
    pub fn running(&self) -> impl Iterator<Item = (WorkerId, &Worker)> {
        let all = self.all.iter().filter(|it| it.1.state == WorkerState::Running);
        all.map(|(id, it)| (*id, it))
    }

    /// The workers that run or wait in line.
    pub fn active(&self) -> impl Iterator<Item = (WorkerId, &Worker)> {
        self.all.iter().filter(|it| !it.1.state.is_over()).map(|(id, it)| (*id, it))
    }

    /// The workers with a result that the coordinator has not read.
    pub fn unread(&self) -> impl Iterator<Item = (WorkerId, &Worker)> {
        self.all.iter().filter(|it| it.1.is_unread()).map(|(id, it)| (*id, it))
    }

    /// The workers that a session's file lists.
    pub fn stored(is_on: bool, all: BTreeMap<WorkerId, Worker>, last: u32) -> Workers {
        let has_noticed = all.values().any(|it| !it.notice.is_empty());
        let mut workers = Workers { is_on, all, last, has_noticed, held: 0 };
        workers.shorten();
        workers
    }

    /// Called when a turn begins.
    pub(in crate::session) fn begin_turn(&mut self) {
        self.held = 0;
    }

    pub(in crate::session) fn is_running(&self, worker: WorkerId) -> bool {
        self.all.get(&worker).is_some_and(|it| it.state == WorkerState::Running)
    }

    /// The first worker in line.
    pub(in crate::session) fn next(&self) -> Option<WorkerId> {
        let mut waiting = self.all.iter().filter(|it| it.1.state == WorkerState::Waiting);
        waiting.next().map(|(id, _)| *id)
    }

    /// Removes the oldest workers whose results the coordinator has read, so that at most `KEPT` of these stay.
    pub(in crate::session) fn forget_old(&mut self) {
        let settled: Vec<WorkerId> = self
            .all
            .iter()
            .filter(|it| it.1.state.is_over() && it.1.is_read)
            .map(|(id, _)| *id)
            .collect();
        for id in settled.iter().take(settled.len().saturating_sub(KEPT)) {
            self.all.remove(id);
        }
    }
}
