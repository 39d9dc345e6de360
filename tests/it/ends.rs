//! Tests replies that end in unusual ways.

use crate::kit::chat::{DIALECTS, common};
use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::kit::server::Server;
use crate::kit::setup::Setup;
use expect_test::{Expect, expect};
use serde_json::json;

/// Plays a turn with this reply in each dialect, and compares the chat at the end of the turn with the snapshot.
#[expect(clippy::needless_pass_by_value, reason = "a table's row gives its snapshot away")]
fn check_stop(reply: impl Fn() -> Reply, expected: Expect) {
    let shown = DIALECTS.map(|dialect| {
        let server = Server::start();
        server.reply(reply());
        server.reply(Reply::said("Going on."));
        let nvim = Nvim::start(&Setup::new().speaking(dialect, &server));
        nvim.keys(":Caliban<CR>igo<C-s>");
        nvim.wait_transcript("! ");
        nvim.wait_phase("idle");
        let shown = nvim.conversation();
        nvim.ask("go on", "Going on.");
        shown
    });
    expected.assert_eq(common(&shown));
}

#[test]
fn an_unusual_stop_reason_is_shown_and_the_conversation_goes_on() {
    check_stop(
        || Reply::said("Cut he").stop("max_tokens"),
        expect![[r#"
        go

        Cut he

        ! The answer was cut at the model's output limit. Send `go on` to get the rest."#]],
    );
    check_stop(
        || Reply::said("I will not").stop("refusal"),
        expect![[r#"
        go

        I will not

        ! The model refused to answer."#]],
    );
    check_stop(
        Reply::new,
        expect![[r#"
        go

        ! The model ended its turn without an answer. Send a message to go on."#]],
    );
    check_stop(
        || Reply::said(" \n "),
        expect![[r#"
        go

        ! The model ended its turn without an answer. Send a message to go on."#]],
    );
    check_stop(
        || Reply::said("Odd.").stop("solar_flare"),
        expect![[r#"
        go

        Odd.

        ! The answer ended with `solar_flare`. Send a message to go on."#]],
    );
    check_stop(
        || Reply::new().stop("refusal"),
        expect![[r#"
        go

        ! The model refused to answer."#]],
    );
}

#[test]
fn a_reply_with_only_a_thought_is_reported_as_no_answer() {
    for dialect in DIALECTS {
        let server = Server::start();
        server.reply(Reply::new().thinking("Hm."));
        server.reply(Reply::said("Going on."));
        let nvim = Nvim::start(&Setup::new().speaking(dialect, &server));
        nvim.ask("go", "! The model ended its turn without an answer. Send a message to go on.");
        nvim.ask("go on", "Going on.");
        assert!(server.requests()[1].last_user_text().ends_with("go on"));
    }
}

#[test]
fn if_the_context_window_is_full_the_chat_shows_this_as_the_reason_why_the_reply_ended() {
    let server = Server::start();
    server.reply(Reply::said("So far").stop("model_context_window_exceeded"));
    server.reply(Reply::said("Going on."));
    let nvim = Nvim::start(&Setup::new().anthropic(&server));
    nvim.ask(
        "go",
        "! The conversation is too long for the model. Make the conversation shorter with /compact, send a shorter message, or start a new conversation with /new.",
    );
    nvim.ask("go on", "Going on.");
}

#[test]
fn a_paused_reply_is_continued_a_limited_number_of_times() {
    let search = |id: &str| json!({"type": "server_tool_use", "id": id, "name": "web_search", "input": {"query": "vi"}});
    let found =
        |id: &str| json!({"type": "web_search_tool_result", "tool_use_id": id, "content": []});
    let server = Server::start();
    server.reply(Reply::new().text("I search.").block(search("s1")).stop("pause_turn"));
    server.reply(Reply::new().block(found("s1")).block(search("s2")).stop("pause_turn"));
    server.reply(Reply::new().block(found("s2")).text("Found.").call("c1", "list", json!({})));
    server.reply(Reply::said("Done."));
    let nvim = Nvim::start(&Setup::new().anthropic(&server));
    nvim.ask("go", "Done.");
    expect![[r#"
        go

        I search.

        ▸ web_search  query="vi"
        ▸ web_search  query="vi"

        Found.

        ▸ list

        Done."#]]
    .assert_eq(&nvim.conversation());
    let requests = server.requests();
    let sent = |at: usize| requests[at].json["messages"].as_array().unwrap().clone();
    let types = |message: &serde_json::Value| -> Vec<String> {
        let blocks = message["content"].as_array().unwrap().iter();
        blocks.map(|it| it["type"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(types(&sent(1)[1]), ["text", "server_tool_use"]);
    assert_eq!(types(&sent(2)[2]), ["web_search_tool_result", "server_tool_use"]);
    assert_eq!(sent(3)[1..3], sent(2)[1..3]);
    // A model that pauses again and again is stopped.
    for _ in 0..11 {
        server.reply(Reply::new().text("Wait.").block(search("s3")).stop("pause_turn"));
    }
    server.reply(Reply::said("Going on."));
    nvim.ask("more", "! The model paused. Send a message to go on.");
    nvim.ask("go on", "Going on.");
    assert_eq!(server.requests().len(), 4 + 11 + 1);
}

#[test]
fn if_the_model_refuses_to_answer_its_calls_are_not_run_and_it_is_told_so() {
    for dialect in DIALECTS {
        let server = Server::start();
        let call = Reply::new().call("c1", "shell", json!({"command": "echo ran > ran.txt"}));
        server.reply(call.stop("refusal"));
        server.reply(Reply::said("Going on."));
        let nvim = Nvim::start(&Setup::new().speaking(dialect, &server));
        nvim.ask("go", "! The model refused to answer.");
        nvim.ask("go on", "Going on.");
        assert_eq!(nvim.setup.on_disk("ran.txt"), None);
        assert_eq!(server.requests()[1].answer("c1"), "Not run: the turn ended.");
    }
}
