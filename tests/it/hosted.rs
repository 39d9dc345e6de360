//! Searches of the web by the model's provider itself: `search = { hosted = true }`.

use crate::compaction::summary;
use crate::kit::chat::{DIALECTS, assert_grows};
use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::kit::rules::gemini::signed;
use crate::kit::server::Server;
use crate::kit::setup::Setup;
use crate::run::Ran;
use serde_json::{Value, json};

const HOSTED: &str = "{ search = { hosted = true } }";

fn setup() -> Setup {
    Setup::new().size(160, 40).config(HOSTED)
}

/// The tools of a request that the provider runs by itself.
fn hosted(body: &Value) -> Vec<Value> {
    let tools = body["tools"].as_array().cloned().unwrap_or_default();
    let is_own = |it: &Value| {
        it.get("input_schema").or(it.get("function")).or(it.get("functionDeclarations")).is_some()
            || it["type"] == "function"
    };
    tools.into_iter().filter(|it| !is_own(it)).collect()
}

/// The call and the results of a search, as Anthropic sends them.
fn search(id: &str, query: &str, results: &Value) -> [Value; 2] {
    [
        json!({"type": "server_tool_use", "id": id, "name": "web_search", "input": {"query": query}}),
        json!({"type": "web_search_tool_result", "tool_use_id": id, "content": results}),
    ]
}

fn result(title: &str, url: &str) -> Value {
    json!({"type": "web_search_result", "title": title, "url": url, "encrypted_content": "c2VhbGVk", "page_age": null})
}

/// A reply with a search between two texts.
fn searching() -> Reply {
    let results =
        json!([result("Rust 2", "https://rust.org/2"), result("Two", "https://two.org/")]);
    let [call, found] = search("s1", "rust 2", &results);
    Reply::new().text("I search.").block(call).block(found).text("It is out.")
}

#[test]
fn the_providers_search_is_offered_exactly_in_the_dialects_that_have_one() {
    let wanted = [
        (
            "/messages",
            json!([{"type": "web_search_20250305", "name": "web_search", "max_uses": 8}]),
        ),
        ("/responses", json!([{"type": "web_search"}])),
    ];
    for dialect in DIALECTS {
        let server = Server::start();
        server.reply(Reply::said("Hello."));
        let nvim = Nvim::start(&setup().speaking(dialect, &server));
        nvim.ask("hello", "Hello.");
        let request = &server.requests()[0];
        let wanted = wanted.iter().find(|it| request.path.ends_with(it.0));
        let wanted = wanted.map_or_else(|| json!([]), |it| it.1.clone());
        assert_eq!(Value::from(hosted(&request.json)), wanted, "{}", request.path);
        assert!(!request.tools().is_empty());
    }
}

#[test]
fn the_blocks_of_a_search_are_sent_back_unchanged_even_after_a_restart() {
    let server = Server::start();
    server.reply(searching().call("c1", "list", json!({})));
    server.reply(Reply::said("Done."));
    let setup = setup().anthropic(&server);
    let nvim = Nvim::start(&setup);
    nvim.ask("go", "Done.");
    let shown =
        "go\n\nI search.\n\n▸ web_search  query=\"rust 2\"\n\nIt is out.\n\n▸ list\n\nDone.";
    assert_eq!(nvim.conversation(), shown);
    assert!(nvim.screen().contains("2 results"), "{}", nvim.screen());
    nvim.go_to_transcript("web_search");
    nvim.keys("<CR>");
    nvim.wait_transcript(
        "    1. Rust 2\n       https://rust.org/2\n    2. Two\n       https://two.org/",
    );
    nvim.quit_with(":qa<CR>");
    drop(nvim);
    server.reply(Reply::said("Again."));
    let nvim = Nvim::start(&setup);
    nvim.keys(":Caliban resume<CR>");
    nvim.wait_transcript("Done.");
    assert_eq!(nvim.conversation(), shown);
    nvim.ask("and now?", "Again.");
    let requests = server.requests();
    assert_grows(requests.clone());
    let sent = requests[1].json["messages"][1]["content"].as_array().unwrap();
    let results =
        json!([result("Rust 2", "https://rust.org/2"), result("Two", "https://two.org/")]);
    assert_eq!(sent[1..3], search("s1", "rust 2", &results));
}

