//! The end of a coordinator's turn: no answer ends the turn while workers run or results are unread, and no worker
//! outlives the turn.

use super::answers::{ROOM, heading, said};
use super::words;
use super::{NOTICE, Workers};
use crate::event::{End, Event, HIGHEST, HandOff, TurnId, WorkerEvent, WorkerId, WorkerState};
use crate::message::{Block, Excerpt, ExcerptKind, Reply, Role};
use crate::session::{Effect, Phase, Session, Step, say};
use std::collections::BTreeSet;

/// How many replies of a turn are held: not taken as the end of the turn.
const HOLDS: u32 = 2;
/// The most workers that are read from a session's file, and the most characters of a worker's title and result.
const WORKERS: usize = 200;
const TITLE: usize = 80;
const TEXT: usize = 100_000;

impl Session {
    /// Ends the turn after a reply without calls. The reply of a coordinator whose workers are not done is held; after
    /// two such replies the turn ends without the workers.
    pub(in crate::session) fn finish(&mut self, turn: TurnId, step: &mut Step) {
        if self.ready().any(|it| it.steer) {
            return self.sample_if_answered(turn, step);
        }
        let (active, unread) = (self.workers.active().count(), self.workers.unread().count());
        if !self.has_open_workers() {
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
        let given = active + unread - self.workers.unread().count();
        self.end(turn, End::Stopped(words::answered_early(active, given)), step);
    }

    /// Whether an empty or cut reply is held, because it would end the work of the coordinator's workers.
    pub(in crate::session) fn may_hold(&self, reply: &Reply) -> bool {
        say::may_go_on(&reply.stop) && self.has_open_workers()
    }

    /// Whether the conversation is a coordinator with workers that have not ended or whose results are unread.
    fn has_open_workers(&self) -> bool {
        let Workers { is_on, all, .. } = &self.workers;
        *is_on && all.values().any(|it| !it.state.is_over() || it.is_unread())
    }

    /// Has the agent end all workers that run.
    pub(in crate::session) fn dismiss_all(&self, step: &mut Step) {
        let why = "The turn of the coordinator ended.".to_owned();
        let running = self.workers.running();
        step.effects
            .extend(running.map(|(worker, _)| Effect::Dismiss { worker, why: why.clone() }));
    }

    /// Adds the unread results to the next request, at least one and at most `ROOM` bytes of several, and shows them to
    /// the user. A note names the workers whose results are left out.
    pub(super) fn append_unread(&mut self, step: &mut Step) {
        let mut room = ROOM;
        let unread = self.workers.unread().filter_map(|(id, it)| {
            let result = it.result.as_ref()?;
            let text = said(id, it, result);
            if room < ROOM && text.len() > room {
                return None;
            }
            room = room.saturating_sub(text.len());
            let (path, kind) = (id.to_string(), ExcerptKind::Result);
            Some((id, Excerpt { path, kind, text, ..Excerpt::default() }))
        });
        let (workers, files): (Vec<WorkerId>, Vec<Excerpt>) = unread.unzip();
        if !workers.is_empty() {
            self.record(Event::Instructed { files }, step);
            self.record(Event::Worker(WorkerEvent::Read { workers }), step);
        }
        if let Some(text) = words::left_out(&self.workers) {
            self.record(super::super::input::noted(text), step);
        }
    }

    pub(super) fn apply_hold(&mut self, text: &str) {
        self.workers.held = self.workers.held.saturating_add(1);
        self.say(Role::User, vec![Block::Notice { text: text.to_owned(), call: None }]);
        if let Phase::Sampling { turn, requests, .. } | Phase::Resting { turn, requests, .. } =
            self.phase
        {
            self.phase = Phase::Sampling { turn, requests: requests.saturating_add(1), tries: 1 };
        }
    }

    pub(super) fn set_coordinating(&mut self, is_on: bool) {
        self.workers.is_on = is_on;
        self.notes.retain(|it| words::is_coordinating(it).is_none());
        self.notes.push(words::coordinating(is_on).into());
    }

    /// Called after the conversation was emptied. The conversation stays a coordinator if it was one. New workers do
    /// not get the numbers of old workers, whose reports may still arrive.
    pub(in crate::session) fn keep_coordinating(&mut self, before: &Workers) {
        self.workers.last = before.last;
        if before.is_on {
            self.set_coordinating(true);
        }
    }

    /// Ends the workers that are left at the end of a turn.
    pub(in crate::session) fn settle_workers(&mut self, why: &End) {
        let state = match why {
            End::Interrupted | End::Copied => WorkerState::Failed,
            _ => WorkerState::Stopped,
        };
        for it in self.workers.all.values_mut().filter(|it| !it.state.is_over()) {
            let result = words::cut_off(it, why);
            it.end(state, result);
        }
    }

    /// Ends the workers in a copy of a conversation. They work on for the original.
    pub(in crate::session) fn leave_workers_to_original(&mut self) {
        for it in self.workers.all.values_mut().filter(|it| !it.state.is_over()) {
            it.end(WorkerState::Stopped, words::broken_off(it, words::IN_ORIGINAL));
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
            Block::Notice { text, .. } => words::is_coordinating(text),
            _ => None,
        });
        let is_told = told.next_back().unwrap_or(false);
        let texts = blocks().filter_map(|it| match it {
            Block::Answer(it) => Some(&it.text),
            Block::Excerpt(it) => Some(&it.text),
            _ => None,
        });
        let lines: BTreeSet<&str> =
            texts.flat_map(|it| it.lines()).filter(|it| it.starts_with('w')).collect();
        self.workers.all.retain(|_, it| calls.contains(&it.call));
        for (id, it) in &mut self.workers.all {
            it.is_read &= lines.contains(&*heading(*id, it));
        }
        if is_told != self.workers.is_on {
            self.set_coordinating(self.workers.is_on);
        }
    }

    /// Makes the workers in a session's file harmless, because anybody may have written the file.
    pub(in crate::session) fn distrust_workers(&mut self) {
        self.workers.shorten();
        let Workers { all, last, held, .. } = &mut self.workers;
        *last = (*last).max(all.keys().next_back().map_or(0, |it| it.0)).min(HIGHEST);
        *held = 0;
        self.settle_workers(&End::Interrupted);
    }
}

impl Workers {
    /// Shortens long texts and drops the oldest of too many workers in a session's file, even if the session is only
    /// shown.
    pub(super) fn shorten(&mut self) {
        for it in self.all.values_mut() {
            cut(&mut it.order.title, TITLE);
            cut(&mut it.notice, NOTICE);
            if let Some(result) = &mut it.result {
                cut(&mut result.text, TEXT);
            }
        }
        while self.all.len() > WORKERS {
            self.all.pop_first();
        }
    }
}

/// Cuts a text to its first characters.
fn cut(text: &mut String, most: usize) {
    if let Some((end, _)) = text.char_indices().nth(most) {
        text.truncate(end);
    }
}
