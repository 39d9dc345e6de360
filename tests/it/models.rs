//! Models: the choice of the model, the source of its key, and the words in the chat when no model answers.

use crate::kit::chat::{DIALECTS, common};
use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::kit::server::Server;
use crate::kit::setup::Setup;
use caliban::provider::facts::newest;
use expect_test::{Expect, expect};
use serde_json::json;

const KEY: &str = "key-of-the-test";

/// Lets the turn fail at once, in every dialect, and compares the sentence in the chat with the snapshot.
#[expect(clippy::needless_pass_by_value, reason = "a table's row gives its snapshot away")]
fn check(reply: impl Fn() -> Reply, expected: Expect) {
    let said = DIALECTS.map(|dialect| {
        let server = Server::start();
        server.reply(reply());
        server.reply(Reply::said("All is well."));
        let nvim = Nvim::start(&Setup::new().speaking(dialect, &server));
        nvim.keys(":Caliban<CR>ione<C-s>");
        nvim.wait_transcript("\n! ");
        nvim.wait_phase("idle");
        let transcript = nvim.transcript();
        // a note about what the error has taught may stand above it
        let sentence = transcript.rsplit("\n! ").next().unwrap().trim().to_owned();
        assert!(!sentence.contains('\n'), "one line: {sentence}");
        let words: Vec<&str> = sentence.split(' ').take(2).collect();
        let groups = nvim.hl_of(&format!("! {}", words.join(" ")));
        assert_eq!(groups.first().map(String::as_str), Some("CalibanError"));
        // The prompt is in the history, and the conversation can go on.
        nvim.keys("<Up>");
        assert_eq!(nvim.composer(), "one");
        nvim.keys("<C-s>");
        nvim.wait_transcript("All is well.");
        let model = nvim.lua_str("return require('caliban').state().model");
        let (provider, model) = model.split_once('/').unwrap();
        sentence.replace(model, "MODEL").replace(provider, "PROVIDER")
    });
    expected.assert_eq(common(&said));
}

#[test]
fn an_error_is_one_sentence_with_its_cause_and_the_next_step() {
    check(
        || Reply::error(401),
        expect!["PROVIDER refused the key: “invalid x-api-key”. Check the key, then send again."],
    );
    check(
        || Reply::error(403),
        expect![
            "PROVIDER refused the key: “Your API key does not have permission to use the specified resource”. Check the key, then send again."
        ],
    );
    check(
        || Reply::error(404),
        expect![
            "The model `MODEL` is not available: “model: no-such-model”. Choose another model with :Caliban model."
        ],
    );
    check(
        || Reply::error(400),
        expect![
            "The provider rejected the request (400): “invalid request”. Correct the part of the request that the provider names, or start a new conversation with /new."
        ],
    );
    check(
        Reply::too_long,
        expect![
            "The conversation is too long for the model: “prompt is too long: 250000 tokens > 200000 maximum”. Make the conversation shorter with /compact, send a shorter message, or start a new conversation with /new."
        ],
    );
    check(
        Reply::no_quota,
        expect![
            "The account's quota or credit is used up: “You exceeded your current quota: your credit balance is too low”. Add credit to the account, wait until the limit is renewed, or choose another model with :Caliban model."
        ],
    );
    check(
        Reply::html,
        expect![
            "The server's answer does not follow the provider's protocol: “<!DOCTYPE html><html><body>Sign in to the network</body></html>”. Check the provider's address."
        ],
    );
}

/// Lets a request fail, compares the line in the chat with the snapshot, and types `r` on that line. The second attempt
/// succeeds.
#[expect(clippy::needless_pass_by_value, reason = "a table's row gives its snapshot away")]
fn check_retried(reply: impl Fn() -> Reply, expected: Expect) {
    let said = DIALECTS.map(|dialect| {
        let server = Server::start();
        server.reply(reply());
        server.reply(Reply::said("All is well."));
        let nvim = Nvim::start(&Setup::new().speaking(dialect, &server));
        nvim.keys(":Caliban<CR>ione<C-s>");
        nvim.wait_transcript("Trying again in");
        nvim.wait_phase("retrying");
        nvim.keys("<Esc>");
        nvim.go_to_transcript("Trying again in");
        nvim.keys("r");
        nvim.wait_transcript("All is well.");
        nvim.wait_phase("idle");
        assert_eq!(server.requests()[0].body, server.requests()[1].body);
        nvim.conversation()
    });
    expected.assert_eq(common(&said));
}