/// A part of a text that cites the first result, as Anthropic sends it.
fn cited(text: &str) -> Value {
    json!({"type": "text", "text": text, "citations": [{
        "type": "web_search_result_location", "url": "https://rust.org/2", "title": "Rust 2",
        "encrypted_index": "aW5kZXg=", "cited_text": "It is out."}]})
}

#[test]
fn a_text_with_citations_is_shown_without_them_and_sent_back_with_them() {
    let server = Server::start();
    let [call, found] = search("s1", "rust 2", &json!([result("Rust 2", "https://rust.org/2")]));
    let plain = |text: &str| json!({"type": "text", "text": text});
    let texts = [plain("As of today, "), cited("Rust 2 is out"), plain(". Try it.")];
    let reply = Reply::new().block(call).block(found);
    server.reply(texts.iter().fold(reply, |reply, it| reply.block(it.clone())));
    let nvim = Nvim::start(&setup().anthropic(&server));
    nvim.ask("go", "Try it.");
    let shown = "go\n\n▸ web_search  query=\"rust 2\"\n\nAs of today, Rust 2 is out. Try it.";
    assert_eq!(nvim.conversation(), shown);
    server.reply(Reply::said("Again."));
    nvim.ask("and now?", "Again.");
    let sent = server.requests()[1].json["messages"][1]["content"].as_array().unwrap().clone();
    assert_eq!(sent[2..], texts);
    assert_eq!(
        sent[2..].iter().map(Value::to_string).collect::<String>(),
        texts.iter().map(Value::to_string).collect::<String>()
    );
}

#[test]
fn the_blocks_of_a_failed_search_are_sent_back() {
    let server = Server::start();
    let error = json!({"type": "web_search_tool_result_error", "error_code": "max_uses_exceeded"});
    let [call, failed] = search("s1", "rust 2", &error);
    let novel = json!({"type": "redacted_thinking", "data": "bm92ZWw="});
    let blocks = [call, failed, novel];
    let reply = blocks.iter().fold(Reply::new(), |reply, it| reply.block(it.clone()));
    server.reply(reply.text("I do not know."));
    let nvim = Nvim::start(&setup().anthropic(&server));
    nvim.ask("go", "I do not know.");
    nvim.wait_screen("failed: max_uses_exceeded");
    server.reply(Reply::said("Again."));
    nvim.ask("and now?", "Again.");
    let sent = server.requests()[1].json["messages"][1]["content"].as_array().unwrap().clone();
    assert_eq!(sent[..3], blocks);
}

#[test]
fn hostile_titles_and_addresses_of_search_results_are_cleaned() {
    let server = Server::start();
    let results = json!([
        result("Title\u{1b}[2J\n\u{202e}evil\u{9b}31m", "https://a.org/\u{1b}]0;x\u{7}"),
        result("Script", "javascript:alert(1)"),
        result("File", "file:///etc/passwd"),
        json!(5),
        json!({"type": "web_search_result"}),
    ]);
    let [call, found] = search("s1", "q\u{1b}[2J\n\u{202e}x", &results);
    server.reply(Reply::new().block(call).block(found).text("Seen."));
    let nvim = Nvim::start(&setup().anthropic(&server));
    nvim.ask("go", "Seen.");
    nvim.go_to_transcript("web_search");
    nvim.keys("<CR>");
    nvim.wait_transcript("    1. ");
    let text = nvim.conversation();
    assert!(!text.contains(|c: char| c.is_control() && c != '\n'), "{text:?}");
    assert!(
        !text.contains('\u{202e}') && !text.contains("javascript") && !text.contains("passwd"),
        "{text:?}"
    );
    assert!(text.contains("[U+202E]evil"), "{text:?}");
    nvim.wait_screen("1 result");
}

