//! Tests requests that are too long for their model: what an error teaches, and that no conversation is stuck after it.

use crate::compaction::{LATE, files, summary, three_turns};
use crate::kit::chat::DIALECTS;
use crate::kit::http::Request;
use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::kit::server::Server;
use crate::kit::setup::Setup;
use crate::run::Ran;
use serde_json::json;

/// A model whose window is not known.
const UNKNOWN: &str = "openai/some-local-model";

/// About 4 kB.
fn text() -> String {
    let lines: Vec<String> =
        (0..160).map(|n| format!("this is the line number {n:03}\n")).collect();
    lines.concat()
}

fn is_question(request: &Request) -> bool {
    request.body.windows(16).any(|it| it == b"You summarise th")
}

/// The tokens of a request as the fake server counts them.
fn tokens(request: &Request) -> u64 {
    request.body.len() as u64 / 4
}

/// The most tokens of the reply for which a request asks.
fn most(request: &Request) -> u64 {
    let fields = ["max_tokens", "max_completion_tokens", "max_output_tokens"];
    let given = fields.iter().find_map(|it| request.json[*it].as_u64());
    let others = ["/generationConfig/maxOutputTokens", "/options/num_predict"];
    given.or_else(|| others.iter().find_map(|it| request.json.pointer(it)?.as_u64())).unwrap_or(0)
}

/// Refuses in vLLM's words each request that does not fit into the window together with its reply.
fn window(server: &Server, window: u64) {
    server.refuse_as(400, move |it| {
        let (prompt, reply) = (tokens(it), most(it));
        let all = prompt + reply;
        let said = format!(
            "This model's maximum context length is {window} tokens. However, you requested {all} tokens ({prompt} in \
             the messages, {reply} in the completion). Please reduce the length of the messages or completion."
        );
        (all > window).then(|| json!({ "error": { "message": said, "code": 400 } }).to_string())
    });
}

/// Refuses each request with more bytes than this, in words without a number.
fn narrow(server: &Server, bytes: usize) {
    let body = r#"{"error":{"message":"Input is too long for requested model."}}"#;
    server.refuse(400, body, move |it| it.body.len() > bytes);
}

fn refused(server: &Server, is_refused: impl Fn(&Request) -> bool) -> usize {
    server.requests().iter().filter(|it| is_refused(it)).count()
}

fn local(server: &Server) -> Setup {
    Setup::new().openai(server).env("CALIBAN_MODEL", UNKNOWN)
}

#[test]
fn a_small_window_that_nobody_declared_is_learnt_from_the_first_error() {
    let server = Server::start();
    window(&server, 8192);
    server.otherwise(Reply::said("Hello."));
    let nvim = Nvim::start(&local(&server));
    nvim.ask("hi", "Hello.");
    nvim.wait_transcript(
        "! The provider takes at most 8,192 tokens in a request to openai/some-local-model and its reply.",
    );
    let requests = server.requests();
    assert_eq!(requests.len(), 2);
    assert!(tokens(&requests[1]) + most(&requests[1]) <= 8192 && most(&requests[1]) >= 512);
    let shown = nvim.shown("Hello.");
    nvim.lua("require('caliban').ask(...)", &["and again".into()]);
    nvim.wait_more("Hello.", shown);
    assert_eq!((server.count(), nvim.shown("takes at most 8,192")), (3, 1));
    // another conversation knows it too
    nvim.keys(":Caliban new<CR>");
    nvim.wait_gone("and again");
    nvim.ask("hi", "Hello.");
    assert_eq!(refused(&server, |it| tokens(it) + most(it) > 8192), 1);
}

#[test]
fn a_window_without_room_for_the_fixed_prompt_is_said_to_be_that() {
    let server = Server::start();
    window(&server, 4096);
    let nvim = Nvim::start(&local(&server));
    nvim.lua("require('caliban').ask(...)", &["hi".into()]);
    nvim.wait_transcript(
        "The model takes at most 4,096 tokens, and Caliban's instructions and tools alone",
    );
    nvim.wait_transcript("Start the server with a larger context");
    assert!(!nvim.transcript().contains("/compact"), "{}", nvim.transcript());
    assert_eq!(server.count(), 1);
    // the server was started again with a larger window
    server.tolerate();
    server.reply(Reply::said("Hello.").usage(6_000, 5));
    nvim.ask("hi", "Hello.");
}

/// The model reads so much in one turn that several requests are too long, in words that name no window.
#[test]
fn one_turn_goes_on_after_several_requests_that_were_too_long() {
    for is_headless in [false, true] {
        let server = Server::start();
        server.reply_to(is_question, Reply::said(&summary("Read all.")));
        let mut setup = local(&server).config("{ trim = false }");
        for n in 0..24 {
            setup = setup.file(&format!("{n}.txt"), text());
            let call = json!({ "path": format!("{n}.txt") });
            server.reply(Reply::new().call(&format!("c{n}"), "read", call));
        }
        server.reply(Reply::said("All is read."));
        narrow(&server, 60_000);
        if is_headless {
            let ran = Ran::of(&mut setup.program(&["run", "read all"]));
            assert_eq!((ran.code, ran.out.as_str()), (0, "All is read.\n"), "{}", ran.err);
        } else {
            Nvim::start(&setup).ask("read all", "All is read.");
        }
        assert!(refused(&server, |it| it.body.len() > 60_000) >= 2);
        assert!(refused(&server, is_question) >= 2);
    }
}

