//! What the list of changes and the header say of changes that are written at once: whether they are on disk.

use super::scene::{Scene, edit, nine, write};
use crate::kit::reply::Reply;
use serde_json::json;

fn start(call: Reply) -> Scene {
    let config = "{ mode = 'auto-edit', sandbox = false }";
    let scene = Scene::start(|it| {
        it.file("a.txt", nine()).file("z.txt", "z\n").config(config).size(160, 40)
    });
    scene.nvim.keys(":edit a.txt<CR>");
    scene.server.reply(call);
    scene.ask_until(Reply::said("I see."), "I see.");
    scene.nvim.wait(|it| it.pending() > 0, "a change under review");
    scene
}

fn edits() -> Reply {
    Reply::new().call("e1", "edit", edit("a.txt", &[("l2", "L2"), ("l8", "L8")]))
}

/// The model runs a command, to its end, and the turn ends.
fn run(scene: &Scene, command: &str) {
    let n = scene.server.count();
    scene.server.reply(Reply::new().call("s1", "shell", json!({ "command": command })));
    scene.nvim.lua("require('caliban').ask('go on')", &[]);
    scene.server.reply(Reply::said(&format!("It ran {n}.")));
    scene.nvim.wait_question();
    scene.nvim.command("Caliban approve");
    scene.wait_idle(&format!("It ran {n}."));
}

/// The lines of files in the list of changes, without what is at their right end.
fn listed(scene: &Scene) -> String {
    let text = scene.nvim.transcript();
    let list = text.rsplit_once("to review").map(|it| it.1).unwrap_or_default();
    let files = list.lines().filter(|it| it.contains(".txt"));
    let row = |it: &str| it.trim().trim_start_matches(['▾', '▸', ' ']).to_owned();
    let mut rows: Vec<String> =
        files.map(row).map(|it| it.split("   ").next().unwrap().to_owned()).collect();
    rows.sort();
    rows.join("\n")
}

fn wait_listed(scene: &Scene, text: &str) {
    scene
        .nvim
        .wait(|_| listed(scene) == text, &format!("{text:?} in the list, not {:?}", listed(scene)));
}

#[test]
fn hunks_of_a_file_that_is_gone_are_not_said_to_be_written() {
    let scene = start(edits());
    wait_listed(&scene, "a.txt  written");
    run(&scene, "cp a.txt b; rm a.txt");
    wait_listed(&scene, "a.txt  not on disk");
    scene.nvim.wait_screen("2 changes by Caliban, not on disk");
    run(&scene, "mv b a.txt");
    wait_listed(&scene, "a.txt  written");
    // the user's own shell
    std::fs::remove_file(scene.nvim.setup.path("a.txt")).unwrap();
    scene.nvim.keys(":checktime<CR>");
    wait_listed(&scene, "a.txt  not on disk");
    scene.nvim.keys(":w<CR>");
    wait_listed(&scene, "a.txt  written");
    assert_eq!(scene.on_disk("a.txt"), Some(nine().replace("l2", "L2").replace("l8", "L8")));
}

#[test]
fn a_decision_that_is_taken_back_is_not_written_until_the_user_writes() {
    for (keys, is_written) in [("2G\\ru", false), ("\\Ru", false), ("2G\\au", true), ("\\Au", true)]
    {
        let scene = start(edits());
        scene.nvim.keys(keys);
        scene.wait_hunks(2);
        let word = if is_written { "written" } else { "not written" };
        wait_listed(&scene, &format!("a.txt  {word}"));
        let text = nine().replace("l2", "L2").replace("l8", "L8");
        assert_eq!(scene.on_disk("a.txt").as_ref() == Some(&text), is_written, "{keys}");
        scene.nvim.keys(":w<CR>");
        wait_listed(&scene, "a.txt  written");
        assert_eq!(scene.on_disk("a.txt"), Some(text), "{keys}");
    }
}

/// Text of the user's own elsewhere in the file is not written, but the hunks are.
#[test]
fn hunks_on_disk_are_written_beside_unsaved_text() {
    let scene = start(edits());
    scene.nvim.keys("5GAmine<Esc>");
    wait_listed(&scene, "a.txt  written");
    scene.nvim.keys("2GAmine<Esc>");
    wait_listed(&scene, "a.txt  not written");
    scene.nvim.keys("u");
    wait_listed(&scene, "a.txt  written");
}

/// The rows of the calls on the screen.
fn calls_of(screen: &str) -> Vec<String> {
    let rows = screen.lines().filter_map(|it| it.split_once("▸ edit")).map(|it| it.1);
    rows.map(|it| format!("edit {}", it.split_whitespace().collect::<Vec<_>>().join(" "))).collect()
}

/// A link and its target are one file, of which each call has changed one part.
#[test]
fn each_call_has_the_number_of_its_own_hunks() {
    for path in ["a.txt", "link"] {
        let config = "{ mode = 'auto-edit', sandbox = false }";
        let scene = Scene::start(|it| it.file("a.txt", nine()).config(config).size(160, 40));
        std::os::unix::fs::symlink("a.txt", scene.nvim.setup.path("link")).unwrap();
        scene.nvim.keys(":edit a.txt<CR>");
        let calls = edits().call("e2", "edit", edit(path, &[("l5", "L5")]));
        scene.server.reply(calls);
        scene.ask_until(Reply::said("I see."), "I see.");
        scene.wait_hunks(3);
        let own = format!("edit {path} 1 hunk written");
        let expected = ["edit a.txt 2 hunks written".to_owned(), own];
        scene.nvim.wait(|it| calls_of(&it.screen()) == expected, "the words beside the calls");
        wait_listed(&scene, "a.txt  written");
    }
}

#[test]
fn deleted_renamed_and_new_files_are_named_as_they_are_on_disk() {
    let call = Reply::new()
        .call("d1", "delete", json!({ "path": "a.txt" }))
        .call("r1", "rename", json!({ "path": "z.txt", "to": "y.txt" }))
        .call("w1", "write", write("new.txt", "new\n"))
        .call("w2", "write", write("empty.txt", ""));
    let scene = start(call);
    scene.wait_hunks(4);
    wait_listed(
        &scene,
        "a.txt  deleted\nempty.txt  created without text\nnew.txt  new\ny.txt  renamed from z.txt",
    );
    run(&scene, "echo again >a.txt; mv y.txt z.txt; rm new.txt empty.txt");
    wait_listed(
        &scene,
        "a.txt  deleted, but it is there again\n\
         empty.txt  created without text, but it is not on disk\n\
         new.txt  new, not on disk\n\
         y.txt  renamed from z.txt, but it is not on disk",
    );
}
