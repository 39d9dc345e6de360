//! Where calls and questions stand in the chat after a review.

use super::scene::{Scene, edit, nine};
use crate::kit::reply::Reply;
use expect_test::expect;
use serde_json::json;

/// Reviews one change with `keys`, lets the model ask for two commands, and answers each with one of `answers`. Compares
/// the lines of the conversation that are not empty, without the times.
#[track_caller]
fn check(keys: &str, answers: [&str; 2]) {
    let scene = Scene::start(|it| it.file("a.txt", nine()));
    let nvim = &scene.nvim;
    nvim.keys(":edit a.txt<CR>");
    scene.ask(Reply::new().call("e1", "edit", edit("a.txt", &[("l2", "L2")])));
    scene.wait_pending(1);
    for word in ["First", "Second"] {
        let call = json!({ "command": format!("rm -f {word}") });
        scene.server.reply(Reply::said(&format!("{word} command.")).call(word, "shell", call));
    }
    scene.server.reply(Reply::said("Over."));
    nvim.keys("]h");
    nvim.keys(keys);
    for (word, answer) in ["First", "Second"].into_iter().zip(answers) {
        nvim.wait_screen(&format!("? Run `rm -f {word}`?"));
        nvim.wait_question();
        nvim.keys("<C-w>b<Esc><C-w>kG");
        nvim.keys(answer);
    }
    scene.wait_idle("Over.");
    let shown = nvim.conversation();
    let lines = shown.lines().filter(|it| !it.is_empty()).collect::<Vec<_>>();
    let expect = expect![[r#"
        please
        ▸ edit  a.txt
        First command.
        ▸ shell  rm -f First
        Second command.
        ▸ shell  rm -f Second
        Over."#]];
    expect.assert_eq(&lines.join("\n"));
}

#[test]
fn a_call_that_was_asked_about_after_a_review_stands_below_its_text() {
    check("\\a", ["y", "y"]);
}

#[test]
fn a_refused_call_after_a_review_stands_below_its_text() {
    check("\\r", ["n", "n"]);
}
