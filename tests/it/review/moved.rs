//! Files that another program deletes, moves or replaces while their changes are pending.

use super::scene::{Scene, nine, two_hunks};
use crate::kit::reply::Reply;
use expect_test::{Expect, expect};
use serde_json::json;
use std::fs;

fn deletion() -> Reply {
    Reply::new().call("e1", "delete", json!({ "path": "a.txt" }))
}

fn renaming() -> Reply {
    Reply::new().call("e1", "rename", json!({ "path": "a.txt", "to": "b.txt" }))
}

/// Puts changes of `a.txt` under review, lets another program change the folder, and types keys that end the review.
/// Compares the messages and the model's answer.
#[expect(clippy::needless_pass_by_value, reason = "a table's row gives its snapshot away")]
fn check(call: Reply, meanwhile: fn(&Scene), keys: &str, expected: Expect) {
    let scene = Scene::start(|it| it.file("a.txt", nine()));
    scene.nvim.keys(":edit a.txt<CR>");
    scene.ask(call);
    scene.nvim.wait_phase("reviewing");
    meanwhile(&scene);
    expected.assert_eq(&scene.ended_by(keys));
}

fn removed(scene: &Scene) {
    fs::remove_file(scene.nvim.setup.path("a.txt")).unwrap();
}

/// To the name that the model has proposed.
fn moved(scene: &Scene) {
    fs::rename(scene.nvim.setup.path("a.txt"), scene.nvim.setup.path("b.txt")).unwrap();
}

fn replaced(scene: &Scene) {
    removed(scene);
    fs::create_dir(scene.nvim.setup.path("a.txt")).unwrap();
}

const CLOSE: &str = ":bwipeout! a.txt<CR>";

#[test]
fn a_closed_buffer_whose_file_is_gone_is_told_as_that() {
    check(
        two_hunks(),
        removed,
        CLOSE,
        expect![[r#"

        ---
        The user did not decide on 2 changes in a.txt: they are not in the file.
        But there is no file a.txt any more."#]],
    );
    check(
        deletion(),
        removed,
        CLOSE,
        expect![[r#"

        ---
        The user did not decide on the deletion, but there is no file a.txt any more."#]],
    );
    check(
        renaming(),
        moved,
        CLOSE,
        expect![[r#"

        ---
        The user did not decide on the renaming, but there is no file a.txt any more."#]],
    );
    check(
        renaming(),
        replaced,
        CLOSE,
        expect![[r#"

        ---
        The user did not decide on the renaming, but there is no file a.txt any more."#]],
    );
    // nothing has happened to the file
    check(
        deletion(),
        |_| (),
        CLOSE,
        expect![[r#"

        ---
        The user did not decide on the deletion: a.txt is not deleted."#]],
    );
}

#[test]
fn a_rejected_change_of_a_file_that_is_gone_is_told_as_that() {
    check(
        two_hunks(),
        moved,
        "\\R",
        expect![[r#"
        a.txt was deleted on disk while you were reviewing it. The buffer keeps its text.
        a.txt: 2 rejected, not saved: it was deleted on disk
        ---
        The user rejected 2 changes in a.txt: they are undone.
        a.txt is not saved (it was deleted on disk): none of your changes is on disk."#]],
    );
    check(
        deletion(),
        removed,
        "\\R",
        expect![[r#"
        a.txt was deleted on disk while you were reviewing it. The buffer keeps its text.
        a.txt: rejected, not saved: it was deleted on disk
        ---
        The user rejected the deletion, but there is no file a.txt any more.
        Its buffer still holds its text, unsaved."#]],
    );
    check(
        renaming(),
        moved,
        "\\R",
        expect![[r#"
        a.txt was deleted on disk while you were reviewing it. The buffer keeps its text.
        a.txt: rejected, not saved: it was deleted on disk
        ---
        The user rejected the renaming, but there is no file a.txt any more.
        Its buffer still holds its text, unsaved."#]],
    );
}

#[test]
fn a_file_that_is_gone_is_not_renamed() {
    let scene = Scene::start(|it| it.file("a.txt", nine()));
    scene.nvim.keys(":edit a.txt<CR>");
    scene.ask(renaming());
    scene.nvim.wait_phase("reviewing");
    removed(&scene);
    scene.nvim.command("messages clear");
    scene.nvim.keys("\\A");
    expect!["a.txt: Caliban cannot rename it to b.txt: it is no longer on disk"]
        .assert_eq(&scene.said());
}
