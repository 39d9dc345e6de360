//! A new file under review that another program creates on disk: nobody is asked, and the review shows what differs.

use super::scene::{Scene, write};
use crate::kit::reply::Reply;
use expect_test::expect;
use serde_json::json;
use std::fs;

fn pending(text: &str) -> Scene {
    let scene = Scene::start(|it| it.config("{ sandbox = false }"));
    scene.nvim.keys(":edit c.txt<CR>");
    scene.ask(Reply::new().call("w1", "write", write("c.txt", text)));
    scene.wait_pending(1);
    scene
}

/// The user's shell creates the file, and Neovim looks at it.
fn by_user(scene: &Scene) {
    fs::write(scene.nvim.setup.path("c.txt"), "other\n").unwrap();
    scene.nvim.command("doautocmd FocusGained");
    scene.nvim.keys(":checktime<CR>");
}

/// The model's own command creates the file, while the turn of the review goes on.
fn by_command(scene: &Scene) {
    let call = Reply::new().call("s1", "shell", json!({ "command": "echo other > c.txt" }));
    scene.nvim.command("Caliban stop");
    scene.wait_phase("idle");
    scene.ask(call);
    scene.server.reply(Reply::said("It ran."));
    scene.nvim.wait_question();
    scene.nvim.keys(":Caliban approve<CR>");
    scene.wait_idle("It ran.");
}

fn state(scene: &Scene) -> (String, bool, Option<String>) {
    let code = "return vim.bo[vim.fn.bufnr('c.txt')].modified";
    let modified = scene.nvim.lua_json(code) == true;
    (scene.nvim.buffer("/c.txt"), modified, scene.on_disk("c.txt"))
}

#[test]
fn a_new_file_that_appears_on_disk_is_reviewed_against_the_text_on_disk() {
    for appears in [by_user as fn(&Scene), by_command] {
        for text in ["new\n", ""] {
            for verdict in ["accept", "reject"] {
                let scene = pending(text);
                appears(&scene);
                assert!(!scene.nvim.is_blocked(), "{}", scene.nvim.screen());
                scene.wait_hunks(1);
                scene
                    .nvim
                    .wait(|_| scene.said().contains("c.txt was created on disk"), "a message");
                assert_eq!(scene.nvim.buffer("/c.txt"), text.trim_end());
                scene.server.otherwise(Reply::said("I see."));
                scene.nvim.keys(&format!(":Caliban {verdict} all<CR>"));
                scene.wait_hunks(0);
                let after = if verdict == "accept" { text } else { "other\n" };
                let wanted = (after.trim_end().to_owned(), false, Some(after.to_owned()));
                assert_eq!(state(&scene), wanted, "{verdict} {text:?}: {}", scene.said());
                scene.nvim.keys(":checktime<CR>ggOmine<Esc>:wa<CR>");
                assert!(!scene.nvim.is_blocked(), "{}", scene.nvim.screen());
                assert!(scene.on_disk("c.txt").unwrap().starts_with("mine\n"), "{}", scene.said());
            }
        }
    }
}

#[test]
fn a_decision_waits_if_the_file_has_just_appeared() {
    let scene = pending("new\n");
    fs::write(scene.nvim.setup.path("c.txt"), "other\n").unwrap();
    scene.nvim.command("messages clear");
    scene.nvim.keys(":Caliban accept all<CR>");
    scene.wait_hunks(1);
    assert_eq!(scene.on_disk("c.txt").as_deref(), Some("other\n"));
    expect![[r#"
        c.txt was created on disk while you were reviewing it. The review shows what differs.
        Nothing is decided yet: changes of c.txt have become others on disk. Look at them, and decide again."#]].assert_eq(&scene.said());
    scene.server.reply(Reply::said("I see."));
    scene.nvim.keys(":Caliban reject all<CR>");
    scene.wait_idle("I see.");
    expect![[r#"
        The user rejected the change in c.txt: it is undone.
        The file changed elsewhere too:
        @@ line 1
        -
        +other"#]]
    .assert_eq(&scene.answer(2, "w1"));
    assert_eq!(state(&scene), ("other".into(), false, Some("other\n".into())));
}