#[test]
fn a_temporary_error_is_retried_after_a_countdown_or_at_once_by_the_key_r() {
    check_retried(
        || Reply::error(429).header("retry-after", "60"),
        expect![[r#"
        one

        All is well."#]],
    );
    check_retried(
        || Reply::error(529).header("retry-after", "60"),
        expect![[r#"
        one

        All is well."#]],
    );
}

#[test]
fn a_reply_that_breaks_off_is_discarded_and_requested_again() {
    for dialect in DIALECTS {
        for broken in [
            Reply::new().text("Half").stream_error("overloaded_error", "Overloaded"),
            Reply::new().text("Half").cut(),
        ] {
            let server = Server::start();
            server.reply(broken);
            server.reply(Reply::said("Whole."));
            let nvim = Nvim::start(&Setup::new().speaking(dialect, &server));
            nvim.ask("one", "Whole.");
            assert!(!nvim.transcript().contains("Half"), "{}", nvim.transcript());
            assert_eq!(server.requests().len(), 2);
        }
    }
}

#[test]
fn the_pause_before_a_retry_can_be_stopped() {
    let server = Server::start();
    server.reply(Reply::error(429).header("retry-after", "60"));
    server.reply(Reply::said("Fine."));
    let nvim = Nvim::start(&Setup::new().anthropic(&server));
    nvim.keys(":Caliban<CR>ione<C-s>");
    nvim.wait_phase("retrying");
    let left = |nvim: &Nvim| -> Option<u32> {
        let screen = nvim.screen();
        screen.split_once("trying again in ")?.1.split_once(" s")?.0.parse().ok()
    };
    nvim.wait(|nvim| left(nvim).is_some_and(|it| it <= 60), "the seconds that are left");
    let first = left(&nvim).unwrap();
    nvim.wait(|nvim| left(nvim).is_some_and(|it| it < first), "fewer of them");
    nvim.keys("<Esc>");
    nvim.keys("<C-c>");
    nvim.wait_screen("! Stopped.");
    nvim.ask("two", "Fine.");
    assert_eq!(server.requests().len(), 2);
}

#[test]
fn a_request_whose_server_hangs_or_never_ends_can_be_stopped() {
    for dialect in DIALECTS {
        let server = Server::start();
        let _gate = server.reply(Reply::hang());
        server.reply(Reply::endless("and on "));
        server.reply(Reply::said("The end."));
        let nvim = Nvim::start(&Setup::new().speaking(dialect, &server));
        nvim.keys(":Caliban<CR>ione<C-s>");
        server.wait_requests(1);
        nvim.wait_phase("sending");
        nvim.keys("<Esc>");
        nvim.keys("<C-c>");
        server.wait_closed(1);
        nvim.wait_phase("idle");
        nvim.keys("itwo<C-s>");
        nvim.wait_screen("and on and on");
        nvim.command("Caliban stop");
        server.wait_closed(2);
        nvim.wait_phase("idle");
        nvim.ask("three", "The end.");
    }
}

#[test]
fn a_missing_connection_or_key_is_reported_with_the_next_step() {
    // `held` is the client's end of an open connection: nothing listens on its port, and no other test gets this port
    // meanwhile
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let held = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let port = held.local_addr().unwrap().port();
    let said = |config: &str| {
        let nvim = Nvim::start(&Setup::new().config(config));
        nvim.keys(":Caliban<CR>ihello there<C-s>");
        nvim.wait_transcript("\n! ");
        nvim.wait_phase("idle");
        nvim.transcript().split("! ").nth(1).unwrap().replace(&port.to_string(), "PORT")
    };
    let mine = |url: &str, key: &str| {
        said(&format!(
            "{{ model = 'mine/m', providers = {{ mine = {{ dialect = 'openai-chat', base_url = '{url}', key = '{key}' }} }} }}"
        ))
    };
    expect!["No connection to 127.0.0.1:PORT: it refused the connection: nothing is listening there. Check the network or the address, then send again."].assert_eq(&mine(&format!("http://127.0.0.1:{port}/v1"), "none"));
    expect!["No connection to nowhere.invalid: its name could not be resolved. Check the network or the address, then send again."].assert_eq(&mine("http://nowhere.invalid/v1", "none"));
    expect![
        "No key for mine: MY_KEY is not set. Give a key with /connect, or set this environment variable and restart Neovim."
    ]
    .assert_eq(&mine(&format!("http://127.0.0.1:{port}/v1"), "env:MY_KEY"));
    expect!["No key for mine: the key command failed (exit status: 3). Run the key command by hand to see why, then send again."]
        .assert_eq(&mine(&format!("http://127.0.0.1:{port}/v1"), "cmd:echo oops >&2; exit 3"));
}

#[test]
fn a_custom_provider_takes_its_key_from_a_variable_or_a_command() {
    for (key, header) in
        [("env:MY_KEY", "Bearer secret-of-mine"), ("cmd:echo from; echo not", "Bearer from")]
    {
        let server = Server::start();
        server.reply(Reply::said("Mine answered."));
        let config = format!(
            "{{ providers = {{ mine = {{ dialect = 'openai-chat', base_url = '{}/v1', key = '{key}', models = {{ 'small' }} }} }} }}",
            server.url()
        );
        let nvim = Nvim::start(&Setup::new().config(&config).env("MY_KEY", "secret-of-mine"));
        nvim.ask("hello", "Mine answered.");
        let request = &server.requests()[0];
        assert_eq!(request.header("authorization"), Some(header));
        assert_eq!(request.json["model"], "small");
        assert_eq!(nvim.lua_str("return require('caliban').state().model"), "mine/small");
    }
    let server = Server::start();
    server.reply(Reply::said("Mine answered."));
    let config = format!(
        "{{ model = 'mine/large', providers = {{ mine = {{ dialect = 'anthropic', base_url = '{}', key = 'cmd:echo ours' }} }} }}",
        server.url()
    );
    let nvim = Nvim::start(&Setup::new().config(&config));
    nvim.ask("hello", "Mine answered.");
    let request = &server.requests()[0];
    assert_eq!(request.header("x-api-key"), Some("ours"));
    assert_eq!(
        (request.path.as_str(), request.json["model"].as_str()),
        ("/v1/messages", Some("large"))
    );
}

#[test]
fn without_configuration_the_first_provider_with_a_key_is_used() {
    let (first, second) = (Server::start(), Server::start());
    first.reply(Reply::said("I am the first."));
    let setup = Setup::new().openai(&second).anthropic(&first).default_model();
    let nvim = Nvim::start(&setup);
    let newest = newest("claude-sonnet-*");
    nvim.keys(":Caliban<CR>");
    nvim.wait_screen(&format!("anthropic/{newest}  (ANTHROPIC_API_KEY)"));
    nvim.ask("who?", "I am the first.");
    assert_eq!(first.requests()[0].json["model"], newest);
    assert_eq!(first.requests()[0].header("x-api-key"), Some(KEY));
    assert!(second.requests().is_empty());
    // `CALIBAN_MODEL` takes precedence over the choice by keys, and the configuration takes precedence over both.
    second.reply(Reply::said("I am the second."));
    let nvim = Nvim::start(
        &Setup::new().openai(&second).anthropic(&first).env("CALIBAN_MODEL", "openai/gpt-4o"),
    );
    nvim.ask("who?", "I am the second.");
    assert_eq!(second.requests()[0].json["model"], "gpt-4o");
    second.reply(Reply::said("The third."));
    let setup = Setup::new().openai(&second).env("CALIBAN_MODEL", "anthropic/x");
    let nvim = Nvim::start(&setup.config("{ model = 'openai/gpt-5' }"));
    nvim.ask("who?", "The third.");
    assert_eq!(second.requests()[1].json["model"], "gpt-5");
}

#[test]
fn an_ollama_server_is_found_by_the_variable_ollama_host_and_by_its_list_of_models() {
    let server = Server::start().without_key();
    let tags = json!({"models": [{"name": "nomic-embed-text"}, {"name": "qwen3:8b"}]}).to_string();
    server.reply(Reply::raw(200, &[("content-type", "application/json")], tags));
    server.reply(Reply::said("From this machine."));
    let nvim = Nvim::start(&Setup::new().env("OLLAMA_HOST", &server.url()));
    nvim.keys(":Caliban<CR>");
    nvim.wait_screen("ollama/qwen3:8b");
    nvim.ask("hello", "From this machine.");
    let requests = server.requests();
    assert_eq!(requests[0].path, "/api/tags");
    assert_eq!(requests[1].path, "/api/chat");
    assert_eq!(requests[1].header("authorization"), None);
    // Caliban requests the context window that coding needs instead of the server's smaller default
    assert_eq!(requests[1].json["options"]["num_ctx"], 65_536);
}

#[test]
fn the_model_can_be_changed_in_a_conversation_across_dialects() {
    let server = Server::start();
    server.reply(Reply::new().thinking("Hm.").text("One. ").call(
        "c1",
        "list",
        json!({"path": "."}),
    ));
    server.reply(Reply::said("Listed."));
    server.reply(Reply::said("Another speaks."));
    let nvim = Nvim::start(&Setup::new().anthropic(&server).openai(&server));
    nvim.ask("one", "Listed.");
    nvim.keys(":Caliban model openai/gpt-5<CR>");
    nvim.wait_transcript("Model: openai/gpt-5.");
    nvim.ask("two", "Another speaks.");
    let requests = server.requests();
    assert_eq!(requests[2].path, "/v1/chat/completions");
    let outline = requests[2].outline();
    expect![[r#"
        user: one
        assistant: One.  | list(c1)
        tool: [c1] . is empty (ignored files are left out).
        assistant: Listed.
        user: two"#]]
    .assert_eq(&outline[outline.find("user: ").unwrap()..]);
    nvim.keys(":Caliban model nowhere/x<CR>");
    nvim.wait_screen("No provider is called nowhere.");
    nvim.keys(":Caliban model /x<CR>");
    nvim.wait_screen("The provider is missing before the /. Write provider/model.");
}

#[test]
fn an_api_key_is_never_on_disk_in_the_log_in_messages_or_on_the_screen() {
    for dialect in DIALECTS.into_iter().filter(|it| !it.is_local()) {
        let server = Server::start();
        let echoed = format!(
            "{{\"error\": {{\"type\": \"authentication_error\", \"message\": \"invalid key {KEY}\"}}}}"
        );
        server.reply(Reply::raw(401, &[("content-type", "application/json")], echoed));
        server.reply(Reply::said("Fine."));
        let nvim = Nvim::start(&Setup::new().speaking(dialect, &server));
        nvim.keys(":Caliban<CR>ione<C-s>");
        nvim.wait_transcript("refused the key");
        nvim.ask("two", "Fine.");
        nvim.command("Caliban restart");
        nvim.wait(|nvim| nvim.setup.debug_log().matches(" hello ").count() == 2, "a new program");
        nvim.wait_phase("idle");
        assert!(!nvim.transcript().contains(KEY), "{}", nvim.transcript());
        assert!(!nvim.screen().contains(KEY));
        assert!(!nvim.lua_str("return vim.fn.execute('messages')").contains(KEY));
        for folder in ["data", "cache", "state", "tmp", "run"] {
            for entry in ignore::WalkBuilder::new(nvim.setup.dir().join(folder))
                .hidden(false)
                .build()
                .flatten()
            {
                let bytes = std::fs::read(entry.path()).unwrap_or_default();
                assert!(
                    !String::from_utf8_lossy(&bytes).contains(KEY),
                    "{}",
                    entry.path().display()
                );
            }
        }
        assert!(!nvim.setup.debug_log().is_empty());
    }
}

#[test]
fn the_debug_log_is_written_only_when_asked_for() {
    for asked in [false, true] {
        let server = Server::start();
        server.reply(Reply::said("Fine."));
        let config = if asked { "{ debug = true }" } else { "{}" };
        let setup = Setup::new().anthropic(&server).without("CALIBAN_DEBUG").config(config);
        let nvim = Nvim::start(&setup);
        nvim.ask("my prompt", "Fine.");
        if asked {
            nvim.wait(|it| !it.setup.debug_log().is_empty(), "the log's thread to write");
        }
        let log = nvim.setup.debug_log();
        assert_eq!(!log.is_empty(), asked, "{log}");
        assert!(!log.contains("my prompt") && !log.contains("Fine."), "{log}");
        assert_eq!(nvim.setup.dir().join("cache/caliban/debug.log").exists(), asked);
    }
}

#[test]
fn without_a_model_the_tour_begins_and_proposes_its_edit() {
    let setup = Setup::new().config("{ probe = false }").file(
        "greet.py",
        std::fs::read(crate::kit::root().join("examples/sample/greet.py")).unwrap(),
    );
    let nvim = Nvim::start(&setup);
    nvim.keys(":edit greet.py<CR>:Caliban<CR>");
    nvim.wait_screen("tour/offline · ask · offline tour");
    nvim.wait_screen("tour/offline  (no model found)");
    nvim.keys("ishow me<C-s>");
    nvim.wait_transcript("This is the **offline tour**");
    nvim.wait_phase("reviewing");
    nvim.wait_transcript("▾ greet.py");
    expect![[r#"
        show me

        This is the **offline tour**: no model is connected, so these words are scripted, but everything else is the real thing.

        I begin by reading a file of the sample project. The line below is the call.

        ▸ read  path="greet.py"

        Now I propose two changes to `greet.py`. They are in your own buffer, and nothing is on disk until you decide.

        There, or on the list below (`<Tab>`): accept with `\a`, reject with `\r`, go on with `]h`. `u` takes a decision back.

        ▸ edit  greet.py

        ? 2 hunks in 1 file to review
          \a accept  \r reject  e reject, because …  \c comment
          ▾ greet.py
                5  -1 +1  return f"Hello, {name}."
               10  -1 +2  name = sys.argv[1] if len(sys.argv) > 1…"#]].assert_eq(&nvim.conversation());
    assert_eq!(nvim.pending(), 2);
    assert_eq!(nvim.lua_str("return require('caliban').state().waiting_for"), "review");
}
