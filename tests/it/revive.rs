//! Chats in a session file of Neovim (`:mksession`): sourcing the file shows the chats again.

use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::kit::server::Server;
use crate::kit::setup::Setup;
use serde_json::json;

/// The names of the buffers in the windows of each tab page, and of the other loaded buffers.
fn windows(nvim: &Nvim) -> String {
    nvim.lua_str(
        "local tabs = {}
        for _, tab in ipairs(vim.api.nvim_list_tabpages()) do
          local names = vim.tbl_map(function(win)
            local buf = vim.api.nvim_win_get_buf(win)
            local name = vim.api.nvim_buf_get_name(buf):gsub('^.*/project/', '')
            return name == '' and '[No Name]' or name .. (vim.bo[buf].buftype == '' and '' or ' ' .. vim.bo[buf].filetype)
          end, vim.api.nvim_tabpage_list_wins(tab))
          table.sort(names)
          tabs[#tabs + 1] = table.concat(names, ', ')
        end
        return table.concat(tabs, ' | ')",
    )
}

const CHAT: &str = "caliban://main caliban, caliban://main/prompt caliban-prompt";

/// Starts a conversation, types keys, writes the session file `s.vim` with `:mksession` and quits Neovim.
fn with_session(server: &Server, keys: &str) -> Setup {
    server.reply(Reply::said("Hello."));
    let setup = Setup::new().file("a.txt", "alpha\n").anthropic(server).size(150, 40);
    let nvim = Nvim::start(&setup);
    nvim.keys(":edit a.txt<CR>:Caliban<CR>");
    nvim.ask("hi", "Hello.");
    nvim.keys(keys);
    nvim.keys("<Esc>:mksession! s.vim<CR>");
    assert!(nvim.quit_with(":qa!<CR>").success());
    setup
}

#[track_caller]
fn revived(nvim: &Nvim, expected: &str) {
    nvim.wait(|it| windows(it) == expected, expected);
    nvim.wait_transcript("Hello.");
    nvim.wait_screen("Hello.");
    let names = "return #vim.tbl_filter(function(buf)
        return vim.api.nvim_buf_get_name(buf):find('caliban://', 1, true)
    end, vim.api.nvim_list_bufs())";
    assert_eq!(nvim.lua_json(names), json!(2));
}

#[test]
fn a_neovim_session_file_restores_the_chats_windows() {
    let server = Server::start();
    let setup = with_session(&server, "idraft");
    let setup = setup.before(
        "vim.api.nvim_create_autocmd('VimEnter', { nested = true, command = 'source s.vim' })",
    );
    let nvim = Nvim::start(&setup);
    revived(&nvim, &format!("a.txt, {CHAT}"));
    nvim.wait(|it| it.composer() == "draft", "the draft");
    server.reply(Reply::said("Again."));
    nvim.keys(":Caliban<CR>cctwo<C-s>");
    nvim.wait_screen("Again.");
    assert_eq!(server.wait_requests(2)[1].outline(), "user: hi\nassistant: Hello.\nuser: two");
    assert_eq!(windows(&nvim), format!("a.txt, {CHAT}"));
}

#[test]
fn a_conversation_that_was_shown_twice_is_shown_twice_again() {
    let server = Server::start();
    let setup = with_session(&server, "<C-w>k:tab split<CR>");
    let nvim = Nvim::start(&setup);
    nvim.keys(":source s.vim<CR>");
    revived(&nvim, &format!("a.txt, {CHAT} | caliban://main caliban"));
    assert_eq!(nvim.lua_str("return vim.v.errmsg"), "");
}

#[test]
fn a_neovim_session_file_shows_its_conversation_if_it_is_already_open() {
    let server = Server::start();
    let setup = with_session(&server, "");
    let nvim = Nvim::start(&setup);
    nvim.keys(":Caliban<CR>idraft<Esc>");
    nvim.wait_transcript("Hello.");
    for _ in 0..2 {
        nvim.keys(":source s.vim<CR>");
        revived(&nvim, &format!("a.txt, {CHAT}"));
        nvim.wait(|it| it.composer() == "draft", "the draft");
        assert_eq!(nvim.lua_str("return vim.v.errmsg"), "");
    }
    server.reply(Reply::said("Again."));
    nvim.ask("two", "Again.");
    assert_eq!(server.wait_requests(2)[1].outline(), "user: hi\nassistant: Hello.\nuser: two");
}

#[test]
fn loading_a_neovim_session_file_without_the_chat_keeps_the_chats_name() {
    let server = Server::start();
    let nvim = Nvim::start(&with_session(&server, ""));
    nvim.keys(":new<CR>:mksession! other.vim<CR>:Caliban<CR>");
    nvim.wait_transcript("Hello.");
    nvim.keys(":source other.vim<CR>");
    nvim.wait(|it| !windows(it).contains("caliban"), "the windows of the session");
    nvim.keys(":Caliban<CR>");
    nvim.wait(|it| windows(it).contains(CHAT), "the chat under its name");
}

