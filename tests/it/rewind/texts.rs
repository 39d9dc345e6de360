//! The law of moves: whatever a command moves, after the rewind each text that was there before the command or before the
//! rewind is on disk, and the preview names what is not put back.

use super::commands::{git, run_command};
use super::*;
use crate::kit::dice::{Dice, number};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

/// How many projects are tried, and the seed of the first one: the environment variables `MOVES` and `MOVES_SEED` set
/// others.
const PROJECTS: u64 = 4;

/// What commands move. Files are ignored in `ign`, and by the ending `.o`.
const MOVES: [&str; 14] = [
    "mv n m",
    "mv n ign/n",
    "mv ign m",
    "mkdir m; mv n/* m/",
    "mkdir m; mv ign/* m/",
    "mv ign/* n/",
    "mv n/k k; mv n q/n",
    "cp -r n m; rm -r n",
    "mv n o; mv q n; mv o q",
    "f=$(ls -d n/* | tail -1); mv $f ign/",
    "f=$(ls ign | tail -1); mv ign/$f n/",
    "set -- $(ls q); a=$1; for b; do mv q/$a q/$b.t; mv q/$b.t t.$b; a=$b; done; for b; do mv t.$b q/$b; done",
    "set -- $(ls q); to=last; for b; do mv q/$b to.$to; mv to.$to q/$to; to=$b; done",
    "for b in $(ls q | tac); do mv q/$b q/9$b; done",
];

/// The files of a project outside of `.git`, with their texts.
fn texts(root: &Path) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
            let path = entry.path();
            if path.is_dir() {
                folders.extend(Some(path).filter(|it| !it.ends_with(".git")));
            } else {
                let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
                all.insert(name, fs::read_to_string(&path).unwrap());
            }
        }
    }
    all
}

fn is_ignored(name: &str) -> bool {
    name.starts_with("ign/") || Path::new(name).extension().is_some_and(|it| it == "o")
}

/// Writes a random project. Half of the files that are not ignored are tracked.
fn write_project(scene: &Scene, dice: &mut Dice, is_git: bool) {
    let root = scene.nvim.setup.path("");
    fs::write(root.join(".gitignore"), "ign/\n*.o\n").unwrap();
    fs::write(root.join(".ignore"), "ign/\n*.o\n").unwrap();
    if is_git {
        git(scene, &["init", "-q"]);
    }
    for folder in ["n/k", "q", "ign"] {
        fs::create_dir_all(root.join(folder)).unwrap();
    }
    let most = *dice.one_of(&[3, 12, 40, 520, 700]);
    let count = 1 + dice.below(most).max(most / 2);
    let mut tracked = Vec::new();
    for n in 0..count {
        let folder = *dice.one_of(&["n", "n", "n", "n/k", "q", "q", "ign"]);
        let end = *dice.one_of(&["txt", "txt", "txt", "o"]);
        let name = format!("{folder}/{n:03}.{end}");
        fs::write(root.join(&name), format!("text {n}\n")).unwrap();
        if !is_ignored(&name) && dice.below(2) == 0 {
            tracked.push(name);
        }
    }
    fs::write(root.join("q/large"), "large\n".repeat(200_000)).unwrap();
    let old = std::process::Command::new("sh")
        .args(["-c", "find n q ign -type f -name '*[02468].*' | xargs -r touch -d 2020-02-02"])
        .current_dir(&root)
        .status();
    assert!(old.unwrap().success());
    if is_git {
        for names in tracked.chunks(100) {
            let names = names.iter().map(String::as_str);
            git(scene, &["add", "--"].into_iter().chain(names).collect::<Vec<_>>());
        }
        git(scene, &["commit", "-qm", "begin", "--allow-empty"]);
    }
}

/// Waits until every file is older than what Caliban takes for a difference of clocks.
fn age(scene: &Scene) {
    let root = scene.nvim.setup.path("");
    let changed = |it: &String| fs::metadata(root.join(it)).unwrap().ctime();
    let last = texts(&root).keys().map(changed).max().unwrap();
    let now = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    scene.nvim.wait(|_| now() > u64::try_from(last).unwrap() + 3, "files that are old enough");
}