#[test]
fn the_search_is_not_offered_if_a_rule_asks_about_or_denies_fetching() {
    let check = |rules: &str, is_offered: bool| {
        let server = Server::start();
        server.reply(Reply::said("Hello."));
        let config = format!("{{ search = {{ hosted = true }}, permissions = {{ {rules} }} }}");
        let nvim = Nvim::start(&Setup::new().config(&config).anthropic(&server));
        nvim.ask("hello", "Hello.");
        assert_eq!(!hosted(&server.requests()[0].json).is_empty(), is_offered, "{rules}");
    };
    check("{ deny = 'fetch' }", false);
    check("{ ask = 'fetch' }", false);
    check("{ deny = 'fetch', host = '127.0.0.1' }", false);
    check("{ deny = 'fetch', host = 'example.org' }", true);
    check("{ deny = 'shell' }", true);
    // a rule that cannot be used makes every call ask
    check("{ deny = 'fetch', host = 'no host' }", false);
}

#[test]
fn in_auto_mode_the_search_is_not_offered_after_a_strangers_text() {
    let server = Server::start();
    server.reply(Reply::said("Hello."));
    server.reply(searching().call("c1", "list", json!({})));
    server.reply(Reply::said("Done."));
    let config = "{ search = { hosted = true }, mode = 'auto' }";
    let nvim = Nvim::start(&Setup::new().size(160, 40).config(config).anthropic(&server));
    nvim.ask("hello", "Hello.");
    nvim.ask("go", "Done.");
    server.reply(Reply::said("Again."));
    nvim.ask("again", "Again.");
    nvim.command("Caliban mode ask");
    server.reply(Reply::said("Asked."));
    nvim.ask("ask", "Asked.");
    let offered: Vec<bool> =
        server.requests().iter().map(|it| !hosted(&it.json).is_empty()).collect();
    assert_eq!(offered, [true, true, false, false, true]);
    // everything but the tools stays the same
    let mut requests = server.requests();
    for request in &mut requests {
        request.json.as_object_mut().unwrap().remove("tools");
    }
    assert_grows(requests);
}

/// Google's search together with other tools: the call and its result are parts with signatures.
#[test]
fn googles_search_is_offered_to_models_that_accept_it_together_with_other_tools() {
    let server = Server::start();
    let part = |kind: &str, value: Value| signed(json!({ kind: value }));
    let call = part(
        "toolCall",
        json!({"toolType": "GOOGLE_SEARCH_WEB", "args": {"queries": ["rust 2", "rust"]}, "id": "g1"}),
    );
    let found = part(
        "toolResponse",
        json!({"toolType": "GOOGLE_SEARCH_WEB", "response": {"search_suggestions": "<b>"}, "id": "g1"}),
    );
    let reply =
        Reply::new().text("I search.").block(call.clone()).block(found.clone()).text("It is out.");
    server.reply(reply.call("c1", "list", json!({})));
    server.reply(Reply::said("Done."));
    let config = "{ model = 'gemini/gemini-3-pro-preview', search = { hosted = true } }";
    let nvim = Nvim::start(&Setup::new().size(160, 40).gemini(&server).config(config));
    nvim.ask("go", "Done.");
    let shown =
        "go\n\nI search.\n\n▸ web_search  query=\"rust 2; rust\"\n\nIt is out.\n\n▸ list\n\nDone.";
    assert_eq!(nvim.conversation(), shown);
    let requests = server.requests();
    assert_grows(requests.clone());
    assert_eq!(Value::from(hosted(&requests[0].json)), json!([{"googleSearch": {}}]));
    assert_eq!(requests[0].json["toolConfig"], json!({"includeServerSideToolInvocations": true}));
    let parts = requests[1].json["contents"][1]["parts"].as_array().unwrap();
    assert_eq!(parts[1..3], [call, found]);
    let id = &parts[4]["functionCall"]["id"];
    assert!(id.is_string());
    assert_eq!(requests[1].json["contents"][2]["parts"][0]["functionResponse"]["id"], *id);
}

