//! Rows of the chat's window: none is empty while text is hidden above, and what waits is shown from its first line.

use super::small;
use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::kit::server::Server;
use crate::review::scene::{Scene, edit, nine};
use serde_json::json;

/// Names a window of the transcript that has empty rows below the end, with room for a hidden line.
const EMPTY: &str = "local chat = require('caliban.chat.chats').current
    local last = vim.api.nvim_buf_line_count(chat.transcript)
    for _, win in ipairs(vim.fn.win_findbuf(chat.transcript)) do
      local top, rows = vim.fn.line('w0', win), vim.fn.getwininfo(win)[1].height
      if top > 1 and vim.fn.line('w$', win) == last then
        local all = vim.api.nvim_win_text_height(win, { start_row = top - 2 }).all
        if all <= rows then return ('line %d is hidden, %d rows are needed of %d'):format(top - 1, all, rows) end
      end
    end
    return ''";

#[track_caller]
fn wait_full(nvim: &Nvim, what: &str) {
    nvim.wait(|it| it.lua_str(EMPTY).is_empty(), &format!("no empty rows: {what}"));
}

#[test]
fn no_row_is_empty_below_the_end_of_the_chat_while_text_is_hidden_above() {
    for (columns, rows) in [(80, 24), (60, 20), (120, 36)] {
        let server = Server::start();
        let lines = (1..=60).fold(String::new(), |text, n| text + &format!("line {n}\n\n"));
        server.reply(Reply::said(&format!("{lines}The end.")));
        let nvim = Nvim::start(&small(&server).size(columns, rows));
        nvim.keys(":edit a.txt<CR>:Caliban<CR>");
        nvim.ask("go", "The end.");
        nvim.wait_screen("The end.");
        nvim.keys("<Esc>oone<CR>two<CR>three<CR>four<CR>five<Esc>");
        wait_full(&nvim, "a long message");
        nvim.keys("ggdG");
        wait_full(&nvim, "the message is gone");
        for keys in [
            ":split<CR>",
            ":close<CR>",
            ":resize 9<CR>",
            "<C-w>k:resize 5<CR>",
            ":resize 15<CR>",
            "<C-w>=",
            ":copen<CR>",
            ":cclose<CR>",
            ":only<CR>:Caliban<CR>",
        ] {
            nvim.keys(keys);
            wait_full(&nvim, &format!("{keys} at {columns}x{rows}"));
        }
        for (more, high) in [(columns, rows + 12), (columns, rows - 4), (columns, rows)] {
            nvim.resize(more, high);
            wait_full(&nvim, &format!("{high} rows after {rows}"));
        }
        let call = json!({ "command": "touch b.txt\ntouch c.txt\ntouch d.txt\ntouch e.txt" });
        server.reply(Reply::new().text("A file.").call("c1", "shell", call));
        server.reply(Reply::said("I see."));
        nvim.keys(":Caliban<CR><Esc>");
        nvim.lua("require('caliban').ask('on')", &[]);
        nvim.wait_question();
        wait_full(&nvim, "a question");
        nvim.keys("<Tab>n");
        nvim.wait_transcript("I see.");
        nvim.wait_phase("idle");
        wait_full(&nvim, "the question is answered");
    }
}

#[test]
fn a_list_of_changes_that_has_no_room_is_shown_from_its_first_line() {
    let scene = Scene::start(|it| {
        it.file("a.txt", nine()).file("b.txt", nine()).file("c.txt", nine()).size(60, 20)
    });
    let lines = ["l1", "l3", "l5", "l7", "l9"].map(|it| (it, "new"));
    let call = |reply: Reply, path: &str| reply.call(path, "edit", edit(path, &lines));
    scene.nvim.keys(":Caliban<CR><Esc>");
    scene.ask(call(call(call(Reply::new(), "a.txt"), "b.txt"), "c.txt"));
    scene.wait_pending(15);
    let head = "? 15 hunks in 3 files to review";
    scene.nvim.wait_screen(head);
    scene.nvim.wait_screen("\\a accept  \\r reject");
    scene.nvim.keys("<Tab>");
    scene.nvim.wait_screen(head);
    let line = scene.nvim.lua_str("return vim.api.nvim_get_current_line()");
    assert!(line.contains("1  -1 +1  new"), "{line}");
    scene.nvim.keys("\\a");
    scene.wait_pending(14);
    scene.nvim.wait_screen("? 14 hunks in 3 files to review");
}

