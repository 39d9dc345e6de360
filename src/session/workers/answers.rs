//! The answers to a coordinator's calls about its workers.

use crate::event::{HandOff, Worker, WorkerEvent, WorkerId, WorkerState};
use crate::message::{CallId, Foreign, Origin, ToolAnswer};
use crate::session::{Session, Step};

/// The most bytes of results in one answer. The coordinator gets further results by another call.
pub(super) const ROOM: usize = 60_000;

/// The beginning of the reason if the coordinator stops a worker.
pub(super) const BY_COORDINATOR: &str = "The coordinator stopped the worker";

impl Session {
    /// The workers of these names; without a name, all that have not ended or whose results are unread. The error tells
    /// the model which workers there are.
    pub(super) fn named(&self, names: &[String]) -> Result<Vec<WorkerId>, String> {
        if names.is_empty() {
            let open =
                self.workers.all.iter().filter(|it| !it.1.state.is_over() || it.1.is_unread());
            return Ok(open.map(|(id, _)| *id).collect());
        }
        let mut named = Vec::new();
        for name in names {
            let id = self.worker_named(name)?;
            if !named.contains(&id) {
                named.push(id);
            }
        }
        Ok(named)
    }

    fn worker_named(&self, name: &str) -> Result<WorkerId, String> {
        let found = self.workers.all.keys().find(|id| id.to_string() == name.trim());
        found.copied().ok_or_else(|| {
            let all: Vec<String> = self.workers.all.keys().map(WorkerId::to_string).collect();
            let name: String = name.chars().take(60).collect();
            match &all[..] {
                [] => format!("There is no worker `{name}`: you have begun none."),
                all => format!("There is no worker `{name}`. Yours are {}.", all.join(", ")),
            }
        })
    }

    /// Whether a call waits for these workers: until one has ended, or until all have.
    pub(super) fn is_awaited(&self, workers: &[WorkerId], is_any: bool) -> bool {
        let all = || workers.iter().filter_map(|id| self.workers.all.get(id));
        all().any(|it| !it.state.is_over()) && !(is_any && all().any(Worker::is_unread))
    }

    pub(super) fn list_workers(&self, call: &CallId) -> ToolAnswer {
        let lines = self.workers.all.iter().map(|(id, it)| {
            let (role, title) = (it.order.role.name(), &it.order.title);
            let state = match it.state {
                WorkerState::Waiting | WorkerState::Running => is(it),
                state => state.name(),
            };
            let unread = if it.is_unread() { ", its result is unread" } else { "" };
            format!("{id} {role} · {title} · {state}{unread}")
        });
        let lines: Vec<String> = lines.collect();
        let summary = match lines.len() {
            1 => "1 worker".to_owned(),
            n => format!("{n} workers"),
        };
        let none = "There are no workers.".to_owned();
        let text = if lines.is_empty() { none } else { lines.join("\n") };
        ToolAnswer::done(call, text, summary)
    }

    /// The answer with the unread results of these workers, at least one and at most `ROOM` bytes of several, and the
    /// state of the other workers.
    pub(super) fn results(
        &mut self,
        call: &CallId,
        workers: &[WorkerId],
        preface: &str,
        step: &mut Step,
    ) -> ToolAnswer {
        let (mut room, mut given, mut read) = (ROOM, Vec::new(), Vec::new());
        let mut own: Vec<String> = Vec::new();
        if !preface.is_empty() {
            own.push(preface.to_owned());
        }
        for id in workers {
            let Some(it) = self.workers.all.get(id) else { continue };
            match &it.result {
                None => own.push(format!("{id} {}.", is(it))),
                Some(_) if it.is_read => {
                    own.push(format!("You already have the result of {id}."));
                }
                Some(result) if given.is_empty() || result.text.len() < room => {
                    room = room.saturating_sub(result.text.len());
                    given.push(said(*id, it, result));
                    read.push(*id);
                }
                Some(_) => own.push(format!("{id} has ended. `worker_result` gives its result.")),
            }
        }
        if given.is_empty() && own.is_empty() {
            own.push("No worker is running, and you have every result.".to_owned());
        }
        let summary = format!("{} ended", read.len());
        let own_lines = own.len();
        let foreign = self.origin_of(&read).map(|from| Foreign { from, own: own_lines });
        if !read.is_empty() {
            self.note_worker(WorkerEvent::Read { workers: read }, step);
        }
        let text = given.into_iter().chain(own).collect::<Vec<_>>().join("\n");
        ToolAnswer { foreign, ..ToolAnswer::done(call, text, summary) }
    }

