//! Changes of commands that are not in the record, or not with their earlier text: the preview names them.

use super::commands::{git, run_command};
use super::*;
use crate::grants::call;
use crate::kit::nvim::Nvim;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;

/// Opens the preview of the newest turn and returns its text.
fn shown(scene: &Scene) -> String {
    preview(scene, "1");
    scene.nvim.buffer("/rewind")
}

fn make_repository(scene: &Scene) {
    git(scene, &["init", "-q"]);
    git(scene, &["add", "."]);
    git(scene, &["commit", "-qm", "begin"]);
}

/// The job waits at a pipe until its call is answered. What it changed before is restored, what it changes later is
/// restored too or named.
#[test]
fn the_preview_says_that_a_background_job_may_have_changed_more() {
    for is_git in [true, false] {
        let scene = Scene::start(|it| it.file("a.txt", nine()).file("b.txt", nine()));
        if is_git {
            make_repository(&scene);
        }
        let command =
            "mkfifo go; sed -i s/l2/L2/ a.txt; echo ready; read x <go; sed -i s/l3/L3/ b.txt";
        let input = json!({ "command": command, "background": true });
        call(&scene, "shell", input, ":Caliban approve<CR>");
        fs::write(scene.nvim.setup.path("go"), "\n").unwrap();
        let is_over = |it: &Nvim| it.setup.on_disk("b.txt") == Some(nine().replace("l3", "L3"));
        scene.nvim.wait(is_over, "the job's later change");
        let shown = shown(&scene);
        assert!(
            shown.contains("The diff may lack what a background job changed after its call"),
            "{shown}"
        );
        assert!(shown.contains("diff a.txt is restored"), "{shown}");
        scene.nvim.keys("a");
        scene.wait_chat("You took back");
        assert_eq!(scene.on_disk("a.txt"), Some(nine()));
    }
}

#[test]
fn the_preview_says_that_a_file_changed_whose_name_is_not_utf8() {
    for is_git in [true, false] {
        let scene = Scene::start(|it| it.file("a.txt", nine()));
        let odd = scene.nvim.setup.path("").join(OsStr::from_bytes(b"odd\xff"));
        fs::write(&odd, "before\n").unwrap();
        if is_git {
            make_repository(&scene);
        }
        run_command(&scene, "sed -i s/l2/L2/ a.txt; for it in odd*; do echo after >$it; done");
        let shown = shown(&scene);
        assert!(shown.contains("The diff lacks the change of a file whose name is not UTF-8"));
        scene.nvim.keys("a");
        scene.wait_chat("You took back");
        assert_eq!(scene.on_disk("a.txt"), Some(nine()));
        assert_eq!(fs::read(&odd).unwrap(), b"after\n");
    }
}

/// Without git, the files of the upper folders are kept in memory, at most 4,000.
#[test]
fn without_git_the_preview_names_a_changed_file_beyond_those_whose_text_was_kept() {
    let scene = Scene::start(|it| it.file("a.txt", nine()).file("many/deep/b.txt", nine()));
    for n in 0..4_000 {
        fs::write(scene.nvim.setup.path("many").join(n.to_string()), "").unwrap();
    }
    run_command(&scene, "sed -i s/l2/L2/ a.txt many/deep/b.txt; rm many/1; chmod 600 many/2");
    let shown = shown(&scene);
    assert!(shown.contains("diff a.txt is restored (changed by a command)"), "{shown}");
    assert!(
        shown.contains("many/deep/b.txt is not changed: its earlier text was not kept"),
        "{shown}"
    );
    scene.nvim.keys("a");
    scene.wait_chat("You took back");
    assert_eq!(scene.on_disk("a.txt"), Some(nine()));
    assert_eq!(scene.on_disk("many/deep/b.txt"), Some(nine().replace("l2", "L2")));
    for (name, mode) in [("many/1", 0o644), ("many/2", 0o644)] {
        let meta = scene.nvim.setup.path(name).metadata();
        let is_restored = meta.is_ok_and(|it| it.permissions().mode() & 0o777 == mode);
        let is_named = shown.contains(&format!("{name} is not changed: "));
        assert!(is_restored || is_named, "{name}: {shown}");
    }
}
