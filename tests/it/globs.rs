//! Patterns in commands, judged by the names for which they stand: random names, patterns and everyday programs, compared
//! with what bash makes of the pattern. The law tries 1,000 commands, or as many as `GLOBS` says, from the seed in
//! `SEED`.

use crate::grants::call;
use crate::kit::dice::{Dice, number};
use crate::kit::reply::Reply;
use crate::review::scene::Scene;
use caliban::event::Access;
use caliban::reach::{Folders, Reach};
use caliban::rules::{Rules, Verdict, safe};
use caliban::tool::tree::OnDisk;
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

const NAMES: &[&str] = &[
    "a.md",
    "b.md",
    "c.txt",
    "ä.md",
    "p",
    "x y.md",
    "docs/x.txt",
    "docs/y.txt",
    "docs/deep/x.md",
    "src/a.rs",
    "src/b.rs",
    "[z]",
    "q*r.md",
    "-rf",
    "--foo",
    "-n.md",
    "+x",
    "docs/-v.txt",
    "id_rsa",
    "secrets.yml",
    ".env",
    "src/id_ed25519",
    "docs/key.pem",
    "s/a/b/",
];
/// Links, and where they lead.
const LINKS: &[(&str, &str)] = &[
    ("link", "../outside"),
    ("linked.txt", ".env"),
    ("inner", "docs"),
    ("docs/up", ".."),
    ("lost", "nowhere"),
    ("round", "round"),
    ("md.md", "../outside/x.txt"),
];
const PATTERNS: &[&str] = &[
    "*",
    "*.md",
    "*.txt",
    "?",
    "?.md",
    "[a-c].md",
    "[!a]*",
    "[[]z]",
    "l*",
    "link*/x*",
    "link*",
    "in*/x*",
    "docs/*",
    "docs/*.txt",
    "d*/*.txt",
    "*/x*",
    "*/",
    "*/*",
    "**",
    "src/*.rs",
    "id_rs*",
    "secrets.y*",
    "-*",
    "./*",
    "*/up/*",
    "q\\**",
    "'[z'?",
    "s/a*/b/",
    "../*",
    "*rf",
    "nothing*",
    "$x*",
    "{a,b}*",
];
const PROTECTED: &[&str] = &["id_rsa", "secrets.yml", ".env", "id_ed25519", "key.pem"];

/// A folder with the project and a folder beside it.
struct Room(tempfile::TempDir);

impl Room {
    fn new() -> Room {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("outside")).unwrap();
        fs::write(dir.path().join("outside/x.txt"), "x\n").unwrap();
        Room(dir)
    }

    fn root(&self) -> PathBuf {
        self.0.path().canonicalize().unwrap().join("project")
    }

    /// Fills the project with some of the names and links.
    fn fill(&self, dice: &mut Dice) {
        let root = self.root();
        let _ = fs::remove_dir_all(&root);
        fs::create_dir_all(root.join("docs")).unwrap();
        fs::create_dir_all(root.join("src")).unwrap();
        let many = dice.below(4) + 1;
        for name in NAMES.iter().filter(|_| dice.below(5) < many) {
            let path = root.join(name.trim_end_matches('/'));
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            if name.ends_with('/') {
                fs::create_dir_all(path).unwrap();
            } else {
                fs::write(path, "x\n").unwrap();
            }
        }
        for (name, target) in LINKS.iter().filter(|_| dice.below(6) == 0) {
            symlink(target, root.join(name)).unwrap();
        }
    }

    /// The words that bash makes of a pattern.
    fn words(&self, folder: &str, pattern: &str) -> Vec<String> {
        let said = Command::new("bash")
            .args(["-c", &format!("printf '%s\\0' {pattern}")])
            .current_dir(self.root().join(folder))
            .env("LC_ALL", "C.UTF-8")
            .env_remove("x")
            .output()
            .unwrap();
        let text = String::from_utf8(said.stdout).unwrap();
        text.split_terminator('\0').map(str::to_owned).collect()
    }

    /// Why a command must not get this word without a question.
    fn danger(&self, folder: &str, word: &str) -> Option<&'static str> {
        let root = self.root();
        let names = |path: &Path| -> Vec<String> {
            path.components().map(|it| it.as_os_str().to_string_lossy().into_owned()).collect()
        };
        if word.starts_with('-') {
            return Some("an option");
        }
        let real = root.join(folder).join(word).canonicalize().ok()?;
        let is_protected = names(&real).iter().any(|it| PROTECTED.contains(&it.as_str()));
        let is_outside = !real.starts_with(&root);
        is_outside.then_some("outside").or(is_protected.then_some("protected"))
    }
}

fn rules(root: &Path) -> Rules {
    let folders = Folders { root: root.to_owned(), ..Folders::default() };
    Rules::new(safe::rules(), root, &Reach::new(&folders)).seeing(Arc::new(OnDisk))
}

fn verdict(rules: &Rules, line: &str) -> Option<Verdict> {
    let (command, hosts, unlocked) = (line.to_owned(), Vec::new(), Vec::new());
    rules.judge(&Access::Act { command, outside: None, background: false, hosts, unlocked }).verdict
}