/// Takes everything back that can be. Returns the preview.
fn take_back(scene: &Scene) -> String {
    preview(scene, "1");
    let shown = scene.nvim.buffer("/rewind");
    scene.nvim.keys("a");
    let ends = |it: &crate::kit::nvim::Nvim| {
        it.transcript().contains("You took back") || it.screen().contains("Nothing was taken back")
    };
    scene.nvim.wait(ends, "the end of the rewind");
    shown
}

/// A rewind of moves.
struct Story {
    about: String,
    /// The file in which the user may have written.
    own: String,
    before: BTreeMap<String, String>,
    later: BTreeMap<String, String>,
    now: BTreeMap<String, String>,
    /// The preview.
    shown: String,
}

impl Story {
    /// What is compared of a state.
    fn seen(it: &BTreeMap<String, String>, own: &str) -> BTreeMap<String, String> {
        let all = it.iter().filter(|it| !is_ignored(it.0) && *it.0 != own);
        all.map(|it| (it.0.clone(), it.1.clone())).collect()
    }

    fn check(&self) {
        let Story { about, own, before, later, now, shown } = self;
        let all: BTreeSet<&String> = now.values().collect();
        let has = |name: &String, text: &String| {
            // what the user has written may be merged with an earlier text
            all.contains(text) || name == own && now.values().any(|it| it.contains("of the user"))
        };
        for (name, text) in before.iter().chain(later) {
            assert!(has(name, text), "{name} is lost: {text:.40}\n{about}\n{shown}");
        }
        if shown.contains("more than 500 files") {
            return;
        }
        let named = |name: &str| shown.contains(&format!("diff {name} is not changed: "));
        let is_known = |name: &String| is_ignored(name) || named(name) || name == own;
        for (name, text) in now.iter().filter(|it| before.get(it.0) != Some(it.1)) {
            assert!(is_known(name), "{name} is not named: {text:.40}\n{about}\n{shown}");
        }
        for (name, text) in before.iter().filter(|it| now.get(it.0) != Some(it.1)) {
            let is_elsewhere =
                now.iter().any(|it| it.1 == text && (named(it.0) || is_ignored(it.0)));
            let is_told = is_known(name) || is_elsewhere;
            assert!(is_told, "{name} is not put back: {text:.40}\n{about}\n{shown}");
        }
    }
}

fn holds(seed: u64) {
    let mut dice = Dice(seed);
    for _ in 0..8 {
        dice.below(2);
    }
    let is_git = dice.below(3) > 0;
    let scene = Scene::start(|it| it.file("first", "first\n").size(160, 40));
    write_project(&scene, &mut dice, is_git);
    let count = 1 + dice.below(2);
    let moves: Vec<&str> = (0..count).map(|_| *dice.one_of(&MOVES)).collect();
    let lines: Vec<String> = moves.iter().map(|it| format!("( {it} ) 2>/dev/null")).collect();
    let root = scene.nvim.setup.path("");
    let script = format!("cd '{}'\n{}\n:\n", root.display(), lines.join("\n"));
    fs::write(root.join("ign/move.sh"), script).unwrap();
    let is_old = dice.below(3) > 0;
    if is_old {
        age(&scene);
    }
    let before = texts(&root);
    run_command(&scene, "sh ign/move.sh");
    // the user writes in one of the files
    let names: Vec<String> = texts(&root).into_keys().filter(|it| !is_ignored(it)).collect();
    let own = dice.one_of(&names).clone();
    if own != "q/large" && dice.below(2) == 0 {
        let text = fs::read_to_string(root.join(&own)).unwrap();
        fs::write(root.join(&own), format!("{text}of the user\n")).unwrap();
    }
    let later = texts(&root);
    if Story::seen(&before, &own) == Story::seen(&later, &own) {
        // nothing that is compared was moved
        return;
    }
    let shown = take_back(&scene);
    let about = format!("MOVES_SEED={seed} git {is_git} old {is_old} {moves:?}");
    Story { about, own, before, later, now: texts(&root), shown }.check();
}

#[test]
fn a_rewind_of_moves_keeps_every_text_and_names_what_it_does_not_put_back() {
    let seed = number("MOVES_SEED", 1);
    for n in 0..number("MOVES", PROJECTS) {
        holds(seed + n);
    }
}

