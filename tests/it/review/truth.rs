//! What is told about a verdict is what happened. Each row of a table is a situation: what the model hears, what the
//! user reads, and the bytes on disk.

mod disk;
mod ends;
mod formatters;
mod new_files;
mod outside;
mod reasons;
mod strangers;

use super::scene::{Scene, nine};
use crate::kit::reply::Reply;
use std::fs;

/// The hunks of `Scene::two_hunks` and of `Scene::two_written`, on disk.
fn both() -> String {
    nine().replace("l2", "L2").replace("l8", "L8\nL8b")
}

/// The file's text in a few words.
fn named(text: Option<String>) -> String {
    match text {
        None => "no file".to_owned(),
        Some(it) if it == nine() => "as it was".to_owned(),
        Some(it) if it == both() => "both changes".to_owned(),
        Some(it) => it.trim_end().replace('\n', " "),
    }
}

/// The text that the model gets, the user's last message about the file, and the file on disk.
fn story(scene: &Scene, heard: &str) -> String {
    let said = scene.said();
    let read = said.lines().rev().find(|it| it.starts_with("a.txt"));
    assert!(!scene.nvim.is_blocked(), "{}", scene.nvim.screen());
    format!("{heard}\n---\n{}\n---\n{}", read.unwrap_or("nothing"), named(scene.on_disk("a.txt")))
}

fn put(scene: &Scene, text: &str) {
    fs::write(scene.nvim.setup.path("a.txt"), text).unwrap();
}

/// What the model hears with the user's next message.
fn told(scene: &Scene) -> String {
    let told = scene.told_next();
    let heard = told.replace("<notice>\n", "").replace("\n</notice>", "");
    heard.trim_end_matches("\nand?").to_owned()
}

/// In auto-edit mode, both hunks are written and the turn is over. Then another program changes the file to `theirs`,
/// the user types `keys`, and later sends a message.
#[track_caller]
fn written(before: &str, theirs: Option<String>, keys: &str) -> String {
    let scene = Scene::two_written(|it| it.before(before));
    if let Some(theirs) = theirs {
        put(&scene, &theirs);
    }
    decide(&scene, keys);
    scene.wait_hunks(0);
    story(&scene, &told(&scene))
}

/// Types keys that decide, and once more if hunks have become others on disk.
fn decide(scene: &Scene, keys: &str) {
    scene.nvim.keys(keys);
    if scene.said().contains("decide again") {
        scene.nvim.keys(keys);
    }
}

/// In ask mode, both hunks wait for the user. Then `act` happens, and the user types `keys`.
#[track_caller]
fn asked(before: &str, act: impl FnOnce(&Scene), keys: &str) -> String {
    let scene = Scene::two_hunks(|it| it.before(before));
    scene.server.reply(Reply::said("I see."));
    act(&scene);
    scene.nvim.keys(keys);
    scene.wait_idle("I see.");
    story(&scene, &scene.answer(2, "e1"))
}

const ACCEPT: &str = ":Caliban accept all<CR>";
const REJECT: &str = ":Caliban reject all<CR>";

fn nothing(_: &Scene) {}
