//! `/undo`, `U` and `:Caliban undo` return the conversation to its state before a message of the user.

mod files;
mod refused;
mod told;

use crate::kit::chat::{DIALECTS, common};
use crate::kit::http::Request;
use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::kit::server::Server;
use crate::kit::setup::Setup;
use serde_json::json;

/// A screen so wide that no sentence is wrapped.
fn wide() -> Setup {
    Setup::new().size(240, 40)
}

/// A chat with these prompts, which got the answers `Reply to {prompt}.`
fn talked(setup: &Setup, server: &Server, prompts: &[&str]) -> Nvim {
    let nvim = Nvim::start(setup);
    for prompt in prompts {
        let reply = format!("Reply to {prompt}.");
        server.reply(Reply::said(&reply));
        nvim.ask(prompt, &reply);
    }
    nvim.keys(":Caliban<CR>");
    nvim
}

fn wait_composer(nvim: &Nvim, text: &str) {
    nvim.wait(|it| it.composer() == text, &format!("{text:?} in the composer"));
}

/// Sends the composer's text and waits for this reply.
fn send(nvim: &Nvim, server: &Server, reply: &str) {
    server.reply(Reply::said(reply));
    nvim.keys("<Esc><CR>");
    nvim.wait_transcript(reply);
    nvim.wait_phase("idle");
}

