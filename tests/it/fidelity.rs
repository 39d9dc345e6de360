//! Tests edits of random files in every encoding and with every kind of line end: no byte outside of an edit may
//! change.

use super::review::scene::{Scene, edit};
use crate::kit::dice::Dice;
use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use std::fs;

/// The number of files of a run. The environment variable `FIDELITY` overrides it.
const FILES: usize = 40;

#[derive(Clone, Copy, PartialEq)]
enum Encoding {
    Utf8,
    Marked,
    Latin1,
    Utf16 { is_big: bool },
}

#[derive(Clone, Copy, PartialEq)]
enum Ends {
    Unix,
    Dos,
    Mixed,
    Mac,
}

/// A line and its line end.
type Line = (String, &'static str);

struct File {
    name: String,
    encoding: Encoding,
    ends: Ends,
    lines: Vec<Line>,
}

impl File {
    fn random(dice: &mut Dice, n: usize) -> File {
        use Encoding::{Latin1, Marked, Utf8, Utf16};
        let encodings =
            [Utf8, Utf8, Marked, Latin1, Utf16 { is_big: false }, Utf16 { is_big: true }];
        let encoding = *dice.one_of(&encodings);
        let ends = *dice.one_of(&[Ends::Unix, Ends::Unix, Ends::Dos, Ends::Mixed, Ends::Mac]);
        let count = 1 + dice.below(9);
        let mut lines: Vec<Line> = Vec::new();
        for at in 0..count {
            let (before, mut behind) = (words(dice, encoding), words(dice, encoding));
            if at == 0 && encoding == Encoding::Latin1 {
                // Without a letter such as `é`, the file would be ASCII.
                behind += "\u{e9}x";
            }
            let end = match ends {
                Ends::Unix => "\n",
                Ends::Dos => "\r\n",
                // The first line ends in LF, so that Neovim does not treat the file as a DOS file.
                Ends::Mixed => *dice.one_of(if at == 0 { &["\n"] } else { &["\n", "\r\n"] }),
                Ends::Mac => "\r",
            };
            lines.push((format!("{before}<{at}>{behind}"), end));
        }
        if dice.below(3) == 0 {
            lines.last_mut().unwrap().1 = "";
        }
        File { name: format!("f{n:02}.txt"), encoding, ends, lines }
    }

    fn bytes(&self) -> Vec<u8> {
        let text: String = self.lines.iter().flat_map(|(line, end)| [line.as_str(), end]).collect();
        match self.encoding {
            Encoding::Utf8 => text.into_bytes(),
            Encoding::Marked => ["\u{feff}", &text].concat().into_bytes(),
            Encoding::Latin1 => text.chars().map(|c| u8::try_from(u32::from(c)).unwrap()).collect(),
            Encoding::Utf16 { is_big } => {
                let units: Vec<u16> = format!("\u{feff}{text}").encode_utf16().collect();
                units
                    .into_iter()
                    .flat_map(|it| if is_big { it.to_be_bytes() } else { it.to_le_bytes() })
                    .collect()
            }
        }
    }

    /// Changes the file. Returns the old and the new text of the edit as a model would write them, with `\n` between
    /// lines.
    fn edited(&mut self, dice: &mut Dice) -> (String, String) {
        let at = dice.below(self.lines.len());
        let mark = format!("<{at}>");
        let (line, end) = self.lines[at].clone();
        let new = *dice.one_of(&["new", "", "\u{e4}\u{df}  "]);
        // If line ends are CR or mixed, the model sees the CRs, so the edit is within a single line.
        let is_plain = matches!(self.ends, Ends::Unix | Ends::Dos);
        match dice.below(if is_plain { 4 } else { 1 }) {
            0 => {
                self.lines[at].0 = line.replace(&mark, new);
                (mark, new.to_owned())
            }
            1 => {
                let (head, tail) = line.split_once(&mark).unwrap();
                // If the file is a single line without a line end, new lines get LF.
                let between = if self.lines[0].1.is_empty() { "\n" } else { self.lines[0].1 };
                let new_line = (format!("{head}{new}"), between);
                self.lines.splice(at..=at, [new_line, (format!("+{tail}"), end)]);
                (mark, format!("{new}\n+"))
            }
            2 if !end.is_empty() && self.lines.len() > 1 => {
                self.lines.remove(at);
                (line + "\n", String::new())
            }
            _ if !end.is_empty() => {
                self.lines.insert(at + 1, (format!("put in {new}"), end));
                (format!("{line}\n"), format!("{line}\nput in {new}\n"))
            }
            _ => {
                self.lines[at].0 = line.clone() + "!";
                (line.clone(), line + "!")
            }
        }
    }
}

fn words(dice: &mut Dice, encoding: Encoding) -> String {
    let (latin, wide) = (
        ["a", "", " ", "\t", "\u{e9}", "\u{a0}", "\u{ab}b\u{bb}"],
        ["漢", "e\u{301}", "“q”", "\u{1f600}"],
    );
    let all = if encoding == Encoding::Latin1 {
        latin.to_vec()
    } else {
        [&latin[..], &wide[..]].concat()
    };
    (0..dice.below(4)).map(|_| *dice.one_of(&all)).collect()
}

/// Edits all files, half of which have a buffer, and accepts or rejects all edits.
fn run(seed: u64, accepts: bool) {
    let count = std::env::var("FIDELITY").ok().and_then(|it| it.parse().ok()).unwrap_or(FILES);
    let mut dice = Dice(seed);
    let mut files: Vec<File> = (0..count).map(|n| File::random(&mut dice, n)).collect();
    let before: Vec<Vec<u8>> = files.iter().map(File::bytes).collect();
    let scene = Scene::start(|it| {
        files.iter().zip(&before).fold(it, |it, (file, bytes)| it.file(&file.name, bytes))
    });
    for file in files.iter().step_by(2) {
        scene.nvim.keys(&format!(":silent edit {}<CR>", file.name));
    }
    let mut reply = Reply::new();
    let mut sent = Vec::new();
    for (n, file) in files.iter_mut().enumerate() {
        let (old, new) = file.edited(&mut dice);
        reply = reply.call(&format!("e{n}"), "edit", edit(&file.name, &[(&old, &new)]));
        sent.push((old, new));
    }
    scene.ask(reply);
    scene.wait_pending(count);
    scene.server.reply(Reply::said("I see."));
    scene.nvim.keys(if accepts { ":Caliban accept all<CR>" } else { ":Caliban reject all<CR>" });
    scene.wait_idle("I see.");
    for (n, file) in files.iter().enumerate() {
        let wanted = if accepts { file.bytes() } else { before[n].clone() };
        let found = fs::read(scene.nvim.setup.path(&file.name)).unwrap();
        let [before, wanted, found] =
            [&before[n], &wanted, &found].map(|it| it.escape_ascii().to_string());
        let told = scene.answer(2, &format!("e{n}"));
        assert_eq!(found, wanted, "{n} of {seed}: {before} {:?} {told}", sent[n]);
    }
}

#[test]
fn bytes_outside_an_edit_do_not_change() {
    run(1, true);
    run(2, true);
    run(3, false);
}

#[test]
fn an_edit_can_add_or_remove_only_the_newline_at_the_end_of_the_file() {
    let rows = [
        ("a\nb", ("b", "b\n"), "a\nb\n"),
        ("a\nb\n", ("b\n", "b"), "a\nb"),
        ("b\r\n", ("b\n", "b"), "b"),
    ];
    for (before, change, after) in rows {
        for (keys, wanted) in [
            (":Caliban accept all<CR>", after),
            (":Caliban reject all<CR>", before),
            ("G\\a", after),
            ("G\\r", before),
            ("u", before),
            ("GAx<Esc>u\\A", after),
        ] {
            let scene = Scene::start(|it| it.file("a.txt", before));
            scene.nvim.keys(":edit a.txt<CR>");
            scene.ask(Reply::new().call("e1", "edit", edit("a.txt", &[change])));
            scene.wait_pending(1);
            assert_eq!(scene.on_disk("a.txt").as_deref(), Some(before));
            scene.server.reply(Reply::said("I see."));
            scene.nvim.keys(keys);
            scene.wait_idle("I see.");
            let told = scene.answer(2, "e1");
            assert_eq!(scene.on_disk("a.txt").as_deref(), Some(wanted), "{keys}: {told}");
            let verdict = if wanted == after { "accepted" } else { "rejected" };
            assert!(
                told.contains(&format!("The user {verdict} the change in a.txt")),
                "{keys}: {told}"
            );
            assert_eq!(scene.nvim.lua_str("return vim.bo.modified"), "false", "{keys}");
        }
    }
}

#[test]
fn a_changed_final_newline_is_shown_and_is_undone_and_redone() {
    let scene = Scene::start(|it| it.file("a.txt", "a\nb"));
    scene.nvim.keys(":edit a.txt<CR>");
    scene.ask(Reply::new().call("e1", "edit", edit("a.txt", &[("b", "b\n")])));
    scene.wait_pending(1);
    scene.nvim.wait_screen("b (no newline at the end)");
    scene.nvim.wait_screen("-1 +1  b");
    scene.server.reply(Reply::said("I see."));
    scene.nvim.keys("u");
    scene.wait_idle("I see.");
    assert_eq!(scene.answer(2, "e1"), "The user rejected the change in a.txt: it is undone.");
    scene.nvim.keys("<C-r>");
    scene.wait_hunks(1);
    scene.nvim.wait_screen("b (no newline at the end)");
    scene.nvim.keys("\\A");
    scene.wait_hunks(0);
    assert_eq!(scene.on_disk("a.txt").as_deref(), Some("a\nb\n"));
    assert!(scene.told_next().contains("The user accepted the change in a.txt."));
    // The user can undo the change by setting 'endofline'. The next change of the buffer makes Caliban notice.
    scene.ask(Reply::new().call("e2", "edit", edit("a.txt", &[("b\n", "b")])));
    scene.wait_pending(1);
    scene.server.reply(Reply::said("So be it."));
    scene.nvim.keys(":set endofline<CR>ggAx<Esc>");
    scene.wait_idle("So be it.");
    assert_eq!(scene.pending(), 0);
}

#[test]
fn in_auto_edit_mode_a_changed_final_newline_is_written_and_can_be_rejected() {
    let scene = Scene::start(|it| it.file("a.txt", "a\nb").config("{ mode = 'auto-edit' }"));
    scene.server.reply(Reply::new().call("e1", "edit", edit("a.txt", &[("b", "b\n")])));
    scene.ask_until(Reply::said("I see."), "I see.");
    scene.wait_hunks(1);
    assert_eq!(scene.on_disk("a.txt").as_deref(), Some("a\nb\n"));
    scene.nvim.keys(":Caliban reject all<CR>");
    scene.wait_hunks(0);
    assert_eq!(scene.on_disk("a.txt").as_deref(), Some("a\nb"));
    assert!(scene.told_next().contains("The user rejected the change in a.txt"));
}

#[test]
fn a_hunk_that_changes_only_the_final_newline_survives_a_restart_together_with_other_hunks() {
    let scene = Scene::start(|it| it.file("a.txt", "a\nb\nc"));
    scene.nvim.keys(":edit a.txt<CR>");
    let reply = Reply::new().call("e1", "edit", edit("a.txt", &[("a", "A")]));
    scene.ask(reply);
    scene.wait_pending(1);
    scene.server.reply(Reply::new().call("e2", "edit", edit("a.txt", &[("c", "c\n")])));
    scene.nvim.keys(":Caliban ask more<CR>");
    scene.wait_pending(2);
    let setup = &scene.nvim.setup;
    scene.nvim.quit_with(":qa!<CR>");
    let nvim = Nvim::start(setup);
    nvim.keys(":edit a.txt<CR>:Caliban<CR>");
    nvim.wait_screen("2 hunks in 1 file to review");
    nvim.keys(":Caliban accept all<CR>");
    nvim.wait(
        |nvim| nvim.setup.on_disk("a.txt").as_deref() == Some("A\nb\nc\n"),
        "the text on disk",
    );
}
