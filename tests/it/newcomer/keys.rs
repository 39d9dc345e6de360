//! Each key that a line of keys names works where the line names it, and does there what the line says.

use super::{keys, small, wait_keys};
use crate::asks::{ask, question};
use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::kit::server::Server;
use crate::plans::planned;
use crate::review::scene::Scene;
use serde_json::json;

/// Returns the first key of `...` that is neither mapped in the current buffer nor a key of Neovim or a command.
const UNKNOWN: &str = "local mode = vim.api.nvim_get_mode().mode:sub(1, 1)
    for _, words in ipairs({ ... }) do
      local of_vim = words:find('^<Esc> ') or words:find('^G ')
      local command = words:match('^:Caliban ?([%w-]*)')
      local part = command and (command == '' or vim.list_contains(vim.fn.getcompletion('Caliban ', 'cmdline'), command)
        or words:find('^:Caliban to the chat'))
      local known = of_vim or part or command == nil
      for _, key in ipairs(command and {} or vim.split(words:match('^(%S+)') .. (words:match(' (%[%[)') or ''), ' ')) do
        key = key == ']][[' and ']]' or key
        known = known and (of_vim or vim.fn.maparg(key, mode) ~= '' or not vim.tbl_isempty(vim.fn.maparg(key, mode, false, true)))
      end
      if not known then return words end
    end
    return ''";

#[track_caller]
fn all_work(nvim: &Nvim, place: &str) {
    let line = keys(nvim);
    assert!(line.contains(" · "), "{place}: {line}\n{}", nvim.screen());
    let words: Vec<rmpv::Value> =
        line.split(" · ").map(|it| it.replace('\u{a0}', " ").into()).collect();
    let unknown = nvim.lua(UNKNOWN, &words);
    assert_eq!(unknown.as_str(), Some(""), "{place}: {line}");
}

#[test]
fn each_key_of_the_line_of_keys_is_mapped_where_the_line_names_it() {
    let scene = Scene::two_hunks(|it| it.size(80, 24));
    let nvim = &scene.nvim;
    all_work(nvim, "the code");
    nvim.keys(":Caliban next<CR>");
    wait_keys(nvim, "\\a accept · \\r reject · ]h next · :Caliban to the chat · :Caliban stop");
    all_work(nvim, "a hunk");
    nvim.keys(":Caliban<CR>i");
    nvim.wait(|it| keys(it).starts_with("<C-s> send"), "keys of Insert mode");
    all_work(nvim, "Insert mode");
    nvim.keys("<Esc>");
    nvim.wait(|it| keys(it).starts_with("<CR> send"), "keys of the message");
    all_work(nvim, "the message");
    nvim.keys("<Tab>");
    nvim.wait(|it| keys(it).starts_with("\\a accept"), "keys of the list");
    all_work(nvim, "a change in the list");
    nvim.keys("2k");
    all_work(nvim, "the list");
    nvim.go_to_transcript("please");
    nvim.wait(|it| keys(it).starts_with("i write"), "keys of the transcript");
    all_work(nvim, "the transcript");
}

#[test]
fn the_keys_of_a_question_are_mapped_on_it() {
    let server = Server::start();
    let call = json!({ "command": "touch b.txt" });
    server.reply(Reply::new().text("A file.").call("c1", "shell", call));
    let nvim = Nvim::start(&small(&server));
    nvim.keys(":Caliban<CR>igo<C-s><Esc>");
    nvim.wait_question();
    nvim.wait(|it| keys(it).starts_with("<Tab> to the question"), "the way to the question");
    all_work(&nvim, "the message");
    nvim.keys("<Tab>");
    nvim.wait(|it| keys(it).starts_with("y once"), "the keys of the question");
    all_work(&nvim, "the question");
}

#[test]
fn enter_does_on_each_row_of_the_list_what_the_line_of_keys_says() {
    let scene = Scene::two_hunks(|it| it.size(80, 24).file("b.txt", "b\n"));
    let nvim = &scene.nvim;
    let name = |it: &Nvim| it.lua_str("return vim.fn.expand('%:t')");
    for (row, words) in [("▾ a.txt", "go to the file"), ("-1 +1  L2", "go to the change")] {
        nvim.keys("<C-w>t:edit b.txt<CR>:Caliban<CR><Esc>");
        nvim.go_to_transcript(row);
        nvim.wait(|it| keys(it).contains(&format!("<CR> {words}")), words);
        nvim.keys("<CR>");
        nvim.wait(|it| name(it) == "a.txt", row);
    }
    nvim.keys(":Caliban<CR><Esc>");
    nvim.go_to_transcript("2 hunks in 1 file");
    nvim.wait(|it| keys(it).contains("<CR> open or close"), "the words of the first line");
    nvim.keys("<CR>");
    nvim.wait_screen("(za lists them)");
}

