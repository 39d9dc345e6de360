//! A decision that the user has undone does not count: the model is told so, and so is the chat.

use super::scene::{Scene, edit, nine};
use crate::kit::chat::assert_grows;
use crate::kit::reply::Reply;

const AGAIN: &str = "The changes in a.txt are under review again.";

fn proposed(mode: &str) -> Scene {
    let scene = Scene::start(|it| it.file("a.txt", nine()));
    scene.nvim.keys(&format!(":Caliban<CR>:Caliban mode {mode}<CR>"));
    scene.nvim.wait_screen(&format!(" · {mode} · "));
    scene.nvim.keys("<C-w>p:edit a.txt<CR>");
    scene.server.reply(Reply::new().call("e1", "edit", edit("a.txt", &[("l2", "L2")])));
    scene.server.reply(Reply::said("Made."));
    scene.nvim.lua("require('caliban').ask('go')", &[]);
    scene.wait_hunks(1);
    scene
}

#[test]
fn a_decision_that_was_undone_does_not_count() {
    for mode in ["ask", "auto-edit"] {
        for (key, verdict) in [("accept", "accepted"), ("reject", "rejected")] {
            let scene = proposed(mode);
            scene.nvim.keys(&format!("2G:Caliban {key}<CR>"));
            scene.wait_hunks(0);
            scene.wait_chat("Made.");
            scene.wait_idle("Made.");
            scene.nvim.keys("u");
            scene.wait_hunks(1);
            scene.wait_chat(AGAIN);
            let told = scene.told_next();
            assert!(told.contains(AGAIN), "{mode} {key}: {told}");
            let all = scene.server.requests().pop().unwrap().outline();
            let (_, after) = all.rsplit_once(&format!("The user {verdict} ")).expect(&all);
            assert!(after.contains(AGAIN), "{mode} {key}: {all}");
            scene.nvim.keys("2G:Caliban reject<CR>");
            scene.wait_hunks(0);
            let told = scene.told_next();
            assert!(told.contains("The user rejected"), "{mode} {key}: {told}");
            assert!(!told.contains(AGAIN), "{mode} {key}: {told}");
            assert_grows(scene.server.requests());
        }
    }
}
