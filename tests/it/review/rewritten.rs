//! Files that are gone in auto-edit mode, deleted by the model or by its command, and that the model writes again.

use super::scene::{Scene, edit, nine, write};
use crate::kit::reply::Reply;
use serde_json::json;
use std::os::unix::fs::PermissionsExt;

const WRITTEN: &str = "Applied and written to a.txt; the user may still review it.";

fn start() -> Scene {
    let config = "{ mode = 'auto-edit', sandbox = false }";
    let scene = Scene::start(|it| it.file("a.txt", nine()).mode("a.txt", 0o755).config(config));
    scene.nvim.keys(":edit a.txt<CR>");
    scene
}

fn delete(reply: Reply) -> Reply {
    reply.call("d1", "delete", json!({ "path": "a.txt" }))
}

/// The model makes this reply, and the turn ends. Returns the answer to the call `w1`.
fn turn(scene: &Scene, reply: Reply) -> String {
    let n = scene.server.count();
    scene.server.reply(reply);
    let last = format!("Done {n}.");
    scene.ask_until(Reply::said(&last), &last);
    let answers = super::scene::answers(&scene.request(n + 2));
    answers.into_iter().rev().find(|it| it.0 == "w1").map(|it| it.1).unwrap_or_default()
}

fn shown(scene: &Scene) -> (String, bool) {
    let code = "return vim.bo[vim.fn.bufnr('a.txt')].modified";
    (scene.nvim.buffer("/a.txt") + "\n", scene.nvim.lua_json(code) == true)
}

fn mode(scene: &Scene) -> u32 {
    scene.nvim.setup.path("a.txt").metadata().unwrap().permissions().mode() & 0o777
}

#[test]
fn a_file_that_the_model_has_deleted_is_written_as_a_change_of_its_former_text() {
    for verdict in ["accept", "reject"] {
        let scene = start();
        let text = nine().replace("l2", "L2");
        turn(&scene, delete(Reply::new()));
        scene.wait_hunks(1);
        assert_eq!(scene.on_disk("a.txt"), None);
        let told = turn(&scene, Reply::new().call("w1", "write", write("a.txt", &text)));
        assert_eq!(told, WRITTEN);
        assert_eq!((scene.on_disk("a.txt"), mode(&scene)), (Some(text.clone()), 0o755));
        assert_eq!(shown(&scene), (text.clone(), false));
        let pending = "local out = {}
                for _, it in ipairs(require('caliban').pending()) do
                  out[#out + 1] = { it.start, it.removed, it.added }
                end
                return out";
        assert_eq!(scene.nvim.lua_json(pending), json!([[1, ["l2"], ["L2"]]]));
        scene.nvim.keys(&format!(":Caliban {verdict} all<CR>"));
        scene.wait_hunks(0);
        let after = if verdict == "accept" { text.clone() } else { nine() };
        assert_eq!((scene.on_disk("a.txt"), mode(&scene)), (Some(after.clone()), 0o755));
        assert_eq!(shown(&scene), (after, false));
        let told = scene.told_next();
        assert!(!told.contains("deletion: a.txt is not deleted"), "{told}");
        assert!(told.contains(&format!("The user {verdict}ed the change in a.txt")), "{told}");
    }
}

#[test]
fn a_deleted_file_can_be_written_with_any_text() {
    for text in ["", "new\n", "l1\nmore\n", &nine()] {
        let scene = start();
        turn(&scene, delete(Reply::new()));
        let told = turn(&scene, Reply::new().call("w1", "write", write("a.txt", text)));
        assert_eq!(scene.on_disk("a.txt").as_deref(), Some(text), "{told}");
        scene.nvim.keys(":Caliban reject all<CR>");
        scene.wait_hunks(0);
        assert_eq!((scene.on_disk("a.txt"), shown(&scene)), (Some(nine()), (nine(), false)));
    }
}

/// With a hunk under review before the deletion.
#[test]
fn an_edited_and_deleted_file_is_written_again() {
    let scene = start();
    turn(&scene, Reply::new().call("e1", "edit", edit("a.txt", &[("l8", "L8")])));
    turn(&scene, delete(Reply::new()));
    let text = nine().replace("l2", "L2");
    let told = turn(&scene, Reply::new().call("w1", "write", write("a.txt", &text)));
    assert_eq!((told.as_str(), scene.on_disk("a.txt")), (WRITTEN, Some(text)));
    scene.nvim.keys(":Caliban reject all<CR>");
    scene.wait_hunks(0);
    assert_eq!((scene.on_disk("a.txt"), shown(&scene)), (Some(nine()), (nine(), false)));
}

/// A new file that a command removes, and that the next turn writes again.
#[test]
fn the_model_is_not_told_that_a_file_is_gone_which_it_has_written_again() {
    let scene = start();
    let new = |text: &str| Reply::new().call("w1", "write", write("d/new.txt", text));
    turn(&scene, new("new\n"));
    scene.server.reply(Reply::new().call("s1", "shell", json!({ "command": "rm -r d" })));
    scene.server.reply(Reply::said("It ran."));
    scene.nvim.keys(":Caliban ask go on<CR>");
    scene.nvim.wait_question();
    scene.nvim.keys(":Caliban approve<CR>");
    scene.wait_idle("It ran.");
    let n = scene.server.count();
    let told = turn(&scene, new("again\n"));
    assert_eq!(told, "Applied and written to d/new.txt; the user may still review it.");
    scene.told_next();
    let all = scene.server.requests();
    let all: String = all[n..].iter().map(|it| it.json.to_string()).collect();
    assert!(all.contains("was undone on disk: the file was gone before it was written again."));
    assert!(!all.contains("it is not in the file"), "{all}");
    assert_eq!(scene.on_disk("d/new.txt").as_deref(), Some("again\n"));
}