/// A project under git with 520 tracked files in the folder `n`, which a command moves. The files' texts are at the second
/// place afterwards.
fn moved_many(command: &str) -> (Scene, BTreeMap<String, String>) {
    let scene = Scene::start(|it| it.file("first", "first\n").size(160, 40));
    let root = scene.nvim.setup.path("");
    fs::create_dir(root.join("n")).unwrap();
    for n in 0..520 {
        fs::write(root.join(format!("n/{n:03}.txt")), format!("text {n}\n")).unwrap();
    }
    git(&scene, &["init", "-q"]);
    git(&scene, &["add", "."]);
    git(&scene, &["commit", "-qm", "begin"]);
    let before = texts(&root);
    run_command(&scene, command);
    (scene, before)
}

#[test]
fn a_rewind_of_more_moved_files_than_are_recorded_loses_no_text() {
    for command in [
        "cp -r n m; rm -r n",
        "set -- $(ls n); to=last; for b; do mv n/$b to.$to; mv to.$to n/$to; to=$b; done",
    ] {
        let (scene, before) = moved_many(command);
        let shown = take_back(&scene);
        assert!(shown.contains("a command changed more than 500 files"), "{shown:.900}");
        let now = texts(&scene.nvim.setup.path(""));
        let all: BTreeSet<&String> = now.values().collect();
        let lost = before.iter().filter(|it| !all.contains(it.1));
        assert_eq!(lost.map(|it| it.0).collect::<Vec<_>>(), Vec::<&String>::new(), "{command}");
    }
}

/// A folder that is renamed keeps the times of its files.
#[test]
fn a_rewind_of_a_renamed_folder_of_old_files_leaves_no_copies() {
    for is_git in [true, false] {
        let files = |it: Setup| it.file("n/a.txt", nine()).file("n/k/b.txt", "b\n");
        let scene = Scene::start(files);
        if is_git {
            git(&scene, &["init", "-q"]);
            git(&scene, &["add", "n/a.txt"]);
            git(&scene, &["commit", "-qm", "begin"]);
        }
        age(&scene);
        let before = texts(&scene.nvim.setup.path(""));
        run_command(&scene, "mv n m");
        rewind(&scene, "1");
        assert_eq!(texts(&scene.nvim.setup.path("")), before);
        assert!(!scene.nvim.setup.path("m").exists());
    }
}

/// What was moved out of an ignored folder is the only text.
#[test]
fn a_rewind_does_not_delete_what_a_command_moved_out_of_an_ignored_place() {
    for (command, name) in [("mv ign/a.txt a.txt", "a.txt"), ("mv ign m", "m/a.txt")] {
        let scene = Scene::start(|it| {
            it.file(".gitignore", "ign\n")
                .file("ign/a.txt", nine())
                .file("b.txt", "b\n")
                .size(160, 40)
        });
        git(&scene, &["init", "-q"]);
        git(&scene, &["add", "."]);
        git(&scene, &["commit", "-qm", "begin"]);
        age(&scene);
        run_command(&scene, &format!("{command}; echo c > b.txt"));
        preview(&scene, "1");
        let why = "it may have the only copy of a text that a command has moved there";
        expect_heads(
            &scene,
            &format!("diff {name} is not changed: {why} (changed by a command)\n"),
        );
        super::kinds::take_all_back(&scene);
        assert_eq!(scene.on_disk(name), Some(nine()));
        assert_eq!(scene.on_disk("b.txt").as_deref(), Some("b\n"));
    }
}

fn expect_heads(scene: &Scene, line: &str) {
    let heads = super::kinds::heads(scene);
    assert!(heads.contains(line), "{heads}");
}

/// Two files change places. One of them cannot come back.
#[test]
fn a_rewind_does_not_write_over_the_only_text_of_a_file_that_stays() {
    let scene = Scene::start(|it| it.file("a.txt", "a\n").file("b.txt", "b\n").size(160, 40));
    run_command(&scene, "mv a.txt c; mv b.txt a.txt; mv c b.txt");
    fs::write(scene.nvim.setup.path("a.txt"), "mine\n").unwrap();
    let shown = take_back(&scene);
    let named =
        "diff b.txt is not changed: it may have the only text of a.txt, which is not restored";
    assert!(shown.contains(named), "{shown}");
    let now = texts(&scene.nvim.setup.path(""));
    assert_eq!(now.values().collect::<Vec<_>>(), ["mine\n", "a\n"]);
}