    /// Where strangers' texts in these results came from.
    fn origin_of(&self, workers: &[WorkerId]) -> Option<Origin> {
        let results = workers.iter().filter_map(|id| self.workers.all.get(id)?.result.as_ref());
        let origins: Vec<&Origin> = results.filter_map(|it| it.foreign.as_ref()).collect();
        let is_only_output = origins.iter().all(|it| **it == Origin::Command);
        let from = if is_only_output { Origin::Command } else { Origin::Subagent };
        (!origins.is_empty()).then_some(from)
    }

    /// The result of one worker, even if the coordinator has read this result before.
    pub(super) fn result(&mut self, call: &CallId, name: &str, step: &mut Step) -> ToolAnswer {
        let id = match self.worker_named(name) {
            Ok(id) => id,
            Err(why) => return ToolAnswer::failed(call, why, "failed"),
        };
        let it = &self.workers.all[&id];
        let Some(result) = &it.result else {
            let text = format!("{id} {}. `await_workers` waits for it.", is(it));
            return ToolAnswer::failed(call, text, it.state.name());
        };
        let (text, summary) = (said(id, it, result), it.state.name());
        let foreign = self.origin_of(&[id]).map(|from| Foreign { from, own: 0 });
        if it.is_unread() {
            self.note_worker(WorkerEvent::Read { workers: vec![id] }, step);
        }
        ToolAnswer { foreign, ..ToolAnswer::done(call, text, summary) }
    }

    pub(super) fn stop_worker(&mut self, call: &CallId, name: &str, step: &mut Step) -> ToolAnswer {
        let id = match self.worker_named(name) {
            Ok(id) => id,
            Err(why) => return ToolAnswer::failed(call, why, "failed"),
        };
        let state = self.workers.all[&id].state;
        self.dismiss(id, BY_COORDINATOR, step);
        match state {
            WorkerState::Waiting => {
                self.note_worker(WorkerEvent::Read { workers: vec![id] }, step);
                let text = format!("{id} was stopped before it began.");
                ToolAnswer::done(call, text, "stopped")
            }
            WorkerState::Running => {
                let text =
                    format!("{id} was told to stop. `await_workers` returns what it has done.");
                ToolAnswer::done(call, text, "told to stop")
            }
            _ => ToolAnswer::done(call, format!("{id} has already ended."), "ended before"),
        }
    }
}

/// A result under the name of its worker.
pub(super) fn said(id: WorkerId, it: &Worker, result: &HandOff) -> String {
    format!("{}\n{}", heading(id, it), result.text)
}

/// The line above a worker's result.
pub(super) fn heading(id: WorkerId, it: &Worker) -> String {
    let is_partial = it.result.as_ref().is_some_and(|it| it.is_partial);
    let part = if is_partial { ", partial" } else { "" };
    let (role, title, state) = (it.order.role.name(), &it.order.title, it.state.name());
    format!("{id} {role} ({title}): {state}{part}")
}

/// The state of a worker that has not ended, as the end of a sentence that begins with its name.
fn is(it: &Worker) -> &'static str {
    match it.state {
        WorkerState::Waiting => "waits in line",
        _ if it.is_dismissed => "is being stopped",
        _ if it.waits => "waits for the user",
        _ => "is still running",
    }
}