/// With 'options' in 'sessionoptions' the session file has Caliban's value of 'breakat'.
#[test]
fn a_neovim_session_file_does_not_change_breakat_for_good() {
    let server = Server::start();
    let setup = with_session(&server, ":set sessionoptions+=options<CR>");
    let nvim = Nvim::start(&setup);
    nvim.keys(":source s.vim<CR>");
    revived(&nvim, &format!("a.txt, {CHAT}"));
    nvim.keys(":Caliban toggle<CR>");
    let is_back = |it: &Nvim| it.lua_str("return vim.o.breakat") == " \t!@*-+;:,./?";
    nvim.wait(is_back, "the option as it was");
}

#[test]
fn the_edit_command_with_the_buffer_name_of_a_chat_opens_the_chat() {
    let server = Server::start();
    let nvim = Nvim::start(&with_session(&server, ""));
    nvim.keys(":edit caliban://main<CR>:split caliban://main/prompt<CR>");
    revived(&nvim, CHAT);
}

#[test]
fn edit_with_a_bang_in_the_chat_keeps_its_text() {
    let server = Server::start();
    server.reply(Reply::said("Hello."));
    let nvim = Nvim::start(&Setup::new().anthropic(&server));
    nvim.keys(":Caliban<CR>");
    nvim.ask("hi", "Hello.");
    nvim.keys("idraft<Esc>:edit!<CR>");
    nvim.wait(|it| it.composer() == "draft", "the draft");
    nvim.keys("<C-w>k:edit!<CR>");
    nvim.wait_transcript("Hello.");
    nvim.wait_screen("Hello.");
    assert_eq!(nvim.lua_str("return vim.bo.modifiable"), "false");
    server.reply(Reply::said("Again."));
    nvim.ask("two", "Again.");
    assert!(nvim.transcript().contains("Hello."));
}

#[test]
fn windows_of_a_deleted_conversation_are_closed() {
    let server = Server::start();
    let setup = with_session(&server, "");
    let nvim = Nvim::start(&setup);
    nvim.keys(":Caliban delete main<CR>2<CR>");
    nvim.wait_screen("in the trash");
    assert!(nvim.quit_with("<Esc>:qa!<CR>").success());
    drop(nvim);
    let nvim = Nvim::start(&setup);
    nvim.keys(":source s.vim<CR>");
    nvim.wait_screen(
        "There is no conversation main in this project any more; its windows were closed.",
    );
    assert_eq!(windows(&nvim), "a.txt");
    assert_eq!(nvim.lua_str("return require('caliban.program.process').report().running"), "false");
}

#[test]
fn a_hostile_chat_name_runs_nothing_and_creates_no_file() {
    let server = Server::start();
    let nvim = Nvim::start(&with_session(&server, ""));
    let names = [
        "caliban://../../../main",
        "caliban://`touch PWN`",
        "caliban://$(touch PWN)/prompt",
        "caliban://%{execute('!touch PWN')}",
        "caliban://main|!touch PWN",
        "caliban://main/request",
        "caliban://nobody",
        "caliban://",
    ];
    let before = files(&nvim);
    for name in names {
        let edit =
            "vim.cmd({ cmd = 'split', args = { ... }, magic = { file = false, bar = false } })";
        nvim.lua(edit, &[name.into()]);
        nvim.wait(|it| windows(it) == "[No Name]", name);
        let session = "vim.g.SessionLoad = 1
            vim.cmd.new()
            vim.api.nvim_buf_set_name(0, ...)
            vim.g.SessionLoad = nil";
        nvim.lua(session, &[name.into()]);
        nvim.wait(|it| windows(it) == "[No Name]", name);
    }
    assert_eq!(files(&nvim), before);
    assert_eq!(nvim.lua_str("return require('caliban.program.process').report().running"), "false");
    let messages = nvim.lua_str("return vim.api.nvim_exec2('messages', { output = true }).output");
    assert!(messages.contains("caliban://touch PWN`` cannot be opened again"), "{messages}");
    assert!(messages.contains("There is no conversation nobody"), "{messages}");
}

/// All files of the setup except Neovim's state.
fn files(nvim: &Nvim) -> Vec<std::path::PathBuf> {
    let all = ignore::WalkBuilder::new(nvim.setup.dir()).standard_filters(false).build();
    let mut all: Vec<_> = all.flatten().map(ignore::DirEntry::into_path).collect();
    all.retain(|it| !it.starts_with(nvim.setup.dir().join("state")));
    all.sort();
    all
}
