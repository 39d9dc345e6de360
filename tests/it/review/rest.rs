//! An undo that removes the last hunk: the verdict is not sent yet, and a redo restores the hunk.

use super::reopened::{quit, records};
use super::scene::{Scene, edit, nine, write};
use crate::kit::reply::Reply;
use expect_test::expect;

const WORDS: &str = "undone; <C-r> brings it back";

/// Sets the delay between an undo and its verdict.
fn delay(scene: &Scene, milliseconds: u32) {
    scene.nvim.lua("require('caliban.review.undone').delay = ...", &[milliseconds.into()]);
}

/// A scene with two hunks under review. After an undo of the hunks, the verdict is sent only when the user does
/// something else.
fn patient() -> Scene {
    let scene = Scene::two_hunks(|it| it.file("b.txt", "b\n"));
    delay(&scene, 1_000_000_000);
    scene
}

/// Like `patient`, with both hunks undone.
fn undone() -> Scene {
    let scene = patient();
    scene.nvim.keys("u");
    scene.nvim.wait_screen(WORDS);
    assert_eq!(scene.nvim.buffer("/a.txt"), nine().trim_end());
    scene
}

#[test]
fn the_key_u_takes_back_an_acceptance_and_leaves_the_text() {
    let scene = patient();
    let text = nine().replace("l2", "L2").replace("l8", "L8\nL8b");
    scene.nvim.keys("2G\\a");
    scene.wait_hunks(1);
    scene.nvim.keys("u");
    scene.wait_hunks(2);
    assert_eq!(scene.nvim.buffer("/a.txt"), text.trim_end());
    scene.nvim.keys("<C-r>");
    scene.wait_hunks(1);
    scene.nvim.keys("u");
    scene.wait_hunks(2);
    scene.nvim.keys("2G\\r");
    scene.wait_hunks(1);
    assert_eq!(scene.server.count(), 1, "no request has gone out");
    scene.server.reply(Reply::said("I see."));
    scene.nvim.keys("\\A");
    scene.wait_idle("I see.");
    let told = scene.answer(2, "e1");
    assert!(
        told.starts_with("Of 2 changes in a.txt: 1 accepted, 1 rejected and undone."),
        "{told}"
    );
    assert_eq!(scene.on_disk("a.txt"), Some(nine().replace("l8", "L8\nL8b")));
}

#[test]
fn the_key_u_after_the_last_acceptance_opens_the_review_again() {
    for auto in [false, true] {
        let scene = if auto { Scene::two_written(|it| it) } else { Scene::two_hunks(|it| it) };
        let text = nine().replace("l2", "L2").replace("l8", "L8\nL8b");
        scene.server.otherwise(Reply::said("So it is."));
        scene.nvim.keys("\\A");
        scene.wait_hunks(0);
        scene.wait_phase("idle");
        assert_eq!(scene.nvim.lua_str("return vim.bo.modified"), "false");
        scene.nvim.keys("u");
        scene.wait_hunks(2);
        assert_eq!(scene.nvim.buffer("/a.txt"), text.trim_end());
        assert_eq!(scene.on_disk("a.txt"), Some(text));
        scene.nvim.keys("\\R");
        scene.wait_hunks(0);
        let told = scene.told_next();
        assert!(told.contains("The user rejected 2 changes in a.txt"), "{told}");
        assert_eq!(scene.on_disk("a.txt"), Some(nine()));
    }
}

#[test]
fn a_new_file_whose_acceptance_was_undone_goes_when_it_is_rejected() {
    let scene = Scene::start(|it| it.file("a.txt", nine()));
    scene.server.otherwise(Reply::said("So it is."));
    scene.ask(Reply::new().call("w1", "write", write("new.txt", "one\ntwo\n")));
    scene.nvim.wait_transcript("new file");
    scene.nvim.keys(":edit new.txt<CR>");
    scene.wait_hunks(1);
    scene.nvim.keys("\\A");
    scene.wait_hunks(0);
    scene.wait_phase("idle");
    assert_eq!(scene.on_disk("new.txt").as_deref(), Some("one\ntwo\n"));
    scene.nvim.keys("u");
    scene.wait_hunks(1);
    scene.nvim.keys("\\r");
    scene.wait_hunks(0);
    let told = scene.told_next();
    assert!(told.contains("new.txt"), "{told}");
    assert_eq!(scene.on_disk("new.txt"), None);
}

#[test]
fn a_redo_after_undoing_everything_continues_the_review() {
    let scene = undone();
    scene.nvim.keys("<C-r>");
    scene.wait_hunks(2);
    scene.nvim.wait_gone(WORDS);
    assert_eq!(scene.server.count(), 1, "no request has gone out");
    scene.nvim.keys(":w<CR>");
    assert_eq!(scene.on_disk("a.txt"), Some(nine()), "it is guarded as before");
    scene.server.reply(Reply::said("I see."));
    scene.nvim.keys("\\A");
    scene.wait_idle("I see.");
    assert_eq!(scene.answer(2, "e1"), "The user accepted 2 changes in a.txt.");
    assert_eq!(scene.server.count(), 2);
}

