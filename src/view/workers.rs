//! The chat's lines about workers: one under the call that has ordered the worker, and notices about the coordinator.

use super::{Content, View, lines};
use crate::event::{Worker, WorkerEvent, WorkerId, WorkerState};
use crate::session::{WORKER_REQUESTS, Workers};
use std::collections::BTreeMap;

/// The most characters of a worker's title, and of what the worker does.
const TITLE: usize = 40;
const DOING: usize = 80;

/// The workers that the chat shows.
#[derive(Debug, Default)]
pub(super) struct Team {
    rows: BTreeMap<WorkerId, Row>,
}

/// A line of the chat about a worker.
#[derive(Debug)]
struct Row {
    worker: Worker,
    /// What the worker does now; empty before it has begun and after it has ended.
    doing: String,
}

impl View {
    pub(super) fn worker(&mut self, event: &WorkerEvent) {
        match event {
            WorkerEvent::Coordinating { is_on } => self.notice(coordinating(*is_on)),
            WorkerEvent::Held { text, .. } => self.notice(text),
            WorkerEvent::Ordered { call, worker, order } => {
                self.add_row(*worker, Worker::new(call.clone(), order.clone()));
            }
            WorkerEvent::Began { worker } => {
                self.change_row(*worker, |it| it.worker.state = WorkerState::Running);
            }
            WorkerEvent::Placed { worker, session } => {
                self.change_row(*worker, |it| it.worker.session = Some(session.clone()));
            }
            WorkerEvent::Waits { worker, waits } => {
                self.change_row(*worker, |it| it.worker.waits = *waits);
            }
            WorkerEvent::Noticed { worker, text } => {
                self.change_row(*worker, |it| it.worker.notice.clone_from(text));
            }
            WorkerEvent::Dismissed { worker } => {
                self.change_row(*worker, |it| it.worker.is_dismissed = true);
            }
            WorkerEvent::Ended { worker, state, requests, tokens, result } => {
                self.change_row(*worker, |it| {
                    it.worker.end(*state, result.clone());
                    (it.worker.requests, it.worker.tokens) = (*requests, *tokens);
                });
            }
            WorkerEvent::Read { .. } => (),
        }
    }

    /// Shows what a worker does now, and the requests and tokens that it has used.
    pub(super) fn working(&mut self, worker: WorkerId, line: &str, used: (u32, u64)) {
        self.change_row(worker, |it| {
            it.doing = lines::clean(line).replace('\n', " ");
            (it.worker.requests, it.worker.tokens) = used;
        });
    }

    /// Shows the workers of a session that is opened.
    pub(super) fn recall_workers(&mut self, workers: &Workers) {
        for (id, worker) in &workers.all {
            self.add_row(*id, worker.clone());
        }
    }

    /// At the end of a turn no worker runs any more.
    pub(super) fn settle_rows(&mut self) {
        let running: Vec<WorkerId> = self
            .workers
            .rows
            .iter()
            .filter(|it| !it.1.worker.state.is_over())
            .map(|(id, _)| *id)
            .collect();
        for id in running {
            self.change_row(id, |it| it.worker.state = WorkerState::Stopped);
        }
    }

    fn add_row(&mut self, id: WorkerId, worker: Worker) {
        self.workers.rows.insert(id, Row { worker, doing: String::new() });
        self.change_row(id, |_| ());
    }

    fn change_row(&mut self, id: WorkerId, change: impl FnOnce(&mut Row)) {
        let Some(row) = self.workers.rows.get_mut(&id) else { return };
        change(row);
        let call = row.worker.call.clone();
        let of_call = self.workers.rows.iter().filter(|it| it.1.worker.call == call);
        let rows: Vec<String> = of_call.map(|(id, it)| it.line(*id)).collect();
        let Some(at) = self.calls.get(&call).copied() else { return };
        if let Content::Tool(tool) = &mut self.blocks[at].content {
            tool.rows = rows;
            self.changed(at);
        }
    }
}

impl Row {
    fn line(&self, id: WorkerId) -> String {
        let Worker { order, state, waits, is_dismissed, requests, tokens, .. } = &self.worker;
        let state = match state {
            WorkerState::Running if *is_dismissed => "is being stopped",
            WorkerState::Running if *waits => "waits for you",
            state => state.name(),
        };
        let is_running = self.worker.state == WorkerState::Running;
        let doing = match &*self.doing {
            doing if is_running && !doing.is_empty() => {
                format!(" · {}", lines::clip(doing, DOING))
            }
            _ => String::new(),
        };
        let title = lines::clip(&lines::clean(&order.title).replace('\n', " "), TITLE);
        let tokens = lines::count(usize::try_from(*tokens).unwrap_or(usize::MAX));
        format!(
            "{id} {}  {title}  {state}{doing} · {requests}/{WORKER_REQUESTS} · {tokens}",
            order.role.name()
        )
    }
}

/// The sentence for the user when the conversation becomes a coordinator, or is none any more.
fn coordinating(is_on: bool) -> &'static str {
    if is_on {
        "Coordinator: the model hands its work to workers, which keep to the mode. Its tools change, so the provider reads \
         the whole conversation again."
    } else {
        "No coordinator any more: the model works by itself. Its tools change, so the provider reads the whole \
         conversation again."
    }
}
