//! A reply of thousands of calls: the time to answer it, and the time of a stop in the middle.

use super::Subject;
use super::editor::Editor;
use super::server::{MESSAGE, Reply, Server};
use super::stream::{Turns, WARM, milliseconds, ranked};
use super::text;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

const CALLS: usize = 10_000;

fn read(n: usize) -> Value {
    json!({ "path": "notes.txt", "offset": n % 100 + 1, "limit": 1 })
}

/// The rows for replies of `calls` calls: reads, or for the last row commands that need the user's consent.
fn table_of(calls: usize) -> String {
    let answered =
        ranked(milliseconds(&(0..3).map(|_| answered(calls)).collect::<Vec<_>>()).collect());
    let streaming =
        ranked(milliseconds(&(0..5).map(|_| stopped(calls, true)).collect::<Vec<_>>()).collect());
    let acting =
        ranked(milliseconds(&(0..5).map(|_| stopped(calls, false)).collect::<Vec<_>>()).collect());
    let row = |name: &str, times: [f64; 3]| {
        format!(
            "| {name} of a reply of {calls} calls | {:.0} ms | {:.0} ms |\n",
            times[0], times[2]
        )
    };
    row("from the last byte to the next request", answered)
        + &row("a stop while they arrive, to the connection's end", streaming)
        + &row("a stop while they are answered, to its line on the screen", acting)
}

pub(crate) fn table() -> String {
    let head = "| flood | p50 | max |\n|---|---|---|\n".to_owned();
    head + &[1000, CALLS].map(table_of).concat()
}

/// The time from the reply's last byte to the next request.
fn answered(calls: usize) -> Duration {
    let server = Server::start();
    let mut editor = Editor::start(Subject::Caliban, server.port);
    let mut turns = Turns::new(server, &mut editor);
    turns.fill(text::tokens(WARM, 1));
    turns.server.will(Reply::Calls { count: calls, stays: false, name: "read", input: read });
    let (_, last) = turns.submit(text::tokens(9, 1), 0, Duration::ZERO);
    turns.editor.wait(last);
    let reply = turns.server.next();
    turns.server.next().arrived - reply.last
}

/// The time from a stop to its effect. If `arriving`, the stop comes before the end of the reply, and its effect is the
/// end of the connection. Otherwise the stop comes while the user is asked about a command, and its effect is the end
/// of the turn.
fn stopped(calls: usize, arriving: bool) -> Duration {
    let server = Server::start();
    let mut editor = Editor::start(Subject::Caliban, server.port);
    let mut turns = Turns::new(server, &mut editor);
    turns.fill(text::tokens(WARM, 1));
    let input = if arriving { read } else { |_| json!({ "command": "make release" }) };
    let name = if arriving { "read" } else { "shell" };
    turns.server.will(Reply::Calls { count: calls, stays: arriving, name, input });
    turns.editor.lua("BenchSubmit(...)", &[MESSAGE.into()]);
    if arriving {
        turns.editor.listen(Duration::from_millis(700));
    } else {
        turns.server.next();
        while turns.editor.lua("return BenchPhase()", &[]).as_str() != Some("asking") {
            turns.editor.listen(Duration::from_millis(20));
        }
    }
    let start = Instant::now();
    turns.editor.lua("require('caliban').stop()", &[]);
    if arriving {
        return turns.server.next().last - start;
    }
    while turns.editor.lua("return BenchPhase()", &[]).as_str() != Some("idle") {
        turns.editor.listen(Duration::from_millis(1));
    }
    start.elapsed()
}
