//! What is on small screens when something waits for the user, and the keys that lead on.

use super::small;
use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::kit::server::Server;
use crate::review::scene::Scene;
use serde_json::json;

const SIZES: [(u16, u16); 3] = [(80, 24), (60, 20), (120, 30)];

/// Waits until all these texts are on the screen at once.
#[track_caller]
fn shows(nvim: &Nvim, texts: &[&str], what: &str) {
    let all = |it: &Nvim| {
        let screen = it.screen();
        texts.iter().all(|text| screen.contains(text))
    };
    nvim.wait(all, what);
}

#[test]
fn the_answer_about_a_permission_is_on_the_screen_while_a_question_is_open() {
    for (columns, rows) in SIZES {
        let server = Server::start();
        server.reply(Reply::new().call("c1", "shell", json!({ "command": "touch a" })));
        let nvim = Nvim::start(&small(&server).size(columns, rows));
        nvim.keys(":Caliban<CR>igo<C-s><Esc>");
        nvim.wait_question();
        nvim.keys(":Caliban permissions cargo publish<CR>");
        nvim.wait_screen("cargo publish");
        shows(&nvim, &["needs your consent"], &format!("the answer at {columns}x{rows}"));
    }
}

#[test]
fn a_key_accepts_all_files_and_others_go_to_other_conversations() {
    let server = Server::start();
    let edit = |old: &str| json!({ "edits": [{ "old": old, "new": "ONE" }] });
    let with = |path: &str, old: &str| {
        let mut it = edit(old);
        it["path"] = json!(path);
        it
    };
    server.reply(Reply::new().call("e1", "edit", with("a.txt", "one")).call(
        "e2",
        "edit",
        with("b.txt", "two"),
    ));
    server.otherwise(Reply::said("Done."));
    let nvim = Nvim::start(&small(&server).file("b.txt", "two\n"));
    nvim.keys(":edit a.txt<CR>:Caliban<CR>igo<C-s><Esc>");
    nvim.wait_pending(2);
    nvim.keys("<C-w>tgg]h\\*");
    nvim.wait_transcript("Done.");
    nvim.wait_phase("idle");
    let on_disk = ["a.txt", "b.txt"].map(|it| nvim.setup.on_disk(it).unwrap());
    assert_eq!(on_disk, ["ONE\n", "ONE\n"]);
    nvim.keys(":Caliban<CR><C-^>");
    nvim.wait_screen("No other conversation is open. gs lists all.");
    nvim.keys(":Caliban new<CR>");
    nvim.wait_session("main-2");
    nvim.keys("<C-^>");
    nvim.wait_session("main");
    nvim.keys("<C-w>k<C-^>");
    nvim.wait_session("main-2");
    nvim.keys("gs");
    nvim.wait_screen("Type number");
}

#[test]
fn the_chat_comes_back_when_only_a_composer_of_one_row_is_left() {
    let shown = "local chat = require('caliban.chat.chats').current
        return #vim.fn.win_findbuf(chat.transcript) > 0 and #vim.fn.win_findbuf(chat.composer) > 0";
    for (columns, rows) in SIZES {
        let scene = Scene::two_hunks(|it| it.size(columns, rows));
        let nvim = &scene.nvim;
        nvim.keys(":only<CR>:Caliban<CR>");
        nvim.wait_screen("a.txt");
        nvim.keys("<Esc><C-w>k<C-w>t");
        // the code window closes, and Neovim shows the file in the transcript's window because it is not saved
        nvim.keys(":quit<CR>:qall<CR>");
        nvim.wait_screen("E37");
        nvim.keys("<CR>");
        nvim.keys(":Caliban<CR>");
        nvim.wait(|it| it.lua_json(shown) == true, "the chat's two windows");
        assert!(!nvim.screen().contains("There is no room"), "{}", nvim.screen());
    }
}
