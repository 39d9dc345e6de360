//! Tests extreme input from users, models, plugins and providers.

use crate::kit::reply::Reply;
use crate::review::scene::{Scene, nine, two_hunks};
use expect_test::{Expect, expect};
use serde_json::json;

fn accepted() -> String {
    nine().replace("l2", "L2").replace("l8", "L8\nL8b")
}

/// While two hunks are under review, types these keys and accepts all hunks. Compares the answer that the model gets
/// with `heard`.
fn accepted_after(keys: &str, setup: &str, heard: &Expect) -> Scene {
    let scene = Scene::two_hunks(|it| it.before(setup));
    scene.nvim.keys(keys);
    scene.server.reply(Reply::said("I see."));
    scene.nvim.keys("\\A");
    scene.wait_idle("I see.");
    heard.assert_eq(&scene.answer(2, "e1"));
    scene
}

#[test]
fn absurd_token_counts_do_not_end_the_conversation() {
    let scene = Scene::start(|it| it);
    let usage = format!("{{\"input_tokens\":{0},\"output_tokens\":{0}}}", u64::MAX);
    let body = [
        format!("{{\"type\":\"message_start\",\"message\":{{\"model\":\"claude-sonnet-4-5\",\"usage\":{usage}}}}}"),
        "{\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"Huge.\"}}".to_owned(),
        "{\"type\":\"content_block_stop\",\"index\":0}".to_owned(),
        "{\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"}}".to_owned(),
        "{\"type\":\"message_stop\"}".to_owned(),
    ];
    let body = body.map(|event| format!("data: {event}\n\n")).concat();
    let kind = [("content-type", "text/event-stream")];
    scene.ask_until(Reply::raw(200, &kind, &body), "Huge.");
    scene.ask_until(Reply::said("It goes on."), "It goes on.");
}

#[test]
fn random_bytes_instead_of_an_event_are_quoted_in_a_one_sentence_error() {
    let scene = Scene::start(|it| it);
    let body = format!("data: {}\n\n", "[".repeat(10_000));
    let kind = [("content-type", "text/event-stream")];
    scene.ask_until(Reply::raw(200, &kind, &body), "Check the provider's address.");
    let shown = scene.nvim.conversation();
    let said = shown.lines().find(|line| line.contains("[[[")).unwrap_or_default();
    let expected = expect![
        "! The server's answer does not follow the provider's protocol: “invalid type: sequence, expected a string at line 1 column 1: [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[…”. Check the provider's address."
    ];
    expected.assert_eq(said);
}

#[test]
fn a_message_to_a_conversation_that_cannot_be_reopened_goes_back_to_the_composer() {
    let scene = Scene::start(|it| it);
    scene.ask_until(Reply::said("One."), "One.");
    let sessions = scene.nvim.setup.dir().join("data/caliban/sessions");
    let folder = std::fs::read_dir(sessions).unwrap().next().unwrap().unwrap().path();
    let file = folder.join("main.json");
    let saved = || std::fs::read_to_string(&file).is_ok_and(|text| text.contains("One."));
    scene.nvim.wait(|_| saved(), "the turn to be on disk");
    std::fs::write(&file, "{ damaged").unwrap();
    scene.nvim.keys(":Caliban<CR>ikept<Esc><C-w>h");
    scene.nvim.keys(":Caliban restart<CR>:Caliban ask the one thing I meant<CR>");
    let both = "the one thing I meant\n\nkept";
    scene.nvim.wait(|nvim| nvim.composer() == both, "the text to come back");
    scene.nvim.wait_screen("! The conversation main is not open.");
    scene.nvim.wait_screen("This new conversation, main-2, is open instead.");
    assert_eq!(scene.nvim.lua_str("return vim.fn.bufname()"), "", "the focus stays");
}

