//! Stops at every point of a turn: the connection is closed before the next request, no call of an unfinished reply
//! runs, and every provider accepts the next request.

mod child;
mod everywhere;
mod polls;

use crate::kit::chat::DIALECTS;
use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::kit::server::Server;
use crate::kit::setup::Setup;
use serde_json::json;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;

/// A reply with a gate before each part, the response head included.
fn gated() -> Reply {
    Reply::new()
        .held()
        .thinking("Hm.")
        .gate()
        .text("I look.")
        .gate()
        .call("c1", "read", json!({"path": "a.txt"}))
        .gate()
        .call("c2", "shell", json!({"command": "echo ran > ran.txt"}))
        .gate()
}

/// The text at the end of the chat when 0, 1, 2, 3 or 4 gates are open.
const SHOWN: [&str; 5] = ["go", "Thinking", "I look.", "▸ read", "▸ shell"];

#[test]
fn a_reply_can_be_stopped_at_any_point() {
    for dialect in DIALECTS {
        for (open, shown) in SHOWN.into_iter().enumerate() {
            let server = Server::start();
            let gate = server.reply(gated());
            server.reply(Reply::said("Fine."));
            server.reply(Reply::said("Again."));
            let setup = Setup::new().file("a.txt", "alpha\n");
            let nvim = Nvim::start(&setup.speaking(dialect, &server));
            nvim.keys(":Caliban<CR>igo<C-s><Esc>");
            server.wait_requests(1);
            for _ in 0..open {
                gate.release();
            }
            nvim.wait_transcript(shown);
            nvim.command("Caliban stop");
            server.wait_closed(1);
            assert_eq!(server.requests().len(), 1, "asked before the close");
            nvim.ask("and now?", "Fine.");
            nvim.ask("and then?", "Again.");
            assert_eq!(server.requests().len(), 3);
            assert_eq!(nvim.setup.on_disk("ran.txt"), None);
        }
    }
}

#[test]
fn stopping_a_retry_pause_keeps_the_results_before_it() {
    for dialect in DIALECTS {
        let server = Server::start();
        server.reply(Reply::new().call("c1", "read", json!({"path": "a.txt"})));
        server.reply(Reply::error(429).header("retry-after", "60"));
        server.reply(Reply::said("Fine."));
        let setup = Setup::new().file("a.txt", "alpha\n");
        let nvim = Nvim::start(&setup.speaking(dialect, &server));
        nvim.keys(":Caliban<CR>igo<C-s><Esc>");
        nvim.wait_phase("retrying");
        nvim.keys("<C-c>");
        nvim.wait_screen("! Stopped.");
        assert_eq!(server.requests().len(), 2);
        nvim.ask("two", "Fine.");
        assert!(server.requests()[2].answer("c1").contains("alpha"));
    }
}

#[test]
fn a_reply_that_breaks_off_after_complete_calls_runs_none_of_them() {
    for dialect in DIALECTS {
        let call = || Reply::new().call("c1", "shell", json!({"command": "echo ran >> ran.txt"}));
        let server = Server::start();
        server.reply(call().text("And").cut());
        server.reply(call());
        server.reply(Reply::said("Fine."));
        let nvim = Nvim::start(&Setup::new().speaking(dialect, &server));
        nvim.keys(":Caliban<CR>igo<C-s><Esc>");
        nvim.wait_screen("? Run `echo ran >> ran.txt`?");
        assert_eq!(server.requests()[0].body, server.requests()[1].body);
        assert_eq!(nvim.setup.on_disk("ran.txt"), None);
        nvim.wait_question();
        nvim.command("Caliban approve");
        nvim.wait_transcript("Fine.");
        assert_eq!(nvim.setup.on_disk("ran.txt").unwrap(), "ran\n");
    }
}

#[test]
fn a_retry_after_header_of_an_hour_ends_the_turn() {
    for dialect in DIALECTS {
        let server = Server::start();
        server.reply(Reply::error(429).header("retry-after", "3600"));
        server.reply(Reply::said("Fine."));
        let nvim = Nvim::start(&Setup::new().speaking(dialect, &server));
        nvim.ask("go", "! Rate limited by the provider: the next request may be sent in 60 min: “");
        nvim.ask("two", "Fine.");
        assert_eq!(server.requests().len(), 2);
    }
}

