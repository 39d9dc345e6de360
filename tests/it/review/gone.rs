//! Files that are deleted on disk while their buffers show them: the model can write such a file again, and rename
//! another file to its name.

use super::scene::{Scene, edit, nine, write};
use crate::kit::reply::Reply;
use expect_test::expect;
use serde_json::{Value, json};
use std::fs;

/// A scene in which the buffer of `b.txt` is loaded, in the window or hidden.
fn start(mode: &str, keys: &str) -> Scene {
    let config = format!("{{ mode = '{mode}', sandbox = false }}");
    let files = |it: crate::kit::setup::Setup| it.file("a.txt", "a\n").file("b.txt", nine());
    let scene = Scene::start(|it| files(it).config(&config));
    scene.nvim.keys(":edit b.txt<CR>");
    scene.nvim.keys(keys);
    scene
}

const HIDDEN: &str = ":edit a.txt<CR>";

/// The model's own command deletes the file.
fn by_command(scene: &Scene) {
    scene.ask(Reply::new().call("s1", "shell", json!({ "command": "rm b.txt" })));
    scene.server.reply(Reply::said("It ran."));
    scene.nvim.wait_question();
    scene.nvim.keys(":Caliban approve<CR>");
    scene.wait_idle("It ran.");
}

/// The user's shell deletes the file.
fn by_user(scene: &Scene) {
    fs::remove_file(scene.nvim.setup.path("b.txt")).unwrap();
}

/// Neovim has noticed that the file is gone.
fn noticed(scene: &Scene) {
    by_user(scene);
    scene.nvim.keys(":silent! checktime<CR>");
}

/// The text and the state of the buffer.
fn shown(scene: &Scene) -> (String, bool) {
    let code = "return vim.bo[vim.fn.bufnr('b.txt')].modified";
    (scene.nvim.buffer("/b.txt"), scene.nvim.lua_json(code) == true)
}

/// The model makes a call, and the turn ends at once. Returns the answer to the call.
fn done(scene: &Scene, tool: &str, input: Value) -> String {
    let n = scene.server.requests().len();
    scene.server.reply(Reply::new().call(&format!("c{n}"), tool, input));
    scene.ask_until(Reply::said(&format!("Done {n}.")), &format!("Done {n}."));
    scene.answer(n + 2, &format!("c{n}"))
}

fn edited(scene: &Scene) {
    done(scene, "edit", edit("b.txt", &[("l2", "L2")]));
    scene.wait_hunks(1);
}

fn rewrite() -> Reply {
    Reply::new().call("w1", "write", write("b.txt", "new\n"))
}

#[test]
fn a_file_that_is_gone_is_written_again_once_the_user_accepts() {
    for (keys, gone) in [
        ("", by_command as fn(&Scene)),
        (HIDDEN, by_command),
        ("", by_user),
        (HIDDEN, by_user),
        ("", noticed),
    ] {
        for (verdict, told, on_disk, text) in [
            ("accept", "The user accepted the change in b.txt.", Some("new\n"), "new".to_owned()),
            (
                "reject",
                "The user rejected the new file b.txt: it does not exist.",
                None,
                nine().trim_end().to_owned(),
            ),
        ] {
            let scene = start("ask", keys);
            gone(&scene);
            let n = scene.server.requests().len();
            scene.ask(rewrite());
            scene.wait_pending(1);
            assert_eq!((shown(&scene).0, scene.on_disk("b.txt")), ("new".into(), None));
            scene.server.reply(Reply::said("I see."));
            scene.nvim.keys(&format!(":checktime<CR>:Caliban {verdict} all<CR>"));
            scene.wait_idle("I see.");
            assert_eq!(scene.answer(n + 2, "w1"), told, "{keys} {verdict}");
            assert_eq!(scene.on_disk("b.txt").as_deref(), on_disk, "{keys} {verdict}");
            assert_eq!(shown(&scene), (text, false), "{keys} {verdict}: {}", scene.said());
            assert!(!scene.nvim.is_blocked(), "{}", scene.nvim.screen());
        }
    }
}

#[test]
fn the_text_of_a_file_that_is_gone_comes_back_by_undo() {
    let scene = start("ask", "");
    by_user(&scene);
    scene.ask(rewrite());
    scene.wait_pending(1);
    scene.server.reply(Reply::said("I see."));
    scene.nvim.keys(":Caliban accept all<CR>");
    scene.wait_idle("I see.");
    // The first step takes the user's decision back.
    scene.nvim.keys("uuu");
    assert_eq!(shown(&scene).0 + "\n", nine());
}

