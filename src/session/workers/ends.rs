//! The end of a coordinator's turn: no answer ends the turn while workers run or results are unread, and no worker
//! outlives the turn.

use super::Workers;
use super::answers::said;
use super::words;
use crate::event::{
    End, Event, HIGHEST, HandOff, TurnId, Worker, WorkerEvent, WorkerId, WorkerState,
};
use crate::message::{Block, Excerpt, ExcerptKind, Role};
use crate::session::{Effect, Phase, Session, Step};
use std::collections::BTreeSet;

/// How many replies of a turn are held.
const HOLDS: u32 = 2;
/// The most workers, and the most bytes of a worker's text, that are read from a session's file.
const WORKERS: usize = 200;
const TEXT: usize = 100_000;

impl Session {
    /// Ends the turn after a reply without calls. The reply of a coordinator whose workers are not done is held; after
    /// two such replies the turn ends without the workers.
    pub(in crate::session) fn finish(&mut self, turn: TurnId, step: &mut Step) {
        let (active, unread) = (self.workers.active().count(), self.workers.unread().count());
        if !self.workers.is_on || active + unread == 0 {
            return self.end(turn, End::Done, step);
        }
        if self.workers.held < HOLDS {
            let text = words::held(&self.workers);
            self.record(Event::Worker(WorkerEvent::Held { turn, text }), step);
            return self.sample_if_answered(turn, step);
        }
        self.dismiss_all(step);
        let why = "The turn ended before the worker was done.";
        let left: Vec<(WorkerId, HandOff)> =
            self.workers.active().map(|(id, it)| (id, words::broken_off(it, why))).collect();
        for (worker, result) in left {
            let state = WorkerState::Stopped;
            let ended = WorkerEvent::Ended { worker, state, result, requests: 0, tokens: 0 };
            self.record(Event::Worker(ended), step);
        }
        self.append_unread(step);
        self.end(turn, End::Stopped(words::answered_early(active, unread)), step);
    }

    /// Has the agent end all workers that run.
    pub(in crate::session) fn dismiss_all(&self, step: &mut Step) {
        let why = "The turn of the coordinator ended.".to_owned();
        let running = self.workers.running();
        step.effects
            .extend(running.map(|(worker, _)| Effect::Dismiss { worker, why: why.clone() }));
    }

    /// The unread results go with the next request, and are shown to the user.
    pub(super) fn append_unread(&mut self, step: &mut Step) {
        let unread = self.workers.unread().filter_map(|(id, it)| {
            let result = it.result.as_ref()?;
            let (path, kind) = (id.to_string(), ExcerptKind::Result);
            Some((id, Excerpt { path, kind, text: said(id, it, result), ..Excerpt::default() }))
        });
        let (workers, files): (Vec<WorkerId>, Vec<Excerpt>) = unread.unzip();
        if !workers.is_empty() {
            self.record(Event::Instructed { files }, step);
            self.record(Event::Worker(WorkerEvent::Read { workers }), step);
        }
    }

    pub(super) fn apply_hold(&mut self, text: &str) {
        self.workers.held = self.workers.held.saturating_add(1);
        self.say(Role::User, vec![Block::Notice { text: text.to_owned() }]);
        if let Phase::Sampling { turn, requests, .. } | Phase::Resting { turn, requests, .. } =
            self.phase
        {
            self.phase = Phase::Sampling { turn, requests: requests.saturating_add(1), tries: 1 };
        }
    }

    pub(super) fn set_coordinating(&mut self, is_on: bool) {
        self.workers.is_on = is_on;
        self.notes.retain(|it| words::is_coordinating(it).is_none());
        self.notes.push(words::coordinating(is_on).to_owned());
    }

    /// Ends the workers that are left at the end of a turn.
    pub(in crate::session) fn settle_workers(&mut self, why: &End) {
        let state = match why {
            End::Interrupted => WorkerState::Failed,
            _ => WorkerState::Stopped,
        };
        for it in self.workers.all.values_mut().filter(|it| !it.state.is_over()) {
            let result = words::cut_off(it, why);
            it.end(state, result);
        }
    }

    /// Forgets the workers whose calls the conversation no longer has. If the model no longer has the prompt of a
    /// coordinator, it gets the prompt again.
    pub(in crate::session) fn forget_removed_workers(&mut self) {
        let blocks = || self.messages.iter().flat_map(|it| &it.blocks);
        let calls: BTreeSet<_> = blocks()
            .filter_map(|it| match it {
                Block::Call(call) => Some(call.id.clone()),
                _ => None,
            })
            .collect();
        let mut told = blocks().filter_map(|it| match it {
            Block::Notice { text } => words::is_coordinating(text),
            _ => None,
        });
        let is_told = told.next_back().unwrap_or(false);
        self.workers.all.retain(|_, it| calls.contains(&it.call));
        if is_told != self.workers.is_on {
            self.set_coordinating(self.workers.is_on);
        }
    }

    /// Makes the workers of a session's file harmless, which anybody may have written.
    pub(in crate::session) fn distrust_workers(&mut self) {
        let Workers { all, last, held, .. } = &mut self.workers;
        let is_short = |it: &Worker| {
            let result = it.result.as_ref().map_or(0, |it| it.text.len());
            result + it.order.title.len() + it.notice.len() <= TEXT
        };
        all.retain(|_, it| is_short(it));
        while all.len() > WORKERS {
            all.pop_first();
        }
        *last = (*last).max(all.keys().next_back().map_or(0, |it| it.0)).min(HIGHEST);
        *held = 0;
        self.settle_workers(&End::Interrupted);
    }
}