#[test]
fn undo_goes_back_to_before_the_last_message_in_every_dialect() {
    let said = DIALECTS.map(|dialect| {
        let server = Server::start();
        server.reply(Reply::new().call("c1", "read", json!({ "path": "a.txt" })));
        let setup = wide().file("a.txt", "alpha\n").speaking(dialect, &server);
        let nvim = talked(&setup, &server, &["one", "two"]);
        nvim.keys("i/undo<C-s>");
        wait_composer(&nvim, "two");
        assert!(!nvim.transcript().contains("Reply to two."));
        nvim.wait_transcript(
            "You went back to before “two”. The whole conversation is kept as `main-2`: /sessions opens it.",
        );
        assert_eq!(nvim.session(), "main");
        nvim.keys(" again");
        send(&nvim, &server, "Another way.");
        let request = server.requests().pop().unwrap();
        nvim.keys(":Caliban resume main-2<CR>");
        nvim.wait_session("main-2");
        nvim.wait_transcript("Reply to two.");
        nvim.keys("ion from there");
        send(&nvim, &server, "The old way.");
        let old = server.requests().pop().unwrap();
        let held = |outline: &str| {
            let all = ["one", "Reply to one.", "two", "Reply to two.", "two again", "Another way."];
            let lines: Vec<&str> = all.into_iter().filter(|it| outline.contains(it)).collect();
            lines.join(", ")
        };
        assert_eq!(request.answers().len(), 1);
        format!("{}\n{}", held(&request.outline()), held(&old.outline()))
    });
    expect_test::expect![[r#"
        one, Reply to one., two, two again
        one, Reply to one., two, Reply to two."#]]
    .assert_eq(common(&said));
}

#[test]
fn the_request_after_an_undo_begins_as_the_one_before_the_undone_message() {
    let server = Server::start();
    let nvim = talked(&wide().anthropic(&server), &server, &["one", "two"]);
    nvim.keys("i/undo<C-s>");
    wait_composer(&nvim, "two");
    send(&nvim, &server, "Reply again.");
    let requests = server.requests();
    assert_eq!(requests[2].outline(), requests[1].outline());
    assert_eq!(requests[2].outline(), "user: one\nassistant: Reply to one.\nuser: two");
}

#[test]
fn after_an_undo_the_model_has_to_read_again_only_files_that_undone_messages_name() {
    let server = Server::start();
    let setup = wide().file("a.txt", "alpha\n").file("b.txt", "beta\n");
    let prompts = ["see @a.txt @b.txt", "see @b.txt:1"];
    let nvim = talked(&setup.anthropic(&server), &server, &prompts);
    nvim.keys("i/undo<C-s>");
    wait_composer(&nvim, "see @b.txt:1");
    nvim.keys("<Esc>:%delete<CR>iand?");
    send(&nvim, &server, "Reply again.");
    expect_test::expect![[r#"
        <context kind="changes" path="b.txt">
        The file may have changed since you saw it last. Read it before you rely on it.
        </context>
        and?"#]]
    .assert_eq(&server.requests()[2].last_user_text());
}

#[test]
fn a_key_on_a_message_undoes_from_that_message_on_and_keeps_the_typed_text() {
    let server = Server::start();
    let nvim = talked(&wide().anthropic(&server), &server, &["one", "two", "three"]);
    nvim.keys("ityped text<Esc>");
    nvim.go_to_transcript("Reply to one.");
    // On a reply, `U` keeps its meaning in Vim.
    nvim.keys("U");
    nvim.keys("/^two$<CR>U");
    wait_composer(&nvim, "two\n\ntyped text");
    let transcript = nvim.transcript();
    assert!(transcript.contains("Reply to one.") && !transcript.contains("Reply to two."));
    nvim.go_to_transcript("one");
    nvim.keys("U");
    wait_composer(&nvim, "one\n\ntwo\n\ntyped text");
    assert!(!nvim.transcript().contains("Reply to one."));
    nvim.keys(":Caliban<CR>");
    send(&nvim, &server, "All at once.");
    assert_eq!(server.requests()[3].outline(), "user: one\n\ntwo\n\ntyped text");
    nvim.keys(":Caliban resume main-2<CR>");
    nvim.wait_transcript("Reply to three.");
}

#[test]
fn an_undo_with_a_number_takes_back_that_many_messages() {
    let server = Server::start();
    let nvim = talked(&wide().anthropic(&server), &server, &["one", "two", "three"]);
    nvim.keys(":Caliban undo 2<CR>");
    wait_composer(&nvim, "two");
    nvim.keys("<Esc>:%delete<CR>i/undo 1<C-s>");
    wait_composer(&nvim, "one");
    nvim.keys("<Esc>:%delete<CR>i/undo<C-s>");
    nvim.wait_screen("There is no message of yours to go back to.");
}

#[test]
fn an_undone_conversation_stays_undone_after_a_restart() {
    let server = Server::start();
    let setup = wide().anthropic(&server);
    let nvim = talked(&setup, &server, &["one", "two"]);
    nvim.keys("i/undo<C-s>");
    wait_composer(&nvim, "two");
    nvim.quit_with("<Esc>:qa<CR>");
    let nvim = Nvim::start(&setup);
    nvim.keys(":Caliban<CR>");
    nvim.wait_screen("Reply to one.");
    wait_composer(&nvim, "two");
    assert!(!nvim.transcript().contains("Reply to two."));
    nvim.keys(":Caliban sessions<CR>");
    nvim.wait_screen("main-2");
}

#[test]
fn the_undone_part_of_an_unsaved_conversation_is_kept_in_this_neovim() {
    let server = Server::start();
    let nvim = Nvim::start(&wide().anthropic(&server));
    nvim.keys(":Caliban new! secret<CR>");
    nvim.wait_session("secret");
    for prompt in ["one", "two"] {
        let reply = format!("Reply to {prompt}.");
        server.reply(Reply::said(&reply));
        nvim.ask(prompt, &reply);
    }
    nvim.keys("i/undo<C-s>");
    wait_composer(&nvim, "two");
    assert_eq!(nvim.session(), "secret");
    nvim.wait_screen("is kept as secret-2");
    let mut files = ignore::WalkBuilder::new(nvim.setup.dir().join("data")).hidden(false).build();
    let is_saved = files.any(|it| it.unwrap().file_name().to_string_lossy().starts_with("secret"));
    assert!(!is_saved);
    nvim.keys("<Esc>:Caliban resume secret-2<CR>");
    nvim.wait_session("secret-2");
    nvim.wait_transcript("Reply to two.");
    nvim.keys(":Caliban resume secret<CR>");
    nvim.wait_session("secret");
    send(&nvim, &server, "Once more.");
    assert_eq!(server.requests()[2].outline(), "user: one\nassistant: Reply to one.\nuser: two");
}

#[test]
fn the_context_of_an_undone_message_comes_back_with_the_message() {
    let server = Server::start();
    let setup = wide().file("a.txt", "alpha\nbeta\n").file("b.txt", "gamma\n").anthropic(&server);
    let nvim = Nvim::start(&setup);
    server.reply(Reply::said("I see."));
    nvim.keys(":edit a.txt<CR>:2Caliban add<CR>:Caliban<CR>ilook at @b.txt<C-s>");
    nvim.wait_transcript("I see.");
    nvim.wait_phase("idle");
    nvim.keys("/undo<C-s>");
    wait_composer(&nvim, "look at @b.txt");
    nvim.wait_screen("selection  a.txt:2");
    send(&nvim, &server, "Again.");
    let texts = server.requests().iter().map(Request::last_user_text).collect::<Vec<_>>();
    assert_eq!(texts[1], texts[0]);
    assert_eq!(texts[1].matches("gamma").count(), 1);
}

#[test]
fn the_mode_of_an_undone_message_stays_and_the_model_is_told_of_it() {
    let server = Server::start();
    let nvim = talked(&wide().anthropic(&server), &server, &["one"]);
    server.reply(Reply::said("A plan."));
    nvim.keys("i/plan think<C-s>");
    nvim.wait_transcript("A plan.");
    nvim.wait_phase("idle");
    nvim.keys("/undo<C-s>");
    wait_composer(&nvim, "think");
    send(&nvim, &server, "Another plan.");
    let texts = server.requests().iter().map(Request::last_user_text).collect::<Vec<_>>();
    assert_eq!(texts[2], texts[1]);
    assert!(texts[2].len() > "think".len(), "the model is told of plan mode: {}", texts[2]);
}