#[test]
fn no_pattern_gives_an_everyday_command_an_option_or_a_file_that_would_be_asked_about() {
    let room = Room::new();
    let rules = rules(&room.root());
    let programs: Vec<String> = rules.all.iter().map(ToString::to_string).collect();
    let programs: Vec<&str> =
        programs.iter().filter_map(|it| it.split('`').nth(1)?.strip_suffix(" …")).collect();
    assert!(programs.len() > 100, "{programs:?}");
    let plain = ["ls", "cat", "wc -l", "head -3", "grep x", "du -h", "sort", "rg -n x"];
    let mut dice = Dice(number("SEED", 1));
    let (mut wrong, mut ran) = (Vec::new(), 0);
    for _ in 0..number("GLOBS", 1_000) {
        room.fill(&mut dice);
        let is_plain = dice.below(2) == 0;
        let program = if is_plain { *dice.one_of(&plain) } else { *dice.one_of(&programs) };
        let pattern = *dice.one_of(PATTERNS);
        let (folder, enter) = *dice.one_of(&[("", ""), ("", ""), ("docs", "cd docs && ")]);
        let line = format!("{enter}{program} {pattern}");
        let is_allowed = verdict(&rules, &line) == Some(Verdict::Allow);
        let words = room.words(folder, pattern);
        let dangers: Vec<_> =
            words.iter().filter_map(|it| Some((it, room.danger(folder, it)?))).collect();
        ran += usize::from(is_allowed);
        if is_allowed && !dangers.is_empty() {
            wrong.push(format!("{line}: runs without a question, with {dangers:?}"));
        }
        // in a line with `cd`, the folder before it counts as well
        let is_known = !pattern.contains(['$', '{', '-']) && !pattern.starts_with("..");
        let is_free = dangers.is_empty() && enter.is_empty() && is_known;
        let at = room.root().join(folder);
        let is_odd = |it: &String| {
            let is_searched = program.starts_with("rg") && at.join(it).is_dir();
            it.starts_with('+') || at.join(it).is_symlink() || is_searched
        };
        if is_plain && is_free && !is_allowed && !words.iter().any(is_odd) && !pattern.contains('[')
        {
            wrong.push(format!("{line}: asks, though it has only {words:?}"));
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
    assert!(ran > 100, "{ran}");
}

fn run(command: &str) -> Value {
    json!({ "command": command })
}

/// Commands that would read a protected file or one outside of the project.
const ASKED: [&str; 16] = [
    "cat conf/secrets.y*",
    "cat keys/id_rs*",
    "cat links/link*/x",
    "cat docs/l*",
    "cat docs/*",
    "cat links/linked/x",
    "cat docs/link",
    "cd links/linked && cat x",
    "cd links && cat linked/x",
    "grep -r five links/linked",
    "grep -R five",
    "grep -nRe five links",
    "grep --deref five links",
    "grep -R four docs",
    "cd links && grep -R -A 3 five",
    "diff -r more links",
];

#[test]
fn a_command_with_a_pattern_is_judged_by_the_files_that_are_there_when_it_begins() {
    if !crate::kit::sandbox::is_full() {
        return;
    }
    let scene = Scene::start(|it| {
        it.file("a.md", "one\n")
            .file("docs/b.txt", "two\n")
            .file("conf/secrets.yml", "three\n")
            .file("keys/id_rsa", "four\n")
            .file("more/own/x", "six\n")
            .everyday()
    });
    let root = scene.nvim.setup.path("");
    fs::create_dir(scene.nvim.setup.dir().join("outside")).unwrap();
    fs::write(scene.nvim.setup.dir().join("outside/x"), "five\n").unwrap();
    fs::create_dir(root.join("links")).unwrap();
    symlink("../../outside", root.join("links/linked")).unwrap();
    symlink("../keys/id_rsa", root.join("docs/link")).unwrap();
    symlink("own/x", root.join("more/link")).unwrap();
    symlink(".", root.join("more/loop")).unwrap();
    for (command, said) in [
        ("ls *.md", "a.md"),
        ("cat *.md docs/*.txt", "one\ntwo"),
        ("wc -l docs/b*", "1 docs/b.txt"),
        ("cat <<'E' | grep -c o\none\ntwo\nE", "2"),
        ("grep -Rh six more", "six\nsix"),
        ("diff -r more more/own", "Only in more"),
    ] {
        let (answer, was_asked) = call(&scene, "shell", run(command), "");
        assert!(answer.contains(said) && !was_asked, "{command}: {answer}");
    }
    for command in ASKED {
        let (_, was_asked) = call(&scene, "shell", run(command), ":Caliban approve<CR>");
        assert!(was_asked, "{command}");
    }
    scene.nvim.keys(":Caliban mode auto-edit<CR>");
    // the file of the first call is one that the second call would take for an option
    let file = json!({ "path": "-n", "text": "1\n" });
    scene.server.reply(Reply::new().call("w1", "write", file).call("s1", "shell", run("cat *")));
    scene.nvim.lua("require('caliban').ask('go on')", &[]);
    scene.nvim.wait_question();
    scene.nvim.wait_transcript("`*` stands for `-n`, which may be an option.");
    scene.server.reply(Reply::said("Good."));
    scene.nvim.keys(":Caliban deny no<CR>");
    scene.wait_idle("Good.");
}

#[test]
fn a_pattern_in_place_of_a_program_is_judged_by_the_names_for_which_it_stands() {
    let scene = Scene::start(|it| {
        let rules =
            "{ { deny = 'shell', command = 'rm' }, { deny = 'shell', command = 'git push' } }";
        it.file("rm", "").file("b.txt", "one\n").config(&format!("{{ permissions = {rules} }}"))
    });
    for command in ["r? b.txt", "r*", "/usr/bin/g?t push", "/usr/*/git push"] {
        let (answer, _) = call(&scene, "shell", json!({ "command": command }), "");
        assert!(answer.starts_with("Not run. A permission rule denies"), "{command}: {answer}");
    }
    // no name fits the pattern, or the names tell nothing
    for command in ["x? b.txt", "$HOME/* b.txt"] {
        let no = ":Caliban deny no<CR>";
        let (answer, was_asked) = call(&scene, "shell", json!({ "command": command }), no);
        assert!(was_asked, "{command}: {answer}");
    }
}
