//! Text of the user's own that is not saved: nothing that Caliban does by itself writes it to disk.

use super::scene::{Scene, nine, two_hunks};
use crate::kit::reply::Reply;
use serde_json::json;

/// Commands run without a question.
const ALLOWED: &str = "sandbox = false, permissions = { { allow = 'shell', command = 'cat' } }";

fn config(mode: &str) -> String {
    format!("{{ mode = '{mode}', {ALLOWED} }}")
}

fn cat(call: &str) -> Reply {
    Reply::new().call(call, "shell", json!({ "command": "cat a.txt" }))
}

/// Sends a prompt whose turn runs `cat a.txt`, and returns the model's answer.
fn cat_later(scene: &Scene, call: &str) -> String {
    let n = scene.server.requests().len();
    scene.ask(cat(call));
    scene.server.reply(Reply::said("Read."));
    scene.wait_idle("Read.");
    scene.answer(n + 2, call)
}

#[test]
fn a_command_writes_no_text_of_the_users_own_in_auto_edit_mode() {
    let scene = Scene::start(|it| it.file("a.txt", nine()).config(&config("auto-edit")));
    scene.nvim.keys(":edit a.txt<CR>5GAmine<Esc>");
    let reply = two_hunks().call("s1", "shell", json!({ "command": "cat a.txt" }));
    scene.server.reply(reply);
    scene.ask_until(Reply::said("I see."), "I see.");
    scene.wait_hunks(2);
    let older =
        "[these files have unsaved changes in the editor, which the command did not see: a.txt]";
    for n in 1..=2 {
        let said = if n == 1 { scene.answer(2, "s1") } else { cat_later(&scene, "s2") };
        assert!(said.contains("l5\n") && said.contains(older), "{said}");
        assert_eq!(scene.on_disk("a.txt"), Some(nine()));
        scene.nvim.wait_screen("2 changes, not written");
        assert_eq!(scene.nvim.lua_str("return vim.bo[vim.fn.bufnr('a.txt')].modified"), "true");
    }
}

#[test]
fn a_command_writes_no_text_of_the_users_own_after_a_review() {
    let scene = Scene::start(|it| it.file("a.txt", nine()).config(&config("ask")));
    scene.nvim.keys(":edit a.txt<CR>5GAmine<Esc>");
    let reply = two_hunks().call("s1", "shell", json!({ "command": "cat a.txt" }));
    scene.ask(reply);
    scene.wait_pending(2);
    scene.server.reply(Reply::said("I see."));
    scene.nvim.keys("\\A");
    scene.wait_idle("I see.");
    assert_eq!(scene.on_disk("a.txt"), Some(nine()));
    cat_later(&scene, "s2");
    assert_eq!(scene.on_disk("a.txt"), Some(nine()));
    scene.nvim.keys(":w<CR>");
    scene.nvim.wait(|_| scene.on_disk("a.txt") != Some(nine()), "the user's own write");
}

/// What the user types after Caliban could not write the accepted text is the user's own.
#[test]
fn a_command_writes_accepted_text_whose_write_failed_but_not_with_later_text_of_the_user() {
    for typed in ["", "5GAmine<Esc>"] {
        let before = "vim.cmd('autocmd BufWritePre * throw \"no formatter\"')";
        let scene =
            Scene::start(|it| it.file("a.txt", nine()).before(before).config(&config("ask")));
        scene.nvim.keys(":edit a.txt<CR>");
        scene.ask(two_hunks());
        scene.wait_pending(2);
        scene.server.reply(Reply::said("I see."));
        scene.nvim.keys("\\A");
        scene.wait_idle("I see.");
        scene.nvim.command("autocmd! BufWritePre *");
        scene.nvim.keys(typed);
        let said = cat_later(&scene, "s1");
        let written = scene.on_disk("a.txt").unwrap().contains("L8b");
        assert_eq!((written, said.contains("L8b")), (typed.is_empty(), typed.is_empty()), "{said}");
    }
}

#[test]
fn a_command_does_not_write_an_undo_of_the_users() {
    let scene = Scene::start(|it| it.file("a.txt", nine()).config(&config("auto-edit")));
    scene.nvim.keys(":edit a.txt<CR>");
    scene.server.reply(two_hunks());
    scene.ask_until(Reply::said("I see."), "I see.");
    scene.wait_hunks(2);
    scene.nvim.keys("u");
    scene.wait_hunks(0);
    scene.nvim.wait_screen("not saved: it was undone");
    let said = cat_later(&scene, "s1");
    assert!(said.contains("L8b"), "{said}");
    assert!(scene.on_disk("a.txt").unwrap().contains("L8b"));
}

/// Not even after the user has agreed to save the file.
#[test]
fn a_command_does_not_write_over_a_change_on_disk_that_conflicts() {
    let scene = Scene::start(|it| it.file("a.txt", nine()));
    scene.nvim.keys(":edit a.txt<CR>");
    scene.ask(two_hunks());
    scene.wait_pending(2);
    let theirs = nine().replace("l2", "theirs");
    std::fs::write(scene.nvim.setup.path("a.txt"), &theirs).unwrap();
    scene.server.reply(Reply::said("I see."));
    scene.nvim.keys("\\A");
    scene.wait_idle("I see.");
    assert_eq!(scene.on_disk("a.txt"), Some(theirs.clone()));
    let command = json!({ "command": "sed -n 2p a.txt; sed -n 5p a.txt" });
    scene.ask(Reply::new().call("s1", "shell", command));
    scene.wait_chat("? Run");
    scene.nvim.wait_question();
    scene.server.reply(Reply::said("Read."));
    scene.nvim.keys(":Caliban approve<CR>");
    scene.wait_idle("Read.");
    assert_eq!(scene.on_disk("a.txt"), Some(theirs));
    assert!(!scene.nvim.is_blocked(), "{}", scene.nvim.screen());
}
