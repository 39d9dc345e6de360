//! What the screen says is true: of messages on their way, of commands that run, of decisions, copies and keys.

use crate::kit::http::Request;
use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::kit::server::Server;
use crate::kit::setup::Setup;
use crate::review::reopened::quit;
use crate::review::scene::{Scene, edit, nine, write};

fn at(columns: u16, rows: u16, server: &Server) -> Setup {
    Setup::new().anthropic(server).size(columns, rows).file("a.txt", "one\n")
}

/// The last message of the user in each request.
fn said(server: &Server) -> Vec<String> {
    server.requests().iter().map(Request::last_user_text).collect()
}

#[test]
fn a_message_sent_into_a_turn_continues_it_before_the_queue_even_after_an_answer_without_calls() {
    for (columns, rows) in [(80, 24), (60, 20)] {
        let server = Server::start();
        let gate = server.reply(Reply::new().text("Half of").gate().text(" it."));
        for text in ["Steered.", "First.", "Second."] {
            server.reply(Reply::said(text));
        }
        let nvim = Nvim::start(&at(columns, rows, &server));
        nvim.keys(":Caliban<CR>igo<C-s>");
        nvim.wait_screen("Half of");
        nvim.keys("first<C-s>");
        nvim.wait_queue(1);
        nvim.keys("second<C-s>");
        nvim.wait_queue(2);
        nvim.keys("at once<Esc>g<CR>");
        nvim.wait_screen("joins this turn: at once");
        gate.finish();
        nvim.wait_transcript("Second.");
        nvim.wait_phase("idle");
        assert_eq!(said(&server)[1..], ["at once", "first", "second"]);
        assert!(!nvim.transcript().contains("joins this turn"), "{}", nvim.transcript());
    }
}

#[test]
fn a_message_sent_into_a_turn_that_fails_goes_before_the_queue() {
    let server = Server::start();
    let gate = server
        .reply(Reply::new().text("Half of").gate().stream_error("invalid_request_error", "no"));
    let nvim = Nvim::start(&at(80, 24, &server));
    nvim.keys(":Caliban<CR>igo<C-s>");
    nvim.wait_screen("Half of");
    nvim.keys("first<C-s>");
    nvim.wait_queue(1);
    nvim.keys("at once<Esc>g<CR>");
    nvim.wait_screen("joins this turn: at once");
    gate.finish();
    nvim.wait_phase("idle");
    nvim.wait_screen("queued: at once");
    server.reply(Reply::said("Steered."));
    server.reply(Reply::said("First."));
    nvim.keys("<CR>");
    nvim.wait_transcript("First.");
    nvim.wait_phase("idle");
    assert_eq!(said(&server)[1..], ["at once", "first"]);
}

#[test]
fn a_command_of_the_users_is_named_while_it_runs_with_the_key_that_ends_it() {
    for (columns, rows) in [(80, 24), (60, 20), (120, 36)] {
        let server = Server::start();
        let nvim = Nvim::start(&at(columns, rows, &server));
        nvim.keys(":Caliban<CR>i! sleep 600; seq 1 40");
        nvim.wait_screen("<C-s> run in your shell");
        nvim.keys("<Esc>");
        nvim.wait_screen("<CR> run in your shell");
        nvim.keys("<CR>");
        nvim.wait_screen("▏! sleep 600; seq 1 40  running · <C-c> ends it");
        nvim.keys("i");
        nvim.wait_screen("running · <Esc><C-c> ends it");
        nvim.keys("<Esc>");
        nvim.keys("<C-c>");
        nvim.wait_screen("(stopped by signal 15)");
        nvim.wait_gone("ends it");
        assert_eq!(server.count(), 0);
    }
}