#[test]
fn in_auto_edit_mode_a_file_that_is_gone_is_written_again_at_once() {
    for (keys, gone) in [("", by_command as fn(&Scene)), (HIDDEN, by_user), ("", noticed)] {
        for is_reviewed in [false, true] {
            let scene = start("auto-edit", keys);
            if is_reviewed {
                edited(&scene);
            }
            gone(&scene);
            let told = done(&scene, "write", write("b.txt", "new\n"));
            assert_eq!(told, "Applied and written to b.txt; the user may still review it.");
            assert_eq!(scene.on_disk("b.txt").as_deref(), Some("new\n"), "{keys} {is_reviewed}");
            assert_eq!(shown(&scene), ("new".into(), false), "{keys} {is_reviewed}");
            scene.wait_hunks(1);
            scene.nvim.keys(":Caliban reject all<CR>");
            scene.wait_hunks(0);
            assert_eq!(scene.on_disk("b.txt"), None, "{keys} {is_reviewed}");
            assert!(!scene.nvim.is_blocked(), "{}", scene.nvim.screen());
        }
    }
}

/// The user has decided on the change after the file was deleted.
#[test]
fn a_file_that_is_gone_is_written_again_after_a_verdict_that_was_not_saved() {
    for verdict in ["accept", "reject"] {
        let scene = start("auto-edit", "");
        edited(&scene);
        by_command(&scene);
        scene.nvim.keys(&format!(":Caliban {verdict} all<CR>"));
        scene.wait_hunks(0);
        assert_eq!(scene.on_disk("b.txt"), None, "{verdict}");
        let told = done(&scene, "write", write("b.txt", "new\n"));
        assert_eq!(told, "Applied and written to b.txt; the user may still review it.");
        assert_eq!(scene.on_disk("b.txt").as_deref(), Some("new\n"), "{verdict}");
    }
}

#[test]
fn the_verdict_on_a_change_of_a_file_that_was_written_again_is_told() {
    let scene = start("auto-edit", "");
    edited(&scene);
    by_command(&scene);
    done(&scene, "write", write("b.txt", "new\n"));
    scene.told_next();
    let messages = scene.server.requests().pop().unwrap().json["messages"].to_string();
    let notice = messages.split("<notice>").last().unwrap().split("</notice>").next().unwrap();
    expect![[r#"

        The earlier change in b.txt was undone on disk: the file was gone before it was written again.
    "#]]
    .assert_eq(&notice.replace("\\n", "\n"));
}

#[test]
fn text_of_the_user_stays_in_the_buffer_of_a_file_that_is_gone() {
    let scene = start("ask", "5GAmine<Esc>");
    by_user(&scene);
    done(&scene, "read", json!({ "path": "b.txt" }));
    scene.ask(rewrite());
    scene.nvim.wait(|it| it.pending() > 0, "the change under review");
    scene.server.reply(Reply::said("I see."));
    scene.nvim.keys(":Caliban reject all<CR>");
    scene.wait_idle("I see.");
    let mine = nine().replace("l5", "l5mine");
    assert_eq!(shown(&scene), (mine.trim_end().to_owned(), true));
    let scene = start("auto-edit", "5GAmine<Esc>");
    by_user(&scene);
    done(&scene, "read", json!({ "path": "b.txt" }));
    let told = done(&scene, "write", write("b.txt", "new\n"));
    expect![[r#"
        Applied in the user's buffer of b.txt; the user may still review it.
        b.txt is not saved (it was deleted or moved on disk, and its buffer has text of the user's own, which the user can write with :w)."#]].assert_eq(&told);
    scene.nvim.keys("u");
    assert_eq!(shown(&scene), (mine.trim_end().to_owned(), true));
}

#[test]
fn a_file_is_renamed_to_the_name_of_one_that_is_gone() {
    for mode in ["ask", "auto-edit"] {
        for (keys, gone) in [("", by_command as fn(&Scene)), (HIDDEN, by_user), ("", noticed)] {
            let scene = start(mode, keys);
            gone(&scene);
            let n = scene.server.requests().len();
            scene.ask(Reply::new().call("w1", "rename", json!({ "path": "a.txt", "to": "b.txt" })));
            scene.server.reply(Reply::said("I see."));
            scene.wait_hunks(1);
            scene.nvim.keys(":Caliban accept all<CR>");
            scene.wait_idle("I see.");
            let answer = scene.answer(n + 2, "w1");
            assert!(answer.contains("b.txt") && !answer.contains("another"), "{answer}");
            assert_eq!(scene.on_disk("b.txt").as_deref(), Some("a\n"), "{mode} {keys}: {answer}");
            assert_eq!(shown(&scene), ("a".into(), false), "{mode} {keys}");
            assert!(!scene.nvim.is_blocked(), "{}", scene.nvim.screen());
        }
    }
}
