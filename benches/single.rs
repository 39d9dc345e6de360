//! Single events: one message, one tool call, the start of the program, the opening of a chat.

use super::editor::Editor;
use super::server::{Reply, Server};
use super::stream::{Turns, WARM, milliseconds, number, ranked};
use super::{Subject, proc, text};
use serde_json::json;
use std::time::Duration;

/// p50, p99 and largest in milliseconds; the latter two are the same for fewer than a hundred runs.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Ways {
    /// From the call that submits to the request's last byte at the server.
    pub(crate) request: [f64; 3],
    /// From the text's first byte at the server to the screen.
    pub(crate) first: [f64; 3],
    pub(crate) last: [f64; 3],
}

/// Measures `count` messages to the server and their replies to the screen.
pub(crate) fn ways(subject: Subject, count: usize) -> Ways {
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
    Ways { request, first, last }
}

/// From the last byte of a `read` call to the next request.
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

/// From a stop in the middle of a reply to the connection's end at the server.
pub(crate) fn stop(count: usize) -> [f64; 3] {
    let server = Server::start();
    let mut editor = Editor::start(Subject::Caliban, server.port);
    let mut turns = Turns::new(server, &mut editor);
    turns.fill(text::tokens(WARM, 1));
    ranked(milliseconds(&(0..count).map(|_| turns.stop()).collect::<Vec<_>>()).collect())
}

/// Questions about commands of a megabyte: from the call's last byte to the screen, and how long the editor was held up.
pub(crate) fn question(count: usize) -> [[f64; 3]; 2] {
    let server = Server::start();
    let mut editor = Editor::start(Subject::Caliban, server.port);
    let mut turns = Turns::new(server, &mut editor);
    turns.fill(text::tokens(WARM, 1));
    let program = turns.editor.program().unwrap();
    let (shown, held): (Vec<_>, Vec<_>) = (0..count).map(|_| turns.question(program)).unzip();
    [ranked(milliseconds(&shown).collect()), ranked(held)]
}

/// Milliseconds and megabytes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Start {
    /// `:source plugin/caliban.lua`, the median of many.
    pub(crate) source: f64,
    /// The call that opens the first chat of an editor, until it is drawn.
    pub(crate) open: f64,
    /// From the start of the program to its `welcome`.
    pub(crate) welcome: f64,
    /// Memory of the program that has done nothing yet.
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
