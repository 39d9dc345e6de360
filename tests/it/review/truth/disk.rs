//! What a request says about files on disk is true when the request is sent, and so is the line of the call in the chat.

use super::super::scene::{Scene, edit, nine};
use crate::kit::reply::Reply;
use expect_test::expect;
use serde_json::json;
use std::fs;

const LATER: &str =
    "a.txt is not saved (it has other unsaved changes): the changes are not on disk yet.";

/// The user has accepted the change in `a.txt`, whose buffer has a line of their own; the change in `b.txt` waits.
fn accepted_unsaved() -> Scene {
    let scene = Scene::start(|it| it.file("a.txt", nine()).file("b.txt", nine()).size(240, 40));
    scene.nvim.keys(":edit a.txt<CR>");
    let edits = Reply::new().call("e1", "edit", edit("a.txt", &[("l2", "L2")]));
    scene.ask(edits.call("e2", "edit", edit("b.txt", &[("l2", "L2")])));
    scene.wait_pending(2);
    scene.nvim.keys("9GA mine<Esc>:Caliban accept file<CR>");
    scene.wait_hunks(1);
    assert!(scene.said().contains("a.txt: 1 accepted, not saved: it has other unsaved changes"));
    scene
}

/// Types keys, accepts the other change, and returns what the model hears of the first one.
fn heard(scene: &Scene, keys: &str) -> String {
    scene.server.reply(Reply::said("I see."));
    scene.nvim.keys(keys);
    scene.nvim.keys(":Caliban accept all<CR>");
    scene.wait_idle("I see.");
    format!("{}\n---\n{}", scene.answer(2, "e1"), scene.request(2).last_user_text())
}

/// Waits for the end of the line of the edit of `a.txt` in the chat.
fn wait_line(scene: &Scene, end: &str) {
    let is_it = |it: &str| it.contains("▸ edit  a.txt ") && it.trim_end().ends_with(end);
    scene.nvim.wait(|it| it.screen().lines().any(is_it), end);
}

#[test]
fn text_that_is_saved_before_the_request_is_not_told_as_unsaved() {
    let scene = accepted_unsaved();
    wait_line(&scene, "1 accepted · not saved: it has other unsaved changes");
    scene.nvim.keys(":w<CR>");
    scene.nvim.wait_gone("not saved: it has");
    let told = heard(&scene, "");
    assert!(told.starts_with("The user accepted the change in a.txt.\nThe file changed"), "{told}");
    assert!(!told.contains("saved"), "{told}");
    wait_line(&scene, " 1 accepted");
    assert!(!scene.nvim.screen().contains("not saved: it has"), "{}", scene.nvim.screen());
    assert_eq!(scene.told_next(), "and?");
}

#[test]
fn text_that_is_saved_after_the_request_is_told_as_saved_once() {
    let scene = accepted_unsaved();
    let told = heard(&scene, "");
    assert!(told.contains(LATER), "{told}");
    assert_eq!(scene.told_next(), "and?");
    scene.nvim.keys(":w<CR>");
    let told = scene.told_next();
    assert!(told.contains("<notice>\na.txt is saved now.\n</notice>"), "{told}");
    wait_line(&scene, " 1 accepted");
    assert_eq!(scene.told_next(), "and?");
}

#[test]
fn text_that_is_thrown_away_or_changed_before_the_request_is_told_so() {
    let scene = accepted_unsaved();
    let told = heard(&scene, ":edit! a.txt<CR>");
    let dropped = "a.txt was not saved (it has other unsaved changes), and its buffer does not hold that text any \
                   more: the changes are not on disk.";
    assert!(told.contains(dropped), "{told}");
    assert!(told.contains("-L2\n+l2"), "the difference: {told}");
    assert_eq!(scene.told_next(), "and?");

    let scene = accepted_unsaved();
    let told = heard(&scene, "2GA more<Esc>:w<CR>");
    let other = "a.txt has another text on disk now: read it before you rely on it.";
    assert!(told.contains(other), "{told}");
    assert!(told.contains("-L2\n+L2 more"), "the difference: {told}");
    assert!(!told.contains("not saved"), "{told}");

    let scene = accepted_unsaved();
    fs::write(scene.nvim.setup.path("a.txt"), nine().replace("l5", "L5")).unwrap();
    let told = heard(&scene, "");
    let differs = "a.txt is not saved (it has other unsaved changes), and it has changed on disk since the decision.";
    assert!(told.contains(differs), "{told}");

    let scene = accepted_unsaved();
    fs::remove_file(scene.nvim.setup.path("a.txt")).unwrap();
    let told = heard(&scene, "");
    let gone = "a.txt is not saved (it has other unsaved changes), and the file does not exist on disk any more.";
    assert!(told.contains(gone), "{told}");
}

