//! Each request begins with the request before it, byte for byte.

mod context;
mod turns;

use crate::kit::chat::{DIALECTS, assert_grows};
use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::kit::rules::anthropic::signature;
use crate::kit::server::Server;
use crate::kit::setup::Setup;
use serde_json::json;

#[test]
fn each_request_begins_with_the_request_before_it() {
    for dialect in DIALECTS {
        let server = Server::start();
        server.reply(Reply::new().thinking("Hm.").text("I look.").call(
            "c1",
            "read",
            json!({"path": "a.txt"}),
        ));
        server.reply(Reply::new().text("More.").call("c2", "list", json!({})));
        server.reply(Reply::said("Done."));
        server.reply(Reply::said("Again."));
        let nvim = Nvim::start(&Setup::new().file("a.txt", "alpha\n").speaking(dialect, &server));
        nvim.ask("go", "Done.");
        nvim.ask("and now?", "Again.");
        assert_grows(server.requests());
    }
}

/// The reply has thoughts with text, without text and redacted.
#[test]
fn thoughts_are_sent_back_unchanged_and_only_to_the_model_that_had_them() {
    let server = Server::start();
    let redacted = json!({"type": "redacted_thinking", "data": "b3BhcXVl"});
    let empty = json!({"type": "thinking", "thinking": "", "signature": signature("")});
    server.reply(Reply::new().thinking("Let me see.").block(empty).block(redacted).call(
        "c1",
        "list",
        json!({}),
    ));
    server.reply(Reply::new().thinking("And now?").text("I look on.").call(
        "c2",
        "list",
        json!({"path": "."}),
    ));
    server.reply(Reply::said("Done."));
    let nvim = Nvim::start(&Setup::new().anthropic(&server).openai(&server));
    nvim.ask("go", "Done.");
    server.reply(Reply::said("Other."));
    nvim.command("Caliban model anthropic/claude-haiku-4-5");
    nvim.ask("two", "Other.");
    server.reply(Reply::said("Back."));
    nvim.command("Caliban model anthropic/claude-sonnet-4-5");
    nvim.ask("three", "Back.");
    let thoughts = |at: usize| -> Vec<String> {
        let body = server.requests()[at].json["messages"].to_string();
        ["Let me see.", "\"thinking\":\"\"", "b3BhcXVl", "And now?"]
            .map(|it| if body.contains(it) { it.into() } else { "-".to_owned() })
            .into()
    };
    let all = ["Let me see.", "\"thinking\":\"\"", "b3BhcXVl", "And now?"];
    assert_eq!(thoughts(2), all);
    assert_eq!(thoughts(3), ["-", "-", "-", "-"]);
    assert_eq!(thoughts(4), all);
}

#[test]
fn a_cache_miss_is_named_in_the_debug_log() {
    let server = Server::start();
    server.reply(Reply::said("One.").usage(10, 5).cached(0, 4000));
    server.reply(Reply::said("Two.").usage(10, 5).cached(4000, 20));
    server.reply(Reply::said("Three.").usage(4100, 5).cached(0, 0));
    server.reply(Reply::said("Four.").usage(4100, 5).cached(0, 9000));
    server.reply(Reply::said("Five.").usage(4100, 5).cached(0, 0));
    let setup = Setup::new().file("p.md", "be kind").config("{ system_file = 'p.md' }");
    let nvim = Nvim::start(&setup.anthropic(&server));
    // Another thread writes the log, so the line may come late.
    let wait_missed = |times| {
        let missed = |nvim: &Nvim| nvim.setup.debug_log().matches("cache was missed").count();
        nvim.wait(|nvim| missed(nvim) == times, "a line of the log");
    };
    nvim.ask("one", "One.");
    nvim.ask("two", "Two.");
    assert!(!nvim.setup.debug_log().contains("cache was missed"));
    nvim.ask("three", "Three.");
    wait_missed(1);
    let log = nvim.setup.debug_log();
    let line = log.lines().find(|it| it.contains("the cache was missed")).unwrap();
    let said = "the cache was missed: 0 of 4020 cached tokens were read; this request continues the \
        earlier one";
    assert!(line.ends_with(said), "{line}");
    nvim.ask("four", "Four.");
    std::fs::write(nvim.setup.path("p.md"), "be kinder").unwrap();
    nvim.lua("require('caliban').ask(...)", &["/system new".into()]);
    nvim.ask("five", "Five.");
    wait_missed(2);
    let log = nvim.setup.debug_log();
    let line = log.lines().rfind(|it| it.contains("the cache was missed")).unwrap();
    assert!(line.contains("9000 cached tokens were read; system[0] at byte"), "{line}");
    assert!(line.ends_with(r#"became ",\"text\":\"be kinder\"}""#), "{line}");
}

/// A model without thinking blocks begins the turn, and another model continues it without thinking. In the next turn
/// that model thinks, also between calls.
#[test]
fn a_turn_begun_by_a_model_without_thinking_goes_on_without_thinking() {
    let server = Server::start();
    let gate = server.reply(Reply::new().text("I look.").gate().call("c1", "list", json!({})));
    server.reply(Reply::new().call("c2", "list", json!({"path": "."})));
    server.reply(Reply::said("Done."));
    server.reply(Reply::said("Again."));
    let config = "{ model = 'openai/gpt-5', thinking = 'low' }";
    let nvim = Nvim::start(&Setup::new().anthropic(&server).openai(&server).config(config));
    nvim.keys(":Caliban<CR>igo<C-s><Esc>");
    nvim.wait_transcript("I look.");
    nvim.command("Caliban model anthropic/claude-sonnet-4-5");
    nvim.wait_transcript("Model: anthropic/claude-sonnet-4-5");
    gate.finish();
    nvim.wait_transcript("Done.");
    nvim.wait_phase("idle");
    nvim.ask("and?", "Again.");
    let thinking = |at: usize| server.requests()[at].json["thinking"].to_string();
    assert_eq!([thinking(1), thinking(2)], ["null", "null"]);
    assert_eq!(thinking(3), r#"{"type":"enabled","budget_tokens":2048}"#);
    let said = server.requests()[3].header("anthropic-beta").map(str::to_owned);
    assert_eq!(said.as_deref(), Some("interleaved-thinking-2025-05-14"));
}
