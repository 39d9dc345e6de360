//! The workers of a coordinator: which of them run, the answers to the coordinator's calls, and when its turn may end.

mod answers;
mod ends;
mod list;
mod words;

pub use list::{WORKER_REQUESTS, Workers};

pub(super) use words::{LAST, post};
pub use words::{has_run_out, is_coordinating, is_held};

use super::{Effect, Event, Open, Session, Step, WorkerInput};
use crate::event::{Access, Order, TurnId, Worker, WorkerAct, WorkerEvent, WorkerId, WorkerState};
use crate::message::{CallId, ToolAnswer};

/// The most workers that work at the same time. The others wait in line.
const AT_ONCE: usize = 8;
/// The most workers that run, wait in line or have a result that the coordinator has not read.
const UNSETTLED: usize = 32;
/// The most characters of a worker's report of its progress.
const NOTICE: usize = 300;

const BY_USER: &str = "The user stopped the worker";
/// The first line of an answer to a call that no longer waits, because the user has sent a message.
const USER_SPEAKS: &str = "The user has sent a message, which follows. Answer it, then wait again.";

impl Session {
    pub(super) fn take_worker(&mut self, input: WorkerInput, step: &mut Step) {
        match input {
            WorkerInput::Coordinate { is_on } => self.coordinate(is_on, step),
            WorkerInput::Placed { worker, session } if self.workers.is_running(worker) => {
                self.note_worker(WorkerEvent::Placed { worker, session }, step);
            }
            WorkerInput::Waits { worker, waits }
                if self.workers.all.get(&worker).is_some_and(|it| it.waits != waits) =>
            {
                self.note_worker(WorkerEvent::Waits { worker, waits }, step);
            }
            WorkerInput::Noticed { worker, text } if self.workers.is_running(worker) => {
                let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
                let text = text.chars().take(NOTICE).collect();
                self.note_worker(WorkerEvent::Noticed { worker, text }, step);
            }
            WorkerInput::Told { worker, text } if self.workers.is_running(worker) => {
                let text = format!("The user has told {worker}: {text}");
                self.record(super::input::noted(text), step);
            }
            WorkerInput::Dismiss { worker } => {
                if self.dismiss(worker, BY_USER, step) {
                    let text = format!("The user stopped {worker}.");
                    self.record(super::input::noted(text), step);
                }
                self.go_on_with_workers(step);
            }
            it @ WorkerInput::Ended { .. } => self.worker_ended(it, step),
            _ => (),
        }
    }

    fn worker_ended(&mut self, input: WorkerInput, step: &mut Step) {
        let WorkerInput::Ended { worker, result, is_whole, requests, tokens } = input else {
            return;
        };
        let Some(it) = self.workers.all.get(&worker) else { return };
        let state = match it.state {
            WorkerState::Running if it.is_dismissed && it.session.is_none() => {
                self.end_unbegun(worker, "The worker was stopped before it began.", step);
                return self.go_on_with_workers(step);
            }
            WorkerState::Running if it.is_dismissed => WorkerState::Stopped,
            WorkerState::Running if is_whole => WorkerState::Finished,
            WorkerState::Running => WorkerState::Failed,
            state if it.is_cut_off() => state,
            _ => return,
        };
        let ended = WorkerEvent::Ended { worker, state, result, requests, tokens };
        self.note_worker(ended, step);
        self.go_on_with_workers(step);
    }

    fn note_worker(&mut self, event: WorkerEvent, step: &mut Step) {
        self.record(Event::Worker(event), step);
    }

    /// Turns coordinator mode on or off, if no worker runs or waits in line. When it is turned off, the results that
    /// the model has not read go with the next request.
    fn coordinate(&mut self, is_on: bool, step: &mut Step) {
        if is_on == self.workers.is_on || self.workers.active().next().is_some() {
            return;
        }
        if !is_on {
            self.append_unread(step);
        }
        self.note_worker(WorkerEvent::Coordinating { is_on }, step);
    }

    /// Carries out a call of the coordinator.
    pub(super) fn act_on_workers(
        &mut self,
        turn: TurnId,
        call: &CallId,
        act: &WorkerAct,
        step: &mut Step,
    ) {
        self.record(Event::Started { turn, call: call.clone() }, step);
        let answer = match act {
            WorkerAct::Spawn(orders) => self.spawn(call, orders, step),
            WorkerAct::List => self.list_workers(call),
            WorkerAct::Await { workers, is_any } => match self.named(workers) {
                Err(why) => ToolAnswer::failed(call, why, "failed"),
                Ok(named) if self.is_awaited(&named, *is_any) => {
                    // a message that the user sent while the reply arrived goes with the next request
                    if !self.ready().any(|it| it.steer) {
                        return;
                    }
                    self.results(call, &named, USER_SPEAKS, step)
                }
                Ok(named) => self.results(call, &named, "", step),
            },
            WorkerAct::Result(name) => self.result(call, name, step),
            WorkerAct::Stop(name) => self.stop_worker(call, name, step),
        };
        self.has_run(turn, answer, step);
    }

    fn spawn(&mut self, call: &CallId, orders: &[Order], step: &mut Step) -> ToolAnswer {
        let unsettled = self.workers.active().count() + self.workers.unread().count();
        if unsettled + orders.len() > UNSETTLED {
            return ToolAnswer::failed(
                call,
                words::too_many(orders.len(), unsettled, UNSETTLED),
                "failed",
            );
        }
        let mut begun = Vec::new();
        for order in orders {
            let worker = WorkerId(self.workers.last.saturating_add(1));
            let ordered = WorkerEvent::Ordered { call: call.clone(), worker, order: order.clone() };
            self.note_worker(ordered, step);
            begun.push(worker);
        }
        self.employ(step);
        let lines = begun.iter().map(|id| {
            let Worker { order, state, .. } = &self.workers.all[id];
            format!("{id} {} · {} · {}", order.role.name(), order.title, state.name())
        });
        let text = lines.collect::<Vec<_>>().join("\n");
        let summary = match &begun[..] {
            [one] => one.to_string(),
            all => format!("{} workers", all.len()),
        };
        ToolAnswer::done(call, text, summary)
    }