#[test]
fn the_key_beside_a_chip_works_in_the_mode_in_which_it_is_named() {
    let server = Server::start();
    let nvim = Nvim::start(&at(80, 24, &server));
    nvim.keys(":Caliban<CR>isee @nosuch.txt");
    nvim.wait_screen("▏@nosuch.txt does not exist.  <Esc><C-x> removes");
    nvim.keys("<Esc>");
    nvim.wait_screen("▏@nosuch.txt does not exist.  <C-x> removes");
    nvim.keys("<C-x>");
    nvim.wait(|it| it.composer() == "see", "the text without the mention");
}

#[test]
fn a_new_file_with_empty_lines_has_one_change_after_a_restart_too() {
    let scene = Scene::start(|it| it);
    let text = "\"\"\"A new module.\"\"\"\n\n\ndef greet_all(names):\n    return names\n";
    scene.server.reply(Reply::new().call("e1", "write", write("new.py", text)));
    scene.nvim.keys(":Caliban ask please<CR>");
    scene.wait_hunks(1);
    let scene = quit(scene);
    scene.wait_hunks(1);
    scene.nvim.keys(":Caliban<CR><Esc>:Caliban next<CR>\\a");
    scene.wait_hunks(0);
    scene.wait_chat("You accepted the change in new.py");
    scene.nvim.wait_screen("write  new.py");
    scene.nvim.wait_screen(" 1 accepted");
}

#[test]
fn the_list_of_conversations_tells_copies_from_their_originals() {
    let server = Server::start();
    let nvim = Nvim::start(&at(120, 36, &server));
    for (prompt, reply) in [("hi there", "One."), ("two", "Two."), ("three", "Three.")] {
        server.reply(Reply::said(reply));
        nvim.ask(prompt, reply);
    }
    nvim.keys(":Caliban<CR>i/undo 2<C-s><Esc>");
    nvim.wait_transcript("You went back to before");
    nvim.keys(":Caliban sessions<CR>");
    nvim.wait_screen("before /undo: hi there");
    nvim.wait(
        |it| {
            let screen = it.screen();
            let row = |name: &str| screen.lines().find(|it| it.contains(name)).map(str::to_owned);
            row(": main ").is_some_and(|it| it.contains("1 turn "))
                && row(": main-2").is_some_and(|it| it.contains("3 turns"))
        },
        "the turns of both",
    );
    nvim.keys("q");
    nvim.keys(":Caliban resume main-2<CR>");
    nvim.wait_screen("This copy is main as it was before /undo.");
    nvim.wait(|it| it.screen().contains("main-2 · "), "the name of the conversation");
    nvim.keys(":Caliban fork<CR>");
    nvim.wait_screen("This is a copy of main-2, which stays as it is.");
}

#[test]
fn a_preview_of_a_rewind_shows_only_what_is_still_to_come() {
    let scene = Scene::start(|it| {
        it.file("a.txt", nine())
            .file("b.txt", nine())
            .config("{ mode = 'auto-edit' }")
            .size(120, 36)
    });
    let change = |id: &str, path: &str, prompt: &str| {
        let done = format!("Done with {prompt}.");
        scene.server.reply(Reply::new().call(id, "edit", edit(path, &[("l2", "L2")])));
        scene.server.reply(Reply::said(&done));
        scene.nvim.ask(prompt, &done);
        scene.nvim.keys(":Caliban accept all<CR>");
        scene.wait_hunks(0);
    };
    change("e1", "a.txt", "first");
    change("e2", "b.txt", "second");
    scene.nvim.keys(":Caliban<CR>i/undo 2<C-s>");
    scene.nvim.wait_screen("preview the rewind of the changed files");
    scene.nvim.keys("2<CR>");
    scene.nvim.wait_screen("first, and 1 later turn");
    scene.nvim.keys("gg/a.txt<CR><CR>");
    scene.wait_chat("a.txt is restored");
    scene.nvim.wait_screen("diff a.txt was taken back");
    let preview = "return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\\n')";
    let text = scene.nvim.lua_str(preview);
    assert_eq!(text.matches("-L2").count(), 1, "{text}");
}

