//! Random command lines, judged by rules and run by bash. All programs in them are stubs that note their arguments, so
//! the test sees what bash runs. It tries 1,000 lines, or as many as the environment variable `LINES` says, from the
//! seed in `SEED`.

use crate::kit::dice::{Dice, number};
use caliban::bash::{Script, Simple, Word};
use caliban::event::Access;
use caliban::reach::{Folders, Reach};
use caliban::rules::{Origin, Rules, Verdict, WrittenRule, read};
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// The allowed commands. `evil` is denied.
const ALLOWED: &str = "a b x f1 echo printf test true : env timeout nice nohup stdbuf setsid xargs find sh bash command \
    builtin exec time git";
/// Programs that run others, and `cat`. They are no stubs.
const REAL: [&str; 9] =
    ["cat", "env", "find", "nice", "nohup", "setsid", "stdbuf", "timeout", "xargs"];

/// A stub notes its arguments, each followed by `BETWEEN`, and then `END`.
const BETWEEN: char = '\u{1f}';
const END: char = '\u{1e}';

fn list(text: &str) -> Vec<String> {
    let marks = [('⏎', "\n"), ('␉', "\t"), ('␍', "\r"), ('⍽', "\u{a0}"), ('␠', " ")];
    let unmarked =
        |it: &str| marks.iter().fold(it.to_owned(), |it, (mark, c)| it.replace(*mark, c));
    text.split('\n').filter(|it| !it.is_empty()).map(unmarked).collect()
}

/// Makes command lines from templates, in which pieces replace each `@`.
struct Author {
    dice: Dice,
    pieces: Vec<String>,
    templates: Vec<String>,
}

impl Author {
    fn line(&mut self) -> String {
        if self.dice.below(3) == 0 {
            return self.some(10);
        }
        let mut template = self.dice.one_of(&self.templates).clone();
        if self.dice.below(3) == 0 {
            template = template.replacen('@', self.dice.one_of::<String>(&self.templates), 1);
        }
        let mut line = String::new();
        for (at, part) in template.split('@').enumerate() {
            if at > 0 {
                line += &self.some(3);
            }
            line += part;
        }
        line
    }

    fn some(&mut self, most: usize) -> String {
        let mut text = String::new();
        for _ in 0..=self.dice.below(most) {
            text += self.dice.one_of::<String>(&self.pieces);
            match self.dice.below(20) {
                0..=8 => text.push(' '),
                9 => text.push('\n'),
                _ => (),
            }
        }
        text
    }
}

/// The folder in which the lines run, and the stubs.
struct Room(TempDir);

impl Room {
    fn new() -> Room {
        let dir = tempfile::tempdir().unwrap();
        let (bin, notes) = (dir.path().join("bin"), dir.path().join("notes"));
        fs::create_dir(&bin).unwrap();
        let (prefix, notes) = (bin.display(), notes.display());
        let stub = format!(
            "#!/bin/bash\nname=\"${{0#{prefix}/}}\"\nprintf -v note '%s\\037' \"$name\" \"$@\"\n\
             printf '%s\\036' \"$note\" >> {notes}\n"
        );
        for name in ["a", "b", "evil", "f1", "git", "x"] {
            let file = bin.join(name);
            let code = i32::from(name == "b");
            fs::write(&file, format!("{stub}exit {code}\n")).unwrap();
            fs::set_permissions(&file, Permissions::from_mode(0o755)).unwrap();
        }
        for name in REAL {
            symlink(Path::new("/usr/bin").join(name), bin.join(name)).unwrap();
        }
        symlink("/bin/bash", bin.join("sh")).unwrap();
        symlink("/bin/bash", bin.join("bash")).unwrap();
        Room(dir)
    }

    fn root(&self) -> PathBuf {
        self.0.path().join("project")
    }

