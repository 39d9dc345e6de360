//! The chat's lines about workers: one under the call that has ordered the worker, and notices about the coordinator.

use super::blocks::{Content, View};
use super::lines;
use super::team::{HELD, Row, WorkerRow};
use crate::event::{Worker, WorkerEvent, WorkerId, WorkerState};
use crate::session::{WORKER_REQUESTS, Workers, width};

/// The most characters of a worker's title, and of what the worker does.
const TITLE: usize = 80;
const DOING: usize = 80;

/// The beginning of the words about a worker that waits for the user's answer or review.
const WAITS: &str = "waits for ";

impl View {
    pub(super) fn worker(&mut self, event: &WorkerEvent) {
        match event {
            WorkerEvent::Coordinating { is_on } => self.notice(coordinating(*is_on)),
            WorkerEvent::Held { .. } => self.notice(HELD),
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
        let of_call: Vec<(WorkerId, &Row)> = self
            .workers
            .rows
            .iter()
            .filter(|it| it.1.worker.call == call)
            .map(|(id, it)| (*id, it))
            .collect();
        let rows = aligned(&of_call);
        let Some(at) = self.calls.get(&call).copied() else { return };
        if let Content::Tool(tool) = &mut self.blocks[at].content {
            tool.rows = rows;
            self.changed(at);
        }
    }
}

/// The lines of a call's workers, with their numbers, roles and titles one below the other.
fn aligned(rows: &[(WorkerId, &Row)]) -> Vec<WorkerRow> {
    let titles: Vec<String> = rows.iter().map(|(_, it)| it.title()).collect();
    let most = |all: &mut dyn Iterator<Item = usize>| all.max().unwrap_or(0);
    let id = most(&mut rows.iter().map(|it| it.0.to_string().len()));
    let role = most(&mut rows.iter().map(|it| it.1.worker.order.role.name().len()));
    let title = most(&mut titles.iter().map(|it| width(it)));
    let line = |((worker, row), name): (&(WorkerId, &Row), String)| {
        let kind = row.worker.order.role.name();
        let head = format!("    {:<id$} {kind:<role$}  ", worker.to_string());
        let gap = " ".repeat(title - width(&name) + 2);
        row.line(*worker, &head, name, &gap)
    };
    rows.iter().zip(titles).map(line).collect()
}

impl Row {
    fn title(&self) -> String {
        lines::clip(&lines::clean(&self.worker.order.title).replace('\n', " "), TITLE)
    }

    /// What the worker does, and the words before it that a narrow window leaves out.
    fn words(&self) -> (&'static str, String) {
        let doing = lines::clip(&self.doing, DOING);
        match self.worker.state {
            WorkerState::Running if self.worker.is_dismissed => ("", "is being stopped".to_owned()),
            WorkerState::Running if self.worker.waits => match doing.strip_prefix(WAITS) {
                Some(what) => ("waits: ", what.replacen("your review of ", "", 1)),
                None => ("", "waits for you".to_owned()),
            },
            WorkerState::Running if !doing.is_empty() => ("", doing),
            state => ("", state.name().to_owned()),
        }
    }

    /// The whole line: `head`, the title, `gap`, and what the worker does.
    fn line(&self, id: WorkerId, head: &str, title: String, gap: &str) -> WorkerRow {
        let Worker { order, state, waits, is_dismissed, requests, tokens, .. } = &self.worker;
        let (spare, words) = self.words();
        let byte = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        let until = head.len() + title.len() + gap.len();
        WorkerRow {
            worker: id,
            role: order.role,
            line: format!("{head}{title}{gap}{spare}{words}"),
            parts: (byte(head.len()), byte(until)),
            spare: byte(spare.len()),
            right: match state {
                WorkerState::Waiting => String::new(),
                _ => format!("{requests}/{WORKER_REQUESTS} requests"),
            },
            title,
            state: format!("{spare}{words}"),
            notice: lines::clean(&self.worker.notice).replace('\n', " "),
            session: self.worker.session.as_ref().map(|it| it.0.clone()),
            waits: *state == WorkerState::Running && *waits && !is_dismissed,
            failed: *state == WorkerState::Failed,
            over: state.is_over(),
            requests: *requests,
            tokens: *tokens,
        }
    }
}

/// The sentence for the user when the conversation becomes a coordinator, or stops being one.
fn coordinating(is_on: bool) -> &'static str {
    if is_on {
        "Coordinator mode is on. The next message cannot use the provider's cache."
    } else {
        "Coordinator mode is off. The next message cannot use the provider's cache."
    }
}