#[test]
fn openais_searches_are_shown_with_their_sources_and_sent_back_unchanged() {
    let server = Server::start();
    let item = |id: &str, status: &str, action: Value| json!({"id": id, "type": "web_search_call", "status": status, "action": action});
    let sources = json!([{"type": "url", "url": "https://rust.org/2"}]);
    let items = [
        item(
            "ws_1",
            "completed",
            json!({"type": "search", "query": "rust 2", "queries": ["rust 2", "rust"], "sources": sources}),
        ),
        item("ws_2", "completed", json!({"type": "open_page", "url": "https://rust.org/2"})),
        item("ws_3", "failed", json!({"type": "search", "query": "more"})),
    ];
    let cite = |title: &str, url: &str| json!({"type": "url_citation", "start_index": 0, "end_index": 2, "title": title, "url": url});
    let said = json!({"id": "msg_1", "type": "message", "role": "assistant", "status": "completed", "content": [{
        "type": "output_text", "text": "It is out.", "annotations": [cite("Rust 2", "https://rust.org/2"), cite("Two", "https://two.org/"), json!(5)]}]});
    let reply =
        items.iter().fold(Reply::new().thinking("Hm."), |reply, it| reply.block(it.clone()));
    server.reply(reply.block(said));
    let nvim = Nvim::start(&setup().speaking(DIALECTS[2], &server));
    nvim.ask("go", "It is out.");
    nvim.wait_transcript("▸ web_search  query=\"https://rust.org/2\"");
    nvim.go_to_transcript("rust 2; rust");
    nvim.keys("<CR>");
    nvim.wait_transcript("▾ web_search  query=\"rust 2; rust\"\n    1. https://rust.org/2\n");
    nvim.go_to_transcript("▸ web_search  query=\"https");
    nvim.keys("<CR>");
    nvim.wait_transcript(
        "    1. Rust 2\n       https://rust.org/2\n    2. Two\n       https://two.org/",
    );
    nvim.wait_screen("failed: the provider does not say why");
    server.reply(Reply::said("Again."));
    nvim.ask("and now?", "Again.");
    let requests = server.requests();
    let include = json!(["reasoning.encrypted_content", "web_search_call.action.sources"]);
    assert_eq!(requests[0].json["include"], include);
    let sent = requests[1].json["input"].as_array().unwrap().clone();
    let kept: Vec<&Value> = sent.iter().filter(|it| it["type"] == "web_search_call").collect();
    assert_eq!(kept, items.iter().collect::<Vec<_>>());
}

#[test]
fn the_configured_search_service_is_offered_if_the_provider_does_not_search() {
    let config = "{ search = { hosted = true, provider = 'searxng', url = 'http://127.0.0.1:1' } }";
    for dialect in DIALECTS {
        let server = Server::start();
        server.reply(Reply::said("Hello."));
        let nvim = Nvim::start(&Setup::new().config(config).speaking(dialect, &server));
        nvim.ask("hello", "Hello.");
        let request = &server.requests()[0];
        let names = request.tools().into_iter().filter(|it| it == "web_search").count();
        let is_hosted = !hosted(&request.json).is_empty();
        assert_eq!(
            names,
            usize::from(!is_hosted || request.path.ends_with("/messages")),
            "{}",
            request.path
        );
    }
    let server = Server::start();
    server.reply(Reply::rejected("'claude-old' does not support tool types: web_search_20250305."));
    server.reply(Reply::said("Hello."));
    let nvim = Nvim::start(&Setup::new().config(config).anthropic(&server));
    nvim.ask("hello", "Hello.");
    nvim.wait_transcript("from now on this provider does not search the web for the model");
    let offered = server.requests().iter().map(|it| hosted(&it.json).len()).collect::<Vec<_>>();
    assert_eq!(offered, [1, 0]);
    assert!(server.requests()[1].tools().contains(&"web_search".to_owned()));
}