    /// Runs a line. Returns the commands that ran, and whether the line changed files.
    fn run(&self, line: &str) -> (Vec<Vec<String>>, bool) {
        let (root, notes) = (self.root(), self.0.path().join("notes"));
        let _ = fs::remove_dir_all(&root);
        fs::create_dir_all(root.join("sub")).unwrap();
        for name in ["f1", "evil", "sub/evil", "E"] {
            fs::copy(self.0.path().join("bin/evil"), root.join(name)).unwrap();
        }
        let _ = fs::remove_file(&notes);
        let before = self.files();
        // limits the time of endless loops and recursions
        let limited = "ulimit -t 2 -f 2000; exec /bin/bash -c \"$0\"";
        let mut bash = Command::new("/bin/bash");
        bash.args(["-c", limited, line]).current_dir(&root).stdin(Stdio::null()).env_clear();
        bash.env("PATH", self.0.path().join("bin")).env("HOME", "~").env("FUNCNEST", "8");
        bash.output().unwrap();
        let noted = fs::read(notes).unwrap_or_default();
        let noted = String::from_utf8_lossy(&noted).into_owned();
        let words = |it: &str| {
            it.strip_suffix(BETWEEN).unwrap_or(it).split(BETWEEN).map(str::to_owned).collect()
        };
        let ran = noted.split(END).filter(|it| !it.is_empty()).map(words).collect();
        (ran, self.files() != before)
    }

    fn files(&self) -> Vec<(PathBuf, u64)> {
        let all = ignore::WalkBuilder::new(self.root()).standard_filters(false).build();
        let file = |it: ignore::DirEntry| {
            let size = it.metadata().map_or(0, |it| if it.is_file() { it.len() } else { 0 });
            (it.into_path(), size)
        };
        let mut files: Vec<(PathBuf, u64)> = all.flatten().map(file).collect();
        files.sort();
        files
    }
}

fn rules(root: &Path) -> Rules {
    let deny = WrittenRule {
        deny: Some("shell".into()),
        command: Some("evil".into()),
        ..WrittenRule::default()
    };
    let allowed = ALLOWED.split_whitespace().map(WrittenRule::always);
    let written: Vec<WrittenRule> = allowed.chain([deny]).collect();
    let (all, problems) = read(&written, Origin::Settings, "test");
    assert_eq!(problems, [""; 0]);
    let folders = Folders { root: root.to_owned(), ..Folders::default() };
    Rules::new(all, root, &Reach::new(&folders))
}

/// Whether `simple`, a command that the parser found, is the command that ran. The arguments of a command with a
/// pattern may be any files.
fn is_seen(simple: &Simple, ran: &[String]) -> bool {
    let is_pattern = simple.words.iter().any(|it| matches!(it, Word::Glob(_)));
    let words: Option<Vec<&str>> = simple.words.iter().map(Word::fixed).collect();
    let is_same = words.is_some_and(|it| it == ran);
    is_same || is_pattern && simple.words[0].fixed() == Some(&ran[0])
}

#[test]
fn bash_runs_nothing_that_the_rules_have_not_judged() {
    let room = Room::new();
    let rules = rules(&room.root());
    let mut author = Author {
        dice: Dice(number("SEED", 1)),
        pieces: list(include_str!("../data/permissions/pieces.txt")),
        templates: list(include_str!("../data/permissions/templates.txt")),
    };
    let (mut wrong, mut count) = (Vec::new(), 0);
    for _ in 0..number("LINES", 1_000) {
        let line = author.line();
        let access = Access::Act {
            command: line.clone(),
            outside: None,
            background: false,
            hosts: Vec::new(),
            unlocked: Vec::new(),
        };
        let verdict = rules.judge(&access).verdict;
        if verdict > Some(Verdict::Allow) {
            continue;
        }
        let (ran, has_changed) = room.run(&line);
        let script = Script::parse(&line);
        let is_known = |ran: &Vec<String>| {
            script.commands.iter().any(|it| it.is_certain() && is_seen(it, ran))
        };
        let is_evil = ran.iter().any(|it| it[0] == "evil");
        let is_right = match verdict {
            Some(_) => !has_changed && ran.iter().all(is_known),
            None => !is_evil,
        };
        count += usize::from(verdict == Some(Verdict::Allow) && !ran.is_empty());
        if !is_right {
            wrong.push(format!("{line:?}: {verdict:?}, but bash ran {ran:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(count > 50, "{count}");
}
