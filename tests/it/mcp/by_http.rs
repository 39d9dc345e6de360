//! Servers that are reached by HTTP. The server is `tests/data/mcp/by_http.py`, on a port of loopback.

use super::{ERAS, Notes, ONCE, asked, search, with};
use crate::grants::call;
use crate::kit::reply::Reply;
use crate::review::scene::Scene;
use crate::run::wait_for;
use serde_json::{Value, json};
use std::process::{Child, Command};

/// A running server and its folder.
struct Running {
    notes: Notes,
    child: Child,
    port: String,
}

impl Running {
    fn new(era: &str, fault: &str) -> Running {
        let notes = Notes::new();
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/mcp/by_http.py");
        let child =
            Command::new("python3").arg(script).arg(era).arg(notes.0.path()).arg(fault).spawn();
        let child = child.unwrap();
        wait_for(|| notes.path("port").exists());
        let port = notes.read("port");
        Running { notes, child, port }
    }

    fn entry(&self, more: &str) -> String {
        format!("{{ url = 'http://127.0.0.1:{}/mcp', {more} }}", self.port)
    }

    fn config(&self, more: &str, settings: &str) -> String {
        format!("{{ mcp = {{ fake = {} }}, {settings} }}", self.entry(more))
    }

    /// The headers of each request.
    fn headers(&self) -> Vec<Value> {
        let text = self.notes.read("headers");
        text.lines().map(|it| serde_json::from_str(it).unwrap()).collect()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

#[test]
fn a_tool_is_found_and_called_in_both_eras_by_answers_and_by_events() {
    for (era, fault) in ERAS.into_iter().flat_map(|era| [(era, ""), (era, "events")]) {
        let running = Running::new(era, fault);
        let scene = with(&running.config("type = 'http'", ""));
        assert!(search(&scene, "say text").starts_with("mcp__fake__echo\n"), "{era} {fault}");
        let (said, was_asked) = asked(&scene, "echo", &json!({ "text": "héllo\n\u{202e}" }));
        assert_eq!((said.contains("héllo"), was_asked), (true, true), "{era} {fault}: {said}");
        assert_eq!(running.notes.calls(), ["echo {\"text\":\"héllo\\n\u{202e}\"}"]);
        let last = scene.server.requests().pop().unwrap().json.to_string();
        assert!(last.contains("from=\\\"the server fake\\\""), "{last}");
        scene.nvim.keys(":Caliban<CR>i/mcp<C-s>");
        let revision = if era == "modern" { "2026-07-28" } else { "2025-11-25" };
        scene.wait_chat(&format!("fake: runs, 6 tools, protocol {revision}"));
    }
}

/// The headers of the definition go with every request, and to no other address.
#[test]
fn the_headers_of_a_server_have_the_values_of_their_variables() {
    let running = Running::new("earlier", "");
    let headers =
        "headers = { Authorization = 'Bearer ${MCP_TEST_TOKEN}', ['X-Team'] = '${NONE:-blue}' }";
    let config = running.config(headers, "");
    let scene = Scene::start(|it| it.config(&config).env("MCP_TEST_TOKEN", "tok-91f3a7c2"));
    assert_eq!(asked(&scene, "echo", &json!({ "text": "x" })).0, "x");
    let all = running.headers();
    assert!(all.len() > 3);
    for it in all {
        let (name, team) = (it["authorization"].as_str(), it["x-team"].as_str());
        assert_eq!((name, team), (Some("Bearer tok-91f3a7c2"), Some("blue")), "{it}");
    }
    let sent = scene.server.requests();
    assert!(sent.iter().all(|it| !it.json.to_string().contains("tok-91f3a7c2")));
}

#[test]
fn a_server_that_cannot_be_used_is_named_with_the_reason() {
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let nobody = closed.local_addr().unwrap().port();
    drop(closed);
    let all: Vec<(&str, Running)> =
        ["401", "403", "404", "429", "500", "redirect", "html", "silent"]
            .into_iter()
            .map(|fault| (fault, Running::new("modern", fault)))
            .collect();
    let mut entries: Vec<String> = all
        .iter()
        .map(|(fault, it)| format!("['f-{fault}'] = {}", it.entry("startup_timeout = 2")))
        .collect();
    entries.push(format!("absent = {{ url = 'http://127.0.0.1:{nobody}/' }}"));
    entries.push(
        "bad = { url = 'http://127.0.0.1:1/', headers = { A = '${NOT_SET_AT_ALL}' } }".to_owned(),
    );
    entries.push("link = { url = 'http://169.254.169.254/latest' }".to_owned());
    entries.push("file = { url = '${SCHEME_OF_TEST}:///etc/passwd' }".to_owned());
    let good = Running::new("earlier", "");
    entries.push(format!("good = {}", good.entry("")));
    let config = format!("{{ mcp = {{ {} }} }}", entries.join(", "));
    let scene = Scene::start(|it| it.config(&config).env("SCHEME_OF_TEST", "file"));
    let said = search(&scene, "echo");
    for line in [
        "[The server `absent` cannot be reached: it refused the connection: nothing is listening there.]",
        "[The server `bad` is not started: mcp.bad.headers.A names the variable NOT_SET_AT_ALL, which is not set.]",
        "[The server `link` is not reached: mcp.link.url is an address of this machine's link.]",
        "[The server `file` is not reached: mcp.file.url is no address that begins with https:// or http://.]",
        "[The server `f-401` wants to know who asks (401): give mcp.f-401.headers an `Authorization`, such as \
         'Bearer ${TOKEN}'.]",
        "[The server `f-403` refuses (403): what mcp.f-403.headers give has too few rights.]",
        "[The server `f-404` is not at this address (404): look at mcp.f-404.url.]",
        "[The server `f-429` has had too many requests (429): try again later.]",
        "The server `f-403` says: who are you?",
        "[The server `f-500` answered with the status 500.]",
        "[The server `f-redirect` redirects to another address, which is not followed: write it into \
         mcp.f-redirect.url if you trust it.]",
        "The server `f-redirect` says: http://elsewhere.test/mcp?token=1",
        "[The server `f-html` sent an answer that is none: the type of its content is no JSON.]",
        "[The server `f-silent` did not answer within 2 s (mcp.f-silent.startup_timeout).]",
        "mcp__good__echo",
    ] {
        assert!(said.contains(line), "{line}\n{said}");
    }
}

#[test]
fn a_call_that_fails_on_its_way_is_an_error_and_the_next_one_is_tried_again() {
    for (fault, expect) in [
        ("cut", "[The server `fake` has closed the connection.]"),
        ("huge", "[The server `fake` sent an answer of more than 16 MB.]"),
    ] {
        for era in ERAS {
            let running = Running::new(era, fault);
            let scene = with(&running.config("", ""));
            search(&scene, "echo");
            assert_eq!(asked(&scene, "echo", &json!({ "text": "x" })).0, expect, "{era}");
            assert!(search(&scene, "echo").contains("mcp__fake__echo"), "{era} {fault}");
        }
    }
}

/// The protocol says how: the client begins the session again and sends the call once more.
#[test]
fn a_session_that_the_server_has_forgotten_is_begun_again() {
    let running = Running::new("earlier", "forgets");
    let scene = with(&running.config("", ""));
    assert_eq!(asked(&scene, "echo", &json!({ "text": "again" })).0, "again");
}

#[test]
fn a_call_that_is_stopped_ends_at_the_server() {
    for era in ERAS {
        let running = Running::new(era, "");
        let rules = "permissions = { { allow = 'mcp__fake__wait' } }";
        let scene = with(&running.config("", rules));
        scene.ask(Reply::new().call("w1", "mcp_call", json!({ "tool": "mcp__fake__wait" })));
        scene.nvim.wait(|_| !running.notes.calls().is_empty(), "the call at the server");
        scene.nvim.keys(":Caliban stop<CR>");
        scene.nvim.wait(|_| !running.notes.read("cancelled").is_empty(), "the cancelling");
        assert_eq!(
            asked(&scene, "echo", &json!({ "text": "still here" })).0,
            "still here",
            "{era}"
        );
    }
}

#[test]
fn wrong_settings_of_an_address_are_named_by_their_path() {
    let running = Running::new("modern", "");
    let config = format!(
        "{{ mcp = {{ fake = {}, a = {{ url = 'ftp://x' }}, b = {{ url = 'http://x', command = 'y' }}, \
         c = {{ url = 'http://x', args = {{ '1' }} }}, d = {{ command = 'x', headers = {{}} }}, \
         e = {{ url = 'http://x', type = 'stdio' }}, f = {{ url = 'http://x', headers = {{ ['Mcp-Name'] = 'x', ['a b'] = 'c' }} }}, \
         g = {{ command = 'x', type = 'sse' }} }} }}",
        running.entry("")
    );
    let scene = with(&config);
    let said = scene.nvim.lua_json("return require('caliban.config').problems()").to_string();
    for problem in [
        "config.mcp.a.url: expected an address that begins with https:// or http://",
        "config.mcp.b: `command` and `url` exclude each other",
        "config.mcp.c.args: a server with `url` has no `args`",
        "config.mcp.d.headers: a server with `command` has no `headers`",
        "config.mcp.e.type: expected 'http'",
        "config.mcp.f.headers.Mcp-Name: Caliban sets this header",
        "config.mcp.f.headers.a b: this is not a valid header name",
        "config.mcp.g.type: expected 'stdio' or 'http'",
    ] {
        assert!(said.contains(problem), "{problem}\n{said}");
    }
    let input = json!({ "query": "echo" });
    assert!(call(&scene, "mcp_search", input, ONCE).0.contains("mcp__fake__echo"));
}
