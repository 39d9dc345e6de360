//! Random files in every encoding and with every kind of line ends, edited through a real Neovim: bytes outside of
//! an edit are the same before and after.

use super::review::scene::{Scene, edit};
use crate::kit::dice::Dice;
use crate::kit::reply::Reply;
use std::fs;

/// Files of a run; `FIDELITY` in the environment sets another number.
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

/// A line and what ends it.
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
                // without such a letter it is ASCII
                behind += "\u{e9}x";
            }
            let end = match ends {
                Ends::Unix => "\n",
                Ends::Dos => "\r\n",
                // the first line shows that it is no file of CR LF alone
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

    /// Changes it, and gives the edit of a model that sees lines with `\n` between them.
    fn edited(&mut self, dice: &mut Dice) -> (String, String) {
        let at = dice.below(self.lines.len());
        let mark = format!("<{at}>");
        let (line, end) = self.lines[at].clone();
        let new = *dice.one_of(&["new", "", "\u{e4}\u{df}  "]);
        // of CR and of mixed ends a model sees what they are: an edit within the line
        let is_plain = matches!(self.ends, Ends::Unix | Ends::Dos);
        match dice.below(if is_plain { 4 } else { 1 }) {
            0 => {
                self.lines[at].0 = line.replace(&mark, new);
                (mark, new.to_owned())
            }
            1 => {
                let (head, tail) = line.split_once(&mark).unwrap();
                // a line without an end says nothing of others
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

/// Half of the files are open; the edits of all are accepted, or rejected.
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
fn bytes_outside_of_an_edit_are_the_same_before_and_after() {
    run(1, true);
    run(2, true);
    run(3, false);
}
