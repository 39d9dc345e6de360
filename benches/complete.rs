//! Completion of a file in a project of 200,000 files, in a real Neovim.

use super::Subject;
use super::editor::Editor;
use super::proc;
use super::server::Server;
use super::stream::{number, ranked};
use std::fs;
use std::path::Path;
use std::time::Duration;

/// The number of folders at the first level, the number of folders in each first-level folder, and the number of files
/// in each second-level folder.
const TREE: [usize; 3] = [40, 50, 100];
/// The limits for a completion: the milliseconds to the first answer, the milliseconds to each later answer, the
/// longest pause of the editor in milliseconds, and the size of the index of files in megabytes.
const FIRST: f64 = 300.0;
const NEXT: f64 = 10.0;
const PAUSE: f64 = 16.0;
const MEMORY: f64 = 60.0;
/// The texts that are typed after the `@`, key by key.
const TYPED: [&str; 4] = ["fil", "mod7/comp", "c13/handler42", "xyzzy"];

fn plant(project: &Path) {
    for a in 0..TREE[0] {
        for b in 0..TREE[1] {
            let folder = project.join(format!("modules/module{a}/component{b}"));
            fs::create_dir_all(&folder).unwrap();
            for n in 0..TREE[2] {
                fs::write(folder.join(format!("request_handler{n}.rs")), "").unwrap();
            }
        }
    }
}

pub(crate) fn table() -> String {
    let server = Server::start();
    let mut editor = Editor::start(Subject::Caliban, server.port);
    plant(&editor.project());
    editor.lua("require('caliban').open()", &[]);
    editor.listen(Duration::from_secs(1));
    let program = editor.program().unwrap();
    let before = proc::resident(program);
    editor.lua("Bench.watch_completion()", &[]);
    editor.keys("i");
    editor.listen(Duration::from_millis(20));
    let first = answers(&mut editor, "@");
    editor.listen(Duration::from_secs(3));
    editor.lua("Bench.watch_pauses()", &[]);
    let mut next = Vec::new();
    for text in TYPED {
        editor.keys("<C-u>");
        editor.listen(Duration::from_millis(50));
        answers(&mut editor, "@");
        for key in text.chars() {
            next.extend(answers(&mut editor, &key.to_string()).first());
        }
    }
    let pause = number(&editor.lua("return Bench.pause", &[]));
    let memory = proc::resident(program) - before;
    let [p50, _, most] = ranked(next);
    let first = first.first().copied().unwrap_or(f64::INFINITY);
    let files = TREE.iter().product::<usize>();
    let row = |name: &str, value: f64, limit: f64| {
        let is = if value <= limit { "met" } else { "**short**" };
        format!("| {name} | {value:.1} | ≤ {limit} | {is} |\n")
    };
    format!("| completion in {files} files | | figure | |\n|---|--:|---|---|\n")
        + &row("first `@` to the menu's data, ms", first, FIRST)
        + &row("a key to the menu's data, p50, ms", p50, NEXT)
        + &row("a key to the menu's data, max, ms", most, NEXT)
        + &row("the editor held up, max, ms", pause, PAUSE)
        + &row("the program's memory for the index, MB", memory, MEMORY)
}

/// Types a key and waits for the first answer. Returns the times of all answers that have come by then.
fn answers(editor: &mut Editor, key: &str) -> Vec<f64> {
    editor.lua("Bench.answers = {}", &[]);
    editor.keys(key);
    for _ in 0..50 {
        editor.listen(Duration::from_millis(100));
        let times = editor.lua("return Bench.answers", &[]);
        let times: Vec<f64> = times.as_array().into_iter().flatten().map(number).collect();
        if !times.is_empty() {
            return times;
        }
    }
    vec![f64::INFINITY]
}