/// After a request that was too long the model writes no summary: the turns become lines, and no request has the same
/// size as the refused one.
#[test]
fn if_no_summary_comes_after_an_overflow_the_turns_become_lines_in_every_dialect() {
    for dialect in DIALECTS {
        let server = Server::start();
        let setup = Setup::new().file("a.txt", text().repeat(4)).config("{ trim = false }");
        server.reply(Reply::new().call("c1", "read", json!({ "path": "a.txt" })));
        server.reply(Reply::said("One."));
        let nvim = Nvim::start(&setup.speaking(dialect, &server));
        nvim.ask("one, please", "One.");
        server.reply(Reply::said("Two."));
        nvim.ask("two, please", "Two.");
        let most = server.requests().pop().unwrap().body.len() + 20;
        narrow(&server, most);
        server.reply_to(is_question, Reply::rejected("no"));
        server.reply(Reply::said("Three."));
        nvim.ask(&format!("three, please {}", "word ".repeat(40)), "Three.");
        nvim.wait_transcript("Compacted without a summary, because ");
        let sizes: Vec<usize> = server.requests().iter().map(|it| it.body.len()).collect();
        assert_eq!(sizes.iter().filter(|it| **it > most).count(), 1, "{sizes:?}");
        let last = server.requests().pop().unwrap().outline();
        assert!(last.contains("one, please") && !last.contains("line number 100"), "{last}");
    }
}

/// A message that is too long alone cannot be sent, but the next one can.
#[test]
fn a_message_that_is_too_long_alone_does_not_block_the_next_one() {
    let server = Server::start();
    server.reply(Reply::said("One."));
    let nvim = Nvim::start(&local(&server));
    nvim.ask("one, please", "One.");
    narrow(&server, server.requests()[0].body.len() + 8_000);
    server.reply_to(is_question, Reply::said(&summary("Go on.")));
    let long = format!("two {}", "word ".repeat(8_000));
    nvim.lua("require('caliban').ask(...)", &[long.into()]);
    nvim.wait_transcript("The conversation is too long for the model");
    nvim.wait_phase("idle");
    server.reply(Reply::said("Three."));
    nvim.ask("three, please", "Three.");
    let last = server.requests().pop().unwrap().outline();
    assert!(last.contains("one, please") && last.ends_with("three, please"), "{last}");
}

#[test]
fn an_attached_file_that_is_too_long_is_left_out_and_the_message_is_answered() {
    let server = Server::start();
    server.reply(Reply::said("One."));
    let nvim = Nvim::start(&local(&server).file("big.txt", text().repeat(8)));
    nvim.ask("one, please", "One.");
    narrow(&server, server.requests()[0].body.len() + 8_000);
    server.reply(Reply::said("Two."));
    nvim.ask("what is in @big.txt?", "Two.");
    nvim.wait_transcript(
        "! An attached text is left out, because the model's window has no room for it.",
    );
    let last = server.requests().pop().unwrap().outline();
    assert!(last.contains("[big.txt: ") && last.contains("what is in"), "{last}");
    server.reply(Reply::said("Three."));
    nvim.ask("three, please", "Three.");
    assert_eq!(server.count(), 4);
}

/// A limit of replies that the table of models does not know.
#[test]
fn the_most_tokens_of_a_reply_are_learnt_in_every_dialect() {
    for dialect in DIALECTS {
        let server = Server::start();
        let body = r#"{"error":{"message":"max_tokens is too large: 32000. This model supports at most 4096 completion tokens, whereas you provided 32000."}}"#;
        server.refuse(400, body, |it| most(it) > 4096);
        server.otherwise(Reply::said("Hello."));
        let nvim = Nvim::start(&Setup::new().speaking(dialect, &server));
        nvim.ask("hi", "Hello.");
        nvim.wait_transcript("has at most 4,096 tokens: from now on Caliban asks for no more.");
        let shown = nvim.shown("Hello.");
        nvim.lua("require('caliban').ask(...)", &["and again".into()]);
        nvim.wait_more("Hello.", shown);
        assert_eq!(server.count(), 3);
    }
}

/// A proxy refuses requests by their bytes. The conversation is short, and has one small image or none.
#[test]
fn a_proxy_that_takes_only_small_requests_is_not_answered_by_a_shorter_conversation() {
    for mention in ["hello", "look at @a.png"] {
        let server = Server::start();
        server.refuse(413, "<html><title>413 Request Entity Too Large</title></html>", |_| true);
        let png = crate::images::png(2, 2, [1, 2, 3]);
        let nvim = Nvim::start(&Setup::new().file("a.png", png).anthropic(&server));
        nvim.lua("require('caliban').ask(...)", &[mention.into()]);
        nvim.wait_transcript("client_max_body_size");
        let shown = nvim.transcript().split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(shown.contains("kB is too large for the provider, or for a server on the way"));
        assert!(shown.contains("Most of it are Caliban's instructions and tools"), "{shown}");
        assert!(!shown.contains("/compact"), "{shown}");
    }
}

/// After a compaction the advice is not to compact.
#[test]
fn a_proxy_that_takes_only_small_requests_is_not_answered_by_a_second_compaction() {
    let server = Server::start();
    let nvim = three_turns(&server, &files(Setup::new()).config(LATE).anthropic(&server));
    server.reply(Reply::said(&summary("Be quick.")));
    nvim.keys(":Caliban<CR>i/compact<C-s><Esc>");
    nvim.wait_transcript("▸ Compacted: ");
    nvim.wait_phase("idle");
    server.refuse(413, "<html><title>413 Request Entity Too Large</title></html>", |_| true);
    nvim.lua("require('caliban').ask(...)", &["four, please".into()]);
    nvim.wait_transcript("413 Request Entity Too Large");
    nvim.wait_transcript("client_max_body_size");
    assert!(!nvim.transcript().contains("with /compact"), "{}", nvim.transcript());
}