#[test]
fn a_verdict_as_a_note_is_as_true_as_one_in_an_answer() {
    let scene = Scene::two_written(|it| it.file("b.txt", nine()));
    scene.nvim.keys("5GA mine<Esc>\\A");
    scene.wait_hunks(0);
    scene.nvim.keys(":w<CR>");
    let told = scene.told_next();
    assert!(told.contains("The user accepted 2 changes in a.txt."), "{told}");
    assert!(!told.contains("saved"), "{told}");
}

#[test]
fn a_deleted_file_that_is_written_again_before_the_request_is_told_so() {
    let scene = Scene::start(|it| it.file("a.txt", nine()).file("b.txt", nine()));
    scene.server.reply(Reply::new().call("r1", "read", json!({ "path": "a.txt" })));
    scene.nvim.keys(":edit a.txt<CR>");
    let edits = Reply::new().call("d1", "delete", json!({ "path": "a.txt" }));
    scene.ask(edits.call("e2", "edit", edit("b.txt", &[("l2", "L2")])));
    scene.nvim.wait_screen("1 hunk, 1 deletion in 2 files to review");
    scene.nvim.keys("5GA mine<Esc>:Caliban accept file<CR>");
    scene.nvim.wait(|it| it.setup.on_disk("a.txt").is_none(), "the deletion");
    scene.nvim.keys(":w<CR>");
    scene.nvim.wait(|it| it.setup.on_disk("a.txt").is_some(), "the file");
    scene.server.reply(Reply::said("I see."));
    scene.nvim.keys(":Caliban accept all<CR>");
    scene.wait_idle("I see.");
    expect!["The user accepted the deletion: a.txt is deleted."].assert_eq(&scene.answer(3, "d1"));
    let said = scene.request(3).last_user_text();
    let again = "<context kind=\"changes\" path=\"a.txt\">\nThe file is there again as text, and has changed since \
                 you saw it last:\n";
    assert!(said.contains(again) && said.contains("-l5\n+l5 mine"), "{said}");
    assert_eq!(scene.told_next(), "and?");
}

#[test]
fn a_file_that_was_gone_and_is_there_again_is_told_so_once() {
    let scene = Scene::start(|it| it.file("a.txt", nine()));
    scene.server.reply(Reply::new().call("r1", "read", json!({ "path": "a.txt" })));
    scene.ask_until(Reply::said("I see."), "I see.");
    let path = scene.nvim.setup.path("a.txt");
    for (text, expected) in [
        (nine(), "The file is there again as text, with the lines that you saw last.\n"),
        (
            nine().replace("l5", "L5"),
            "The file is there again as text, and has changed since you saw it last:\n@@ -2,7 +2,7 @@\n l2\n l3\n l4\n-l5\n+L5\n l6\n l7\n l8\n",
        ),
    ] {
        fs::remove_file(&path).unwrap();
        let told = scene.told_next();
        assert!(told.contains("It does not exist now."), "{told}");
        assert_eq!(scene.told_next(), "and?");
        fs::write(&path, &text).unwrap();
        let told = scene.told_next();
        let shown = format!("<context kind=\"changes\" path=\"a.txt\">\n{expected}</context>");
        assert!(told.contains(&shown), "{told}");
        assert_eq!(scene.told_next(), "and?");
    }
}
