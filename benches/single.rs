//! The times of single events: round trips of messages and tool calls, stops of a turn, questions to the user, and
//! starts of Neovim with Caliban.

use super::editor::Editor;
use super::server::{Reply, Server};
use super::stream::{Turns, WARM, milliseconds, number, ranked};
use super::{Subject, proc, text};
use serde_json::json;
use std::time::Duration;

/// p50, p99 and maximum in milliseconds. With fewer than a hundred runs, p99 equals the maximum.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RoundTrip {
    /// The time from submitting to the request's last byte at the server.
    pub(crate) request: [f64; 3],
    /// The time to the screen: `first` from the text's first byte at the server, `last` from the text's last byte.
    pub(crate) first: [f64; 3],
    pub(crate) last: [f64; 3],
}

/// The round trips of `count` messages.
pub(crate) fn round_trips(subject: Subject, count: usize) -> RoundTrip {
    let server = Server::start();
    let mut editor = Editor::start(subject, server.port);
    let mut turns = Turns::new(server, &mut editor);
    turns.fill(text::tokens(WARM, 1));
    let program = turns.editor.program().unwrap();
    let [mut request, mut first, mut last] = [const { Vec::new() }; 3];
    for n in 0..count {
        turns.settle(program);
        let sent = std::time::Instant::now();
        let signs = turns.submit(text::tokens(60, n as u64), 1000, Duration::from_millis(100));
        turns.editor.wait(signs.1);
        let times = turns.server.next();
        request.push(times.arrived - sent);
        first.push(turns.editor.seen(signs.0).unwrap() - times.first);
        last.push(turns.editor.seen(signs.1).unwrap().saturating_duration_since(times.last));
    }
    let [request, first, last] =
        [request, first, last].map(|it| ranked(milliseconds(&it).collect()));
    RoundTrip { request, first, last }
}

/// The time from the last byte of a `read` call to the next request.
pub(crate) fn tool(count: usize) -> [f64; 3] {
    let server = Server::start();
    let mut editor = Editor::start(Subject::Caliban, server.port);
    let mut turns = Turns::new(server, &mut editor);
    turns.fill(text::tokens(WARM, 1));
    for line in 1..=count {
        let input = json!({ "path": "notes.txt", "offset": line, "limit": 1 });
        turns.server.will(Reply::Call { name: "read", input });
    }
    let (_, last) = turns.submit(text::tokens(9, 1), 0, Duration::ZERO);
    turns.editor.wait(last);
    let times: Vec<_> = (0..=count).map(|_| turns.server.next()).collect();
    let trips: Vec<_> = times.windows(2).map(|pair| pair[1].arrived - pair[0].last).collect();
    ranked(milliseconds(&trips).collect())
}

/// The time from a stop in the middle of a reply to the end of the connection at the server.
pub(crate) fn stop(count: usize) -> [f64; 3] {
    let server = Server::start();
    let mut editor = Editor::start(Subject::Caliban, server.port);
    let mut turns = Turns::new(server, &mut editor);
    turns.fill(text::tokens(WARM, 1));
    ranked(milliseconds(&(0..count).map(|_| turns.stop()).collect::<Vec<_>>()).collect())
}

/// Questions about commands of 96 kB: the time from the call's last byte to the screen, and the editor's longest
/// pause.
pub(crate) fn question(count: usize) -> [[f64; 3]; 2] {
    let server = Server::start();
    let mut editor = Editor::start(Subject::Caliban, server.port);
    let mut turns = Turns::new(server, &mut editor);
    turns.fill(text::tokens(WARM, 1));
    let program = turns.editor.program().unwrap();
    let (shown, delay): (Vec<_>, Vec<_>) = (0..count).map(|_| turns.question(program)).unzip();
    [ranked(milliseconds(&shown).collect()), ranked(delay)]
}

/// The figures of a start, in milliseconds and megabytes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Start {
    /// The median time of many runs of `:source plugin/caliban.lua`.
    pub(crate) source: f64,
    /// The time of the call that opens an editor's first chat, until the chat is drawn.
    pub(crate) open: f64,
    /// The time from the start of the program to its `welcome`.
    pub(crate) welcome: f64,
    /// The memory of a program that has done nothing.
    pub(crate) idle: f64,
}

pub(crate) fn start() -> Start {
    let server = Server::start();
    let mut editor = Editor::start(Subject::Caliban, server.port);
    editor.listen(Duration::from_millis(200));
    let times = editor.lua("return Bench.first()", &[]);
    editor.listen(Duration::from_secs(1));
    let welcome = number(&editor.lua("return Bench.welcome", &[]));
    let program = editor.program().unwrap();
    Start {
        source: number(&times[0]),
        open: number(&times[1]),
        welcome,
        idle: proc::resident(program),
    }
}