#[test]
fn the_verdict_waits_after_an_undo_while_the_user_writes_the_file_or_moves_the_cursor() {
    let scene = undone();
    scene.nvim.keys("G:w<CR>gg:Caliban<CR><C-w>p");
    scene.nvim.wait_screen(WORDS);
    scene.nvim.keys("<C-r>");
    scene.wait_hunks(2);
    scene.wait_phase("reviewing");
    assert_eq!(scene.server.count(), 1);
}

#[test]
fn any_other_act_sends_the_verdict_that_waits_after_an_undo() {
    for keys in [
        ":edit b.txt<CR>",
        ":vsplit b.txt<CR>",
        "5GA mine<Esc>",
        ":Caliban<CR>ihello",
        ":new<CR>itext<Esc>",
        "\\A",
        "\\r",
        ":Caliban accept all<CR>",
        ":edit!<CR>",
    ] {
        let scene = undone();
        scene.server.reply(Reply::said("I see."));
        scene.nvim.keys(keys);
        scene.wait_idle("I see.");
        let told = scene.answer(2, "e1");
        assert!(told.starts_with("The user rejected 2 changes in a.txt"), "{keys}: {told}");
        scene.nvim.wait_gone(WORDS);
    }
}

#[test]
fn deciding_another_file_sends_the_verdict_that_waits_after_an_undo() {
    let scene = Scene::start(|it| it.file("a.txt", nine()).file("b.txt", nine()));
    delay(&scene, 1_000_000_000);
    scene.nvim.keys(":edit a.txt<CR>");
    scene.ask(Reply::new().call("e1", "edit", edit("a.txt", &[("l2", "L2")])).call(
        "e2",
        "edit",
        edit("b.txt", &[("l2", "L2")]),
    ));
    scene.wait_pending(2);
    scene.nvim.keys("u");
    scene.nvim.wait_screen(WORDS);
    scene.server.reply(Reply::said("I see."));
    scene.nvim.keys(":Caliban accept all<CR>");
    scene.wait_idle("I see.");
    assert_eq!(scene.answer(2, "e1"), "The user rejected the change in a.txt: it is undone.");
    assert_eq!(scene.answer(2, "e2"), "The user accepted the change in b.txt.");
}

#[test]
fn the_verdict_that_waits_after_an_undo_is_sent_before_a_message() {
    let scene = undone();
    scene.server.reply(Reply::said("I see."));
    scene.server.otherwise(Reply::said("I hear."));
    scene.nvim.keys(":Caliban ask do b first<CR>");
    scene.wait_chat("do b first");
    scene.wait_phase("idle");
    expect!["The user rejected 2 changes in a.txt: they are undone."]
        .assert_eq(&scene.answer(2, "e1"));
}

#[test]
fn the_verdict_that_waits_after_an_undo_is_sent_after_a_delay() {
    let scene = Scene::two_hunks(|it| it);
    delay(&scene, 1);
    scene.server.reply(Reply::said("I see."));
    scene.nvim.keys("u");
    scene.wait_idle("I see.");
    assert_eq!(scene.answer(2, "e1"), "The user rejected 2 changes in a.txt: they are undone.");
    // A redo reopens the review even after its verdict was sent.
    scene.nvim.keys("<C-r>");
    scene.wait_hunks(2);
}

#[test]
fn the_verdict_that_waits_after_an_undo_is_sent_before_neovim_exits() {
    let scene = undone();
    scene.server.otherwise(Reply::said("I see."));
    assert_eq!(records(&scene), 1);
    let scene = quit(scene);
    assert_eq!(records(&scene), 0);
    scene.nvim.keys(":Caliban<CR>");
    scene.wait_phase("idle");
    assert_eq!(scene.pending(), 0);
    let n = scene.server.count() + 1;
    scene.nvim.lua("require('caliban').ask('and?')", &[]);
    scene.wait_chat("I see.");
    assert_eq!(scene.answer(n, "e1"), "The user rejected 2 changes in a.txt: they are undone.");
}

#[test]
fn the_verdict_also_waits_after_an_undo_of_auto_edit_hunks() {
    let scene = Scene::two_written(|it| it);
    delay(&scene, 1_000_000_000);
    scene.nvim.keys("u");
    scene.nvim.wait_screen(WORDS);
    scene.nvim.keys("<C-r>");
    scene.wait_hunks(2);
    scene.nvim.keys("u");
    scene.nvim.wait_screen(WORDS);
    expect![[r#"
        <notice>
        The user rejected 2 changes in a.txt: they are undone.
        a.txt is not saved (it was undone): all 2 changes are still on disk.
        </notice>
        and?"#]]
    .assert_eq(&scene.told_next());
}