#[test]
fn hunks_accepted_in_a_renamed_buffer_are_reported_as_accepted() {
    for keys in [":file other.txt<CR>", ":saveas other.txt<CR>"] {
        let scene = accepted_after(
            keys,
            "",
            &expect![[r"
            The user accepted 2 changes in a.txt.
            The user has given the buffer of a.txt the name other.txt: this text is there, and a.txt itself stays as it is on disk."]],
        );
        assert_eq!(scene.on_disk("a.txt"), Some(nine()), "{keys}");
        assert_eq!(scene.on_disk("other.txt"), Some(accepted()), "{keys}");
    }
}

#[test]
fn if_an_accepted_file_is_not_on_disk_after_the_write_the_user_is_told() {
    let delete = "vim.api.nvim_create_autocmd('BufWritePost', { callback = function(event)
        os.remove(event.match) end })";
    accepted_after(
        "",
        delete,
        &expect![[r"
            The user accepted 2 changes in a.txt.
            a.txt is not saved (it is not on disk after the write): the changes are not on disk yet."]],
    );
    let scene = accepted_after(
        ":set buftype=nofile<CR>",
        "",
        &expect![[r"
            The user accepted 2 changes in a.txt.
            a.txt is not saved (E382: Cannot write, 'buftype' option is set): the changes are not on disk yet."]],
    );
    assert_eq!(scene.on_disk("a.txt"), Some(nine()));
}

#[test]
fn if_an_autocommand_aborts_a_write_the_user_gets_one_sentence_without_a_traceback() {
    let fail = "vim.api.nvim_create_autocmd('BufWritePre', { callback = function()
        error('the formatter is not there') end })";
    let scene = accepted_after(
        "",
        fail,
        &expect![[r"
            The user accepted 2 changes in a.txt.
            a.txt is not saved (the formatter is not there): the changes are not on disk yet."]],
    );
    expect!["a.txt: 2 accepted, not saved: the formatter is not there"].assert_eq(&scene.said());
    assert!(!scene.nvim.is_blocked());
}

#[test]
fn rejecting_a_hunk_in_a_buffer_that_is_not_modifiable_decides_nothing() {
    let scene = Scene::two_hunks(|it| it);
    scene.nvim.keys(":set nomodifiable<CR>\\R");
    assert!(!scene.nvim.is_blocked());
    expect!["a.txt cannot be changed now: Buffer is not 'modifiable'"].assert_eq(&scene.said());
    assert_eq!(scene.pending(), 2);
}

#[test]
fn a_file_whose_lines_end_in_carriage_returns_is_reviewed_and_saved() {
    let scene = Scene::start(|it| {
        it.file("a.txt", nine().replace('\n', "\r")).before("vim.o.fileformats = 'unix,dos,mac'")
    });
    scene.nvim.keys(":edit a.txt<CR>");
    scene.ask(two_hunks());
    scene.wait_pending(2);
    scene.server.reply(Reply::said("I see."));
    scene.nvim.keys("\\A");
    scene.wait_idle("I see.");
    assert_eq!(scene.on_disk("a.txt"), Some(accepted().replace('\n', "\r")));
    assert_eq!(scene.answer(2, "e1"), "The user accepted 2 changes in a.txt.");
}

#[test]
fn a_transcript_that_the_user_has_emptied_is_restored_completely() {
    let scene = Scene::start(|it| it);
    scene.ask_until(Reply::said("The first."), "The first.");
    scene.nvim.keys(":Caliban<CR><C-w>k:set modifiable<CR>");
    // in one call: a paint that comes afterwards restores the text
    let emptied = "vim.cmd('silent %d') return vim.api.nvim_buf_get_lines(0, 0, -1, false)";
    assert_eq!(scene.nvim.lua_json(emptied).to_string(), r#"[""]"#);
    scene.ask_until(Reply::said("The second."), "The second.");
    scene.wait_chat("The first.");
    expect![""].assert_eq(&scene.said().replace("--No lines in buffer--", ""));
}

#[test]
fn if_the_screen_is_too_small_for_the_chat_the_user_gets_one_sentence() {
    let scene = Scene::start(|it| it.size(60, 6));
    scene.nvim.keys(":Caliban<CR>");
    assert!(!scene.nvim.is_blocked(), "{}", scene.nvim.screen());
    expect!["There is no room for the chat here. Close a window first."].assert_eq(&scene.said());
}

#[test]
fn the_command_line_window_stays_the_current_window_when_the_chat_opens() {
    let scene = Scene::start(|it| it);
    scene.nvim.keys("q::Caliban<CR>");
    assert!(!scene.nvim.is_blocked(), "{}", scene.nvim.screen());
    expect![""].assert_eq(&scene.said());
}

#[test]
fn the_chat_opens_even_if_new_buffers_are_not_modifiable_by_default() {
    let scene = Scene::start(|it| it.before("vim.o.modifiable = false"));
    scene.ask_until(Reply::said("Here."), "Here.");
    expect![""].assert_eq(&scene.said());
}

/// A question and the list of the to-do items are drawn by the rows of the blocks, which the transcript may lack.
#[test]
fn a_question_whose_lines_are_gone_from_the_transcript_causes_no_error() {
    for loss in ["silent $d", "silent $-2,$d", "silent %d", "silent 1d"] {
        let scene = Scene::start(|it| it.size(120, 30));
        let todos = json!([{"text": "look"}, {"text": "write"}]);
        let list = json!({"action": "write", "todos": todos});
        scene.server.reply(Reply::new().call("c1", "todo", list));
        scene.ask_until(Reply::said("One."), "One.");
        scene.nvim.keys(":Caliban<CR><C-w>kglG");
        scene.nvim.wait_screen("Todo · 0 of 2");
        let command = json!({"command": "echo ran > out"});
        scene.server.reply(Reply::new().call("c2", "shell", command));
        scene.server.reply(Reply::said("Over."));
        scene.nvim.lua("require('caliban').ask('run it')", &[]);
        scene.nvim.wait_question();
        scene.nvim.go_to_transcript("? Run");
        scene
            .nvim
            .lua(&format!("vim.bo.modifiable = true vim.cmd('{loss}') vim.cmd.redraw()"), &[]);
        for (columns, rows) in [(120, 20), (80, 30), (120, 30)] {
            scene.nvim.resize(columns, rows);
            scene.nvim.command("redraw!");
            scene.nvim.keys("glgl<C-e><C-y>");
        }
        scene.nvim.command("Caliban approve");
        let whole = "local chat = require('caliban.chat.chats').current
            return chat.question ~= nil and require('caliban.chat.order').is_intact(chat)";
        scene.nvim.wait(|nvim| nvim.lua(whole, &[]) == true.into(), "the whole transcript");
        scene.nvim.wait_question();
        scene.nvim.go_to_transcript("? Run");
        scene.nvim.keys("n");
        scene.wait_chat("Over.");
        let said = scene.said();
        assert!(!said.contains("Error") && !said.contains("stack traceback"), "{loss}: {said}");
    }
}