/// The line of the call that begins with these words.
fn call(nvim: &Nvim, begins: &str) -> String {
    let screen = nvim.screen();
    screen.lines().find(|it| it.contains(begins)).unwrap_or_default().trim_end().to_owned()
}

#[test]
fn the_line_of_a_call_counts_what_waits_as_the_list_does_also_after_decisions() {
    let scene = Scene::two_hunks(|it| it.size(80, 24));
    let nvim = &scene.nvim;
    let ends = |words: &str| nvim.wait(|it| call(it, "▸ edit  a.txt").ends_with(words), words);
    nvim.keys(":Caliban<CR><Esc><Tab>");
    ends("  2 hunks to review");
    nvim.keys("\\a");
    ends("  1 hunk to review · 1 accepted");
    nvim.wait_screen("1 hunk · 1 accepted");
    nvim.keys("u");
    ends("  2 hunks to review");
    nvim.keys("\\r");
    ends("  1 hunk to review · 1 rejected");
    scene.server.reply(Reply::said("I see."));
    nvim.keys("\\a");
    scene.wait_idle("I see.");
    ends("  1 accepted · 1 rejected");
}

#[test]
fn a_new_file_is_one_hunk_in_the_line_of_its_call_and_in_the_list() {
    for text in ["one\n\ntwo\n", "\none\n", "\n", "one"] {
        let scene = Scene::start(|it| it.size(80, 24));
        scene.ask(Reply::new().call("w1", "write", json!({ "path": "new.txt", "text": text })));
        scene.wait_pending(1);
        scene.nvim.keys(":Caliban<CR><Esc>");
        scene.nvim.wait_screen("1 hunk in 1 file to review");
        let line = call(&scene.nvim, "▸ write  new.txt");
        assert!(line.ends_with("1 hunk to review"), "{text:?}: {line}");
        scene.server.reply(Reply::said("I see."));
        scene.nvim.keys(":Caliban accept all<CR>");
        scene.wait_idle("I see.");
        scene.nvim.wait(|it| call(it, "▸ write  new.txt").ends_with("1 accepted"), "the verdict");
    }
}

#[test]
fn each_running_call_has_a_sign_that_turns() {
    let server = Server::start();
    let call = |reply: Reply, id: &str| {
        reply.call(id, "task", json!({ "description": id, "prompt": "go" }))
    };
    server.reply(call(call(Reply::new(), "first"), "second"));
    for _ in 0..2 {
        server.reply(Reply::hang());
    }
    let nvim = Nvim::start(&small(&server));
    nvim.keys(":Caliban<CR>igo<C-s><Esc>");
    let turning = |it: &Nvim| {
        let screen = it.screen();
        ["task  first", "task  second"].iter().all(|words| {
            let row = screen.lines().find(|it| it.contains(words)).unwrap_or_default();
            row.contains(['⠋', '⠙', '⠸', '⠴', '⠦', '⠇'])
        })
    };
    nvim.wait(turning, "a sign at both calls");
    nvim.keys("<C-c>");
    nvim.wait_phase("idle");
    let none = |it: &Nvim| !it.screen().contains(['⠋', '⠙', '⠸', '⠴', '⠦', '⠇']);
    nvim.wait(none, "no sign");
}

#[test]
fn a_message_waits_while_the_user_types_in_the_command_line() {
    let server = Server::start();
    let nvim = Nvim::start(&small(&server));
    nvim.keys(":edit a.txt<CR>:echo 'so'");
    nvim.lua("require('caliban.editor.notify').show('Caliban has finished.')", &[]);
    nvim.wait_screen(":echo 'so'");
    assert!(!nvim.screen().contains("Caliban has finished."), "{}", nvim.screen());
    nvim.keys("<Esc>");
    nvim.wait_screen("Caliban has finished.");
}