/// A repository with a git that waits as long as the file `hold` exists.
fn slow_repository() -> Setup {
    let setup = crate::keywords::repository();
    let (bin, hold) = (setup.dir().join("bin"), setup.path("hold"));
    fs::create_dir_all(&bin).unwrap();
    let path = std::env::var("PATH").unwrap();
    let wait = format!("while [ -e '{}' ]; do sleep 0.02; done", hold.display());
    fs::write(bin.join("git"), format!("#!/bin/sh\n{wait}\nPATH='{path}' exec git \"$@\"\n"))
        .unwrap();
    fs::set_permissions(bin.join("git"), fs::Permissions::from_mode(0o755)).unwrap();
    setup.env("PATH", &format!("{}:{path}", bin.display()))
}

/// The stop comes while git makes the diff that the prompt mentions.
#[test]
fn a_prompt_stopped_before_it_was_sent_comes_back_to_the_composer() {
    let server = Server::start();
    let nvim = Nvim::start(&slow_repository().anthropic(&server));
    nvim.keys(":Caliban<CR>");
    nvim.wait_phase("idle");
    let hold = nvim.setup.path("hold");
    fs::write(&hold, "").unwrap();
    nvim.lua("local it = require('caliban') it.ask('see @diff') it.stop()", &[]);
    nvim.wait(|nvim| nvim.composer() == "see @diff", "the prompt in the composer");
    nvim.wait_screen("You stopped this message before it was sent.");
    assert_eq!(server.requests().len(), 0);
    fs::remove_file(&hold).unwrap();
    server.reply(Reply::said("Seen."));
    nvim.keys("i<C-s>");
    nvim.wait_transcript("Seen.");
    assert!(server.requests()[0].last_user_text().contains("+TWO"));
}

/// A `<C-c>` that comes while Neovim draws is an interrupt and triggers no mapping.
const INTERRUPT: &str = "vim.api.nvim_input('<C-c>')";

#[test]
fn ctrl_c_stops_the_turn_even_while_neovim_draws_but_not_if_it_cancels_a_pending_key_command() {
    let server = Server::start();
    let gate = server.reply(Reply::new().text("Half").gate().text(" and whole").gate());
    let nvim = Nvim::start(&Setup::new().anthropic(&server));
    nvim.keys(":Caliban<CR>igo<C-s><Esc>");
    nvim.wait_transcript("Half");
    nvim.lua("KitKeys = 0 vim.on_key(function() KitKeys = KitKeys + 1 end)", &[]);
    // `nvim_input` would make the `<C-c>` an interrupt while Neovim draws; `nvim_feedkeys` makes it a key at any time.
    nvim.lua("vim.api.nvim_feedkeys(vim.keycode('f<C-c>'), 't', false)", &[]);
    nvim.wait(|it| it.lua_json("return KitKeys") == 2, "both keys to be taken");
    nvim.command("split");
    nvim.command("enew");
    nvim.lua(INTERRUPT, &[]);
    nvim.command("close");
    nvim.keys("");
    gate.release();
    nvim.wait_transcript("Half and whole");
    nvim.lua(INTERRUPT, &[]);
    nvim.wait_transcript("Stopped.");
}

#[test]
fn interrupts_while_a_reply_is_drawn_lose_no_line() {
    let server = Server::start();
    let lines: Vec<String> = (0..60).map(|n| format!("Line {n} of the *reply*.")).collect();
    let reply = lines.iter().fold(Reply::new(), |reply, line| reply.text(&format!("{line}\n\n")));
    server.reply(reply.text("Over."));
    let nvim = Nvim::start(&Setup::new().anthropic(&server));
    nvim.keys(":Caliban<CR>");
    let storm = "for _, name in ipairs({ 'nvim_buf_set_lines', 'nvim_buf_set_text', 'nvim_buf_set_extmark' }) do \
                 local call = vim.api[name] \
                 vim.api[name] = function(...) vim.api.nvim_input('<C-c>') return call(...) end end";
    nvim.keys(":wincmd p<CR>");
    nvim.lua(storm, &[]);
    nvim.command("Caliban ask go");
    nvim.wait_transcript("Over.");
    let text = nvim.conversation();
    for line in &lines {
        assert!(text.contains(line), "{line} is not in\n{text}");
    }
    assert_eq!(nvim.lua_str("return vim.v.errmsg"), "");
}
