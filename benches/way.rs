//! Large texts and many hunks from end to end: from the prompt to the list of changes and from the decision to the
//! model's answer, a line of megabytes while a user types, and a resize of the screen beside a long chat.

use super::Subject;
use super::editor::Editor;
use super::report::{Target, row};
use super::review::{Bench, Felt, lines, section, with};
use super::server::Server;
use super::stream::{Turns, WARM, milliseconds, number, ranked, typing};
use super::text;
use serde_json::json;
use std::time::{Duration, Instant};

const LINES: usize = 100_000;
const HUNKS: usize = 2_000;
/// The limits in milliseconds: for each of the two times in `Way::took`, and for a frame.
const WAY: f64 = 2_000.0;
const FRAME: f64 = 16.0;
/// The number of bytes of the streamed line, and of each token.
const LONG: usize = 3_000_000;
const TOKEN: usize = 40;
/// The number of bytes of the chat during the resize.
const CHAT: usize = 500_000;

/// How the model sends the changes: one edit for each change, or a single edit that replaces every occurrence.
#[derive(Clone, Copy, PartialEq)]
enum How {
    Each,
    Everywhere,
}

struct Way {
    /// The milliseconds from the prompt to the list of changes, and from the decision to the model's answer.
    took: [f64; 2],
    felt: [Felt; 2],
}

fn edits(hunks: usize, how: How) -> serde_json::Value {
    let edit = |n: usize| {
        let line = n * (LINES / hunks) + LINES / hunks - 1;
        let (old, new) = (format!("compute({line}, other)"), format!("calculate({line}, other)"));
        json!({ "path": "big.txt", "old": old, "new": new })
    };
    match how {
        How::Each => (0..hunks).map(edit).collect(),
        How::Everywhere => {
            json!([{ "path": "big.txt", "old": "compute(", "new": "calculate(", "everywhere": true }])
        }
    }
}

/// Lua code: whether the chat shows the list of changes.
const LISTED: &str = "local chat = require('caliban.chat.chats').current
    return chat ~= nil and chat.listing ~= nil and #chat.listing.items > 0";

fn way(hunks: usize, how: How) -> Way {
    with(|bench: &mut Bench<'_>| {
        bench.editor().put("big.txt", &lines(LINES, LINES / hunks));
        bench.editor().done(":edit big.txt<CR>:split notes.txt<CR>A");
        let mut sign = ' ';
        let (mut took, mut start) = ([0.0; 2], Instant::now());
        let arrived = bench.felt(|it| {
            start = Instant::now();
            sign = it.turns.call("edit", json!({ "edits": edits(hunks, how) }));
            let over = |editor: &mut Editor| editor.lua(LISTED, &[]).as_bool() == Some(true);
            let keys = typing(it.turns.editor, over);
            took[0] = start.elapsed().as_secs_f64() * 1000.0;
            keys
        });
        assert!(bench.count("entered") > 0.0, "no proposal has entered");
        let decided = bench.felt(|it| {
            start = Instant::now();
            it.editor().lua("require('caliban').accept({ scope = 'all' })", &[]);
            let keys = typing(it.turns.editor, |editor| editor.seen(sign).is_some());
            took[1] = (it.editor().wait(sign) - start).as_secs_f64() * 1000.0;
            keys
        });
        Way { took, felt: [arrived, decided] }
    })
}

fn ways() -> String {
    let [one, each, everywhere] = [(1, How::Each), (HUNKS, How::Each), (HUNKS, How::Everywhere)]
        .map(|(hunks, how)| {
            eprintln!("way, {hunks} hunks");
            way(hunks, how)
        });
    let mut rows = section("2,000 hunks in 100,000 lines, the whole way (*marked*: one hunk)");
    let titles = [("2,000 edits", &each), ("one edit", &everywhere)];
    for (title, all) in titles {
        for (at, phase) in
            ["prompt to the list", "accept all to the answer"].into_iter().enumerate()
        {
            let values = |of: &dyn Fn(&Way) -> f64| [None, Some(of(&one)), Some(of(all))];
            let key = |it: &Way| ranked(it.felt[at].keys.clone())[1];
            let name = format!("{title}, {phase}");
            rows += &row(&format!("{name}, ms"), values(&|it| it.took[at]), &Target::Most(WAY));
            rows += &row(
                &format!("{name}, pause, max, ms"),
                values(&|it| it.felt[at].pause),
                &Target::None,
            );
            rows += &row(&format!("{name}, key, p99, ms"), values(&key), &Target::Most(FRAME));
        }
    }
    rows
}

