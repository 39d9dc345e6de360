//! Tests edge cases of requests and turns that belong to no other file.

use crate::kit::chat::DIALECTS;
use crate::kit::http::Request;
use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::kit::server::Server;
use crate::kit::setup::Setup;
use serde_json::json;

/// A reply in Anthropic's dialect that names this model.
fn stream(model: &str, text: &str) -> Reply {
    let events = [
        json!({"type": "message_start", "message": {"model": model, "usage": {"input_tokens": 9}}}),
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": text}}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 1}}),
        json!({"type": "message_stop"}),
    ];
    let body = events.map(|it| format!("data: {it}\n\n")).concat();
    Reply::raw(200, &[("content-type", "text/event-stream")], body)
}

#[test]
fn a_reply_from_another_model_is_reported_unless_only_a_date_was_added() {
    let server = Server::start();
    server.reply(stream("claude-sonnet-4-5-20250929", "As asked."));
    server.reply(stream("claude-haiku-4-5", "Another."));
    let nvim = Nvim::start(&Setup::new().anthropic(&server));
    nvim.ask("one", "As asked.");
    let told =
        "The provider answered with the model `claude-haiku-4-5`, not with `claude-sonnet-4-5`.";
    assert!(!nvim.transcript().contains("The provider answered"));
    nvim.ask("two", "Another.");
    nvim.wait_transcript(told);
}

/// One command runs, the user refuses a second one, and the turn is stopped at the question about a third.
#[test]
fn finished_refused_and_stopped_calls_are_answered_in_call_order() {
    for dialect in DIALECTS {
        let server = Server::start();
        let command = |text: &str| json!({ "command": text });
        server.reply(
            Reply::new()
                .call("c1", "shell", command("echo one"))
                .call("c2", "shell", command("echo two"))
                .call("c3", "read", json!({"path": "a.txt"}))
                .call("c4", "shell", command("echo four")),
        );
        server.reply(Reply::said("Fine."));
        let setup = Setup::new().file("a.txt", "alpha\n");
        let nvim = Nvim::start(&setup.speaking(dialect, &server));
        nvim.keys(":Caliban<CR>igo<C-s><Esc>");
        nvim.wait_screen("? Run `echo one`?");
        nvim.wait_question();
        nvim.command("Caliban approve");
        nvim.wait_screen("? Run `echo two`?");
        nvim.wait_question();
        nvim.command("Caliban deny not that");
        nvim.wait_screen("? Run `echo four`?");
        nvim.command("Caliban stop");
        nvim.wait_phase("idle");
        nvim.ask("and now?", "Fine.");
        let answers = server.requests()[1].answers();
        let said = answers.iter().map(|(_, text)| text.split(['\n', ',']).next().unwrap());
        let said: Vec<&str> = said.collect();
        assert!(said[0].starts_with("one") || answers[0].1.contains("one"), "{said:?}");
        assert!(said[1].starts_with("Not run: the user refused"), "{said:?}");
        assert!(answers[2].1.contains("alpha"), "{said:?}");
        assert_eq!(said[3], "Not run: the user stopped the turn.");
    }
}

#[test]
fn a_message_steered_during_a_retry_pause_is_sent_with_the_retry() {
    let server = Server::start();
    server.reply(Reply::error(429).header("retry-after", "60"));
    server.reply(Reply::said("Both."));
    let nvim = Nvim::start(&Setup::new().anthropic(&server));
    nvim.keys(":Caliban<CR>igo<C-s><Esc>");
    nvim.wait_phase("retrying");
    nvim.lua("require('caliban').steer('and this')", &[]);
    nvim.wait_queue(1);
    nvim.go_to_transcript("Trying again");
    nvim.keys("r");
    nvim.wait_transcript("Both.");
    nvim.wait_phase("idle");
    let outlines: Vec<String> = server.requests().iter().map(Request::outline).collect();
    assert_eq!(outlines, ["user: go", "user: go\nuser: and this"]);
}

#[test]
fn two_hundred_calls_of_one_reply_are_answered_in_call_order() {
    let server = Server::start();
    let calls = (0..200).fold(Reply::new(), |reply, n| {
        reply.call(&format!("c{n}"), "read", json!({"path": format!("f{}.txt", n % 10)}))
    });
    server.reply(calls);
    server.reply(Reply::said("All read."));
    let setup = (0..10)
        .fold(Setup::new(), |setup, n| setup.file(&format!("f{n}.txt"), format!("text of {n}\n")));
    let nvim = Nvim::start(&setup.anthropic(&server));
    nvim.ask("go", "All read.");
    let answers = server.requests()[1].answers();
    assert_eq!(answers.len(), 200);
    for (n, (id, text)) in answers.iter().enumerate() {
        assert_eq!(*id, format!("c{n}"));
        assert!(text.contains(&format!("text of {}", n % 10)), "{n}: {text}");
    }
}

#[test]
fn a_prompt_with_nul_and_unicode_line_separators_is_sent_and_shown() {
    for dialect in DIALECTS {
        let server = Server::start();
        server.reply(Reply::said("nul \u{0}, line \u{2028} and paragraph."));
        server.reply(Reply::said("Still here."));
        let nvim = Nvim::start(&Setup::new().speaking(dialect, &server));
        nvim.ask("what \u{2028} is \u{feff} this?", "and paragraph.");
        nvim.ask("and?", "Still here.");
        let outline = server.requests()[1].outline();
        assert!(outline.contains("user: what \u{2028} is \u{feff} this?"), "{outline:?}");
        assert!(
            outline.contains("assistant: nul \u{0}, line \u{2028} and paragraph."),
            "{outline:?}"
        );
    }
}

#[test]
fn requests_go_through_the_proxy_except_to_this_machine_and_hosts_in_no_proxy() {
    let (proxy, local) = (Server::start(), Server::start().without_key());
    let config = format!(
        "{{ model = 'far/m', providers = {{
           far = {{ dialect = 'anthropic', base_url = 'http://models.invalid' }},
           direct = {{ dialect = 'anthropic', base_url = 'http://direct.invalid' }},
           near = {{ dialect = 'anthropic', base_url = '{}' }} }} }}",
        local.url()
    );
    let setup = Setup::new()
        .config(&config)
        .env("HTTP_PROXY", &proxy.url())
        .env("NO_PROXY", "direct.invalid");
    let nvim = Nvim::start(&setup);
    proxy.reply(stream("m", "Through the proxy."));
    nvim.ask("one", "Through the proxy.");
    assert_eq!(proxy.requests()[0].path, "http://models.invalid/v1/messages");
    nvim.command("Caliban model near/m");
    local.reply(stream("m", "From this machine."));
    nvim.ask("two", "From this machine.");
    nvim.command("Caliban model direct/m");
    nvim.ask("three", "No connection to direct.invalid");
    assert_eq!((proxy.requests().len(), local.requests().len()), (1, 1));
}
