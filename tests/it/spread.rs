//! Everyday commands that read whole folders, or what git stores: they ask if a file with secrets is among what they show.

use crate::grants::call;
use crate::kit::reply::Reply;
use crate::review::scene::Scene;
use caliban::event::Access;
use caliban::reach::{Folders, Reach};
use caliban::rules::{Rules, Verdict, safe};
use caliban::tool::tree::OnDisk;
use serde_json::json;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

/// Commands, each with the file that its question names. A dash stands for no question.
const TABLE: &str = include_str!("../data/permissions/spread.txt");

fn git(root: &Path, line: &str) {
    let words = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"];
    let mut command = Command::new("git");
    command.current_dir(root).args(words).args(line.split(' '));
    command.env("GIT_CONFIG_NOSYSTEM", "1").env("HOME", root);
    assert!(command.status().unwrap().success(), "{line}");
}

fn write(root: &Path, name: &str) {
    let path = root.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, format!("x in {name}\n")).unwrap();
}

/// A repository with secrets that git tracks, that it ignores and that it does not know.
fn repository(root: &Path, init: &str) {
    fs::create_dir_all(root).unwrap();
    git(root, init);
    for it in ["a.md", "src/a.rs", "conf/secrets.yml"] {
        write(root, it);
    }
    fs::write(root.join(".gitignore"), ".env\n").unwrap();
    git(root, "add -A");
    git(root, "commit -qm one");
    git(root, "commit -qm two --allow-empty");
    write(root, ".env");
    write(root, "priv/id_rsa");
}

fn place() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap().join("project");
    (dir, root)
}

/// What is wrong with the judgement of a line: its question has to name this file, or there must be none.
fn wrong(root: &Path, line: &str, named: &str) -> Option<String> {
    let folders = Folders { root: root.to_owned(), ..Folders::default() };
    let rules = Rules::new(safe::rules(), root, &Reach::new(&folders)).seeing(Arc::new(OnDisk));
    let (command, hosts, unlocked) = (line.to_owned(), Vec::new(), Vec::new());
    let access = Access::Act { command, outside: None, background: false, hosts, unlocked };
    let judged = rules.judge(&access);
    let is_right = match named {
        "-" => judged.verdict == Some(Verdict::Allow),
        it => judged.verdict.is_none() && judged.why.contains(&format!("{it}`")),
    };
    (!is_right).then(|| format!("{line} ({named}): {:?} {}", judged.verdict, judged.why))
}

#[test]
fn an_everyday_command_asks_if_a_file_with_secrets_is_among_what_it_shows() {
    let (_dir, root) = place();
    repository(&root, "init -q");
    let mut failed = Vec::new();
    for line in TABLE.lines().filter(|it| !it.is_empty() && !it.starts_with("## ")) {
        if line == "# the tracked secret is changed" {
            write(&root, "conf/secrets.yml");
            fs::write(root.join("conf/secrets.yml"), "another text\n").unwrap();
            continue;
        }
        let (command, named) = line.rsplit_once(" | ").unwrap();
        failed.extend(wrong(&root, command.trim_end(), named.trim()));
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[test]
fn the_files_that_git_tracks_are_known_from_each_form_of_its_index() {
    for init in ["init -q", "init -q --object-format=sha256"] {
        for version in ["2", "3", "4"] {
            let (_dir, root) = place();
            repository(&root, init);
            git(&root, &format!("update-index --force-write-index --index-version {version}"));
            let failed = wrong(&root, "git grep x", "conf/secrets.yml")
                .or_else(|| wrong(&root, "git diff", "-"))
                .or_else(|| wrong(&root, "rg x src", "-"));
            assert_eq!(failed, None, "{init} {version}");
        }
    }
    let (_dir, root) = place();
    repository(&root, "init -q");
    git(&root, "worktree add -q tree");
    let tree = root.join("tree");
    assert_eq!(wrong(&tree, "git grep x", "conf/secrets.yml"), None);
    assert_eq!(wrong(&tree, "git grep x src", "-"), None);
    // the names of a split index are elsewhere, so all files count
    git(&root, "update-index --split-index");
    assert_eq!(wrong(&root, "git grep x -- priv", "priv/id_rsa"), None);
}

#[test]
fn without_a_repository_a_search_reads_all_files_and_the_first_5_000_count() {
    let (_dir, root) = place();
    for it in ["a.md", ".env", "b/id_rsa"] {
        write(&root, it);
    }
    assert_eq!(wrong(&root, "rg x", "b/id_rsa"), None);
    assert_eq!(wrong(&root, "rg x a.md", "-"), None);
    fs::create_dir(root.join("a")).unwrap();
    for it in 0..5_000 {
        fs::write(root.join(format!("a/{it}")), "").unwrap();
    }
    assert_eq!(wrong(&root, "rg x", "-"), None);
    assert_eq!(wrong(&root, "grep -r x .", ".env"), None);
    assert_eq!(wrong(&root, "rg x b", "b/id_rsa"), None);
}

#[test]
fn the_question_about_a_search_names_the_file_with_secrets_and_a_narrow_search_asks_nothing() {
    if !crate::kit::sandbox::is_full() {
        return;
    }
    let scene = Scene::start(|it| {
        it.file("a.md", "one\n").file("src/a.rs", "two\n").file("conf/.env", "KEY=one\n").everyday()
    });
    let run = |it: &str| json!({ "command": it });
    for (command, said) in [
        ("grep -rn two src", "a.rs:1:two"),
        ("grep -rn --exclude='.env*' one .", "a.md:1:one"),
        ("grep -rl one a.md", "a.md"),
    ] {
        let (answer, was_asked) = call(&scene, "shell", run(command), "");
        assert!(answer.contains(said) && !was_asked, "{command}: {answer}");
    }
    scene.server.reply(Reply::new().call("s1", "shell", run("grep -rn one .")));
    scene.nvim.lua("require('caliban').ask('go on')", &[]);
    scene.nvim.wait_question();
    scene.nvim.wait_transcript(
        "`grep` may show `conf/.env`, which holds the keys or settings of an environment.",
    );
    scene.server.reply(Reply::said("Good."));
    scene.nvim.keys(":Caliban deny no<CR>");
    scene.wait_idle("Good.");
}
