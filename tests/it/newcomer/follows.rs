//! What a chat shows after the user was elsewhere: the time of a running call goes on, and the end of the chat is shown
//! after a decision in another window.

use super::small;
use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::kit::server::Server;
use crate::plans::planned;
use crate::review::scene::{Scene, edit, nine};
use serde_json::json;

/// The common sizes of a terminal, and one in which the chat has a tab of its own.
const SIZES: [(u16, u16); 5] = [(80, 24), (60, 20), (120, 36), (200, 50), (50, 18)];

/// Waits until the words beside the running call change.
#[track_caller]
fn wait_tick(nvim: &Nvim, after: &str) {
    let time = |it: &Nvim| {
        let screen = it.screen();
        let row = screen.lines().find(|row| row.contains(" shell  sleep")).map(str::to_owned);
        row.and_then(|it| it.split_once("running ").map(|it| it.1.trim_end().to_owned()))
    };
    nvim.wait(|it| time(it).is_some(), &format!("the running call {after}"));
    let before = time(nvim);
    let ticks = |it: &Nvim| time(it).is_some() && time(it) != before;
    nvim.wait(ticks, &format!("the time of the running call to go on {after}"));
}

#[test]
fn the_time_of_a_running_call_goes_on_whenever_its_chat_is_shown_again() {
    let server = Server::start();
    server.reply(Reply::new().call("c1", "shell", json!({ "command": "sleep 600" })));
    let rules = "{ mode = 'auto', sandbox = false, permissions = { { allow = 'shell', command = 'sleep' } } }";
    let nvim = Nvim::start(&small(&server).config(rules));
    nvim.keys(":edit a.txt<CR>:Caliban<CR>igo<C-s><Esc>");
    wait_tick(&nvim, "at first");
    let silent = "return require('caliban.chat.spinner').is_active()";
    let ways = [
        (":Caliban new other<CR>", ":Caliban resume main<CR>"),
        ("<Esc><C-^>", "<Esc><C-^>"),
        (":Caliban toggle<CR>", ":Caliban<CR>"),
        (":tabnew<CR>", ":tabclose<CR>"),
        ("<C-w>t:only<CR>", ":Caliban<CR>"),
        ("<C-w>t<C-w>j:edit a.txt<CR>", ":Caliban<CR>"),
    ];
    for (away, back) in ways {
        nvim.keys(away);
        nvim.wait(|it| it.lua_str(silent) == "false", &format!("no timer after {away}"));
        nvim.keys(back);
        wait_tick(&nvim, &format!("after {away} and {back}"));
    }
}

#[test]
fn after_a_decision_on_a_plan_in_its_window_the_chat_shows_what_follows() {
    for (columns, rows) in SIZES {
        let server = Server::start();
        server.reply(planned("p1", "- `a.txt`: one"));
        let nvim = Nvim::start(&small(&server).size(columns, rows));
        nvim.keys(":edit a.txt<CR>:Caliban<CR>i/plan make it fast<C-s><Esc>");
        nvim.wait_screen("Plan · waits");
        nvim.keys("<Tab><CR>");
        let takes_keys = |it: &Nvim| {
            it.screen().lines().any(|it| it.contains("waits") && it.contains("\\a accept"))
        };
        nvim.wait(takes_keys, "the keys of the plan's window");
        server.reply(Reply::said("A question first.\n\nWhich of the two?"));
        nvim.keys("\\rno<CR>");
        nvim.wait_transcript("Which of the two?");
        nvim.wait_phase("idle");
        nvim.wait_screen("Which of the two?");
        // the model has submitted no other plan
        let window = "return vim.fn.bufwinid('/plan$')";
        nvim.wait(|it| it.lua_str(window) == "-1", "the end of the plan's window");
    }
}

#[test]
fn after_the_last_decision_in_the_code_the_chat_shows_what_follows() {
    for (columns, rows) in SIZES {
        let scene = Scene::start(|it| it.file("a.txt", nine()).size(columns, rows));
        let nvim = &scene.nvim;
        nvim.keys(":edit a.txt<CR>");
        scene.ask_until(Reply::said(&"A line of an answer.\n\n".repeat(12)), "A line");
        scene.ask(Reply::new().call("e1", "edit", edit("a.txt", &[("l2", "L2"), ("l8", "L8")])));
        scene.wait_pending(2);
        nvim.keys(":Caliban<CR><Esc>");
        nvim.go_to_transcript("please");
        nvim.keys(":Caliban next<CR>");
        let text = (1..=9).fold(String::new(), |text, n| text + &format!("Word {n} of it.\n\n"));
        scene.server.reply(Reply::said(&(text + "The last word.")));
        nvim.keys("\\A");
        scene.wait_idle("The last word.");
        if (columns, rows) == (50, 18) {
            nvim.keys(":Caliban<CR><Esc>");
        }
        nvim.wait_screen("The last word.");
    }
}