/// The times of keys and pauses while one line of `LONG` bytes streams, and the time of the stream.
fn line(subject: Subject) -> (Felt, f64) {
    eprintln!("way, a long line, {}", subject.name());
    let server = Server::start();
    let mut editor = Editor::start(subject, server.port);
    let mut turns = Turns::new(server, &mut editor);
    turns.fill(text::tokens(WARM, 1));
    turns.editor.keys("A");
    let mut bench = Bench { turns };
    let mut took = Duration::ZERO;
    let felt = bench.felt(|it| {
        let token = |n: usize| format!("{:<TOKEN$}", format!("word {n}"));
        let tokens = (0..LONG / TOKEN).map(token).collect();
        let start = Instant::now();
        let end = it.turns.submit(tokens, 0, Duration::ZERO).1;
        let keys = typing(it.turns.editor, |editor| editor.seen(end).is_some());
        took = start.elapsed();
        keys
    });
    (felt, took.as_secs_f64() * 1000.0)
}

fn long_line() -> String {
    let (felt, took) = line(Subject::Caliban);
    let [_, p99, max] = ranked(felt.keys);
    let own = |name: &str, value: f64, target| row(name, [None, None, Some(value)], &target);
    section("a line of 3 MB, streamed")
        + &own("until its end is on the screen, ms", took, Target::None)
        + &own("key meanwhile, p99, ms", p99, Target::Most(FRAME))
        + &own("key meanwhile, max, ms", max, Target::None)
        + &own("pause meanwhile, max, ms", felt.pause, Target::None)
}

/// The time from a resize of the screen until all is drawn, beside a long chat.
fn resizes(subject: Subject) -> [f64; 3] {
    eprintln!("way, resizes, {}", subject.name());
    let server = Server::start();
    let mut editor = Editor::start(subject, server.port);
    let mut turns = Turns::new(server, &mut editor);
    turns.fill(text::tokens(WARM, 1));
    turns.fill(text::tokens(CHAT * 2 / 9, 2));
    let times: Vec<Duration> = (0..40_u32)
        .map(|n| {
            let (columns, lines) = [(170, 45), (60, 30), (100, 40), (200, 50)][n as usize % 4];
            turns.editor.listen(Duration::from_millis(20));
            let start = Instant::now();
            let size = vec![columns.into(), lines.into()];
            turns.editor.request("nvim_ui_try_resize", size);
            turns.editor.lua("vim.cmd.redraw()", &[]);
            start.elapsed()
        })
        .collect();
    assert!(number(&turns.editor.lua("return vim.o.columns", &[])) > 0.0);
    ranked(milliseconds(&times).collect())
}

fn resize() -> String {
    let times = Subject::ALL.map(resizes);
    section("a resize beside a chat of 500 kB")
        + &row("until it is drawn, p50, ms", times.map(|it| Some(it[0])), &Target::None)
        + &row("until it is drawn, max, ms", times.map(|it| Some(it[2])), &Target::Most(FRAME))
}

/// The rows of the table. `BENCH_ONLY` names parts of them: `hunks`, `line`, `resize`.
pub(crate) fn table() -> String {
    let only = std::env::var("BENCH_ONLY").ok();
    let is_wanted =
        |name: &str| only.as_ref().is_none_or(|it| it.split(',').any(|part| part == name));
    let mut rows = String::new();
    if is_wanted("hunks") {
        rows += &ways();
    }
    if is_wanted("line") {
        rows += &long_line();
    }
    if is_wanted("resize") {
        rows += &resize();
    }
    rows
}
