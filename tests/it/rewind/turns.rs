//! The law of rewinds over several turns: the model changes lines of files by its tools and by commands, the user changes
//! other lines in between, in the editor and outside of it. A rewind of one of the turns takes back the lines of that
//! turn and no others, whatever came before and after.

use super::*;
use crate::kit::dice::{Dice, number};
use std::fs::{self, Permissions};
use std::path::PathBuf;

/// How many files are tried. The environment variable `REWIND_FILES` sets another number, `REWIND_SEED` chooses others.
const FILES: u64 = 12;
const TURNS: usize = 3;
/// Lines that are changed are this far apart, so that no change meets another one.
const APART: usize = 4;

/// What a file's lines end with, its beginning, its end and its permissions.
const KINDS: [(&str, &str, &str, &str, u32); 6] = [
    ("text", "\n", "", "\n", 0o644),
    ("dos", "\r\n", "", "\r\n", 0o644),
    ("bom", "\n", "\u{feff}", "\n", 0o644),
    ("cut", "\n", "", "", 0o644),
    ("secret", "\n", "", "\n", 0o600),
    ("script", "\n", "", "\n", 0o755),
];

/// How the model changes a line.
#[derive(Clone, Copy, PartialEq)]
enum Way {
    Not,
    Edit,
    Write,
    Command,
}

/// How the user changes a line after a turn.
#[derive(Clone, Copy, PartialEq)]
enum Own {
    Not,
    Typed,
    Outside,
}

struct File {
    name: String,
    kind: usize,
    lines: Vec<String>,
    end: &'static str,
    /// For each turn, the line that the model has changed.
    changed: Vec<Option<usize>>,
}

impl File {
    fn new(at: usize, kind: usize) -> File {
        let lines = (0..APART * 2 * (TURNS + 1)).map(|n| format!("line {n} of {at}")).collect();
        let (name, end) = (format!("{at}.{}", KINDS[kind].0), KINDS[kind].3);
        File { name, kind, lines, end, changed: Vec::new() }
    }

    fn text(&self) -> String {
        let (_, between, begin, _, _) = KINDS[self.kind];
        format!("{begin}{}{}", self.lines.join(between), self.end)
    }

    /// The line for the model in this turn, or for the user after it.
    fn line(turn: usize, is_users: bool) -> usize {
        APART * (2 * turn + usize::from(is_users)) + 1
    }

    fn path(&self, scene: &Scene) -> PathBuf {
        scene.nvim.setup.path(&self.name)
    }
}

/// One turn, in which the model changes the files in these ways.
fn turn(scene: &Scene, turn: usize, files: &mut [File], ways: &[Way]) {
    let (mut reply, mut commands) = (Reply::new(), Vec::new());
    // a file that the model has not read, as it is now, is not overwritten
    let reads = files.iter().zip(ways).filter(|it| *it.1 == Way::Write).map(|it| &it.0.name);
    let reads = reads.fold(Reply::new().text("I look."), |reply, name| {
        reply.call(&format!("r{turn}-{name}"), "read", json!({ "path": name }))
    });
    for (at, (file, way)) in files.iter_mut().zip(ways).enumerate() {
        let line = File::line(turn, false);
        let (old, new) = (file.lines[line].clone(), format!("turn {turn} of {at}"));
        let (id, name) = (format!("c{turn}-{at}"), file.name.clone());
        if *way != Way::Not {
            file.lines[line].clone_from(&new);
        }
        file.changed.push((*way != Way::Not).then_some(line));
        reply = match way {
            Way::Not => reply,
            Way::Edit => reply.call(&id, "edit", edit(&name, &[(&old, &new)])),
            Way::Write => reply.call(&id, "write", write(&name, &file.text())),
            Way::Command => {
                commands.push(format!("sed -i 's/{old}/{new}/' {name}"));
                reply
            }
        };
    }
    let last = format!("Turn {turn} is over.");
    if !commands.is_empty() {
        reply = reply.call("s1", "shell", json!({ "command": commands.join("; ") }));
    }
    if ways.contains(&Way::Write) {
        scene.server.reply(reads);
    }
    scene.server.reply(reply);
    scene.nvim.keys(&format!(":Caliban ask turn {turn}<CR>"));
    scene.server.reply(Reply::said(&last));
    if !commands.is_empty() {
        scene.nvim.wait_question();
        scene.nvim.keys(":Caliban approve<CR>");
    }
    scene.wait_idle(&last);
    scene.nvim.keys(":Caliban accept all<CR>");
    scene.nvim.wait(|_| scene.pending() == 0, "no pending changes");
    for file in files.iter() {
        assert_eq!(fs::read_to_string(file.path(scene)).unwrap(), file.text(), "{}", file.name);
    }
}

