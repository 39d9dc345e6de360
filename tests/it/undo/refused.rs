//! Cases in which `/undo` is refused, and the parts of a conversation that an undo keeps.

use super::{send, talked, wait_composer, wide};
use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::kit::server::Server;
use crate::review::scene::Scene;
use serde_json::json;

/// Sends `/undo`, and checks that Caliban refuses it with this reason and leaves the transcript unchanged.
fn refused(nvim: &Nvim, why: &str) {
    let before = nvim.transcript();
    nvim.lua("require('caliban').ask('/undo')", &[]);
    nvim.wait_screen(why);
    assert_eq!(nvim.transcript(), before);
    assert!(!nvim.setup.sessions().join("main-2.json").exists());
}

#[test]
fn an_undo_is_refused_during_a_turn_and_while_a_question_is_open() {
    let server = Server::start();
    let nvim = talked(&wide().anthropic(&server), &server, &["one"]);
    let gate = server.reply(Reply::new().text("Looking. ").gate().call(
        "s1",
        "shell",
        json!({ "command": "echo hi" }),
    ));
    nvim.lua("require('caliban').ask('two')", &[]);
    nvim.wait_transcript("Looking.");
    refused(&nvim, "A turn is running. Stop it first (<C-c>).");
    gate.finish();
    nvim.wait_question();
    refused(&nvim, "A turn is running. Stop it first (<C-c>).");
    nvim.keys("<C-c>");
    nvim.wait_phase("idle");
    nvim.keys("i/undo<C-s>");
    wait_composer(&nvim, "two");
    send(&nvim, &server, "Without the command.");
    let outline = server.requests().pop().unwrap().outline();
    assert_eq!(outline, "user: one\nassistant: Reply to one.\nuser: two");
}

#[test]
fn an_undo_is_refused_while_changes_are_under_review() {
    let scene = Scene::two_hunks(|it| it.size(240, 40));
    scene.nvim.keys(":Caliban stop<CR>");
    scene.nvim.wait_phase("idle");
    assert_eq!(scene.pending(), 2);
    let why = "You have not decided on the changes in a.txt. Accept or reject them first.";
    refused(&scene.nvim, why);
    scene.nvim.keys(":Caliban reject all<CR>");
    scene.wait_hunks(0);
    scene.nvim.keys(":Caliban<CR>i/undo<C-s>");
    wait_composer(&scene.nvim, "please");
}

#[test]
fn an_undo_keeps_the_queued_messages() {
    let server = Server::start();
    let nvim = talked(&wide().anthropic(&server), &server, &["one"]);
    let gate = server.reply(Reply::new().text("Looking. ").gate());
    nvim.lua("require('caliban').ask('two')", &[]);
    nvim.wait_transcript("Looking.");
    nvim.lua("require('caliban').ask('queued words')", &[]);
    nvim.wait_queue(1);
    nvim.keys(":Caliban stop<CR>");
    nvim.wait_phase("idle");
    drop(gate);
    nvim.keys("i/undo<C-s>");
    wait_composer(&nvim, "two");
    nvim.wait_queue(1);
    nvim.wait_transcript("queued words");
    // after the stop the queue is held
    server.reply(Reply::said("From the queue."));
    nvim.keys("<Esc>:%delete<CR>");
    nvim.go_to_transcript("queued words");
    nvim.keys("S");
    nvim.wait_transcript("From the queue.");
    nvim.wait_phase("idle");
    let outline = server.requests().pop().unwrap().outline();
    assert_eq!(outline, "user: one\nassistant: Reply to one.\nuser: queued words");
}

#[test]
fn an_undo_with_a_wrong_number_is_refused() {
    let server = Server::start();
    let nvim = talked(&wide().anthropic(&server), &server, &["one"]);
    for (sent, why) in [
        ("/undo 0", "/undo takes a number: /undo 2 takes back your last two messages."),
        ("/undo all", "/undo takes a number: /undo 2 takes back your last two messages."),
        ("/undo 2", "There is no message of yours to go back to."),
    ] {
        nvim.command("messages clear");
        nvim.keys(&format!("i{sent}<C-s><Esc>"));
        nvim.wait_screen(why);
        nvim.keys(":<Esc>");
    }
    nvim.keys(":Caliban undo x<CR>");
    nvim.wait_screen(
        "Give a number of at least 1: :Caliban undo 2 takes back your last two messages.",
    );
    assert!(nvim.transcript().contains("Reply to one."));
}