#[test]
fn another_model_gets_the_text_of_a_reply_without_the_search() {
    let server = Server::start();
    server.reply(searching());
    let nvim = Nvim::start(&setup().anthropic(&server).openai(&server));
    nvim.command("Caliban model anthropic/claude-sonnet-4-5");
    nvim.ask("go", "It is out.");
    nvim.command("Caliban model openai/gpt-5");
    server.reply(Reply::said("Other."));
    nvim.ask("two", "Other.");
    let body = server.requests()[1].json["messages"].to_string();
    assert!(body.contains("It is out."), "{body}");
    assert!(
        !body.contains("srvtoolu") && !body.contains("c2VhbGVk") && !body.contains("rust.org"),
        "{body}"
    );
    nvim.command("Caliban model anthropic/claude-sonnet-4-5");
    server.reply(Reply::said("Back."));
    nvim.ask("three", "Back.");
    assert!(server.requests()[2].json["messages"].to_string().contains("c2VhbGVk"));
}

#[test]
fn caliban_run_searches_by_its_settings_and_writes_each_search_as_a_json_line() {
    let server = Server::start();
    server.reply(searching());
    let setup =
        Setup::new().anthropic(&server).file("ci.json", r#"{ "search": { "hosted": true } }"#);
    let ran = Ran::of(&mut setup.program(&["run", "--json", "--config", "ci.json", "go"]));
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{}", ran.out);
    assert_eq!(hosted(&server.requests()[0].json).len(), 1);
    let lines = ran.lines();
    let searches: Vec<&Value> = lines.iter().filter(|it| it["type"] == "search").collect();
    let results = json!([{"title": "Rust 2", "url": "https://rust.org/2"}, {"title": "Two", "url": "https://two.org/"}]);
    assert_eq!(
        searches,
        [&json!({"type": "search", "query": "rust 2", "failed": "", "results": results})]
    );
    server.reply(searching());
    let ran = Ran::of(&mut setup.program(&["run", "--config", "ci.json", "go"]));
    assert!(ran.err.contains("▸ web_search  rust 2   2 results"), "{}", ran.err);
    std::fs::write(setup.path("ci.json"), r#"{ "search": { "hosted": "yes" } }"#).unwrap();
    let ran = Ran::of(&mut setup.program(&["run", "--config", "ci.json", "go"]));
    assert_eq!(ran.code, 2);
    assert!(
        ran.err.contains("search: expected false, or an object with `hosted` (a boolean)"),
        "{}",
        ran.err
    );
}

#[test]
fn a_search_is_shown_at_once_and_disappears_if_its_reply_is_requested_again() {
    let server = Server::start();
    let results = json!([result("Rust 2", "https://rust.org/2")]);
    let [call, found] = search("s1", "rust 2", &results);
    let reply = Reply::new().text("I search.").block(call).gate().block(found).gate().text("It is");
    let gate = server.reply(reply.gate().cut());
    let nvim = Nvim::start(&setup().anthropic(&server));
    nvim.lua("require('caliban').ask('go')", &[]);
    nvim.wait_transcript("I search.");
    assert!(!nvim.conversation().contains("web_search"));
    gate.release();
    nvim.wait_transcript("▸ web_search  query=\"rust 2\"");
    nvim.wait_screen("1 result");
    gate.release();
    nvim.wait_transcript("It is");
    server.reply(searching());
    gate.release();
    nvim.wait_transcript("It is out.");
    nvim.wait_phase("idle");
    let shown = "go\n\nI search.\n\n▸ web_search  query=\"rust 2\"\n\nIt is out.";
    assert_eq!(nvim.conversation(), shown);
}

/// A chat in auto mode whose reply has searched and is not complete.
fn searched_in_part() -> (Server, Setup, Nvim) {
    let server = Server::start();
    let [call, found] = search("s1", "rust 2", &json!([result("Rust 2", "https://rust.org/2")]));
    server.reply(Reply::new().block(call).block(found).text("It is").gate());
    let config = "{ search = { hosted = true }, mode = 'auto' }";
    let setup = Setup::new().size(160, 40).config(config).anthropic(&server);
    let nvim = Nvim::start(&setup);
    nvim.lua("require('caliban').ask('go')", &[]);
    nvim.wait_transcript("It is");
    (server, setup, nvim)
}

/// Opens the chat again, checks that it has the search, and returns the next request.
fn next_request(server: &Server, setup: &Setup) -> Value {
    server.reply(Reply::said("Again."));
    let nvim = Nvim::start(setup);
    nvim.keys(":Caliban<CR>");
    nvim.wait_transcript("It is");
    let shown = "go\n\n▸ web_search  query=\"rust 2\"\n\nIt is";
    assert!(nvim.conversation().starts_with(shown), "{}", nvim.conversation());
    nvim.ask("and now?", "Again.");
    server.requests()[1].json.clone()
}

#[test]
fn after_a_stopped_reply_that_searched_auto_mode_offers_no_search() {
    let (server, setup, nvim) = searched_in_part();
    nvim.command("Caliban stop");
    nvim.wait_phase("idle");
    nvim.quit_with(":qa<CR>");
    drop(nvim);
    let next = next_request(&server, &setup);
    assert_eq!(hosted(&next), Vec::<Value>::new());
    assert!(!next["messages"].to_string().contains("server_tool_use"));
}

#[test]
fn after_the_undo_of_a_search_auto_mode_offers_the_search_again() {
    let server = Server::start();
    let config = "{ search = { hosted = true }, mode = 'auto' }";
    let nvim = Nvim::start(&Setup::new().size(160, 40).config(config).anthropic(&server));
    nvim.keys(":Caliban<CR>");
    server.reply(searching());
    nvim.ask("go", "It is out.");
    nvim.lua("require('caliban').ask('/undo')", &[]);
    nvim.wait(|it| it.composer() == "go", "the message in the composer");
    assert!(!nvim.conversation().contains("web_search"));
    server.reply(Reply::said("Again."));
    nvim.ask("again", "Again.");
    let last = server.requests().pop().unwrap();
    assert!(!last.json["messages"].to_string().contains("server_tool_use"));
    assert_eq!(hosted(&last.json).len(), 1);
}

#[test]
fn the_request_for_a_summary_has_search_results_as_a_strangers_text() {
    let server = Server::start();
    let config = "{ search = { hosted = true }, compact = 1, trim = false }";
    let nvim = Nvim::start(&Setup::new().size(160, 40).config(config).anthropic(&server));
    nvim.keys(":Caliban<CR>");
    server.reply(searching());
    nvim.ask("go", "It is out.");
    server.reply(Reply::said(&"word ".repeat(4000)));
    nvim.ask("tell me more", "word word");
    server.reply(Reply::said("Third."));
    nvim.ask("and more", "Third.");
    server.reply(Reply::said(&summary("Rust 2.")));
    nvim.lua("require('caliban').ask('/compact')", &[]);
    nvim.wait_transcript("ompacted");
    nvim.wait_phase("idle");
    let question = &server.requests()[3];
    assert_eq!(hosted(&question.json), Vec::<Value>::new());
    let text = question.json["messages"].to_string();
    let start = text.find("from=\\\"the web: search results for rust 2\\\"").unwrap();
    assert!(text[start..].contains("Rust 2\\n   https://rust.org/2"), "{text}");
    server.reply(Reply::said("Again."));
    nvim.ask("and now?", "Again.");
    let last = server.requests().pop().unwrap();
    assert!(!last.json["messages"].to_string().contains("server_tool_use"));
    assert_eq!(hosted(&last.json).len(), 1);
}

#[test]
fn after_a_reply_that_searched_and_was_cut_by_a_kill_auto_mode_offers_no_search() {
    let (server, setup, nvim) = searched_in_part();
    let journal = setup.sessions().join("main.journal");
    let has_text =
        |_: &Nvim| std::fs::read_to_string(&journal).is_ok_and(|it| it.contains("It is"));
    nvim.wait(has_text, "the text in the journal");
    nvim.kill();
    drop(nvim);
    assert_eq!(hosted(&next_request(&server, &setup)), Vec::<Value>::new());
}
