//! What the user's autocommands and hands do to the chat's windows: nothing fails, and what is shown is what is sent to.

use super::{LAYOUTS, by_hand, each, errors, laid_out};
use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::kit::server::Server;

/// Options of a window with which a chat could not be opened, filled, read or switched.
const OPTIONS: &str = "vim.wo.winfixbuf, vim.wo.winfixheight, vim.wo.winfixwidth = true, true, true
    vim.wo.diff, vim.wo.scrollbind, vim.wo.cursorbind, vim.wo.wrap = true, true, true, false
    vim.wo.foldmethod, vim.wo.foldexpr, vim.wo.foldenable, vim.wo.foldlevel = 'expr', '1', true, 0
    vim.wo.winbar, vim.wo.scrolloff, vim.wo.sidescrolloff = '%f', 99, 9
    vim.wo.statuscolumn, vim.wo.conceallevel, vim.wo.rightleft = '%l', 3, false";

/// Sends two messages, each in a conversation of its own. What is on the screen afterwards is the second.
fn works(server: &Server, nvim: &Nvim, what: &str) {
    let sent = server.count();
    server.reply(Reply::said("First."));
    nvim.keys("ione<C-s><Esc>");
    nvim.wait_screen("First.");
    nvim.wait_phase("idle");
    nvim.keys(":Caliban new two<CR>");
    nvim.wait_session("two");
    nvim.wait_phase("idle");
    server.reply(Reply::said("Second."));
    nvim.keys("itwo<C-s><Esc>");
    nvim.wait_screen("Second.");
    let requests = server.requests();
    assert_eq!(requests[sent].last_user_text(), "one", "{what}");
    assert_eq!(requests[sent + 1].last_user_text(), "two", "{what}");
    assert_eq!(errors(nvim), "", "{what}");
    // the window in which the user reads and the one in which the user writes are of one conversation
    let parts = "local composer = vim.api.nvim_get_current_win()
        local function name(win) return vim.api.nvim_buf_get_name(vim.api.nvim_win_get_buf(win)) end
        local above = vim.iter(vim.api.nvim_tabpage_list_wins(0)):any(function(win)
          return name(win) == 'caliban://two'
        end)
        return name(composer) .. (above and ' caliban://two' or '')";
    assert_eq!(nvim.lua_str(parts), "caliban://two/prompt caliban://two", "{what}");
}

/// Tries these options in new windows, set by autocommands for these events.
fn on_events(events: &str, sets: &str) {
    each(LAYOUTS, |layout| {
        let server = Server::start();
        let before = format!(
            "vim.api.nvim_create_autocmd({events}, {{ callback = function() {sets} end }})"
        );
        let nvim = laid_out(&server, layout, &before);
        works(&server, &nvim, layout);
    });
}

#[test]
fn options_that_are_set_in_new_windows_do_not_hinder_the_chat() {
    on_events("{ 'WinNew' }", OPTIONS);
}

#[test]
fn options_that_are_set_with_a_buffer_do_not_hinder_the_chat() {
    on_events("{ 'BufWinEnter' }", OPTIONS);
}

#[test]
fn options_that_are_set_when_a_window_is_entered_do_not_hinder_the_chat() {
    on_events("{ 'WinNew', 'BufWinEnter', 'WinEnter' }", OPTIONS);
}

#[test]
fn options_that_are_set_with_a_filetype_do_not_hinder_the_chat() {
    on_events("{ 'FileType', 'BufEnter' }", OPTIONS);
}

/// What users do to a window by hand, with the cursor in it.
const HANDS: [&str; 25] = [
    ":diffthis<CR>",
    ":set winfixbuf<CR>",
    ":setlocal winbar=%f<CR>",
    ":set nowrap scrollbind cursorbind<CR>",
    ":set foldmethod=manual foldenable<CR>zE",
    ":set modifiable<CR>",
    ":set filetype=markdown<CR>",
    ":set buftype= <CR>",
    ":edit b.txt<CR>",
    ":edit<CR>",
    ":edit!<CR>",
    ":enew<CR>",
    ":buffer a.txt<CR>",
    ":bnext<CR>",
    "<C-^>",
    ":bdelete<CR>",
    ":bwipeout!<CR>",
    ":split<CR>",
    ":vsplit<CR>",
    ":split b.txt<CR>",
    ":file other<CR>",
    "<C-w>T",
    "<C-w>x",
    "<C-w>H",
    ":terminal<CR>",
];

/// Tries all hands in the transcript and in the composer. Then the chat is opened anew, and works.
fn tried(layout: &str) {
    let cases = HANDS.iter().flat_map(|hand| ["transcript", "composer"].map(|part| (*hand, part)));
    each(cases, |(hand, part)| {
        let server = Server::start();
        let nvim = laid_out(&server, layout, "");
        by_hand(&nvim, part, hand);
        nvim.keys(":Caliban<CR>");
        let here = "return vim.api.nvim_get_current_buf() == require('caliban.chat.chats').current.composer";
        nvim.wait(|it| it.lua_json(here) == true, "the cursor in the composer");
        nvim.wait_transcript("Project");
        works(&server, &nvim, &format!("{layout} {part} {hand}"));
    });
}

#[test]
fn whatever_is_done_by_hand_to_a_chat_at_the_right_it_works() {
    tried("right");
}

#[test]
fn whatever_is_done_by_hand_to_a_chat_below_it_works() {
    tried("bottom");
}

#[test]
fn whatever_is_done_by_hand_to_a_chat_in_a_tab_it_works() {
    tried("tab");
}

#[test]
fn whatever_is_done_by_hand_to_a_floating_chat_it_works() {
    tried("float");
}

#[test]
fn whatever_is_done_by_hand_to_a_chat_in_the_users_window_it_works() {
    tried("current");
}
