//! Files without text, new folders and renamed files in auto-edit mode: the user decides on them, and is told the truth.

use super::reopened::quit;
use super::scene::{Scene, nine, write};
use crate::kit::reply::Reply;
use serde_json::json;

const MODE: &str = "{ mode = 'auto-edit' }";

/// A scene in which the model has made these calls in auto-edit mode, and `count` changes are under review.
fn done(reply: Reply, count: usize) -> Scene {
    let scene = Scene::start(|it| it.file("a.txt", nine()).config(MODE));
    scene.server.reply(reply);
    scene.ask_until(Reply::said("I see."), "I see.");
    scene.wait_hunks(count);
    scene
}

fn there(scene: &Scene, path: &str) -> bool {
    scene.nvim.setup.path(path).exists()
}

fn decide(scene: &Scene, keys: &str) {
    scene.nvim.keys(keys);
    scene.wait_hunks(0);
}

#[test]
fn an_empty_new_file_of_auto_edit_mode_is_under_review() {
    for (keys, told, stays) in [
        (":Caliban accept all<CR>", "The user accepted the change in em1.txt.", true),
        (
            ":Caliban reject all<CR>",
            "The user rejected the new file em1.txt: it does not exist.",
            false,
        ),
    ] {
        let scene = done(Reply::new().call("w1", "write", write("em1.txt", "")), 1);
        assert_eq!(
            scene.answer(2, "w1"),
            "Applied and written to em1.txt; the user may still review it."
        );
        assert_eq!(scene.on_disk("em1.txt").as_deref(), Some(""));
        scene.nvim.wait_screen("em1.txt  created without text");
        scene.nvim.wait_screen("1 empty file");
        let chat = scene.nvim.screen();
        assert!(!chat.contains("You accepted") && !scene.said().contains("undone"), "{chat}");
        decide(&scene, keys);
        assert_eq!(there(&scene, "em1.txt"), stays);
        assert!(scene.told_next().contains(told), "{:#}", scene.request(3).json);
        assert!(!scene.nvim.is_blocked(), "{}", scene.nvim.screen());
    }
}

#[test]
fn an_empty_new_file_beside_others_gets_the_answer_that_they_get() {
    let reply = Reply::new().call("w1", "write", write("em1.txt", "")).call(
        "w2",
        "write",
        write("x.txt", "x\n"),
    );
    let scene = done(reply, 2);
    for (call, path) in [("w1", "em1.txt"), ("w2", "x.txt")] {
        let told = format!("Applied and written to {path}; the user may still review it.");
        assert_eq!(scene.answer(2, call), told);
    }
    scene.nvim.wait_screen("1 hunk, 1 empty file in 2 files");
}

#[test]
fn an_empty_new_file_of_auto_edit_mode_is_reviewed_after_a_restart() {
    let scene = done(Reply::new().call("w1", "write", write("sub/em1.txt", "")), 1);
    let scene = quit(scene);
    scene.nvim.wait_screen("1 change is still under review");
    scene.wait_hunks(1);
    assert!(there(&scene, "sub/em1.txt"));
    decide(&scene, ":Caliban reject all<CR>");
    assert!(!there(&scene, "sub"));
}

#[test]
fn a_text_of_the_users_own_in_an_empty_new_file_is_kept() {
    let scene = done(Reply::new().call("w1", "write", write("em1.txt", "")), 1);
    scene.nvim.keys(":edit em1.txt<CR>imine<Esc>");
    decide(&scene, ":Caliban reject all<CR>");
    assert_eq!(scene.nvim.buffer("/em1.txt"), "mine");
    scene.nvim.keys(":edit em1.txt<CR>:w<CR>");
    scene.nvim.wait(|_| scene.on_disk("em1.txt").as_deref() == Some("mine\n"), "the user's text");
}

/// A folder that has another file stays.
#[test]
fn rejecting_new_and_renamed_files_removes_the_folders_that_were_made_for_them() {
    let reply = Reply::new()
        .call("w1", "write", write("new/deep/b.txt", "b\n"))
        .call("w2", "write", write("new/c.txt", "c\n"))
        .call("r1", "rename", json!({ "path": "a.txt", "to": "moved/to/a.txt" }));
    let scene = done(reply, 3);
    scene.nvim.wait_screen("moved/to/a.txt  renamed from a.txt");
    let reject = |path: &str| {
        format!("require('caliban').reject({{ scope = 'file', buf = vim.fn.bufnr('{path}') }})")
    };
    scene.nvim.lua(&reject("new/deep/b.txt"), &[]);
    scene.wait_hunks(2);
    assert!(!there(&scene, "new/deep") && there(&scene, "new/c.txt"));
    scene.nvim.lua(&reject("new/c.txt"), &[]);
    scene.wait_hunks(1);
    assert!(!there(&scene, "new"));
    decide(&scene, ":Caliban reject all<CR>");
    assert!(!there(&scene, "moved"));
    assert_eq!(scene.on_disk("a.txt"), Some(nine()));
}

#[test]
fn rejecting_a_new_file_keeps_a_folder_that_caliban_has_not_made() {
    let scene = Scene::start(|it| it.file("sub/a.txt", nine()).config(MODE));
    std::fs::remove_file(scene.nvim.setup.path("sub/a.txt")).unwrap();
    scene.server.reply(Reply::new().call("w1", "write", write("sub/b.txt", "b\n")));
    scene.ask_until(Reply::said("I see."), "I see.");
    scene.wait_hunks(1);
    decide(&scene, ":Caliban reject all<CR>");
    assert!(there(&scene, "sub") && !there(&scene, "sub/b.txt"));
}
