//! The workers of a coordinator: how much eight workers that stream at the same time delay the user, and how long the
//! start of a worker takes.

use super::editor::Editor;
use super::report::{Target, row};
use super::server::{Reply, Server, Stream};
use super::stream::{Turns, WARM, milliseconds, number, ranked, typing};
use super::{Subject, proc, text};
use serde_json::{Value, json};
use std::cell::Cell;
use std::time::Duration;

/// The number of workers that run at the same time.
const MANY: usize = 8;
/// Tokens of each worker's reply, and tokens per second.
const TOKENS: usize = 1_600;
const RATE: u32 = 200;
/// The word in each worker's prompt by which the server knows its requests.
const WORD: &str = "bench-worker";
/// The number of starts that are measured.
const STARTS: usize = 10;
/// The limits: the delays with eight workers divided by those with one, the megabytes of a worker, and the milliseconds
/// from the call to the worker's request.
const TIMES: f64 = 1.5;
const MEMORY: f64 = 5.0;
const START: f64 = 10.0;

/// The figures of workers that stream together: delays in milliseconds, memory in megabytes.
struct Felt {
    key: [f64; 3],
    queue: [f64; 3],
    memory: f64,
}

fn workers(count: usize) -> Value {
    let one = |n: usize| {
        let prompt = format!("Find the callers: {WORD} {n}");
        json!({ "role": "explorer", "description": format!("Find callers {n}"), "prompt": prompt })
    };
    json!({ "workers": (0..count).map(one).collect::<Vec<_>>() })
}

/// A chat in coordinator mode.
fn coordinator(editor: &mut Editor, server: Server) -> Turns<'_> {
    let mut turns = Turns::new(server, editor);
    turns.fill(text::tokens(WARM, 1));
    turns.editor.lua("vim.cmd('Caliban mode coordinator')", &[]);
    turns
}

fn felt(count: usize) -> Felt {
    let server = Server::start();
    let mut editor = Editor::start(Subject::Caliban, server.port);
    let mut turns = coordinator(&mut editor, server);
    let program = turns.editor.program().unwrap();
    turns.settle(program);
    turns.editor.keys("A");
    let before = proc::resident(program);
    let stream = Stream { word: WORD, tokens: text::tokens(TOKENS, 3), rate: RATE };
    turns.server.streams(stream);
    turns.editor.lua("Probe.start()", &[]);
    turns.server.will(Reply::Call { name: "spawn_workers", input: workers(count) });
    let last = turns.call("await_workers", json!({}));
    let most = Cell::new(before);
    let keys = typing(turns.editor, |editor| {
        most.set(proc::resident(program).max(most.get()));
        editor.seen(last).is_some()
    });
    let probed = turns.editor.lua("return Probe.stop()", &[]);
    Felt {
        key: ranked(milliseconds(&keys).collect()),
        queue: ranked(probed[1].as_array().into_iter().flatten().map(number).collect()),
        memory: (most.get() - before) / count as f64,
    }
}

/// The time from the last byte of the reply that begins a worker to the last byte of the worker's request.
fn starts() -> [f64; 3] {
    let server = Server::start();
    let mut editor = Editor::start(Subject::Caliban, server.port);
    let mut turns = coordinator(&mut editor, server);
    turns.server.streams(Stream { word: WORD, tokens: text::tokens(9, 3), rate: 0 });
    let times: Vec<Duration> = (0..STARTS)
        .map(|_| {
            turns.server.will(Reply::Call { name: "spawn_workers", input: workers(1) });
            let last = turns.call("await_workers", json!({}));
            turns.editor.wait(last);
            let all: Vec<_> = (0..4).map(|_| turns.server.next()).collect();
            let worker = all.iter().find(|it| it.is_streamed).unwrap().arrived;
            worker - all[0].last
        })
        .collect();
    ranked(milliseconds(&times).collect())
}

pub(crate) fn table() -> String {
    let (one, many, starts) = (felt(1), felt(MANY), starts());
    let figure = |name: &str, value: f64, target| row(name, [None, None, Some(value)], &target);
    let mut table = String::new();
    table += &figure("one worker, key p99, ms", one.key[1], Target::None);
    table += &figure("eight workers, key p99, ms", many.key[1], Target::Most(16.0));
    table += &figure("eight × one, key p99", many.key[1] / one.key[1], Target::Most(TIMES));
    table += &figure("one worker, queue p99, ms", one.queue[1], Target::None);
    table += &figure("eight workers, queue p99, ms", many.queue[1], Target::None);
    table += &figure("eight × one, queue p99", many.queue[1] / one.queue[1], Target::Most(TIMES));
    table += &figure("memory of a worker, of eight, MB", many.memory, Target::Most(MEMORY));
    table += &figure("start of a worker to its request, p50, ms", starts[0], Target::Most(START));
    table += &figure("start of a worker to its request, max, ms", starts[2], Target::None);
    table
}
