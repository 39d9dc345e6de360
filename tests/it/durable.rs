//! Tests a crash or a disk error at any disk call: the reopened session has everything that was confirmed as saved.

mod by_hand;
mod checkpoints;
mod machine;
mod script;

use crate::kit::chat::DIALECTS;
use crate::kit::http;
use caliban::context::request;
use caliban::message::{Block, Request};
use caliban::provider::dialect::{Dialect, Quirks};
use caliban::session::{Effect, Input, Phase, Session};
use machine::{FakeDisk, Fault, Machine, Unsynced};
use script::{State, as_saved, broken_off, open, play};
use serde_json::Value;
use std::io;
use std::path::Path;

/// Checks that the next request is valid in every dialect.
fn assert_valid(session: &Session) {
    let base = Request { model: "m".into(), max_tokens: 9, ..Request::default() };
    let request = request::build(session, base);
    let own = [
        Dialect::Anthropic,
        Dialect::OpenAiChat,
        Dialect::OpenAiResponses,
        Dialect::Gemini,
        Dialect::Ollama,
    ];
    for (kit, own) in std::iter::zip(DIALECTS, own) {
        let json = own.body(&request, Quirks::default());
        let path = own.url("", "m");
        let (method, headers, body) = ("POST".to_owned(), Vec::new(), Vec::new());
        let sent = http::Request { method, path, headers, body, json: json.clone() };
        let Value::Object(fields) = &json else { panic!("no object: {json}") };
        if let Err(why) = kit.check(&sent, fields) {
            panic!("{own:?} refuses: {why}\n{json:#}");
        }
    }
}

/// Checks that a reopened session can be continued: nothing runs again, and each call has one answer.
fn goes_on(mut session: Session, partial: &[Block]) {
    let running: Vec<_> = session.open().iter().map(|it| it.call.id.clone()).collect();
    let partial = broken_off(partial, &session);
    let mut effects = session.step(Input::Leave { partial }).effects;
    assert_eq!(session.phase, Phase::Idle);
    let send = Input::Send { text: "go on".into(), context: Vec::new(), steer: false };
    effects.extend(session.step(send).effects);
    let is_quiet = |it: &Effect| matches!(it, Effect::Abort { .. } | Effect::Sample { .. });
    assert!(effects.iter().all(is_quiet), "{effects:?}");
    for id in running {
        let blocks = session.messages.iter().flat_map(|it| &it.blocks);
        let answers = blocks.filter(|it| matches!(it, Block::Answer(answer) if answer.id == id));
        assert_eq!(answers.count(), 1, "{id}");
    }
    if session.turn().is_some() {
        assert_valid(&session);
    }
}

fn back(machine: &Machine, dir: &Path) -> (State, Vec<String>, Machine, Vec<machine::Op>) {
    let disk = FakeDisk::new(machine.clone(), dir, None);
    let opened = open(&disk, dir);
    let session = as_saved(&opened.session.unwrap_or_default());
    let state = State { session, partial: opened.partial, draft: opened.draft };
    (state, opened.warnings, disk.machine(), disk.ops())
}

/// Opens the session on this disk. The session must be in one of these states, and unreadable files must be moved to
/// other files unchanged. If opening is interrupted by a crash, the next opening must have the same result.
fn check(machine: &Machine, states: &[State], dir: &Path, at: &str) {
    let (state, warnings, after, ops) = back(machine, dir);
    let is_known =
        |it: &State| as_saved(&it.session) == state.session && it.partial == state.partial;
    assert!(states.iter().any(is_known), "{at}: {state:?}\nis none of\n{states:?}");
    assert!(states.iter().any(|it| it.draft == state.draft), "{at}: {:?}", state.draft);
    goes_on(state.session.clone(), &state.partial);
    let torn = |name: &Path| name.to_string_lossy().contains(".torn-");
    let aside: Vec<_> = after.files().into_iter().filter(|(name, _)| torn(name)).collect();
    assert_eq!(aside.len(), warnings.len(), "{at}");
    for (name, bytes) in aside {
        let journal = name.with_extension("").with_extension("journal");
        let before = machine.files()[&journal].clone();
        assert!(before.ends_with(&bytes), "{at}: the tail");
    }
    let mut stopped = machine.clone();
    for op in ops {
        stopped.apply(&op).unwrap();
        let (again, ..) = back(&stopped, dir);
        assert_eq!(again, state, "{at}, then stopped at {op:?}");
    }
}

#[test]
fn a_crash_at_any_disk_call_loses_nothing_that_was_confirmed_as_saved() {
    let (dir, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let live = play(dir.path(), None);
    let ops = live.disk.ops();
    let mut machine = Machine::default();
    for (n, op) in ops.iter().enumerate() {
        // Allowed states: from the last confirmed state up to the state whose write is under way.
        let told = live.told.iter().filter(|it| it.calls <= n);
        let next = live.told.iter().find(|it| it.calls > n).unwrap().state;
        let from = |only_durable: bool| {
            let mut told = told.clone().filter(|it| it.is_durable || !only_durable);
            told.next_back().map_or(0, |it| it.state)
        };
        let at = format!("call {n}, {op:?}");
        check(&machine, &live.states[from(false)..=next], other.path(), &at);
        for torn in op.torn() {
            let mut machine = machine.clone();
            machine.apply(&torn).unwrap();
            check(&machine, &live.states[from(false)..=next], other.path(), &format!("{at}, torn"));
        }
        for data in [Unsynced::Kept, Unsynced::Lost, Unsynced::Zeroed] {
            for are_names_kept in [true, false] {
                let at = format!("no power at {at}, {data:?}, names kept: {are_names_kept}");
                let machine = machine.without_power(data, are_names_kept);
                check(&machine, &live.states[from(true)..=next], other.path(), &at);
            }
        }
        machine.apply(op).unwrap();
    }
    check(&machine, &live.states[live.states.len() - 1..], other.path(), "the end");
    assert!(ops.len() > 30, "{}", ops.len());
}

#[test]
fn a_session_is_whole_on_disk_once_a_failing_disk_recovers() {
    let (dir, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let count = play(dir.path(), None).disk.count();
    let kinds = [
        io::ErrorKind::StorageFull,
        io::ErrorKind::ReadOnlyFilesystem,
        io::ErrorKind::PermissionDenied,
    ];
    let mut healed = 0;
    // The first two calls create the lock and the journal. If they fail, the chat is in memory only.
    for from in 2..count {
        for (calls, kind) in std::iter::zip([1, 2, 5], kinds) {
            let fault = Fault { from, until: from + calls, kind };
            let live = play(dir.path(), Some(fault));
            let at = format!("{fault:?}");
            for (machine, state) in &live.healed {
                check(machine, std::slice::from_ref(state), other.path(), &at);
            }
            healed += live.healed.len();
            if live.told.last().unwrap().is_kept {
                check(&live.disk.machine(), &[live.now], other.path(), &at);
            }
        }
    }
    assert!(healed > count, "{healed} of {count}");
}
