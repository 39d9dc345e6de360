//! What is on small screens when something waits for the user, and the keys that lead on.

use super::small;
use crate::asks::{ask, question};
use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::kit::server::Server;
use crate::kit::setup::Setup;
use crate::plans::planned;
use crate::review::scene::{Scene, edit, nine};
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

#[test]
fn all_rows_of_a_wrapped_message_have_the_bar_of_the_users_messages() {
    for (columns, rows) in SIZES {
        let server = Server::start();
        server.reply(Reply::said("Yes."));
        let nvim = Nvim::start(&small(&server).size(columns, rows));
        let words = "some words and ".repeat(15);
        nvim.keys(&format!(":Caliban<CR>i{words}the end<C-s><Esc>"));
        nvim.wait_screen("Yes.");
        let is_barred = |it: &str| it.contains("┃ ");
        let rows = |it: &Nvim| {
            let screen = it.screen();
            let of: Vec<bool> = screen
                .lines()
                .filter(|it| it.contains("words") || it.contains("the end"))
                .map(is_barred)
                .collect();
            of
        };
        nvim.wait(|it| rows(it).len() > 2 && rows(it).iter().all(|it| *it), "a bar in each row");
    }
}

#[test]
fn wrapped_rows_of_an_option_are_indented_to_its_first_word() {
    let about =
        "one column, exact, and a migration of both tables and of all the exports of old years";
    for is_multiple in [false, true] {
        let server = Server::start();
        let mut question = question("How shall prices be stored?", &["Cents", "Floats"]);
        question["options"][0]["description"] = json!(about);
        question["multiple"] = json!(is_multiple);
        server.reply(ask("c1", &[question]));
        let nvim = Nvim::start(&small(&server).size(60, 20));
        nvim.keys(":Caliban<CR>igo<C-s><Esc>");
        nvim.wait_asked("e own words");
        let is_indented = |it: &Nvim| {
            let screen = it.screen();
            let rows: Vec<&str> = screen.lines().collect();
            let Some(at) = rows.iter().position(|it| it.contains("Cents (sugg")) else {
                return false;
            };
            let start = rows[at].find("Cents").unwrap();
            let next = rows[at + 1].len() - rows[at + 1].trim_start().len();
            next == start
        };
        nvim.wait(is_indented, "the second row below the first word");
    }
}

#[test]
fn a_plan_has_the_rows_of_an_empty_composer_and_no_stop_is_offered() {
    let server = Server::start();
    server.reply(planned("p1", "- one\n- two\n- three"));
    let setup = Setup::new().anthropic(&server).size(60, 20).file("a.txt", "one\n");
    let nvim = Nvim::start(&setup);
    nvim.keys(":edit a.txt<CR>:Caliban<CR>i/plan go<C-s><Esc>");
    nvim.wait_screen("\\a accept  \\c comment");
    let heights = "local chat = require('caliban.chat.chats').current
        local plan = vim.fn.bufwinid('caliban://' .. chat.session .. '/plan')
        local composer = vim.fn.win_findbuf(chat.composer)[1]
        return ('%d %s'):format(vim.api.nvim_win_get_height(composer), vim.api.nvim_win_get_height(plan) > 6)";
    nvim.wait(
        |it| it.lua_str(heights) == "1 true",
        "one row for the composer, the rest for the plan",
    );
    nvim.keys("<C-w>t");
    // the plan is on the screen before the status that says that the turn is over
    let keys = |it: &Nvim| {
        let screen = it.screen();
        screen.contains(":Caliban to the chat") && !screen.contains(":Caliban stop")
    };
    nvim.wait(keys, "the way to the chat, and no stop");
}

#[test]
fn a_plan_that_arrives_before_its_status_is_shown_in_the_same_rows() {
    let heights = "local chat = require('caliban.chat.chats').current
        local plan = vim.fn.bufnr('caliban://' .. chat.session .. '/plan')
        local function rows(buf) return vim.api.nvim_win_get_height(vim.fn.win_findbuf(buf)[1]) end
        return ('composer %d, chat %d, plan %d'):format(rows(chat.composer), rows(chat.transcript), rows(plan))";
    let late = "local chat = require('caliban.chat')
        local status = chat.status
        chat.status = function(message)
          if not message.plan then return status(message) end
          LATE = function() status(message) end
        end";
    for (columns, rows) in [(60, 20), (80, 24)] {
        let shown = [false, true].map(|is_late| {
            let server = Server::start();
            server.reply(planned("p1", "- one\n- two\n- three"));
            let setup = Setup::new().anthropic(&server).size(columns, rows).file("a.txt", "one\n");
            let nvim = Nvim::start(&setup);
            nvim.keys(":edit a.txt<CR>:Caliban<CR>");
            if is_late {
                nvim.lua(late, &[]);
            }
            nvim.keys("i/plan go<C-s><Esc>");
            nvim.wait_screen("Plan · waits");
            if is_late {
                nvim.wait(|it| it.lua_str("return LATE ~= nil") == "true", "the status");
                nvim.lua("LATE()", &[]);
            }
            nvim.wait_screen("● waiting for you");
            nvim.wait(|it| it.lua_str(heights).contains("composer 1,"), "one row for the composer");
            nvim.lua_str(heights)
        });
        assert_eq!(shown[0], shown[1], "{columns}x{rows}");
    }
}

