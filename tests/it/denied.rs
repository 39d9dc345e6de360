//! Commands that a rule denies, in the spellings that real programs take for the same.

use crate::grants::call;
use crate::review::scene::Scene;
use serde_json::json;
use std::fs;
use std::process::Command;

/// Each of them removes a folder, and so a rule about `rm -rf` is about it.
const REMOVALS: &[&str] = &[
    "rm -rf full",
    "rm -fr full",
    "rm -r -f full",
    "rm -Rf ./full/",
    "rm -rfv full",
    "rm full -rf",
    "rm --recursive --force full",
    "rm --rec -f full",
    "rm -f full -ir",
    "bash -c 'rm -f -R full'",
    "echo full | xargs rm -f -r",
    "find full -maxdepth 0 -exec rm -f -r {} +",
];

#[test]
fn a_denied_command_is_denied_in_each_spelling_that_the_program_takes_for_the_same() {
    let scene = Scene::start(|it| {
        it.file("full/a.txt", "one\n").file("b.txt", "two\n").config(
            "{ permissions = { { allow = 'shell', command = 'rm' }, \
             { deny = 'shell', command = 'rm -rf', reason = 'Ask first.' }, \
             { deny = 'shell', command = 'git reset --hard' } } }",
        )
    });
    let full = scene.nvim.setup.path("full");
    let text = "echo full >x; read -r x <x; ";
    for command in REMOVALS {
        // what the program does, in a folder of its own
        let room = tempfile::tempdir().unwrap();
        fs::create_dir(room.path().join("full")).unwrap();
        let said = Command::new("bash").args(["-c", command]).current_dir(&room).output().unwrap();
        assert!(!room.path().join("full").exists() || said.status.success(), "{command}");
        let (answer, was_asked) = call(&scene, "shell", json!({ "command": command }), "");
        let wanted = "Not run. A permission rule denies `rm ";
        assert!(answer.starts_with(wanted) && !was_asked, "{command}: {answer}");
        assert!(answer.contains(": Ask first."), "{command}: {answer}");
    }
    for command in [format!("{text}rm \"$x\""), "printf 'reset --hard' | xargs git".into()] {
        let no = ":Caliban deny no<CR>";
        let (_, was_asked) = call(&scene, "shell", json!({ "command": command }), no);
        assert!(was_asked, "{command}");
    }
    assert!(full.join("a.txt").exists());
    let run = json!({ "command": "rm -f b.txt" });
    let (answer, was_asked) = call(&scene, "shell", run, "");
    assert!(!was_asked && scene.on_disk("b.txt").is_none(), "{answer}");
}

#[test]
fn a_text_that_no_program_runs_is_not_denied_and_one_that_may_run_is_asked_about() {
    let scene = Scene::start(|it| {
        it.file("a.txt", "one\nrm -rf x\n").config(
            "{ permissions = { { allow = 'shell', command = 'sed' }, { allow = 'shell', command = 'grep' }, \
             { allow = 'shell', command = 'echo' }, { deny = 'shell', command = 'rm' } } }",
        )
    });
    let run = |command: &str| json!({ "command": command });
    for command in ["sed -n '/rm -rf/p' a.txt", "grep 'rm -rf' a.txt", "echo 'rm -rf x'"] {
        let (answer, was_asked) = call(&scene, "shell", run(command), "");
        assert!(!was_asked && answer.contains("rm -rf x"), "{command}: {answer}");
    }
    let (answer, was_asked) =
        call(&scene, "shell", run("python3 -c 'print(\"rm\")'"), ":Caliban approve<CR>");
    assert!(was_asked && !answer.contains("denies"), "{answer}");
    let (answer, was_asked) = call(&scene, "shell", run("printf 'rm a.txt' > y; sh y"), "");
    assert!(!was_asked && answer.contains("A permission rule denies `rm a.txt`"), "{answer}");
}
