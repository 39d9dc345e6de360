//! What an undone message told the model of the world goes with the next message again.

use super::wait_composer;
use crate::kit::reply::Reply;
use crate::review::scene::{Scene, edit, nine};
use serde_json::json;

fn change() -> Reply {
    Reply::new().call("e1", "edit", edit("a.txt", &[("l2", "L2")]))
}

/// Sends a message, takes it back, and sends another one. Returns what the model got with each.
fn undone(scene: &Scene) -> [String; 2] {
    let first = scene.told_next();
    scene.nvim.keys(":Caliban undo<CR>");
    wait_composer(&scene.nvim, "and?");
    [first, scene.told_next()]
}

/// A conversation in which the user has sent a message before they accepted an edit. The verdict waits for the next
/// message.
fn accepted_later() -> Scene {
    let scene = Scene::start(|it| it.file("a.txt", nine()));
    scene.nvim.keys(":edit a.txt<CR>");
    scene.ask(change());
    scene.wait_pending(1);
    scene.server.reply(Reply::said("As you like."));
    scene.nvim.keys(":Caliban ask do b first<CR>");
    scene.wait_idle("As you like.");
    scene.nvim.keys(":Caliban accept all<CR>");
    scene.wait_hunks(0);
    scene
}

#[test]
fn a_verdict_that_went_with_an_undone_message_is_told_again() {
    let scene = accepted_later();
    let [first, second] = undone(&scene);
    assert!(first.contains("The user accepted"), "{first}");
    assert_eq!(second, first);
}

#[test]
fn a_copy_that_ends_earlier_is_told_a_later_verdict() {
    let scene = accepted_later();
    let first = scene.told_next();
    scene.nvim.keys(":Caliban<CR>");
    scene.nvim.go_to_transcript("As you like.");
    scene.nvim.keys(":Caliban fork<CR>");
    scene.nvim.wait(|it| it.session() != "main", "the copy");
    scene.nvim.wait_phase("idle");
    assert_eq!(scene.told_next(), first);
}

#[test]
fn a_rewind_that_went_with_an_undone_message_is_told_again() {
    let scene =
        Scene::start(|it| it.file("a.txt", nine()).config("{ mode = 'auto-edit' }").size(200, 40));
    scene.nvim.keys(":edit a.txt<CR>");
    scene.server.reply(change());
    scene.ask_until(Reply::said("Done."), "Done.");
    scene.nvim.keys(":Caliban rewind<CR>");
    scene.nvim.wait_screen("Type number and <Enter>");
    scene.nvim.keys("1<CR>");
    scene.nvim.wait_screen("take back all");
    scene.nvim.keys("a");
    scene.wait_chat("You took back the changes");
    let [first, second] = undone(&scene);
    assert!(first.contains("The user took back the changes"), "{first}");
    assert_eq!(second, first);
}

#[test]
fn the_end_of_a_job_that_went_with_an_undone_message_is_told_again() {
    let scene = Scene::start(|it| it.size(160, 40));
    let command = json!({ "command": "echo ready; sleep 1000", "background": true });
    scene.server.reply(Reply::new().call("c1", "shell", command));
    scene.nvim.lua("require('caliban').ask('go on')", &[]);
    scene.nvim.wait_question();
    scene.server.reply(Reply::said("It runs."));
    scene.nvim.keys(":Caliban approve<CR>");
    scene.wait_idle("It runs.");
    scene.nvim.keys(":Caliban restart<CR>");
    scene.wait_chat("is lost");
    let [first, second] = undone(&scene);
    assert!(first.contains("is lost"), "{first}");
    assert_eq!(second, first);
}
