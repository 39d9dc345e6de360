//! The title that the model gives a conversation: requested once, in a separate request for which the conversation does
//! not wait.

use super::*;
use crate::kit::chat::assert_grows;

fn begun(server: &Server) -> (Setup, Nvim) {
    let setup = wide().titled().anthropic_elsewhere(server);
    let nvim = Nvim::start(&setup);
    nvim.keys(":Caliban<CR>");
    nvim.wait_screen("Project");
    (setup, nvim)
}

fn wait_title(nvim: &Nvim, setup: &Setup, title: &str) {
    nvim.wait(|_| session(setup, "main")["title"] == title, &format!("the title {title:?}"));
}

#[test]
fn the_model_names_the_conversation_after_its_first_turn() {
    let server = Server::start();
    let (setup, nvim) = begun(&server);
    server.reply(Reply::said("Fixed.").usage(100, 10));
    server.reply(Reply::said("\"Parser repairs\u{1b}[31m.\"\n").usage(7, 3));
    nvim.ask("please fix the parser\nand its tests", "Fixed.");
    wait_title(&nvim, &setup, "Parser repairs");
    let file = session(&setup, "main");
    assert_eq!((&file["usage"]["input"], &file["usage"]["output"]), (&107.into(), &13.into()));
    server.reply(Reply::said("More."));
    nvim.ask("go on", "More.");
    server.reply(Reply::said("Still more."));
    nvim.ask("and on", "Still more.");
    let mut requests = server.requests();
    assert_eq!(requests.len(), 4);
    let asked = requests.remove(1);
    assert!(asked.system_text().starts_with("Write a title"), "{}", asked.system_text());
    assert_eq!(asked.tools(), [""; 0]);
    assert!(asked.last_user_text().starts_with("please fix the parser\nand its tests"));
    assert!(asked.last_user_text().ends_with("Fixed."));
    assert_eq!(asked.json["max_tokens"], 1000);
    // the title is not a part of the conversation
    assert!(!nvim.transcript().contains("Parser repairs"));
    assert_grows(requests);
}

#[test]
fn the_users_title_is_not_replaced_by_the_models() {
    let server = Server::start();
    let (setup, nvim) = begun(&server);
    server.reply(Reply::said("Fixed."));
    let gate = server.reply(Reply::new().gate().text("Too late").usage(7, 3));
    nvim.ask("fix it", "Fixed.");
    server.wait_requests(2);
    nvim.lua("require('caliban').ask('/rename My own words')", &[]);
    wait_title(&nvim, &setup, "My own words");
    gate.finish();
    nvim.wait(|_| session(&setup, "main")["usage"]["input"] != 10, "what it took");
    nvim.quit_with(":qa<CR>");
    assert_eq!(session(&setup, "main")["title"], "My own words");
}

#[test]
fn a_failed_title_request_causes_no_error() {
    for failure in [Reply::error(529), Reply::said("..."), Reply::new().text("half").cut()] {
        let server = Server::start();
        let (setup, nvim) = begun(&server);
        server.reply(Reply::said("Fixed."));
        server.reply(failure);
        nvim.ask("fix it", "Fixed.");
        server.wait_requests(2);
        server.reply(Reply::said("Yes."));
        nvim.ask("sure?", "Yes.");
        nvim.quit_with(":qa<CR>");
        assert_eq!(session(&setup, "main")["title"], "fix it");
        let said = nvim_free_of_errors(&setup);
        assert!(!said.contains("error"), "{said}");
        assert_eq!(server.requests().len(), 3);
    }
}

/// The saved messages in lower case, to check that a failed title leaves no error in the messages.
fn nvim_free_of_errors(setup: &Setup) -> String {
    said(setup, "main").join("\n").to_lowercase()
}

#[test]
fn no_title_is_requested_when_turned_off_or_on_a_local_server() {
    let server = Server::start();
    let providers = "providers = { anthropic = { base_url = 'http://models.test' } }";
    let unwanted = wide().titled().anthropic_elsewhere(&server);
    // A local server caches only one conversation, so no title is requested, with or without a key.
    let local = wide().titled().anthropic(&server);
    for setup in [unwanted.config(&format!("{{ titles = false, {providers} }}")), local] {
        let before = server.requests().len();
        let nvim = Nvim::start(&setup);
        nvim.keys(":Caliban<CR>");
        nvim.wait_screen("Project");
        for n in 1..=2 {
            server.reply(Reply::said(&format!("Answer {n}.")));
            nvim.ask("ask", &format!("Answer {n}."));
        }
        nvim.quit_with(":qa<CR>");
        assert_eq!(server.requests().len(), before + 2);
        assert_eq!(session(&setup, "main")["title"], "ask");
    }
}
