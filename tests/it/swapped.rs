//! Links that somebody puts into a path between the check of a call and its effect.

use crate::kit::reply::Reply;
use crate::kit::setup::Setup;
use crate::review::scene::{Scene, edit, nine};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

const WHY: &str = "a symbolic link was put into its path";

/// A folder beside the project, with these files.
fn outside(scene: &Scene, files: &[(&str, &str)]) -> PathBuf {
    let folder = scene.nvim.setup.dir().join("outside");
    fs::create_dir_all(&folder).unwrap();
    for (name, text) in files {
        fs::write(folder.join(name), text).unwrap();
    }
    folder
}

#[test]
fn a_link_that_is_changed_while_the_user_is_asked_does_not_lead_to_another_file() {
    let scene = Scene::start(|it| it);
    let folder = outside(&scene, &[("a.txt", "harmless\n"), ("b.txt", "s3cret\n")]);
    let link = scene.nvim.setup.path("link");
    symlink(folder.join("a.txt"), &link).unwrap();
    scene.ask(Reply::new().call("c1", "read", json!({ "path": "link" })));
    scene.wait_chat("outside/a.txt");
    scene.nvim.wait_question();
    fs::remove_file(&link).unwrap();
    symlink(folder.join("b.txt"), &link).unwrap();
    scene.server.reply(Reply::said("I see."));
    scene.nvim.keys(":Caliban approve<CR>");
    scene.wait_idle("I see.");
    let said = scene.answer(2, "c1");
    assert!(said.contains("b.txt, and this call has no consent to read it."), "{said}");
    assert!(!scene.request(2).json.to_string().contains("s3cret"));
}

/// Lets the model make a call that changes `sub/a.txt`, then replaces `sub` by a link to a folder outside with a file of
/// the same text, and accepts the change. Returns the folder outside.
fn accepted(tool: &str, input: Value) -> (Scene, PathBuf) {
    let scene = Scene::start(|it: Setup| it.file("sub/a.txt", nine()));
    let folder = outside(&scene, &[("a.txt", &nine())]);
    scene.nvim.keys(":edit sub/a.txt<CR>");
    scene.ask(Reply::new().call("c1", tool, input));
    scene.wait_pending(1);
    let sub = scene.nvim.setup.path("sub");
    fs::rename(&sub, sub.with_extension("kept")).unwrap();
    symlink(&folder, &sub).unwrap();
    scene.server.otherwise(Reply::said("I see."));
    scene.nvim.keys(":Caliban accept file<CR>");
    scene.nvim.wait(|it| it.lua_str("return vim.fn.execute('messages')").contains(WHY), WHY);
    (scene, folder)
}

#[test]
fn an_accepted_change_is_not_written_through_a_link_that_came_later() {
    let (scene, folder) = accepted("edit", edit("sub/a.txt", &[("l2", "L2")]));
    assert_eq!(fs::read_to_string(folder.join("a.txt")).unwrap(), nine());
    assert_eq!(scene.on_disk("sub.kept/a.txt"), Some(nine()));
}

#[test]
fn an_accepted_deletion_or_renaming_does_not_go_through_a_link_that_came_later() {
    let (_scene, folder) = accepted("delete", json!({ "path": "sub/a.txt" }));
    assert!(folder.join("a.txt").exists());
    let (scene, folder) = accepted("rename", json!({ "path": "sub/a.txt", "to": "b.txt" }));
    assert!(folder.join("a.txt").exists());
    assert_eq!(scene.on_disk("b.txt"), None);
}
