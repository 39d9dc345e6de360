//! The user reads a file under review again with `:e!` after another program changed it: the model is told the new
//! text once.

use crate::kit::reply::Reply;
use crate::review::scene::Scene;
use std::fs;

/// Another program writes other lines into the file, and the user reads the file again.
fn read_anew(scene: &Scene) {
    let other = (1..=9).fold(String::new(), |text, n| text + &format!("other {n}\n"));
    fs::write(scene.nvim.setup.path("a.txt"), other).unwrap();
    scene.nvim.keys(":edit!<CR>");
    scene.wait_hunks(0);
}

#[track_caller]
fn is_told_once(request: &str) {
    for n in 1..=9 {
        assert_eq!(request.matches(&format!("other {n}")).count(), 1, "line {n} in {request}");
    }
}

#[test]
fn the_verdict_on_a_reread_file_tells_the_model_no_line_twice() {
    let scene = Scene::two_hunks(|it| it);
    scene.server.reply(Reply::said("I see."));
    read_anew(&scene);
    scene.wait_idle("I see.");
    is_told_once(&scene.request(2).json["messages"].to_string());
    is_told_once(&format!("{}{}", scene.answer(2, "e1"), scene.told_next()));
}

#[test]
fn the_late_verdict_on_a_reread_file_tells_the_model_no_line_twice() {
    let scene = Scene::two_written(|it| it);
    read_anew(&scene);
    is_told_once(&scene.told_next());
}