#[test]
fn the_history_of_messages_has_only_those_that_were_sent() {
    let server = Server::start();
    server.otherwise(Reply::said("Seen."));
    let nvim = Nvim::start(&at(80, 24, &server));
    nvim.keys(":Caliban<CR>");
    nvim.ask("sent", "Seen.");
    nvim.keys("i/foo bar<C-s>");
    nvim.wait_screen("Nothing was sent.");
    nvim.keys("<Esc>:%d<CR>isee @nosuch.txt<C-s>");
    nvim.wait_screen("Send the message again");
    let history =
        nvim.lua_str("return table.concat(require('caliban.program.project').history(), '|')");
    assert_eq!(history, "sent");
    nvim.keys("<Esc><CR>");
    nvim.wait(
        |it| {
            it.lua_str("return table.concat(require('caliban.program.project').history(), '|')")
                == "sent|see @nosuch.txt"
        },
        "the message that was sent again",
    );
}

#[test]
fn a_call_with_wrong_arguments_is_not_valid_and_nobody_refused_it() {
    let server = Server::start();
    server.reply(Reply::new().call("c1", "write", serde_json::json!({ "file": "a.txt" })));
    server.reply(Reply::said("I see."));
    let nvim = Nvim::start(&at(80, 24, &server));
    nvim.ask("go", "I see.");
    nvim.wait_screen("not valid");
    assert!(!nvim.screen().contains("refused"), "{}", nvim.screen());
}

/// Has the model ask for a command, and goes to the question.
fn asked(nvim: &Nvim, server: &Server, id: &str, command: &str) {
    server.reply(Reply::new().call(id, "shell", serde_json::json!({ "command": command })));
    nvim.keys("igo<C-s><Esc>");
    nvim.wait_question();
    nvim.keys("<Tab>");
}

#[test]
fn a_message_about_a_question_goes_with_the_question() {
    for (columns, rows) in [(80, 24), (60, 20)] {
        let server = Server::start();
        let nvim = Nvim::start(&at(columns, rows, &server));
        nvim.keys(":Caliban<CR>");
        let lines: Vec<String> = (0..30).map(|n| format!("touch {n}")).collect();
        asked(&nvim, &server, "c1", &lines.join("\n"));
        nvim.keys("y");
        nvim.wait_screen("not shown yet: <C-e> scrolls down");
        // the message leaves the row that says what is below
        nvim.wait_screen("more lines · G");
        nvim.keys("G");
        nvim.wait_screen("not shown yet: <C-y> scrolls up");
        server.reply(Reply::said("Over."));
        nvim.keys("n");
        nvim.wait_screen("Over.");
        nvim.wait_gone("not shown yet");
        let comment = format!("echo one > out; #{}\necho ok", "x".repeat(20_000));
        asked(&nvim, &server, "c2", &comment);
        nvim.keys("y");
        nvim.wait_screen("More is open now.");
        nvim.wait_question();
        server.reply(Reply::said("At an end."));
        nvim.keys("n");
        nvim.wait_screen("At an end.");
        nvim.wait_gone("More is open now.");
    }
}

#[test]
fn a_message_answers_all_questions_that_are_left_and_the_screen_says_so() {
    let server = Server::start();
    let question = |text: &str| serde_json::json!({ "question": text, "options": [{ "label": "One" }, { "label": "Two" }] });
    let asked = serde_json::json!({ "questions": [question("Which?"), question("And which?")] });
    server.reply(Reply::new().call("q1", "ask", asked));
    let nvim = Nvim::start(&at(80, 24, &server));
    nvim.keys(":Caliban<CR>igo<C-s>");
    nvim.wait_screen("1 of 2");
    nvim.wait_screen("<C-s> answer both in your own words");
    nvim.wait_screen("Answer both in your own words");
    nvim.keys("<Esc><Tab>");
    nvim.wait_asked("e own words");
    nvim.keys("1");
    nvim.wait_screen("2 of 2");
    nvim.wait_screen("Answer in your own words");
}
