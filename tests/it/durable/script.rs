//! A scripted conversation that is saved as an agent would save it, with a record of the disk's state at each moment.

use super::machine::{FakeDisk, Fault, Machine};
use crate::kit::rules::anthropic::signature;
use caliban::event::{Access, Awaited, Event, Handoff, Plan, Ruling, SessionId};
use caliban::message::{
    self, Block, CallId, Input as Arguments, Reply, Stop, ToolAnswer, ToolCall, Usage,
};
use caliban::session::{Entry, Input, Session};
use caliban::store::{Draft, Opened, Project, Store, Unavailable};
use serde_json::json;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

/// A state that the store can return after a crash: the session, the text of an unfinished reply, and the draft.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct State {
    pub session: Session,
    pub partial: Vec<Block>,
    pub draft: Draft,
}

/// A save: the number of disk calls until its end, and the index in `Live::states` of the saved state.
#[derive(Debug, Clone, Copy)]
pub(super) struct Told {
    pub calls: usize,
    pub state: usize,
    /// Whether the state survives a loss of power.
    pub is_durable: bool,
    /// Whether the store reported success, so that everything is on disk.
    pub is_kept: bool,
}

pub(super) struct Live {
    pub disk: Arc<FakeDisk>,
    pub now: State,
    /// The state after each event, piece of a reply, and draft.
    pub states: Vec<State>,
    pub told: Vec<Told>,
    store: Store,
    /// The disk and the state after each save that succeeded after a failed save.
    pub healed: Vec<(Machine, State)>,
}

pub(super) fn open(disk: &Arc<FakeDisk>, dir: &Path) -> Opened {
    let project = Project::on(disk.clone(), dir, Path::new("/home/me/it"));
    // a process that another test has just started inherits this lock for a moment
    loop {
        match project.open(&SessionId("main".into())) {
            Err(Unavailable::Locked(_)) => std::thread::yield_now(),
            opened => return opened.unwrap(),
        }
    }
}

/// The session without the parts that are never saved: the permissions, which messages are held, and the numbers of
/// messages that have left the queue.
pub(super) fn as_saved(session: &Session) -> Session {
    let queued = session.queue.iter().map(|it| it.id).max().unwrap_or(0);
    let session = Session { held: BTreeSet::new(), queued, ..session.clone() };
    Session { granted: Vec::new(), unsaved: Vec::new(), ..session }
}

/// The reply that the agent saves when a turn is interrupted after this text.
pub(super) fn broken_off(partial: &[Block], session: &Session) -> Option<Reply> {
    (!partial.is_empty()).then(|| Reply {
        blocks: partial.to_vec(),
        stop: Stop::Cancelled,
        usage: Usage::default(),
        model: String::new(),
        by: session.model.clone(),
    })
}

impl Live {
    fn new(dir: &Path, fault: Option<Fault>) -> Live {
        let disk = FakeDisk::new(Machine::default(), dir, fault);
        let opened = open(&disk, dir);
        let now =
            State { session: Session::default(), partial: Vec::new(), draft: Draft::default() };
        Live {
            disk,
            states: vec![now.clone()],
            now,
            told: Vec::new(),
            store: opened.store,
            healed: Vec::new(),
        }
    }

    fn note(&mut self, is_durable: bool, is_kept: bool) {
        let (calls, state) = (self.disk.count(), self.states.len() - 1);
        if is_kept && self.told.last().is_some_and(|it| !it.is_kept) {
            self.healed.push((self.disk.machine(), self.now.clone()));
        }
        self.told.push(Told { calls, state, is_durable, is_kept });
    }

    fn take(&mut self, input: Input, sync: bool) {
        let step = self.now.session.clone().step(input);
        for event in &step.events {
            self.now.session.apply(event);
            if matches!(event, Event::Replied { .. } | Event::Ended { .. }) {
                self.now.partial.clear();
            }
            self.states.push(self.now.clone());
        }
        let kept = self.store.record(&self.now.session, &step.events, sync).is_ok();
        let is_whole = self.now.session.turn().is_none() && !self.now.session.is_blank();
        self.note(sync || is_whole, kept);
    }

    fn piece(&mut self, text: &str) {
        message::arrive(&mut self.now.partial, Block::Text { text: text.to_owned() });
        self.states.push(self.now.clone());
        let kept = self.store.append_piece(text).is_ok();
        self.note(false, kept && self.told.last().is_none_or(|it| it.is_kept));
    }

    fn draft(&mut self, text: &str) {
        self.now.draft = Draft { text: text.to_owned(), context: Vec::new() };
        self.states.push(self.now.clone());
        let kept = self.store.save_draft(self.now.draft.clone()).is_ok();
        self.note(false, kept && self.told.last().is_none_or(|it| it.is_kept));
    }