/// The user changes a line of the file after a turn.
fn change(scene: &Scene, turn: usize, file: &mut File, own: Own) {
    let line = File::line(turn, true);
    if own == Own::Not {
        return;
    }
    file.lines[line] = format!("mine after {turn}");
    match own {
        Own::Typed => {
            // the user's Neovim adds the newline at the end
            file.end = if file.end.is_empty() { "\n" } else { file.end };
            let (name, text) = (&file.name, &file.lines[line]);
            scene.nvim.keys(&format!(":edit {name}<CR>{}Gcc{text}<Esc>:write<CR>", line + 1));
        }
        Own::Outside => fs::write(file.path(scene), file.text()).unwrap(),
        Own::Not => (),
    }
    scene.nvim.keys(":checktime<CR>");
}

/// The list of the turns on the screen.
fn listed(scene: &Scene) -> String {
    scene.nvim.keys(":Caliban rewind<CR>");
    scene.nvim.wait_screen("Type number and <Enter>");
    let screen = scene.nvim.screen();
    let at = screen.rfind("1: ").unwrap_or_default();
    screen[at..].to_owned()
}

#[test]
fn a_rewind_of_any_turn_takes_back_its_lines_and_keeps_all_others() {
    let mut dice = Dice(number("REWIND_SEED", 20));
    let count = usize::try_from(number("REWIND_FILES", FILES)).unwrap();
    let mut files: Vec<File> =
        (0..count).map(|at| File::new(at, dice.below(KINDS.len()))).collect();
    let scene = Scene::start(|it| {
        let it = it.config(MODE).size(160, 40);
        files.iter().fold(it, |it, file| {
            it.file(&file.name, file.text()).mode(&file.name, KINDS[file.kind].4)
        })
    });
    for at in 0..TURNS {
        let ways: Vec<Way> = files
            .iter()
            .map(|_| *dice.one_of(&[Way::Not, Way::Edit, Way::Edit, Way::Write, Way::Command]))
            .collect();
        turn(&scene, at, &mut files, &ways);
        for file in &mut files {
            let own = *dice.one_of(&[Own::Not, Own::Not, Own::Typed, Own::Outside]);
            change(&scene, at, file, own);
        }
    }
    let back = dice.below(TURNS);
    if files.iter().all(|it| it.changed[back].is_none()) {
        return;
    }
    let screen = listed(&scene);
    let line = screen.lines().find(|it| it.contains(&format!("turn {back}"))).unwrap();
    scene.nvim.keys(&format!("{}<CR>", line.trim().split(':').next().unwrap()));
    scene.nvim.wait_screen("take back all");
    let shown = scene.nvim.buffer("/rewind");
    scene.nvim.keys("a");
    scene.wait_chat("You took back");
    for (at, file) in files.iter_mut().enumerate() {
        let was = file.text();
        if let Some(line) = file.changed[back] {
            file.lines[line] = format!("line {line} of {at}");
        }
        let path = file.path(&scene);
        let (now, wanted) = (fs::read(&path).unwrap(), file.text().into_bytes());
        let mode = fs::metadata(&path).unwrap().permissions();
        assert_eq!(mode, Permissions::from_mode(0o100_000 | KINDS[file.kind].4), "{}", file.name);
        let is_named = shown.contains(&format!("{} is not changed: ", file.name));
        assert!(
            now == wanted || is_named && now == was.as_bytes(),
            "{}, turn {back}\nis     {}\nwanted {}\n{shown}",
            file.name,
            String::from_utf8_lossy(&now).replace('\n', "|"),
            file.text().replace('\n', "|")
        );
    }
}
