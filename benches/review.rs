//! Reviews: how 2,000 hunks in one file, a very long line and many files affect a user who types.

use super::Subject;
use super::editor::Editor;
use super::report::{Target, row};
use super::server::Server;
use super::stream::{Turns, WARM, milliseconds, number, ranked, typing};
use super::text;
use rmpv::Value;
use serde_json::json;
use std::time::{Duration, Instant};

/// In the large file, there is one hunk in this many lines.
const EVERY: usize = 50;
/// The number of files in the last part, and of hunks in each file.
const FILES: usize = 20;
const EACH: usize = 50;
/// The limits in milliseconds: for a frame, and for a decision on all hunks.
const FRAME: f64 = 16.0;
const ALL: f64 = 200.0;
/// The old and the new name in the text.
const OLD: &str = "compute(";
const NEW: &str = "calculate(";

struct File {
    title: &'static str,
    text: String,
    /// The line (from 1) outside of the hunks where keys are typed.
    outside: usize,
    /// The line (from 1) in the first hunk where keys are typed.
    inside: usize,
    /// The number of hunks that are accepted one by one. Some hunks must stay undecided for the decision on all hunks.
    singly: usize,
}

pub(crate) fn lines(count: usize, every: usize) -> String {
    let line = |n: usize| {
        let name = if n % every == every - 1 { OLD } else { "lookup(" };
        format!("    let value_{n} = {name}{n}, other);\n")
    };
    (0..count).map(line).collect()
}

/// The editor's pauses and the times of keys in one phase, in milliseconds.
#[derive(Default)]
pub(crate) struct Felt {
    pub(crate) pause: f64,
    pub(crate) keys: Vec<f64>,
}

pub(crate) struct Bench<'a> {
    pub(crate) turns: Turns<'a>,
}

impl Bench<'_> {
    pub(crate) fn editor(&mut self) -> &mut Editor {
        self.turns.editor
    }

    pub(crate) fn felt(&mut self, phase: impl FnOnce(&mut Self) -> Vec<Duration>) -> Felt {
        self.editor().lua("Probe.start()", &[]);
        let keys = milliseconds(&phase(self)).collect();
        let probed = self.editor().lua("return Probe.stop()", &[]);
        let pause = probed[0].as_array().into_iter().flatten().map(number).fold(0.0, f64::max);
        Felt { pause, keys }
    }

    pub(crate) fn count(&mut self, field: &str) -> f64 {
        number(&self.editor().lua(&format!("return Review.{field}"), &[]))
    }

    /// Makes the model propose edits while a user types in another window. Returns how long that took, and the sign
    /// that the model's answer shows.
    fn arrive(&mut self, edits: &serde_json::Value, files: usize) -> (Felt, Duration, char) {
        eprintln!("review, arrival");
        let want = self.count("entered") + files as f64;
        self.editor().done(":split notes.txt<CR>A");
        let mut took = Duration::ZERO;
        let mut sign = ' ';
        let felt = self.felt(|it| {
            let start = Instant::now();
            sign = it.turns.call("edit", json!({ "edits": edits }));
            let over =
                |editor: &mut Editor| number(&editor.lua("return Review.entered", &[])) >= want;
            let keys = typing(it.turns.editor, over);
            took = start.elapsed();
            keys
        });
        self.editor().done("<Esc>:close<CR>");
        (felt, took, sign)
    }

    /// Types signs and line breaks at a line and undoes them. Returns the times for signs and for line breaks.
    fn type_at(&mut self, line: usize, how: &str) -> [Felt; 2] {
        eprintln!("review, typing");
        let state = self.editor().lua("return vim.fn.changenr()", &[]);
        self.editor().done(&format!(":{line}<CR>{how}"));
        let each = |it: &mut Self, before: &'static str| {
            it.felt(|it| {
                let mut times = Vec::new();
                for n in 0..60_u64 {
                    let start = Instant::now();
                    if !before.is_empty() {
                        it.editor().keys(before);
                    }
                    it.editor().type_one();
                    times.push(start.elapsed());
                    it.editor().listen(Duration::from_millis(5 + n * 7 % 20));
                }
                times
            })
        };
        let signs = each(self, "");
        let breaks = each(self, "<CR>");
        self.editor().done("<Esc>");
        self.editor().lua("vim.cmd('undo ' .. ...) vim.cmd.redraw()", &[state]);
        [signs, breaks]
    }

    /// Types the same keys several times, each time until all is drawn.
    fn press(&mut self, keys: &str, times: usize) -> Felt {
        eprintln!("review, {keys}");
        self.felt(|it| {
            (0..times)
                .map(|_| {
                    let time = it.editor().done(keys);
                    it.editor().listen(Duration::from_millis(8));
                    time
                })
                .collect()
        })
    }

    /// Decides all pending hunks, and waits until the sign of the model's answer is on the screen. Returns the time of
    /// the keys in milliseconds.
    fn decide(&mut self, keys: &str, sign: char) -> f64 {
        eprintln!("review, {keys}");
        let files = self.count("settled");
        let time = self.editor().done(keys).as_secs_f64() * 1000.0;
        assert!(self.count("settled") > files, "{keys} settled nothing");
        self.editor().wait(sign);
        self.turns.server.next();
        self.turns.server.next();
        time
    }
}

