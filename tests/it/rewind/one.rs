//! Taking back one of several files of a turn.

use crate::kit::reply::Reply;
use crate::review::scene::{Scene, edit, nine};

#[test]
fn one_of_two_files_is_taken_back_and_the_preview_stays_open_for_the_other() {
    let mode = "{ mode = 'auto-edit' }";
    let files = |it: crate::kit::setup::Setup| it.file("a.txt", nine()).file("b.txt", nine());
    let scene = Scene::start(|it| files(it).config(mode).size(120, 40));
    let reply = Reply::new().call("e1", "edit", edit("a.txt", &[("l2", "L2")])).call(
        "e2",
        "edit",
        edit("b.txt", &[("l3", "L3")]),
    );
    scene.server.reply(reply);
    scene.ask_until(Reply::said("I see."), "I see.");
    super::preview(&scene, "1");
    scene.nvim.keys("gg<CR>");
    scene.nvim.wait_screen("1 of 2 files taken back");
    scene.nvim.wait_screen("diff b.txt is restored");
    scene.wait(|it| it.setup.on_disk("a.txt") == Some(nine()), "a.txt as before");
    assert_ne!(scene.on_disk("b.txt"), Some(nine()));
    scene.nvim.keys("G<CR>");
    scene.nvim.wait_gone("take back all");
    scene.wait(|it| it.setup.on_disk("b.txt") == Some(nine()), "b.txt as before");
}
