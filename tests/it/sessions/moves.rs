//! Renaming, copying and deleting a conversation.

use super::names::{say, talked};
use super::*;
use crate::kit::chat::{DIALECTS, common};

/// A chat `main` in which `hello` was answered with `First.`.
fn begun(server: &Server) -> (Setup, Nvim) {
    let setup = wide().anthropic(server);
    let nvim = talked(&setup, server, "hello", "First.");
    (setup, nvim)
}

#[test]
fn a_renamed_conversation_keeps_all_its_files() {
    let server = Server::start();
    let (setup, nvim) = begun(&server);
    nvim.keys("iunsent<Esc>");
    let draft = |name: &str| setup.sessions().join(format!("{name}.draft"));
    nvim.wait(|_| draft("main").exists(), "the draft");
    nvim.keys(":Caliban rename parser<CR>");
    nvim.wait_screen("main is now called parser.");
    nvim.wait_session("parser");
    assert_eq!(files(&setup), ["last", "parser.draft", "parser.journal", "parser.json"]);
    assert_eq!(fs::read_to_string(setup.sessions().join("last")).unwrap(), "parser");
    assert_eq!(session(&setup, "parser")["name"], "parser");
    let buffers = "return vim.iter(vim.api.nvim_list_bufs()):map(vim.api.nvim_buf_get_name)
        :filter(function(it) return it:find('^caliban:') end):join(' ')";
    assert_eq!(nvim.lua_str(buffers), "caliban://parser caliban://parser/prompt");
    assert_eq!(nvim.lua_str("return vim.b.caliban_session"), "parser");
    say(&nvim, &server, "more", "Second.");
    assert_eq!(said(&setup, "parser").len(), 4);
    nvim.keys(":Caliban new<CR>");
    nvim.wait_gone("Second.");
    assert_eq!(nvim.session(), "main");
    nvim.keys(":Caliban resume parser<CR>");
    nvim.wait_screen("Second.");
    nvim.lua("require('caliban').ask('/rename other')", &[]);
    nvim.wait_session("other");
    nvim.quit_with(":qa<CR>");
    let nvim = Nvim::start(&setup);
    nvim.keys(":Caliban<CR>");
    nvim.wait_screen("Second.");
    nvim.wait_screen("unsent");
    assert_eq!(nvim.session(), "other");
}

#[test]
fn slash_rename_refuses_a_taken_name_and_uses_other_words_as_the_title() {
    let server = Server::start();
    let (setup, nvim) = begun(&server);
    nvim.keys(":Caliban new Other<CR>");
    nvim.wait_gone("First.");
    say(&nvim, &server, "hi", "Second.");
    for taken in ["main", "MAIN", "Other"] {
        nvim.command("messages clear");
        nvim.keys(&format!(":Caliban rename {taken}<CR>"));
        nvim.wait_screen("already exists; nothing was renamed.");
        nvim.keys(":<Esc>");
    }
    nvim.keys(":Caliban rename OTHER<CR>");
    nvim.wait_session("OTHER");
    nvim.keys(":Caliban rename ../x/ Fix the\u{202e} parser<CR>");
    nvim.wait_screen("The title is now “../x/ Fix the parser”.");
    nvim.wait(
        |_| session(&setup, "OTHER")["title"] == "../x/ Fix the parser",
        "the title in the file",
    );
    nvim.lua("require('caliban').ask('/rename ' .. ('x'):rep(255))", &[]);
    let title = format!("{}…", "x".repeat(59));
    nvim.wait(|_| session(&setup, "OTHER")["title"] == title.as_str(), "the long title");
    say(&nvim, &server, "a prompt is no title now", "Third.");
    assert_eq!(session(&setup, "OTHER")["title"], title.as_str());
    assert_eq!(nvim.session(), "OTHER");
    assert!(!setup.sessions().parent().unwrap().join("x").exists());
}

#[test]
fn a_conversation_cannot_be_renamed_during_a_turn() {
    let server = Server::start();
    let (setup, nvim, gate) = in_mid_turn(&server);
    nvim.keys("<Esc>:Caliban rename other<CR>");
    nvim.wait_screen("A turn is running. Stop it first (<C-c>), then rename.");
    gate.finish();
    nvim.wait_screen("I see two files.");
    nvim.wait_phase("idle");
    nvim.keys(":Caliban rename other<CR>");
    nvim.wait_session("other");
    assert_eq!(said(&setup, "other")[1], "assistant: I see two files.");
}

