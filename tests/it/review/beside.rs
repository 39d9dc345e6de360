//! The words beside the call of an edit: nothing is said to be under review once nothing is.

use super::life::kill_program;
use super::reopened::quit;
use super::scene::{Scene, edit, nine, write};
use crate::kit::reply::Reply;

/// Two edits of one file, one of another, and a new file.
fn proposed() -> Scene {
    let scene = Scene::start(|it| it.file("a.txt", nine()).file("b.txt", nine()));
    scene.nvim.keys(":edit a.txt<CR>");
    scene.ask(
        Reply::new()
            .call("e1", "edit", edit("a.txt", &[("l2", "L2")]))
            .call("e2", "edit", edit("a.txt", &[("l8", "L8")]))
            .call("e3", "edit", edit("b.txt", &[("l5", "L5"), ("l9", "L9")]))
            .call("w1", "write", write("new.txt", "first\n")),
    );
    scene.wait_pending(5);
    scene
}

/// The words beside the calls, on the screen.
fn beside(scene: &Scene) -> Vec<String> {
    let screen = scene.nvim.screen();
    let rows = screen.lines().filter_map(|row| row.split_once('▸').map(|it| it.1));
    let rows = rows.map(|row| row.split_whitespace().collect::<Vec<_>>().join(" "));
    rows.map(|row| row.replace(" new file", "")).collect()
}

/// Accepts the edits of `a.txt` and the new file, rejects one of the two changes of `b.txt`, and checks the words.
fn decide(scene: &Scene, counted: bool) {
    scene.nvim.keys(":edit new.txt<CR>:Caliban accept file<CR>");
    scene.wait_hunks(4);
    scene.nvim.keys(":edit a.txt<CR>:Caliban accept file<CR>");
    scene.wait_hunks(2);
    scene
        .nvim
        .keys(":edit b.txt<CR>5G:Caliban reject<CR>:Caliban accept file<CR>:Caliban<CR><C-w>kG");
    scene.wait_hunks(0);
    let one = if counted { "1 accepted" } else { "accepted" };
    let expected = [
        format!("edit a.txt {one}"),
        format!("edit a.txt {one}"),
        "edit b.txt 1 accepted · 1 rejected".to_owned(),
        "write new.txt 1 accepted".to_owned(),
    ];
    scene.nvim.wait(|_| beside(scene) == expected, &format!("{expected:?}"));
}

#[test]
fn the_verdict_on_an_edit_of_a_stopped_turn_is_beside_its_call() {
    let scene = proposed();
    scene.nvim.keys(":Caliban stop<CR>");
    scene.wait_phase("idle");
    decide(&scene, true);
}

#[test]
fn the_verdict_on_an_edit_of_a_killed_program_is_beside_its_call() {
    let scene = proposed();
    kill_program(&scene);
    scene.nvim.keys(":Caliban restart<CR>");
    scene.wait_phase("idle");
    decide(&scene, false);
}

#[test]
fn the_verdict_on_an_edit_of_an_ended_editor_is_beside_its_call() {
    let scene = quit(proposed());
    scene.wait_hunks(5);
    scene.nvim.keys(":Caliban<CR>");
    scene.wait_phase("idle");
    decide(&scene, false);
}

#[test]
fn an_edit_whose_review_is_lost_is_not_said_to_be_under_review() {
    let scene = Scene::two_hunks(|it| it);
    scene.nvim.wait(|it| it.setup.review_records().len() == 1, "the record of the review");
    scene.nvim.kill();
    for record in scene.nvim.setup.review_records() {
        std::fs::remove_file(record).unwrap();
    }
    let scene = super::reopened::start_again(scene);
    scene.nvim.keys(":Caliban<CR>");
    scene.wait_chat("Changes to a.txt were under review when the editor");
    scene.nvim.wait(|_| beside(&scene) == ["edit a.txt review lost"], "the words beside the call");
}
