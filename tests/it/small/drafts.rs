//! Drafts of several rows, and questions that are taller than the window, on small screens.

use super::small;
use crate::asks::{ask, question};
use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::kit::server::Server;
use serde_json::json;

/// Sizes at which the chat is below the code, in a tab, and beside the code.
const SIZES: [(u16, u16); 3] = [(80, 24), (60, 20), (120, 24)];
const EIGHT: &str = "one<CR>two<CR>three<CR>four<CR>five<CR>six<CR>seven<CR>eight";

/// The rows of the windows of transcript, composer and code, without their bars.
fn rows(nvim: &Nvim) -> [u64; 3] {
    let code = "local chat = require('caliban.chat.chats').current
        local function rows(of)
          local win = vim.fn.win_findbuf(of)[1]
          return win and vim.fn.getwininfo(win)[1].height or 0
        end
        return { rows(chat.transcript), rows(chat.composer), rows(vim.fn.bufnr('a.txt')) }";
    serde_json::from_value(nvim.lua_json(code)).unwrap()
}

#[track_caller]
fn wait_rows(nvim: &Nvim, fits: impl Fn([u64; 3]) -> bool, awaited: &str) {
    let fits = |it: &Nvim| fits(rows(it));
    nvim.wait(fits, &format!("{awaited}; transcript, composer, code are {:?}", rows(nvim)));
}

#[test]
fn a_composer_grows_with_its_draft_and_leaves_half_of_the_screen_to_a_turn() {
    for (columns, lines) in SIZES {
        let what = format!("at {columns}x{lines}");
        let half = u64::from(lines.div_ceil(2)) - 1;
        let server = Server::start();
        let gate = server.reply(Reply::new().text("I work.").gate().text(" Done."));
        server.reply(Reply::new().call("c1", "shell", json!({ "command": "touch a" })));
        let nvim = Nvim::start(&small(&server).size(columns, lines));
        nvim.keys(":edit a.txt<CR>:Caliban<CR>i");
        wait_rows(&nvim, |it| it[1] == 1, &format!("one row {what}"));
        nvim.keys("a<CR>b<CR>c");
        wait_rows(&nvim, |it| it[1] == 3, &format!("three rows {what}"));
        let calm = rows(&nvim);
        nvim.keys("<C-s>");
        nvim.wait_screen("I work.");
        nvim.keys(EIGHT);
        let fits = |it: [u64; 3]| it[0] >= half && it[1] >= 3 && (it[2] == 0 || it[2] >= 3);
        wait_rows(&nvim, fits, &format!("a turn beside a draft {what}"));
        nvim.wait_screen("eight");
        gate.finish();
        nvim.wait_phase("idle");
        nvim.keys("<Esc>ggdGia<CR>b<CR>c");
        wait_rows(&nvim, |it| it == calm, &format!("{calm:?} again {what}"));
        // the draft is there before the question
        nvim.keys("<C-s>");
        nvim.keys(EIGHT);
        nvim.wait_question();
        wait_rows(&nvim, fits, &format!("a question beside a draft {what}"));
        nvim.keys("<Esc><Tab>y");
        nvim.wait_gone("y once");
        assert_eq!(nvim.composer().lines().count(), 8, "{what}");
    }
}

/// An answer to the model allows nothing, so nothing has to be read first.
#[test]
fn a_question_of_the_model_that_is_taller_than_the_window_is_answered_by_its_keys() {
    for (columns, lines) in [(80, 24), (60, 20), (120, 30)] {
        let server = Server::start();
        let mut it = question("Which one?", &["One", "Two", "Three", "Four"]);
        for at in 0..4 {
            it["options"][at]["description"] = json!("some words and ".repeat(13));
        }
        it["question"] = json!("Which one of these shall it be? ".repeat(12).trim());
        server.reply(ask("c1", &[it]));
        let nvim = Nvim::start(&small(&server).size(columns, lines));
        nvim.keys(":Caliban<CR>igo<C-s><Esc>");
        nvim.wait_asked("Which one of these");
        server.reply(Reply::said("Two it is."));
        nvim.keys("<Tab>2");
        nvim.wait_screen("Two it is.");
        assert!(server.requests()[1].last_user_text().contains("→ Two"), "{columns}x{lines}");
    }
}
