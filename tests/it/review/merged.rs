//! Files whose changes on disk were merged into their buffers: Neovim does not ask about these changes, and a question of
//! Neovim's stops no command of the model's.

use super::scene::{Scene, edit, nine};
use crate::kit::reply::Reply;
use serde_json::json;

const QUESTION: &str = "Do you really want to write to it (y/n)?";

fn change_on_disk(scene: &Scene, text: &str) {
    std::fs::write(scene.nvim.setup.path("a.txt"), text).unwrap();
}

fn is_written(scene: &Scene, text: &str) {
    scene.nvim.wait(|_| scene.on_disk("a.txt").as_deref() == Some(text), "the user's write");
    assert!(!scene.nvim.is_blocked(), "{}", scene.nvim.screen());
    assert_eq!(scene.nvim.lua_str("return vim.bo[vim.fn.bufnr('a.txt')].modified"), "false");
}

#[test]
fn the_user_writes_a_file_of_auto_edit_mode_after_a_merge_without_a_question() {
    let scene = Scene::two_written(|it| it);
    let changed = nine().replace("l2", "L2").replace("l8", "L8\nL8b");
    let theirs = changed.replace("l5", "theirs");
    for (keys, more) in [("6GAmine<Esc>", "l6mine"), ("", "l6")] {
        change_on_disk(&scene, &theirs);
        scene.nvim.keys(":checktime<CR>");
        scene.nvim.wait(|it| it.buffer("/a.txt").contains("theirs"), "the change on disk");
        scene.nvim.keys(&format!("{keys}:w<CR>"));
        is_written(&scene, &theirs.replace("l6", more));
        assert_eq!(scene.pending(), 2);
    }
}

/// A file with text of the user's own and a change on disk, both merged with hunks that the user has accepted.
fn merged() -> Scene {
    let scene = Scene::two_hunks(|it| it);
    scene.nvim.keys("5GAmine<Esc>");
    change_on_disk(&scene, &nine().replace("l9", "theirs"));
    scene.server.reply(Reply::said("I see."));
    scene.nvim.keys("\\A");
    scene.wait_idle("I see.");
    scene
}

#[test]
fn the_user_writes_a_file_after_a_review_with_a_merge_without_a_question() {
    for keys in [":w<CR>", ":wa<CR>", ":update<CR>", ":w!<CR>", ":silent w<CR>"] {
        let scene = merged();
        assert!(scene.said().contains("it has other unsaved changes"), "{}", scene.said());
        scene.nvim.keys(keys);
        let merged = nine().replace("l9", "theirs").replace("l5", "l5mine");
        is_written(&scene, &merged.replace("l2", "L2").replace("l8", "L8\nL8b"));
    }
}

/// A later change on disk is not in the buffer.
#[test]
fn neovim_asks_before_it_writes_over_a_change_that_was_not_merged() {
    let scene = merged();
    change_on_disk(&scene, "other\n");
    scene.nvim.keys(":w<CR>");
    scene.nvim.wait_screen(QUESTION);
    scene.nvim.keys("n<CR>");
    scene.nvim.wait_gone(QUESTION);
    assert_eq!(scene.on_disk("a.txt").as_deref(), Some("other\n"));
}

#[test]
fn a_command_of_the_models_goes_on_while_neovim_asks_the_user() {
    let allow = "{ sandbox = false, permissions = { { allow = 'shell', command = 'cat' } } }";
    let scene = Scene::start(|it| it.file("a.txt", nine()).config(allow));
    scene.nvim.keys(":edit a.txt<CR>");
    let call = Reply::new().gate().call("s1", "shell", json!({ "command": "cat a.txt" }));
    let gate = scene.server.reply(call);
    scene.nvim.keys(":Caliban ask please<CR>");
    scene.server.wait_requests(1);
    change_on_disk(&scene, "other\n");
    scene.nvim.keys("5GAmine<Esc>:w<CR>");
    scene.nvim.wait_screen(QUESTION);
    gate.finish();
    scene.server.reply(Reply::said("Read."));
    assert!(scene.answer(2, "s1").contains("other"));
    scene.nvim.wait_screen(QUESTION);
    scene.nvim.keys("n<CR>");
    scene.wait_idle("Read.");
}

/// What another program adds beside the hunk has lines in common with those that the hunk replaces. Each row: the lines of
/// the base, of which the model replaces some by others, and what the other program makes of the base.
const BESIDE: [(&str, (&str, &str), &str); 5] = [
    (
        "}||int f1(int x)|{|  x++;|}|",
        ("int f1(int x)|{|  x++;", "  model();"),
        "}||int new(int x)|{|  return x;|}||int f1(int x)|{|  x++;|}|",
    ),
    (
        "int f2()|{|}||int f3()|{|}|",
        ("}||int f3", "}|// three|int f3"),
        "int f2()|{|}||int new()|{|}||int f3()|{|}|",
    ),
    (
        "int f1()|{|}||int f2()|{|  if (x)|",
        ("int f2()|{|", "int f2()|"),
        "int f1()|{|}||int f2()|{|int f2()|{|  if (x)|",
    ),
    ("l8|l9|l10|", ("l9|", ""), "l8|l9|l9|l10|"),
    ("## A||text||## B|", ("text||## B", "text|## B"), "## A||text||new||## B|"),
];

#[test]
fn the_bytes_that_another_program_has_written_beside_a_hunk_stay_if_it_is_rejected() {
    for (base, (old, new), theirs) in BESIDE {
        let [base, old, new, theirs] = [base, old, new, theirs].map(|it| it.replace('|', "\n"));
        let scene = Scene::start(|it| it.file("a.txt", &base));
        scene.nvim.keys(":edit a.txt<CR>");
        scene.ask(Reply::new().call("e1", "edit", edit("a.txt", &[(&old, &new)])));
        scene.wait_hunks(1);
        change_on_disk(&scene, &theirs);
        scene.server.reply(Reply::said("I see."));
        scene.nvim.keys(":Caliban reject all<CR>");
        scene.wait_idle("I see.");
        assert_eq!(scene.on_disk("a.txt"), Some(theirs.clone()));
        assert_eq!(scene.nvim.buffer("/a.txt") + "\n", theirs);
        assert!(scene.answer(2, "e1").contains("rejected the change in a.txt: it is undone"));
    }
}
