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
        a.txt was deleted or moved on disk while you were reviewing it. The buffer keeps its text.
        a.txt: 2 rejected, not saved: it was deleted or moved on disk
        ---
        The user rejected 2 changes in a.txt: they are undone.
        a.txt is not saved (it was deleted or moved on disk): none of your changes is on disk."#]],
    );
    check(
        deletion(),
        removed,
        "\\R",
        expect![[r#"
        a.txt was deleted or moved on disk while you were reviewing it. The buffer keeps its text.
        a.txt: rejected, not saved: it was deleted or moved on disk
        ---
        The user rejected the deletion, but there is no file a.txt any more.
        Its buffer still holds its text, unsaved."#]],
    );
    check(
        renaming(),
        moved,
        "\\R",
        expect![[r#"
        a.txt was deleted or moved on disk while you were reviewing it. The buffer keeps its text.
        a.txt: rejected, not saved: it was deleted or moved on disk
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

/// Two written hunks of a file under git, in which the model then runs a command that renames the file.
fn renamed_by_a_command(command: &str) -> Scene {
    let mode = "{ mode = 'auto-edit', sandbox = false }";
    let scene = Scene::start(|it| it.file("a.txt", nine()).file("d/b.txt", nine()).config(mode));
    let git = "git init -q && git add . && git -c user.name=m -c user.email=m@m commit -qm one";
    let mut sh = std::process::Command::new("sh");
    let done = sh.args(["-c", git]).current_dir(scene.nvim.setup.path("")).status();
    assert!(done.unwrap().success());
    scene.nvim.keys(":edit a.txt<CR>");
    scene.server.reply(super::scene::two_hunks());
    scene.ask_until(Reply::said("I see."), "I see.");
    scene.wait_hunks(2);
    scene.nvim.command("messages clear");
    scene.ask(Reply::new().call("s1", "shell", serde_json::json!({ "command": command })));
    scene.server.reply(Reply::said("It ran."));
    scene.nvim.wait_question();
    scene.nvim.keys(":Caliban approve<CR>");
    scene.wait_idle("It ran.");
    scene
}

#[test]
fn a_review_follows_its_file_that_a_command_renames() {
    for command in ["git mv a.txt c.txt", "mv a.txt c.txt", "mkdir e && mv a.txt e/c.txt"] {
        let scene = renamed_by_a_command(command);
        let path = command.rsplit(' ').next().unwrap();
        assert_eq!((scene.said().as_str(), scene.pending()), ("", 2), "{command}");
        let name = scene.nvim.lua_str("return vim.fn.bufname()");
        assert_eq!(name, path);
        scene.nvim.keys("2G\\r8G\\a");
        scene.wait_hunks(0);
        let text = nine().replace("l8", "L8\nL8b");
        assert_eq!((scene.on_disk(path), scene.on_disk("a.txt")), (Some(text), None));
        let told = scene.told_next();
        assert!(
            told.contains(&format!("Of 2 changes in {path}: 1 accepted, 1 rejected")),
            "{told}"
        );
        assert!(told.contains(&format!("a.txt is now {path}.")), "{told}");
        scene.nvim.keys("Gomine<Esc>:w<CR>");
        assert!(scene.on_disk(path).unwrap().ends_with("mine\n"));
        assert_eq!(scene.on_disk("a.txt"), None);
    }
}

/// A file that the command has also changed, a copy, and a name that a buffer has.
#[test]
fn a_review_follows_no_other_file_than_its_own() {
    for command in ["mv a.txt c.txt; echo more >> c.txt", "cp a.txt c.txt; rm a.txt"] {
        let scene = renamed_by_a_command(command);
        scene
            .nvim
            .wait(|_| scene.said().contains("a.txt was deleted or moved on disk"), "a message");
        let theirs = scene.on_disk("c.txt");
        scene.nvim.keys(":Caliban reject all<CR>");
        scene.wait_hunks(0);
        assert_eq!(scene.on_disk("c.txt"), theirs, "{command}");
    }
}

/// The text of a file that is gone is only in its buffer.
#[test]
fn a_renaming_to_the_name_of_a_file_that_is_gone_keeps_the_text_of_its_buffer() {
    for (mode, verdict) in
        [("auto-edit", "accept"), ("auto-edit", "reject"), ("ask", "accept"), ("ask", "reject")]
    {
        let config = format!("{{ mode = '{mode}' }}");
        let scene = Scene::start(|it| {
            it.file("a.txt", nine()).file("b.txt", "only here\n").config(&config)
        });
        scene.nvim.keys(":edit b.txt<CR>:split a.txt<CR>");
        std::fs::remove_file(scene.nvim.setup.path("b.txt")).unwrap();
        scene.ask(renaming());
        scene.server.reply(Reply::said("I see."));
        scene.wait_hunks(1);
        scene.nvim.keys(&format!(":Caliban {verdict} all<CR>"));
        scene.wait_idle("I see.");
        scene.wait_hunks(0);
        let named = scene.nvim.lua_str(
            "for _, buf in ipairs(vim.api.nvim_list_bufs()) do
              if vim.api.nvim_buf_get_lines(buf, 0, 1, false)[1] == 'only here' then
                return vim.fn.fnamemodify(vim.api.nvim_buf_get_name(buf), ':t') .. ' '
                  .. tostring(vim.bo[buf].buflisted)
              end
            end
            return 'lost'",
        );
        let is_kept = verdict == "reject";
        assert_eq!(named, if is_kept { "b.txt true" } else { " true" }, "{mode} {verdict}");
        let path = if is_kept { "a.txt" } else { "b.txt" };
        assert_eq!(scene.on_disk(path), Some(nine()));
        assert_eq!(
            scene.said().contains("without a name, has the text that b.txt had"),
            mode == "auto-edit" || !is_kept
        );
    }
}
