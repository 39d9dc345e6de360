//! Messages that mention twenty large files, in a real Neovim.

use super::editor::Editor;
use super::server::{MESSAGE, Server};
use super::stream::{Turns, WARM, milliseconds, ranked};
use super::{Subject, text};
use std::fs;
use std::time::{Duration, Instant};

const TIMES: usize = 12;
const FILES: usize = 20;
const BYTES: usize = 100_000;
/// The limit for the time from sending such a message to its arrival at the server, in milliseconds.
const LIMIT: f64 = 50.0;

pub(crate) fn table() -> String {
    let server = Server::start();
    let mut editor = Editor::start(Subject::Caliban, server.port);
    let project = editor.project();
    for n in 0..TIMES {
        fs::create_dir_all(project.join(n.to_string())).unwrap();
        for file in 0..FILES {
            // each file has its own text: unchanged texts are not sent again
            let line = format!("    let name = map.get(\"{n} {file}\");\n");
            let path = project.join(format!("{n}/{file}.rs"));
            fs::write(path, line.repeat(BYTES.div_ceil(line.len()))).unwrap();
        }
    }
    let mut turns = Turns::new(server, &mut editor);
    turns.fill(text::tokens(WARM, 1));
    let program = turns.editor.program().unwrap();
    let mut mentions = |is_large: bool| {
        let mut times = Vec::new();
        for n in 0..TIMES {
            // a request contains the whole conversation, so each message begins a new conversation
            turns.editor.lua("BenchSubmit(...)", &["/new".into()]);
            turns.editor.listen(Duration::from_millis(300));
            turns.settle(program);
            let files: Vec<String> = (0..FILES).map(|file| format!("@{n}/{file}.rs")).collect();
            let said = if is_large { files.join(" ") } else { MESSAGE.into() };
            let sent = Instant::now();
            let signs =
                turns.submit_text(&said, text::tokens(60, n as u64), (1000, Duration::ZERO));
            turns.editor.wait(signs.1);
            times.push(turns.server.next().arrived - sent);
        }
        ranked(milliseconds(&times).collect())
    };
    let [none, _, _] = mentions(false);
    let [p50, _, most] = mentions(true);
    let row = |name: &str, value: f64| {
        let is = if value <= LIMIT { "met" } else { "**short**" };
        format!("| {name} | {value:.1} | ≤ {LIMIT} | {is} |\n")
    };
    format!(
        "| {FILES} mentions of 100 kB: from `<CR>` to the whole request at the server, ms | | figure | |\n|---|--:|---|---|\n"
    ) + &row("p50", p50)
        + &row("max", most)
        + &format!("| a message without mentions, p50 | {none:.1} | | |\n")
}
