//! Rewinds of turns in which git merged.

use super::commands::{git, run_command};
use super::kinds::heads;
use super::*;
use std::fs;

/// The branch `other` has changed the fifth line of `a.txt`.
fn diverged() -> Scene {
    diverged_in(MODE)
}

pub(super) fn diverged_in(config: &str) -> Scene {
    let scene = Scene::start(|it| it.file("a.txt", nine()).config(config).size(160, 40));
    git(&scene, &["init", "-qb", "main"]);
    git(&scene, &["config", "user.name", "me"]);
    git(&scene, &["config", "user.email", "me@example.org"]);
    git(&scene, &["add", "."]);
    git(&scene, &["commit", "-qm", "begin"]);
    git(&scene, &["switch", "-qc", "other"]);
    fs::write(scene.nvim.setup.path("a.txt"), nine().replace("l5", "other")).unwrap();
    git(&scene, &["commit", "-qam", "other", "--date", "2020-01-01T12:00:00Z"]);
    git(&scene, &["switch", "-q", "main"]);
    scene
}

/// A turn commits its edit and merges, which stops at a conflict; the next turn takes the other side.
#[test]
fn a_rewind_brings_no_conflict_back_that_is_over() {
    let scene = diverged();
    scene.server.reply(Reply::new().call(
        "e1",
        "edit",
        edit("a.txt", &[("l5", "ours"), ("l8", "L8")]),
    ));
    run_command(&scene, "git commit -qam mine && git merge other");
    let conflict = scene.on_disk("a.txt").unwrap();
    assert!(conflict.contains("<<<<<<<"), "{conflict}");
    preview(&scene, "1");
    let shown = scene.nvim.buffer("/rewind");
    let commits =
        shown.lines().filter(|it| it.starts_with("A command of this turn made commits")).count();
    assert_eq!(commits, 1, "{shown}");
    assert!(shown.contains("`git merge --abort`"), "{shown}");
    assert!(!heads(&scene).contains("is restored"), "{shown}");
    scene.nvim.keys("q");
    scene.nvim.keys(":Caliban accept all<CR>");
    run_command(&scene, "git checkout -q --theirs a.txt && git add -A && git commit -qm merged");
    let merged = scene.on_disk("a.txt").unwrap();
    assert_eq!(merged, nine().replace("l5", "other"));
    preview(&scene, "1");
    let shown = scene.nvim.buffer("/rewind");
    assert!(!shown.contains("<<<<<<<"), "{shown}");
    expect![[r#"
        diff a.txt is not changed: its earlier text was a conflict of git's, which is over (changed by a command)
    "#]].assert_eq(&heads(&scene));
}

/// The model edits a file and brings a line of another branch, in one command or in several. The rewind takes back the
/// edit, and leaves the line that git has brought.
#[test]
fn a_rewind_takes_back_an_edit_and_leaves_what_git_brought() {
    let ways: [&[&str]; 7] = [
        &["git commit -qam mine && git cherry-pick other"],
        &["git commit -qam mine && git merge -q --no-edit other"],
        &["git commit -qam mine && git rebase -q other"],
        &["git stash -q && git cherry-pick other && git stash pop -q"],
        &["git commit -qam mine", "git cherry-pick other"],
        &["git commit -qam mine", "git merge -q --no-edit other"],
        &["sed -i s/l9/L9/ a.txt", "git commit -qam mine; git merge -q --no-edit other"],
    ];
    for commands in ways {
        let scene = diverged();
        let mut call = edit("a.txt", &[("l2", "L2")]);
        if commands[0].starts_with("sed") {
            call = edit("a.txt", &[("l1", "L1")]);
        }
        scene.server.reply(Reply::new().call("e1", "edit", call));
        let last = format!("{} are run.", commands.len());
        for (at, command) in commands.iter().enumerate() {
            let reply =
                Reply::new().call(&format!("s{at}"), "shell", json!({ "command": command }));
            if at == 0 { scene.ask(reply) } else { drop(scene.server.reply(reply)) }
        }
        scene.server.reply(Reply::said(&last));
        for command in commands {
            scene.nvim.wait_screen(&format!("Run `{}", &command[..12]));
            scene.nvim.wait_question();
            scene.nvim.keys(":Caliban approve<CR>");
        }
        scene.wait_idle(&last);
        scene.nvim.keys(":Caliban accept all<CR>");
        scene.wait_hunks(0);
        let brought = nine().replace("l5", "other");
        assert_ne!(scene.on_disk("a.txt"), Some(brought.clone()), "{commands:?}");
        preview(&scene, "1");
        let shown = scene.nvim.buffer("/rewind");
        assert!(shown.contains("diff a.txt is restored"), "{commands:?}: {shown}");
        super::kinds::take_all_back(&scene);
        assert_eq!(scene.on_disk("a.txt"), Some(brought), "{commands:?}: {shown}");
    }
}
