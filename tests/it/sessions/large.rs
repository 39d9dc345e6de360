//! Conversations with many messages and long outputs: the end is painted at once, and the rest when the user goes
//! there.

use super::*;
use crate::kit::chat::assert_grows;
use caliban::event::SessionId;
use caliban::message::{Block, Message, Role};
use caliban::session::Session;
use caliban::store::Project;
use serde_json::json;

/// Saves a conversation with `turns` prompts and replies.
fn long(setup: &Setup, turns: usize) {
    let root = fs::canonicalize(setup.dir().join("project")).unwrap();
    let project = Project::new(&setup.dir().join("data/caliban/sessions"), &root);
    let text = |text: String| vec![Block::Text { text }];
    let turn = |n: usize| {
        let reply = format!("reply {n}\n\n{}", "A line of it, as long as lines are.\n".repeat(20));
        [
            Message::new(Role::User, text(format!("prompt {n}:"))),
            Message::new(Role::Assistant, text(reply)),
        ]
    };
    let mut messages: Vec<Message> = (0..turns).flat_map(turn).collect();
    messages.push(Message::new(Role::Assistant, text("The very end.".into())));
    let session = Session { messages, turns: 9, title: "long".into(), ..Session::default() };
    project.open(&SessionId("main".into())).unwrap().store.save(&session).unwrap();
    project.set_last(&SessionId("main".into())).unwrap();
}

/// Opens a long conversation, with the cursor at the end of its transcript.
fn opened(server: &Server, turns: usize) -> (Setup, Nvim) {
    let setup = Setup::new().anthropic(server);
    long(&setup, turns);
    let nvim = Nvim::start(&setup);
    nvim.keys(":Caliban<CR>");
    nvim.wait_screen("The very end.");
    nvim.go_to_transcript("The very end.");
    (setup, nvim)
}

fn wait_whole(nvim: &Nvim) {
    nvim.wait_transcript("prompt 0:");
    nvim.wait(
        |nvim| {
            nvim.lua_str("return tostring(require('caliban.chat.chats').current.above)") == "false"
        },
        "the whole chat",
    );
}

#[test]
fn every_line_of_a_long_conversation_is_painted_once_and_in_order() {
    let server = Server::start();
    let (_setup, nvim) = opened(&server, 300);
    wait_whole(&nvim);
    let transcript = nvim.transcript();
    let heads: Vec<&str> = transcript
        .lines()
        .filter(|it| it.starts_with("prompt ") || it.starts_with("reply "))
        .collect();
    let expected: Vec<String> =
        (0..300).flat_map(|n| [format!("prompt {n}:"), format!("reply {n}")]).collect();
    assert_eq!(heads, expected);
    assert_eq!(transcript.matches("A line of it").count(), 300 * 20);
    assert!(transcript.starts_with("prompt 0:") && transcript.contains("\n\nThe very end."));
    // the sign of a prompt is shown even if the prompt is painted late
    nvim.keys("gg");
    nvim.wait_screen("┃ prompt 0:");
}

/// Each key is typed while the chat is still being painted.
#[test]
fn motions_in_a_long_chat_reach_lines_that_are_not_painted_yet() {
    let server = Server::start();
    for (keys, line) in [
        ("gg", "prompt 0:"),
        ("<C-Home>", "prompt 0:"),
        ("2gg", ""),
        ("?prompt 3:<CR>", "prompt 3:"),
        ("gg/reply 7$<CR>", "reply 7"),
        (":1<CR>", "prompt 0:"),
        ("400[[", "prompt 0:"),
        ("[[", "prompt 399:"),
        ("Vgg<Esc>", "prompt 0:"),
    ] {
        let (_setup, nvim) = opened(&server, 400);
        nvim.keys(keys);
        nvim.wait(|nvim| nvim.lua_str("return vim.fn.getline('.')") == line, keys);
        wait_whole(&nvim);
        assert_eq!(nvim.lua_str("return vim.fn.getline('.')"), line, "{keys}");
    }
}

#[test]
fn painting_earlier_messages_does_not_move_the_view() {
    let server = Server::start();
    let (_setup, nvim) = opened(&server, 400);
    nvim.keys("50k");
    let look = "return vim.inspect({ vim.fn.getline('w0', 'w$'), vim.fn.getline('.'), \
        vim.fn.line('$') - vim.fn.line('w0') })";
    let seen = nvim.lua_str(look);
    wait_whole(&nvim);
    assert_eq!(nvim.lua_str(look), seen);
}

/// A chat in which the model has read a long file and answered `Seen.`.
fn logged(setup: &Setup, server: &Server) -> Nvim {
    let nvim = Nvim::start(setup);
    server.reply(Reply::new().call("c1", "read", json!({ "path": "log.txt" })));
    server.reply(Reply::said("Seen."));
    nvim.keys(":Caliban<CR>");
    nvim.ask("look", "Seen.");
    nvim
}