#[test]
fn a_fork_goes_up_to_the_message_under_the_cursor_in_every_dialect() {
    let said = DIALECTS.map(|dialect| {
        let server = Server::start();
        server.reply(Reply::new().call("c1", "read", serde_json::json!({"path": "a.txt"})));
        server.reply(Reply::said("Read it."));
        let setup = wide().file("a.txt", "alpha\n").speaking(dialect, &server);
        let nvim = Nvim::start(&setup);
        nvim.ask("prompt one", "Read it.");
        server.reply(Reply::said("Second."));
        nvim.ask("prompt two", "Second.");
        nvim.keys(":Caliban<CR><Esc>");
        let mut outlines = Vec::new();
        for (at, name) in [("Read it.", "main-2"), ("prompt one", "main-3"), ("Second.", "main-4")]
        {
            nvim.keys(":Caliban resume main<CR>");
            nvim.wait_session("main");
            nvim.wait_screen("Second.");
            nvim.go_to_transcript(at);
            nvim.keys(":Caliban fork<CR>");
            nvim.wait_session(name);
            server.reply(Reply::said(&format!("Forked at {at}")));
            nvim.ask("on", &format!("Forked at {at}"));
            let request = server.requests().pop().unwrap();
            assert!(request.last_user_text().ends_with("on"));
            let (outline, answers) = (request.outline(), request.answers().len());
            let held = ["prompt one", "Read it.", "prompt two", "Second."];
            let held: Vec<&str> = held.into_iter().filter(|it| outline.contains(it)).collect();
            outlines.push(format!("{} ({answers} answers)", held.join(", ")));
        }
        assert_eq!(super::said(&setup, "main").len(), 6, "the old one is as it was");
        outlines.join("\n")
    });
    expect_test::expect![[r#"
        prompt one, Read it. (1 answers)
        prompt one (0 answers)
        prompt one, Read it., prompt two, Second. (1 answers)"#]]
    .assert_eq(common(&said));
}

#[test]
fn slash_save_makes_a_copy_and_stays_in_the_original() {
    let server = Server::start();
    let (setup, nvim) = begun(&server);
    nvim.lua("require('caliban').ask('/save before')", &[]);
    nvim.wait_screen("A copy is saved as before.");
    assert_eq!(nvim.session(), "main");
    say(&nvim, &server, "more", "Second.");
    assert_eq!(said(&setup, "before").len(), 2);
    assert_eq!(said(&setup, "main").len(), 4);
    nvim.lua("require('caliban').ask('/save Before')", &[]);
    nvim.wait_screen("A conversation before already exists; nothing was saved.");
    nvim.keys(":Caliban new! hidden<CR>");
    nvim.wait_gone("Second.");
    say(&nvim, &server, "a secret", "I keep it.");
    nvim.lua("require('caliban').ask('/fork')", &[]);
    nvim.wait_screen("This conversation is not saved automatically.");
    nvim.lua("require('caliban').ask('/save kept')", &[]);
    nvim.wait_screen("A copy is saved as kept.");
    assert_eq!(said(&setup, "kept"), ["user: a secret", "assistant: I keep it."]);
}

#[test]
fn slash_fork_in_an_empty_conversation_says_that_there_is_no_message_yet() {
    let server = Server::start();
    let nvim = Nvim::start(&Setup::new().anthropic(&server));
    nvim.keys(":Caliban<CR>i/fork<C-s>");
    nvim.wait_screen("Nothing was copied: this conversation has no message");
    assert_eq!(nvim.session(), "main");
}

/// Deletes a conversation, and answers the question with yes.
fn delete(nvim: &Nvim, name: &str) {
    nvim.keys(&format!(":Caliban delete {name}<CR>"));
    nvim.wait_screen("2: Move it to the trash");
    nvim.keys("2<CR>");
}

fn trash(setup: &Setup) -> Vec<String> {
    let entries = fs::read_dir(setup.sessions().join("trash")).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries.map(|it| it.file_name().into_string().unwrap()).collect();
    names.retain(|it| Path::new(it).extension() == Some("json".as_ref()));
    names.sort();
    names
}

#[test]
fn deleting_moves_to_the_trash_and_shows_another_conversation() {
    let server = Server::start();
    let (setup, nvim) = begun(&server);
    nvim.keys(":Caliban new other<CR>");
    nvim.wait_gone("First.");
    say(&nvim, &server, "hi", "Second.");
    nvim.keys(":Caliban delete<CR>");
    nvim.wait_screen("Delete the conversation other?");
    nvim.keys("1<CR>");
    assert!(trash(&setup).is_empty());
    delete(&nvim, "");
    nvim.wait_screen("First.");
    nvim.wait_session("main");
    assert_eq!(trash(&setup), ["other-1.json"]);
    fs::write(setup.sessions().join("bad.json"), "{\"half").unwrap();
    delete(&nvim, "bad");
    nvim.wait_screen("bad is in the trash: ");
    assert_eq!(trash(&setup), ["bad-1.json", "other-1.json"]);
    nvim.keys(":Caliban delete ../x<CR>");
    nvim.wait_screen("There is no conversation ../x in this project; nothing was deleted.");
    delete(&nvim, "main");
    nvim.wait_gone("First.");
    nvim.wait_screen("Project");
    assert_eq!(trash(&setup).len(), 3);
    say(&nvim, &server, "again", "Anew.");
    assert_eq!(said(&setup, "main").len(), 2);
    // a conversation moved out of the trash by hand can be opened again
    for it in fs::read_dir(setup.sessions().join("trash")).unwrap().map(|it| it.unwrap()) {
        let name = it.file_name().into_string().unwrap();
        if name.starts_with("other-1.") {
            fs::rename(it.path(), setup.sessions().join(name)).unwrap();
        }
    }
    nvim.keys(":Caliban resume other-1<CR>");
    nvim.wait_screen("Second.");
}

#[test]
fn deleting_a_conversation_stops_its_running_turn() {
    let server = Server::start();
    let (setup, nvim, _gate) = in_mid_turn(&server);
    nvim.keys("<Esc>:Caliban delete<CR>");
    nvim.wait_screen("Its turn is running and will be stopped.");
    nvim.keys("2<CR>");
    nvim.wait_gone("I see");
    nvim.wait_screen("Project");
    nvim.wait(|_| trash(&setup) == ["main-1.json"], "the file in the trash");
    let second = Nvim::start(&setup);
    second.keys(":Caliban new theirs<CR>");
    second.wait_screen("Project");
    say(&second, &server, "hi", "Theirs.");
    delete(&nvim, "theirs");
    nvim.wait_screen("The conversation theirs is open in another Neovim (");
    assert_eq!(trash(&setup), ["main-1.json"]);
}