#[test]
fn the_reply_to_a_comment_is_on_the_screen_above_the_folded_changes() {
    for (columns, rows) in SIZES {
        let scene =
            Scene::start(|it| it.size(columns, rows).file("a.txt", nine()).file("b.txt", nine()));
        let nvim = &scene.nvim;
        nvim.keys(":edit a.txt<CR>:Caliban<CR><Esc><C-w>t");
        let reply = Reply::new().call("e1", "edit", edit("a.txt", &[("l2", "L2"), ("l8", "L8")]));
        scene.ask(reply.call("e2", "edit", edit("b.txt", &[("l2", "L2"), ("l8", "L8")])));
        scene.wait_pending(4);
        let words = "Because it is so. ".repeat(20);
        scene.server.reply(Reply::said(&format!("{words}\n\nThat is why.")));
        nvim.keys("2G\\cwhy?<CR>");
        nvim.wait_phase("idle");
        shows(nvim, &["That is why.", "4 hunks in 2 files to review"], "the reply and the changes");
        nvim.keys(":Caliban<CR><Esc><Tab>");
        // on the first hunk, or on the head of a list that has no room for its hunks
        let leads = |it: &Nvim| {
            let words = ["\\a accept all · \\r reject all", "\\a accept · \\r reject"];
            words.iter().any(|words| it.screen().contains(words))
        };
        nvim.wait(leads, &format!("the keys of the list at {columns}x{rows}"));
    }
}

#[test]
fn the_keys_of_a_question_are_never_between_the_lines_of_its_command() {
    for (columns, rows) in SIZES {
        let server = Server::start();
        let command = (0..90).map(|n| format!("touch-{n}")).collect::<Vec<_>>().join(" ");
        server.reply(Reply::new().call("c1", "shell", json!({ "command": command })));
        let nvim = Nvim::start(&small(&server).size(columns, rows));
        nvim.keys(":Caliban<CR>igo<C-s><Esc>");
        nvim.wait_question();
        for key in ["<Tab>", "G", "<C-w>j<Tab>"] {
            nvim.keys(key);
            nvim.wait_screen("y once");
            let screen = nvim.screen();
            let rows: Vec<&str> = screen.lines().collect();
            let at = |text: &str| rows.iter().rposition(|it| it.contains(text));
            let keys = rows.iter().position(|it| it.contains("y once"));
            assert!(keys.is_none_or(|it| Some(it) > at("touch-")), "{key}\n{screen}");
        }
    }
}

#[test]
fn of_two_windows_of_a_chat_the_key_tab_goes_to_the_one_that_shows_the_question() {
    for (columns, rows) in [(80, 24), (120, 36)] {
        let server = Server::start();
        server.reply(Reply::said(&"A paragraph.\n\n".repeat(40)));
        let nvim = Nvim::start(&small(&server).size(columns, rows));
        nvim.keys(":Caliban<CR>igo<C-s><Esc>");
        nvim.wait_phase("idle");
        server.reply(Reply::new().call("c1", "shell", json!({ "command": "touch b.txt" })));
        nvim.keys(
            "<Tab><C-w>sgg<C-w>j:resize 8<CR><C-w>k:resize 2<CR>:Caliban<CR>iagain<C-s><Esc>",
        );
        nvim.wait_question();
        nvim.keys("<Tab>");
        let shown = "local chat = require('caliban.chat.chats').current
            return vim.bo.buftype ~= '' and vim.api.nvim_get_current_buf() == chat.transcript
              and vim.fn.line('w$') == vim.fn.line('$')";
        nvim.wait(|it| it.lua_json(shown) == true, "the window of the whole question");
        nvim.keys("y");
        nvim.wait(|it| it.setup.on_disk("b.txt").is_some(), "the file");
    }
}

#[test]
fn the_state_has_the_form_for_the_width_that_its_window_has_now() {
    let server = Server::start();
    server.reply(Reply::said("Hi."));
    let nvim = Nvim::start(&small(&server));
    nvim.keys(":Caliban<CR>");
    nvim.ask("hello", "Hi.");
    let state = |it: &Nvim| {
        let screen = it.screen();
        screen.lines().find(|it| it.contains("○ idle")).unwrap_or_default().trim().to_owned()
    };
    nvim.wait(|it| state(it).contains('$'), "the costs");
    let wide = state(&nvim);
    nvim.keys("<Esc><Tab><C-w>v");
    nvim.wait(|it| !it.screen().contains(&wide), "two narrow windows");
    nvim.keys("<C-w>o");
    nvim.wait(|it| state(it) == wide, "the form for the whole width");
}