#[test]
fn the_last_decision_is_taken_back_on_the_list() {
    let scene = Scene::two_hunks(|it| it.size(80, 24));
    let nvim = &scene.nvim;
    nvim.keys(":Caliban<CR><Esc><Tab>u");
    nvim.wait_screen("No decision to take back here.");
    assert_eq!(scene.pending(), 2);
    for key in ["a", "r"] {
        nvim.keys(&format!("\\{key}"));
        scene.wait_pending(1);
        nvim.wait_screen("1 hunk in 1 file to review");
        nvim.keys("u");
        scene.wait_pending(2);
        nvim.wait_screen("2 hunks in 1 file to review");
    }
    // what the user has typed since stays
    nvim.keys("\\a");
    scene.wait_pending(1);
    nvim.keys("<C-w>tGomine<Esc>:Caliban<CR><Esc><Tab>u");
    nvim.wait_screen("You have typed in a.txt since.");
    assert_eq!(scene.pending(), 1);
    assert!(nvim.buffer("a.txt").contains("mine"), "{}", nvim.buffer("a.txt"));
}

#[test]
fn the_cursor_in_the_list_shows_its_hunk_in_the_window_of_the_file() {
    let text = (1..=90).fold(String::new(), |text, n| text + &format!("l{n}.\n"));
    let scene = Scene::start(|it| it.file("a.txt", &text).size(80, 24));
    let nvim = &scene.nvim;
    nvim.keys(":edit a.txt<CR>");
    let edits = json!([{ "old": "l30.", "new": "L30." }, { "old": "l60.", "new": "L60." }]);
    scene.ask(Reply::new().call("e1", "edit", json!({ "path": "a.txt", "edits": edits })));
    scene.wait_pending(2);
    nvim.keys(":Caliban<CR><Esc>");
    nvim.wait_screen("2 hunks in 1 file to review");
    let top = |it: &Nvim| it.lua_json("return vim.fn.line('w0', vim.fn.win_getid(1))");
    assert_eq!(top(nvim), 1, "the file does not move by itself");
    for (key, line) in [("<Tab>", "- l30."), ("j", "- l60."), ("k", "- l30.")] {
        nvim.keys(key);
        nvim.wait_screen(line);
    }
}

#[test]
fn outside_of_the_chat_the_line_of_keys_names_commands_for_what_is_not_on_the_screen() {
    for (columns, rows) in [(80, 24), (60, 20)] {
        let server = Server::start();
        let row = usize::from(rows) - 2;
        let line = |it: &Nvim| it.screen().lines().nth(row).unwrap_or_default().trim().to_owned();
        let wait = |nvim: &Nvim, want: &str| {
            let at = format!("the keys {want:?} at {columns}x{rows}");
            nvim.wait(|it| line(it).starts_with(want), &at);
        };
        let long = "a reason that takes a row of the screen or even two of them ".repeat(3);
        let mut asked = question(&format!("{long}{long}"), &["Cents", "Floats", "Words", "None"]);
        for option in asked["options"].as_array_mut().unwrap() {
            option["description"] = json!(long);
        }
        server.reply(ask("c1", &[asked]));
        let nvim = Nvim::start(&small(&server).size(columns, rows));
        nvim.keys(":edit a.txt<CR>:Caliban<CR>igo<C-s><Esc>");
        nvim.wait_asked("? a reason");
        nvim.keys("<C-w>t");
        wait(&nvim, ":Caliban answer offers the answers · :Caliban to the chat");
        let script = (1..40).fold("cat <<X".to_owned(), |all, n| format!("{all}\nline {n}"));
        let call = json!({ "command": format!("{script}\nX\ntouch b.txt") });
        server.reply(Reply::new().call("c2", "shell", call));
        nvim.keys(":Caliban answer<CR>");
        nvim.wait_screen("2: Floats");
        nvim.keys("2<CR>");
        nvim.wait_screen("cat <<X");
        wait(&nvim, ":Caliban approve · :Caliban deny · :Caliban");
        nvim.keys(":Caliban stop<CR>");
        wait(&nvim, ":Caliban to the chat");
        nvim.wait_transcript("Stopped.");
        server.reply(planned("p1", "- one"));
        nvim.keys(":Caliban<CR>i/plan go<C-s><Esc>");
        nvim.wait_screen("Plan · waits");
        nvim.lua("vim.api.nvim_set_current_win(vim.fn.bufwinid('a.txt'))", &[]);
        wait(&nvim, ":Caliban to the chat");
        nvim.keys("<C-w>t:close<CR>");
        nvim.lua("vim.api.nvim_set_current_win(vim.fn.bufwinid('a.txt'))", &[]);
        wait(&nvim, ":Caliban plan shows the plan · :Caliban");
        nvim.keys(":Caliban plan<CR>");
        nvim.wait_screen("Plan · waits");
    }
}
