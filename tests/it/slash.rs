//! Slash commands that leave a conversation, and what stays of the conversation.

use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::kit::server::Server;
use crate::kit::setup::Setup;

/// The number of windows in the current tab.
fn windows(nvim: &Nvim) -> String {
    nvim.lua_str("return #vim.api.nvim_tabpage_list_wins(0)")
}

/// Neovim's mode, and whether the current buffer is a buffer of the chat.
fn place(nvim: &Nvim) -> String {
    nvim.lua_str(
        "local chat = require('caliban.chat.chats').of(vim.api.nvim_get_current_buf())
        return vim.api.nvim_get_mode().mode .. (chat and ' in the chat' or '')",
    )
}

#[test]
fn slash_exit_closes_the_chat_and_the_running_turn_goes_on() {
    for command in ["/exit", "/quit"] {
        let server = Server::start();
        let gate = server.reply(Reply::new().text("Looking. ").gate().text("Done."));
        let setup = Setup::new().file("a.txt", "alpha\n").anthropic(&server);
        let nvim = Nvim::start(&setup);
        nvim.keys(":edit a.txt<CR>:Caliban<CR>igo<C-s>");
        nvim.wait_screen("Looking.");
        nvim.keys(&format!("{command}<C-s>"));
        nvim.wait_gone("Looking.");
        nvim.wait(|it| place(it) == "n", "normal mode in the window of the file");
        assert_eq!(windows(&nvim), "1");
        gate.finish();
        nvim.wait_transcript("Done.");
        nvim.wait_phase("idle");
        nvim.keys(":Caliban<CR>");
        nvim.wait_screen("Looking. Done.");
        assert_eq!((nvim.session().as_str(), nvim.composer().as_str()), ("main", ""));
        assert_eq!(server.requests().len(), 1);
    }
}

#[test]
fn slash_exit_in_the_last_window_leaves_an_empty_buffer() {
    let server = Server::start();
    let nvim = Nvim::start(&Setup::new().anthropic(&server));
    nvim.keys(":Caliban<CR><C-w>o");
    nvim.wait(|it| windows(it) == "1", "one window");
    nvim.keys("i/exit<C-s>");
    nvim.wait(|it| place(it) == "n", "normal mode outside of the chat");
    assert_eq!(windows(&nvim), "1");
}

#[test]
fn slash_reset_begins_a_new_conversation_and_keeps_the_old_one() {
    let server = Server::start();
    server.reply(Reply::said("First."));
    server.reply(Reply::said("Second."));
    server.reply(Reply::said("Third."));
    let nvim = Nvim::start(&Setup::new().anthropic(&server));
    nvim.ask("one", "First.");
    nvim.keys(":Caliban<CR>i/reset<C-s>");
    nvim.wait_session("main-2");
    nvim.keys("two<C-s>");
    nvim.wait_transcript("Second.");
    nvim.wait_phase("idle");
    assert_eq!(server.requests()[1].outline(), "user: two");
    nvim.keys("<Esc>:Caliban resume main<CR>");
    nvim.wait_screen("First.");
    nvim.ask("three", "Third.");
    assert!(server.requests()[2].outline().contains("First."));
}

#[test]
fn a_command_that_takes_no_words_gives_them_back_and_does_nothing() {
    let server = Server::start();
    let setup = Setup::new().file("a.txt", "one\n").anthropic(&server).size(80, 24);
    let nvim = Nvim::start(&setup);
    server.reply(Reply::said("First."));
    nvim.ask("@a.txt hello", "First.");
    let before = nvim.transcript();
    nvim.keys(":Caliban<CR>");
    for text in [
        "/help me with the tests",
        "/clear all of it",
        "/copy that",
        "/exit now",
        "/fork it",
        "/history of a.txt",
        "/jobs stop 1",
        "/mcp add x",
        "/rules are made",
        "/skills for tests",
        "/system of units",
        "/uncompact it",
        "/usage today",
        "/context_size please",
    ] {
        nvim.keys(&format!("i{text}<C-s>"));
        let name = text.split(' ').next().unwrap();
        nvim.wait_screen(&format!("! {name} takes "));
        nvim.wait(|it| it.composer() == text, &format!("{text:?} in the composer"));
        nvim.keys("<Esc>:%delete<CR>");
        nvim.wait_gone("Nothing was done.");
    }
    assert_eq!((nvim.transcript(), server.count()), (before, 1));
    server.reply(Reply::said("Second."));
    nvim.keys("i/plan do x<C-s>");
    nvim.wait_transcript("Second.");
    let said = server.requests()[1].last_user_text();
    assert!(said.ends_with("do x") && said.contains("Plan mode is on"), "{said}");
}

#[test]
fn each_subcommand_takes_its_words_or_names_those_that_mean_nothing() {
    let server = Server::start();
    let nvim = Nvim::start(&Setup::new().anthropic(&server).size(120, 36));
    nvim.keys(":Caliban<CR><Esc>");
    nvim.wait_session("main");
    let names =
        nvim.lua_str("return table.concat(vim.fn.getcompletion('Caliban ', 'cmdline'), ' ')");
    let (taking, others): (Vec<&str>, Vec<&str>) =
        names.split(' ').partition(|it| TAKING.contains(it));
    assert_eq!(taking, TAKING);
    for name in others {
        let words = if name == "new" { "@zza zzb zzc" } else { "zza zzb zzc" };
        nvim.lua("vim.cmd('messages clear')", &[]);
        nvim.keys(&format!(":Caliban {name} {words}<CR>"));
        let said = |it: &Nvim| it.lua_str("return vim.fn.execute('messages')");
        nvim.wait(
            |it| said(it).contains(&format!("zzc means nothing after :Caliban {name}")),
            &format!("what :Caliban {name} says about its words"),
        );
        assert!(!nvim.is_blocked(), "{name}");
    }
    assert_eq!((nvim.session().as_str(), nvim.phase().as_str()), ("main", "idle"));
}

/// The subcommands that take a text, and those that say themselves which words they know.
const TAKING: [&str; 15] = [
    "answer",
    "ask",
    "comment",
    "connect",
    "deny",
    "export",
    "model",
    "permissions",
    "plan",
    "reject",
    "rename",
    "run",
    "sessions",
    "steer",
    "undo",
];