    /// Begins the first workers in line, while there is room.
    fn employ(&mut self, step: &mut Step) {
        let Some(turn) = self.turn() else { return };
        if let Some(reached) = self.limit_reached() {
            let why = format!("The spending limit was reached before it began: {reached}.");
            return self.end_waiting(&why, step);
        }
        while self.workers.running().count() < AT_ONCE
            && let Some(worker) = self.workers.next()
        {
            let Worker { call, order, .. } = self.workers.all[&worker].clone();
            self.note_worker(WorkerEvent::Began { worker }, step);
            step.effects.push(Effect::Employ { turn, call, worker, order });
        }
    }

    /// Ends the workers in line.
    fn end_waiting(&mut self, why: &str, step: &mut Step) {
        while let Some(worker) = self.workers.next() {
            self.end_unbegun(worker, why, step);
        }
    }

    /// Ends a worker that never began.
    fn end_unbegun(&mut self, worker: WorkerId, why: &str, step: &mut Step) {
        let (state, result) = (WorkerState::Stopped, words::never_begun(why));
        let ended = WorkerEvent::Ended { worker, state, result, requests: 0, tokens: 0 };
        self.note_worker(ended, step);
    }

    /// Begins the next workers in line, and answers the calls that wait for workers which have ended.
    fn go_on_with_workers(&mut self, step: &mut Step) {
        self.employ(step);
        let Some(turn) = self.turn() else { return };
        let awaiting: Vec<Open> = self.awaiting().cloned().collect();
        for Open { call, access, .. } in awaiting {
            let Access::Workers(WorkerAct::Await { workers, is_any }) = access else { continue };
            let named = self.named(&workers).unwrap_or_default();
            if !self.is_awaited(&named, is_any) {
                let answer = self.results(&call.id, &named, "", step);
                self.has_run(turn, answer, step);
            }
        }
    }

    /// The calls that wait for workers.
    fn awaiting(&self) -> impl Iterator<Item = &Open> {
        self.open().iter().filter(|it| {
            it.is_running() && matches!(it.access, Access::Workers(WorkerAct::Await { .. }))
        })
    }

    /// Whether the turn waits for workers.
    pub(super) fn awaits_workers(&self) -> bool {
        self.awaiting().next().is_some()
    }

    /// Answers the calls that wait for workers, because the user has sent a message that goes with the next request.
    pub(super) fn leave_workers(&mut self, turn: TurnId, step: &mut Step) {
        let awaiting: Vec<Open> = self.awaiting().cloned().collect();
        for Open { call, access, .. } in awaiting {
            let Access::Workers(WorkerAct::Await { workers, .. }) = access else { continue };
            let named = self.named(&workers).unwrap_or_default();
            let answer = self.results(&call.id, &named, USER_SPEAKS, step);
            self.has_run(turn, answer, step);
        }
    }

    /// Stops a worker. Returns false if the worker has ended, or was told before to stop.
    fn dismiss(&mut self, worker: WorkerId, why: &str, step: &mut Step) -> bool {
        let Some(it) = self.workers.all.get(&worker) else { return false };
        match it.state {
            WorkerState::Waiting => {
                self.end_unbegun(worker, &format!("{why} before it began."), step);
                true
            }
            WorkerState::Running if !it.is_dismissed => {
                self.note_worker(WorkerEvent::Dismissed { worker }, step);
                step.effects.push(Effect::Dismiss { worker, why: format!("{why}.") });
                true
            }
            _ => false,
        }
    }

    pub(super) fn apply_worker(&mut self, event: &WorkerEvent) {
        let one = |id: &WorkerId, all: &mut Workers, change: &dyn Fn(&mut Worker)| {
            if let Some(it) = all.all.get_mut(id) {
                change(it);
            }
        };
        let all = &mut self.workers;
        match event {
            WorkerEvent::Coordinating { is_on } => self.set_coordinating(*is_on),
            WorkerEvent::Ordered { call, worker, order } => {
                all.last = all.last.max(worker.0);
                all.all.insert(*worker, Worker::new(call.clone(), order.clone()));
                all.forget_old();
            }
            WorkerEvent::Began { worker } => one(worker, all, &|it| {
                it.state = WorkerState::Running;
                it.order.prompt.clear();
            }),
            WorkerEvent::Placed { worker, session } => {
                one(worker, all, &|it| it.session = Some(session.clone()));
            }
            WorkerEvent::Waits { worker, waits } => one(worker, all, &|it| it.waits = *waits),
            WorkerEvent::Noticed { worker, text } => {
                all.has_noticed = true;
                one(worker, all, &|it| it.notice.clone_from(text));
            }
            WorkerEvent::Dismissed { worker } => one(worker, all, &|it| it.is_dismissed = true),
            WorkerEvent::Ended { worker, state, result, requests, tokens } => {
                one(worker, all, &|it| {
                    it.end(*state, result.clone());
                    (it.requests, it.tokens) = (*requests, *tokens);
                });
            }
            WorkerEvent::Read { workers } => {
                for id in workers {
                    one(id, all, &|it| it.is_read = true);
                }
            }
            WorkerEvent::Held { text, .. } => self.apply_hold(text),
        }
    }
}