    fn send(&mut self, text: &str) {
        self.take(Input::Send { text: text.into(), context: Vec::new(), steer: false }, false);
    }

    fn reply(&mut self, text: &str, calls: &[(&str, Access)]) {
        let thought = "Let me see.".to_owned();
        let signature = Some(signature(&thought));
        let mut blocks = vec![Block::Thinking { text: thought, signature }];
        blocks.push(Block::Text { text: text.to_owned() });
        let call = |id: &str| {
            let input = Arguments::Json(json!({"path": "a.txt\n\"\u{2028}"}));
            Block::Call(ToolCall { id: CallId(id.into()), tool: "read".into(), input })
        };
        blocks.extend(calls.iter().map(|(id, _)| call(id)));
        let plan = |(id, access): &(&str, Access)| Plan {
            call: CallId((*id).into()),
            access: access.clone(),
        };
        let reply = Reply {
            blocks,
            stop: if calls.is_empty() { Stop::EndTurn } else { Stop::ToolUse },
            usage: Usage { input: 10, output: 5, cache_read: 1, cache_write: 2 },
            model: String::new(),
            by: self.now.session.model.clone(),
        };
        let turn = self.now.session.turn().unwrap();
        let plans = calls.iter().map(plan).collect();
        self.take(Input::Replied { turn, reply, plans }, true);
    }

    fn answer(&mut self, id: &str) {
        let turn = self.now.session.turn().unwrap();
        let text = format!("{id} says\nthis");
        let answer = ToolAnswer::done(&CallId(id.into()), text, "");
        self.take(Input::Answered { turn, answer }, false);
    }

    /// Begins a compaction. If `comes` is true, the summary arrives, otherwise the compaction fails.
    fn compact(&mut self, comes: bool) {
        let (model, focus) = (self.now.session.model.clone(), String::new());
        self.take(Input::Compact { model, focus, told: "Compacting.".into() }, false);
        let turn = self.now.session.turn().unwrap();
        let (usage, cost) = (Usage { input: 7, ..Usage::default() }, Some(0.5));
        if !comes {
            let why = "Not compacted.".into();
            return self
                .take(Input::NotCompacted { turn, why, is_lasting: false, usage, cost }, false);
        }
        let (at, saved) = (self.now.session.boundary(), 9);
        let (summary, text) = ("short\n".to_owned(), "<summary>\nshort\n</summary>".to_owned());
        let handoff =
            Handoff { at, summary, text, saved, told: "Compacted.".into(), left_out: Vec::new() };
        self.take(Input::Compacted { turn, handoff, usage, cost }, true);
    }
}

/// Plays two turns with everything that is saved for a turn: pieces of replies, calls of each kind, consent, queued
/// messages, a draft, a stop, and compactions.
pub(super) fn play(dir: &Path, fault: Option<Fault>) -> Live {
    let mut live = Live::new(dir, fault);
    let act = |command: &str| Access::Act {
        command: command.into(),
        outside: None,
        background: false,
        hosts: Vec::new(),
        unlocked: Vec::new(),
    };
    live.take(
        Input::Open {
            system: "You are Caliban.".into(),
            instructions: Vec::new(),
            model: "mine/m".into(),
            root: "/p".into(),
        },
        false,
    );
    live.draft("what is\nthis");
    live.send("What is this?");
    live.draft("");
    live.piece("I ");
    live.piece("look \"here\"\n");
    live.reply(
        "I look.",
        &[
            ("c1", Access::Read),
            ("c2", act("it")),
            ("c3", Access::Edit { paths: vec!["a.rs".into()] }),
        ],
    );
    live.answer("c1");
    live.send("and the tests?");
    let turn = live.now.session.turn().unwrap();
    let (call, path) = (CallId("c3".into()), "/p/a".into());
    let entry = Entry { call, path, what: Awaited::hunks(2), diff: None };
    let entered = Input::Entered { turn, entry };
    live.take(entered, false);
    live.answer("c3");
    live.take(
        Input::Reviewed { path: "/p/a".into(), answers: Vec::new(), claims: Vec::new() },
        false,
    );
    live.take(Input::Rule { call: CallId("c2".into()), ruling: Ruling::Once }, true);
    live.answer("c2");
    live.piece("So ");
    live.reply("So it is.", &[]);
    live.compact(false);
    live.compact(true);
    live.piece("The tests");
    live.draft("half a thought");
    let partial = broken_off(&live.now.partial, &live.now.session);
    live.take(Input::Cancel { partial }, false);
    live.compact(true);
    live.send("again");
    live.reply("Once more.", &[]);
    live.take(Input::Uncompact { told: "Undone.".into() }, false);
    live
}