fn with_log(server: &Server) -> Setup {
    let lines: Vec<String> = (0..1_000).map(|n| format!("line {n} of a long log\n")).collect();
    let log = lines.concat();
    Setup::new().size(160, 40).file("log.txt", log).anthropic(server)
}

fn outputs(setup: &Setup) -> PathBuf {
    setup.sessions().join("main.outputs")
}

#[test]
fn after_a_restart_a_long_output_is_read_from_its_own_file_and_sent_again() {
    let server = Server::start();
    let setup = with_log(&server);
    let nvim = logged(&setup, &server);
    nvim.quit_with(":qa<CR>");
    nvim.wait_program_end();
    assert_eq!(fs::read_dir(outputs(&setup)).unwrap().count(), 1);
    let file = fs::read_to_string(setup.sessions().join("main.json")).unwrap();
    assert!(!file.contains("of a long log") && file.contains("\"output\": \""), "{file}");
    let nvim = Nvim::start(&setup);
    server.reply(Reply::said("Still."));
    nvim.keys(":Caliban<CR>");
    nvim.wait_screen("Seen.");
    // unfolding a result reads the result from the file in `main.outputs`
    nvim.go_to_transcript("log.txt");
    nvim.keys("za");
    nvim.wait_transcript("line 999 of a long log");
    nvim.ask("again", "Still.");
    let requests = server.requests();
    assert!(requests[2].answer("c1").contains("line 999 of a long log"));
    assert_grows(requests);
}

#[test]
fn a_missing_output_file_is_reported_in_one_sentence() {
    let server = Server::start();
    let setup = with_log(&server);
    logged(&setup, &server).quit_with(":qa<CR>");
    fs::remove_dir_all(outputs(&setup)).unwrap();
    let nvim = Nvim::start(&setup);
    server.reply(Reply::said("Well."));
    nvim.keys(":Caliban<CR>");
    nvim.wait_screen("Seen.");
    nvim.ask("again", "Well.");
    nvim.wait_transcript("One long output of this conversation is missing. The model is told so.");
    let requests = server.requests();
    assert_eq!(
        requests[2].answer("c1"),
        "The output of this call is missing: its file beside the conversation is gone or cannot be read."
    );
}

#[test]
fn a_copy_and_an_export_include_long_outputs() {
    let server = Server::start();
    let setup = with_log(&server);
    logged(&setup, &server).quit_with(":qa<CR>");
    let nvim = Nvim::start(&setup);
    nvim.keys(":Caliban<CR>");
    nvim.wait_screen("Seen.");
    nvim.lua("require('caliban').ask('/export all.json')", &[]);
    nvim.wait_screen("Written to");
    assert!(setup.on_disk("all.json").unwrap().contains("line 999 of a long log"));
    nvim.lua("require('caliban').ask('/save copy')", &[]);
    nvim.wait_screen("A copy is saved as copy.");
    nvim.quit_with(":qa<CR>");
    fs::remove_dir_all(outputs(&setup)).unwrap();
    let nvim = Nvim::start(&setup);
    server.reply(Reply::said("There."));
    nvim.keys(":Caliban resume copy<CR>");
    nvim.wait_screen("Seen.");
    nvim.ask("again", "There.");
    assert!(server.requests()[2].answer("c1").contains("line 999 of a long log"));
}

/// Until the session is closed, only the journal has the last turn of a long conversation.
#[test]
fn the_session_file_is_complete_once_the_session_is_closed() {
    let server = Server::start();
    let ends: [&dyn Fn(&Nvim); 2] =
        [&|it| assert!(it.quit_with(":qa<CR>").success()), &|it| it.kill()];
    for end in ends {
        let (setup, nvim) = opened(&server, 300);
        server.reply(Reply::said("The last of all."));
        nvim.lua("require('caliban').ask('and now?')", &[]);
        nvim.wait_transcript("The last of all.");
        nvim.wait_phase("idle");
        let journal = setup.sessions().join("main.journal");
        let read = || fs::read_to_string(&journal).unwrap();
        nvim.wait(|_| read().contains("The last of all."), "the turn in the journal");
        nvim.lua("require('caliban').ask('/save copy')", &[]);
        nvim.wait_screen("A copy is saved as copy.");
        end(&nvim);
        no_processes(&nvim);
        assert_eq!(read(), "");
        for name in ["main", "copy"] {
            let said = said(&setup, name);
            assert_eq!(said.len(), 603);
            assert_eq!(said[602], "assistant: The last of all.");
        }
    }
}
