//! What the user typed shortly before Neovim ended. A swap file may be older than the record of a review, because Neovim
//! writes it some seconds after the last key.

use super::reopened::{quit, recover, start_again, text};
use super::scene::{Scene, edit, nine};
use crate::kit::reply::Reply;
use std::fs;

/// Reviews two hunks, of which the swap file knows, then types these keys and ends Neovim as soon as the record of the
/// review has what `is_saved` looks for. The swap file is recovered.
fn recovered(keys: &str, is_saved: impl Fn(&str) -> bool) -> Scene {
    let scene =
        Scene::two_hunks(|it| it.before("vim.o.updatetime=100000 vim.o.updatecount=100000"));
    scene.nvim.keys(":preserve<CR>");
    scene.nvim.keys(keys);
    let saved = || {
        let records = scene.nvim.setup.review_records();
        fs::read_to_string(&records[0]).is_ok_and(|it| is_saved(&it))
    };
    scene.nvim.wait(|_| saved(), "the record");
    scene.nvim.kill();
    let scene = start_again(scene);
    scene.nvim.wait_screen("The review of a.txt waits until you open the file: it has a swap file");
    recover(&scene, "r");
    scene
}

#[test]
fn what_was_typed_after_the_swap_file_was_written_is_there_again() {
    for (keys, typed) in [
        (
            "5Gomine<Esc>",
            nine().replace("l2", "L2").replace("l5", "l5\nmine").replace("l8", "L8\nL8b"),
        ),
        ("8GA mine<Esc>", nine().replace("l2", "L2").replace("l8", "L8 mine\nL8b")),
    ] {
        let scene = recovered(keys, |it| it.contains("mine"));
        scene.wait_hunks(2);
        assert_eq!(text(&scene, "a.txt"), typed.trim_end(), "{keys}");
        scene.nvim.keys("\\R");
        scene.wait_hunks(0);
        let own = if keys.starts_with('5') { nine().replace("l5", "l5\nmine") } else { nine() };
        assert_eq!(text(&scene, "a.txt"), own.trim_end(), "{keys}");
    }
}

#[test]
fn a_hunk_that_was_rejected_after_the_swap_file_was_written_does_not_come_back() {
    let scene = recovered("2G\\r", |it| !it.contains("\nL2\n"));
    scene.wait_hunks(1);
    assert_eq!(text(&scene, "a.txt"), nine().replace("l8", "L8\nL8b").trim_end());
}

/// The hunks are on disk; what was typed inside of one is not.
#[test]
fn written_hunks_in_which_the_user_typed_are_under_review_after_a_restart() {
    for (keys, second) in [
        ("8Gomine<Esc>", "L8\nmine\nL8b"),
        ("9GA mine<Esc>", "L8\nL8b mine"),
        ("9Gdd", "L8"),
        ("2G\\a8Gomine<Esc>", "L8\nmine\nL8b"),
    ] {
        let scene = Scene::two_written(|it| it);
        scene.nvim.keys(keys);
        let accepted = keys.contains("\\a");
        let shown = nine().replace("l2", "L2").replace("l8", second);
        scene.nvim.wait(|_| text(&scene, "a.txt") == shown.trim_end(), "what was typed");
        scene.wait_hunks(if accepted { 1 } else { 2 });
        let scene = quit(scene);
        scene.wait_hunks(if accepted { 1 } else { 2 });
        assert_eq!(text(&scene, "a.txt"), shown.trim_end(), "{keys}");
        scene.nvim.keys(":edit a.txt<CR>\\R");
        scene.wait_hunks(0);
        let settled = if accepted { nine().replace("l2", "L2") } else { nine() };
        assert_eq!(text(&scene, "a.txt"), settled.trim_end(), "{keys}");
        let is_saved =
            |it: &crate::kit::nvim::Nvim| it.setup.on_disk("a.txt") == Some(settled.clone());
        scene.nvim.wait(is_saved, "what is left");
        let told = scene.told_next();
        assert!(told.contains("rejected"), "{keys}: {told}");
        assert!(!told.contains("not saved"), "{keys}: {told}");
    }
}

/// One hunk was rejected, which is on disk, and is pending again, which is not.
#[test]
fn a_rejection_that_was_undone_before_the_end_leaves_both_hunks_under_review() {
    for line in ["2G", "8G"] {
        let scene = Scene::two_written(|it| it);
        scene.nvim.keys(&format!("{line}\\r"));
        scene.wait_hunks(1);
        scene.nvim.keys("u");
        scene.wait_hunks(2);
        let scene = quit(scene);
        scene.wait_hunks(2);
        scene.nvim.keys(":edit a.txt<CR>\\R");
        scene.wait_hunks(0);
        scene.nvim.wait(|it| it.setup.on_disk("a.txt") == Some(nine()), "both undone");
    }
}

/// The first hunk is on disk, because it was made in auto-edit mode, the second is not.
#[test]
fn a_hunk_on_disk_beside_one_that_waits_is_under_review_after_a_restart() {
    let config = "{ mode = 'auto-edit' }";
    let scene = Scene::start(|it| it.file("a.txt", nine()).config(config));
    scene.nvim.keys(":edit a.txt<CR>");
    scene.server.reply(Reply::new().call("e1", "edit", edit("a.txt", &[("l2", "L2")])));
    scene.ask_until(Reply::said("I see."), "I see.");
    scene.wait_hunks(1);
    scene.nvim.keys(":Caliban mode ask<CR>");
    scene.ask(Reply::new().call("e2", "edit", edit("a.txt", &[("l8", "L8")])));
    scene.wait_hunks(2);
    assert_eq!(scene.on_disk("a.txt"), Some(nine().replace("l2", "L2")));
    let scene = quit(scene);
    scene.wait_hunks(2);
    assert_eq!(text(&scene, "a.txt"), nine().replace("l2", "L2").replace("l8", "L8").trim_end());
    scene.nvim.keys(":edit a.txt<CR>:Caliban reject all<CR>");
    scene.wait_hunks(0);
    scene.nvim.wait(|it| it.setup.on_disk("a.txt") == Some(nine()), "both undone");
}

/// In ask mode, `:w!` has written the first hunk; the second came later.
#[test]
fn a_hunk_that_the_user_has_written_beside_one_that_waits_is_under_review_after_a_restart() {
    let scene = Scene::start(|it| it.file("a.txt", nine()));
    scene.nvim.keys(":edit a.txt<CR>");
    let call = |id, old, new| Reply::new().call(id, "edit", edit("a.txt", &[(old, new)]));
    scene.ask(call("e1", "l2", "L2"));
    scene.wait_hunks(1);
    scene.nvim.keys(":w!<CR>");
    scene.nvim.wait(|it| it.setup.on_disk("a.txt") == Some(nine().replace("l2", "L2")), "written");
    scene.server.reply(call("e2", "l8", "L8"));
    scene.nvim.lua("require('caliban').ask('go on')", &[]);
    scene.wait_hunks(2);
    let scene = quit(scene);
    scene.wait_hunks(2);
    scene.nvim.keys(":edit a.txt<CR>:Caliban reject all<CR>");
    scene.wait_hunks(0);
    scene.nvim.wait(|it| it.setup.on_disk("a.txt") == Some(nine()), "both undone");
}