pub(crate) fn with<T>(run: impl FnOnce(&mut Bench<'_>) -> T) -> T {
    let server = Server::start();
    let mut editor = Editor::start(Subject::Caliban, server.port);
    let script = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/review.lua");
    editor.lua("dofile(...)", &[Value::from(script.display().to_string())]);
    let mut turns = Turns::new(server, &mut editor);
    turns.fill(text::tokens(WARM, 1));
    run(&mut Bench { turns })
}

pub(crate) fn section(title: &str) -> String {
    format!("| **{title}** | | | | | | | |\n")
}

pub(crate) fn one(name: &str, floor: Option<f64>, value: f64, target: &Target) -> String {
    row(name, [floor, None, Some(value)], target)
}

/// The times of keys in a small file under review: `[signs, breaks]` outside the file's only hunk, then inside the
/// hunk.
fn small() -> [[Felt; 2]; 2] {
    with(|bench| {
        bench.editor().put("small.txt", &lines(200, 200));
        bench.editor().done(":edit small.txt<CR>");
        let edits = json!([{ "path": "small.txt", "old": OLD, "new": NEW, "everywhere": true }]);
        let (.., sign) = bench.arrive(&edits, 1);
        let typed = [bench.type_at(100, "o"), bench.type_at(200, "I")];
        bench.decide(r"\A", sign);
        typed
    })
}

fn file(it: &File, small: &[[Felt; 2]; 2]) -> String {
    with(|bench| {
        bench.editor().put("big.txt", &it.text);
        bench.editor().put("plain.txt", &it.text);
        let arguments = ["plain.txt", OLD, NEW].map(Value::from);
        let floor = bench.editor().lua("return Review.plain(...)", &arguments);
        let [put, undo, write] = [0, 1, 2].map(|n| number(&floor[n]));
        bench.editor().done(":edit big.txt<CR>");
        let alone = [bench.type_at(it.outside, "o"), bench.type_at(it.inside, "I")];
        let walk = bench.press("50j", 100);
        bench.editor().done("gg");

        let edits =
            |old, new| json!([{ "path": "big.txt", "old": old, "new": new, "everywhere": true }]);
        let (arrived, took, sign) = bench.arrive(&edits(OLD, NEW), 1);
        let moved = bench.press("]h", 100);
        let typed = [bench.type_at(it.outside, "o"), bench.type_at(it.inside, "I")];
        bench.editor().done("gg");
        let accepted = (it.singly > 0).then(|| bench.press(r"]h\a", it.singly));
        let accepted_all =
            bench.felt(|it| vec![Duration::from_secs_f64(it.decide(r"\A", sign) / 1000.0)]);
        let undone = bench.press("u", 1);
        let redone = bench.press("<C-r>", 1);
        let (.., sign) = bench.arrive(&edits(NEW, OLD), 1);
        let rejected = bench.decide(r"\R", sign);

        let p50 = |felt: &Felt| ranked(felt.keys.clone())[0];
        let max = |felt: &Felt| ranked(felt.keys.clone())[2];
        let mut rows = section(it.title);
        let frame = Target::Most(FRAME);
        rows += &one("until it is drawn, ms", None, took.as_secs_f64() * 1000.0, &Target::None);
        rows += &one("pause while it arrives, ms", Some(put), arrived.pause, &frame);
        rows += &one("key while it arrives, max, ms", None, max(&arrived), &frame);
        rows += &one("`]h`, p50, ms", Some(p50(&walk)), p50(&moved), &Target::None);
        rows += &one("`]h`, max, ms", Some(max(&walk)), max(&moved), &frame);
        for (at, place) in ["outside", "inside"].into_iter().enumerate() {
            for (kind, what) in ["key", "`<CR>` and key"].into_iter().enumerate() {
                let [floor, small, felt] = [&alone[at][kind], &small[at][kind], &typed[at][kind]];
                let values =
                    |of: &dyn Fn(&Felt) -> f64| [floor, small, felt].map(|it| Some(of(it)));
                rows += &row(&format!("{what} {place}, p50, ms"), values(&p50), &Target::None);
                rows += &row(&format!("{what} {place}, max, ms"), values(&max), &frame);
                rows += &row("pause meanwhile, ms", values(&|it| it.pause), &frame);
            }
        }
        if let Some(accepted) = &accepted {
            rows += &one("accept one, max, ms", None, max(accepted), &frame);
        }
        rows += &one("accept all, ms", Some(write), max(&accepted_all), &Target::Most(ALL));
        rows += &one("`u` after that, ms", Some(undo), max(&undone), &Target::None);
        rows += &one("`<C-r>`, ms", None, max(&redone), &Target::None);
        rows += &one("reject all, ms", Some(put + write), rejected, &Target::Most(ALL));
        rows
    })
}

fn many() -> String {
    with(|bench| {
        let names: Vec<String> = (0..FILES).map(|n| format!("file_{n}.txt")).collect();
        for name in &names {
            bench.editor().put(name, &lines(EVERY * EACH, EVERY));
        }
        let edit = |path| json!({ "path": path, "old": OLD, "new": NEW, "everywhere": true });
        let edits: Vec<_> = names.iter().map(edit).collect();
        let (arrived, took, sign) = bench.arrive(&json!(edits), FILES);
        let moved = bench.press("]h", 100);
        let start = Instant::now();
        bench.editor().lua("require('caliban').accept({ scope = 'all' }) vim.cmd.redraw()", &[]);
        let accepted = start.elapsed().as_secs_f64() * 1000.0;
        bench.editor().wait(sign);
        let max = |felt: &Felt| ranked(felt.keys.clone())[2];
        let mut rows = section(&format!("{FILES} files of {EACH} hunks at once"));
        let frame = Target::Most(FRAME);
        rows += &one("until all are drawn, ms", None, took.as_secs_f64() * 1000.0, &Target::None);
        rows += &one("pause while they arrive, ms", None, arrived.pause, &frame);
        rows += &one("key while they arrive, max, ms", None, max(&arrived), &frame);
        rows += &one("`]h`, max, ms", None, max(&moved), &frame);
        rows += &one("accept all, ms", None, accepted, &Target::Most(ALL));
        rows
    })
}

/// The rows of the table. *plain* is the same file and keys without a review, with the edits made by hand; *marked* is
/// one hunk in a file of 200 lines.
pub(crate) fn table() -> String {
    let wide = "    let value = lookup(other);".repeat(5_000_000 / 28);
    let files = [
        File {
            title: "2,000 hunks in 100,000 lines",
            text: lines(100_000, EVERY),
            outside: 50_020,
            inside: EVERY,
            singly: 20,
        },
        File {
            title: "2,000 hunks in 200,000 lines",
            text: lines(200_000, 100),
            outside: 100_020,
            inside: 100,
            singly: 20,
        },
        File {
            title: "one hunk in a line of 5 MB",
            text: format!("{}{wide}{OLD}{wide}\n{}", lines(40, EVERY), lines(10, EVERY)),
            outside: 20,
            inside: 41,
            singly: 0,
        },
    ];
    let small = small();
    let mut rows: String = files.iter().map(|it| file(it, &small)).collect();
    rows += &many();
    rows
}
