//! The setting `icons`: with `ascii` no other character of Caliban's is on the screen.

use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::review::scene::{Scene, edit};
use serde_json::json;

/// Waits until `shown` is on the screen, and checks that the screen has only ASCII.
#[track_caller]
fn is_plain(nvim: &Nvim, shown: &str) {
    nvim.wait_screen(shown);
    let screen = nvim.screen();
    let odd: Vec<&str> = screen.lines().filter(|it| !it.is_ascii()).collect();
    assert!(odd.is_empty(), "at {shown:?}:\n{}", odd.join("\n"));
}

#[test]
fn with_ascii_signs_a_whole_session_shows_only_ascii() {
    let scene = Scene::start(|it| {
        let text = (1..20).fold(String::new(), |all, n| all + &format!("l{n}\n"));
        let it = it.file("a.txt", &text).size(120, 45).config("{ icons = 'ascii' }");
        it.before("vim.opt.fillchars = 'vert:|,horiz:-,horizup:-,horizdown:-,vertleft:|,vertright:|,verthoriz:+'")
    });
    let nvim = &scene.nvim;
    nvim.keys(":edit a.txt<CR>:Caliban<CR>");
    is_plain(nvim, "Project");
    nvim.keys("isee @a.txt ");
    is_plain(nvim, "|a.txt");
    let text = "# One\n\n- a\n- [ ] b\n\n> c\n\n| d | e |\n|---|---|\n| f | g |\n\n---\n\nI read.";
    let calls = Reply::new().thinking("Hm.").text(text);
    let calls = calls.call("r1", "read", json!({ "path": "a.txt" }));
    let calls = calls.call("r2", "read", json!({ "path": "no" }));
    scene.server.reply(calls.call("s1", "shell", json!({ "command": "cp a.txt c.txt\nls" })));
    let edited = Reply::new().call("e1", "edit", edit("a.txt", &[("l2", "L2\nL2b"), ("l15", "")]));
    scene.server.reply(edited);
    scene.server.reply(Reply::said("Done."));
    scene.server.otherwise(Reply::said("Then."));
    nvim.keys("<C-s><Esc>");
    nvim.wait_question();
    is_plain(nvim, "Thought for");
    nvim.keys("iand then<C-s><Esc>");
    is_plain(nvim, "and then");
    nvim.keys(":Caliban approve<CR>");
    is_plain(nvim, "2 changes by Caliban");
    nvim.keys(":Caliban sessions<CR>");
    is_plain(nvim, "Type number and <Enter>");
    nvim.keys("<CR>:Caliban accept all<CR>");
    scene.wait_idle("Then.");
    is_plain(nvim, "2 accepted, saved");
    nvim.go_to_transcript("edit  a.txt");
    nvim.keys("<CR>");
    is_plain(nvim, "    ...");
    nvim.keys(":Caliban<CR><Esc>g?");
    is_plain(nvim, "+-");
    nvim.keys("q:Caliban undo<CR>");
    is_plain(nvim, "You went back to before");
    assert!(nvim.lua_str("return require('caliban').status(100)").is_ascii());
    // what the model wrote stays as it is
    assert!(nvim.transcript().contains("- [ ] b"));
    let found =
        |id: &str, pattern: &str| Reply::new().call(id, "grep", json!({ "pattern": pattern }));
    let long = format!("…{}", "x".repeat(100));
    scene.server.reply(found("g1", "a…▸ ⏎b").call("g2", "shell", json!({ "command": "ls…\n▾" })));
    scene.server.reply(found("g3", &long));
    scene.server.reply(Reply::said("Last."));
    scene.nvim.lua("require('caliban').ask('go')", &[]);
    nvim.wait_question();
    nvim.keys(":Caliban approve<CR>");
    scene.wait_idle("Last.");
    let chat = nvim.transcript();
    assert!(chat.contains(r#"+ grep  pattern="a…▸ ⏎b""#), "{chat}");
    assert!(chat.contains(r"+ shell  ls…\n▾"), "{chat}");
    assert!(chat.contains("+ grep  pattern=\"…xxx") && chat.contains("xxx...\""), "{chat}");
}
