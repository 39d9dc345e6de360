//! Rewinds of files that buffers show and that are gone from disk.

use super::commands::{git, run_command};
use super::kinds::{heads, take_all_back};
use super::*;
use std::fs;

/// A project under git with a branch that lacks `a.txt`. The model has edited two lines of the file, which a buffer shows.
fn edited() -> Scene {
    let scene = Scene::start(|it| {
        it.file("a.txt", nine()).file("b.txt", nine()).config(MODE).size(120, 40)
    });
    git(&scene, &["init", "-qb", "main"]);
    git(&scene, &["add", "b.txt"]);
    git(&scene, &["commit", "-qm", "begin"]);
    git(&scene, &["branch", "without"]);
    git(&scene, &["add", "."]);
    git(&scene, &["commit", "-qm", "more"]);
    scene.nvim.keys(":edit a.txt<CR>");
    scene.server.reply(Reply::new().call(
        "e1",
        "edit",
        edit("a.txt", &[("l2", "L2"), ("l8", "L8")]),
    ));
    scene.ask_until(Reply::said("I see."), "I see.");
    scene.nvim.keys(":Caliban accept all<CR>");
    scene.wait_hunks(0);
    scene
}

#[test]
fn a_rewind_does_not_bring_back_a_file_that_the_user_deleted() {
    for checks in [false, true] {
        let scene = edited();
        fs::remove_file(scene.nvim.setup.path("a.txt")).unwrap();
        if checks {
            scene.nvim.keys(":checktime<CR>");
        }
        preview(&scene, "1");
        assert_eq!(heads(&scene), "diff a.txt is not changed: it no longer exists\n");
        scene.nvim.keys("a");
        scene.nvim.wait_screen("Nothing was taken back");
        assert_eq!(scene.on_disk("a.txt"), None);
        let buffer = nine().replace("l2", "L2").replace("l8", "L8");
        assert_eq!(scene.nvim.buffer("/a.txt") + "\n", buffer);
    }
}

/// The user deletes the file after the preview was shown.
#[test]
fn a_file_that_goes_after_the_preview_is_not_brought_back() {
    let scene = edited();
    preview(&scene, "1");
    assert_eq!(heads(&scene), "diff a.txt is restored\n");
    fs::remove_file(scene.nvim.setup.path("a.txt")).unwrap();
    scene.nvim.keys("a");
    scene.nvim.wait_screen("it no longer exists");
    assert_eq!(scene.on_disk("a.txt"), None);
}

/// A buffer with text of the user's own is all that is left of a file.
#[test]
fn a_rewind_takes_an_edit_back_in_the_unsaved_buffer_of_a_deleted_file() {
    let scene = edited();
    scene.nvim.keys(":buffer a.txt<CR>5GAmine<Esc>");
    fs::remove_file(scene.nvim.setup.path("a.txt")).unwrap();
    preview(&scene, "1");
    assert_eq!(heads(&scene), "diff a.txt is restored, with the later changes kept\n");
    take_all_back(&scene);
    scene.wait_chat("it is not saved: its buffer has unsaved changes");
    assert_eq!(scene.nvim.buffer("/a.txt") + "\n", nine().replace("l5", "l5mine"));
    assert_eq!(scene.on_disk("a.txt"), None);
}

#[test]
fn a_file_that_another_branch_lacks_comes_back_only_on_its_own_branch() {
    let scene = edited();
    git(&scene, &["commit", "-qam", "edited"]);
    git(&scene, &["switch", "-q", "without"]);
    preview(&scene, "1");
    let why = "it was changed on main, and without is checked out now";
    assert_eq!(heads(&scene), format!("diff a.txt is not changed: {why}\n"));
    scene.nvim.keys("q");
    assert_eq!(scene.on_disk("a.txt"), None);
    git(&scene, &["switch", "-q", "main"]);
    scene.nvim.keys(":checktime<CR>");
    rewind(&scene, "1");
    assert_eq!(scene.on_disk("a.txt"), Some(nine()));
}

/// A folder that the user has made stays, also an empty one that a command has filled.
#[test]
fn a_rewind_removes_the_folders_that_a_command_made() {
    for is_git in [true, false] {
        let scene = Scene::start(|it| it.file("n/a.txt", nine()));
        fs::create_dir(scene.nvim.setup.path("mine")).unwrap();
        if is_git {
            git(&scene, &["init", "-q"]);
            git(&scene, &["add", "."]);
            git(&scene, &["commit", "-qm", "begin"]);
        }
        run_command(&scene, "mkdir -p new/er; echo c > new/er/c.txt; echo d > mine/d.txt");
        rewind(&scene, "1");
        let left = |name: &str| scene.nvim.setup.path(name).is_dir();
        assert_eq!(["new", "mine"].map(left), [false, true], "{is_git}");
    }
}
