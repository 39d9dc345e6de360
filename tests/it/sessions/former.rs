//! Former names of conversations: a message that is addressed to a former name reaches the renamed conversation, unless
//! another conversation has got the name.

use super::names::say;
use super::*;
use crate::review::scene::{edit, nine};

/// Sends several messages to the program at once: `words` are calls of `rename`, `open`, `delete`, `retry` and `send`.
fn at_once(nvim: &Nvim, words: &str) {
    let code = "local notify = require('caliban.program.process').notify
        local function rename(session, name)
          notify({ kind = 'rename_session', session = session, name = name })
        end
        local function open(session) notify({ kind = 'open', session = session }) end
        local function delete(session) notify({ kind = 'delete_session', session = session }) end
        local function retry(session) notify({ kind = 'retry', session = session }) end
        local function send(session, text)
          notify({ kind = 'send', session = session, text = text, context = {}, steer = false })
        end\n";
    nvim.lua(&format!("{code}{words}"), &[]);
}

/// A conversation `main` with one turn.
fn begun(server: &Server) -> (Setup, Nvim) {
    let setup = wide().anthropic(server).file("a.txt", nine());
    let nvim = Nvim::start(&setup);
    nvim.keys(":Caliban<CR>");
    nvim.wait_screen("Project");
    say(&nvim, server, "hello", "First.");
    (setup, nvim)
}

#[test]
fn a_message_reaches_a_conversation_renamed_twice_meanwhile() {
    let server = Server::start();
    let (setup, nvim) = begun(&server);
    let gate = server.reply(Reply::new().gate().text("Second."));
    server.reply(Reply::said("Third."));
    let words = "rename('main', 'one') rename('main', 'two') send('main', 'by the first name')
        send('one', 'by the second name')";
    at_once(&nvim, words);
    nvim.wait_session("two");
    server.wait_count(2);
    gate.release();
    nvim.wait_screen("Third.");
    nvim.wait_phase("idle");
    let heard = ["user: by the first name", "assistant: Second.", "user: by the second name"];
    assert_eq!(said(&setup, "two")[2..5], heard);
    assert_eq!(files(&setup), ["last", "two.journal", "two.json"]);
}

#[test]
fn a_former_name_can_be_taken_by_another_conversation() {
    let server = Server::start();
    let (setup, nvim) = begun(&server);
    nvim.keys(":Caliban rename kept<CR>");
    nvim.wait_session("kept");
    // a file that somebody else has put under the former name is another conversation
    fs::copy(setup.sessions().join("kept.json"), setup.sessions().join("main.json")).unwrap();
    at_once(&nvim, "delete('main')");
    nvim.wait_screen("main is in the trash: ");
    assert!(setup.sessions().join("kept.json").exists());
    nvim.keys(":Caliban new main<CR>");
    nvim.wait_session("main");
    server.reply(Reply::said("Anew."));
    at_once(&nvim, "send('main', 'to the new one')");
    nvim.wait_screen("Anew.");
    nvim.wait_phase("idle");
    assert_eq!(said(&setup, "kept"), ["user: hello", "assistant: First."]);
    assert_eq!(said(&setup, "main"), ["user: to the new one", "assistant: Anew."]);
    // after the deletion the name reaches no conversation, and the first conversation can have the name again
    at_once(&nvim, "delete('main') retry('main')");
    nvim.wait_screen("The conversation main is not open.");
    nvim.wait_session("kept");
    nvim.wait_screen("First.");
    nvim.keys(":Caliban rename main<CR>");
    nvim.wait_session("main");
    say(&nvim, &server, "more", "Second.");
    assert_eq!(said(&setup, "main").len(), 4);
    assert!(!setup.sessions().join("kept.json").exists());
}

#[test]
fn a_deleted_conversations_reply_does_not_reach_a_new_one_of_its_name() {
    let server = Server::start();
    let (setup, nvim, gate) = in_mid_turn(&server);
    let words = "delete('main') open('main') send('main', 'anew')";
    server.reply(Reply::said("Only this."));
    at_once(&nvim, words);
    let transcript = "local buf = vim.fn.bufnr('^caliban://main$')
        return buf > 0 and table.concat(vim.api.nvim_buf_get_lines(buf, 0, -1, false), '\\n') or ''";
    nvim.wait(|nvim| nvim.lua_str(transcript).contains("Only this."), "the new conversation");
    gate.finish();
    say(&nvim, &server, "more", "The end.");
    let shown = nvim.lua_str(transcript);
    assert!(!shown.contains("hello") && !shown.contains("I see"), "{shown}");
    let new = ["user: anew", "assistant: Only this.", "user: more", "assistant: The end."];
    assert_eq!(said(&setup, "main"), new);
    assert!(setup.sessions().join("trash/main-1.json").exists());
}

#[test]
fn after_a_refused_rename_the_new_name_stays_free_and_the_conversation_goes_on() {
    let server = Server::start();
    let (setup, nvim, gate) = in_mid_turn(&server);
    server.reply(Reply::said("The second."));
    at_once(&nvim, "rename('main', 'other') send('main', 'after that')");
    nvim.wait_screen("A turn is running. Stop it first (<C-c>), then rename.");
    gate.finish();
    nvim.wait_screen("The second.");
    nvim.wait_phase("idle");
    assert_eq!(said(&setup, "main").len(), 4);
    nvim.keys("<Esc>:Caliban new other<CR>");
    nvim.wait_session("other");
    say(&nvim, &server, "hi", "The other's.");
    assert_eq!(said(&setup, "other"), ["user: hi", "assistant: The other's."]);
}

#[test]
fn a_verdict_follows_a_conversation_that_was_renamed_during_the_review() {
    let server = Server::start();
    let (setup, nvim) = begun(&server);
    let edits = edit("a.txt", &[("l2", "L2"), ("l8", "L8")]);
    server.reply(Reply::new().call("e1", "edit", edits));
    nvim.lua("require('caliban').ask('change it')", &[]);
    nvim.wait_phase("reviewing");
    nvim.lua("require('caliban').stop()", &[]);
    nvim.wait_phase("idle");
    nvim.keys("<Esc>:Caliban rename other<CR>");
    nvim.wait_session("other");
    // another conversation has the former name when the verdict comes
    nvim.keys(":Caliban new main<CR>");
    nvim.wait_session("main");
    nvim.lua("require('caliban').accept({ scope = 'all', session = 'other' })", &[]);
    nvim.wait_hunks(0);
    assert_eq!(setup.on_disk("a.txt"), Some(nine().replace("l2", "L2").replace("l8", "L8")));
    say(&nvim, &server, "in the new one", "Nothing of it.");
    nvim.keys(":Caliban resume other<CR>");
    nvim.wait_session("other");
    say(&nvim, &server, "go on", "I see.");
    let requests = server.requests();
    let [.., new, renamed] = &requests[..] else { panic!("{} requests", requests.len()) };
    let verdict = "The user accepted 2 changes in a.txt.";
    assert!(renamed.last_user_text().contains(verdict), "{}", renamed.json);
    assert!(!new.json.to_string().contains(verdict), "{}", new.json);
}
