//! Tests the fake Ollama server: its answers, and the requests that it refuses.

use super::server::{read, send};
use crate::kit::reply::Reply;
use crate::kit::server::Server;
use serde_json::{Value, json};

const HEADERS: &str = "content-type: application/json\r\n";

fn good() -> Value {
    json!({"model": "m", "stream": true, "options": {"num_ctx": 65536, "num_predict": 9},
        "messages": [{"role": "user", "content": "hi"}]})
}

/// Sends a valid body with this field changed. The request must be accepted if `why` is empty, otherwise refused with a
/// reason that contains `why`.
#[track_caller]
fn check(field: &str, value: Value, why: &str) {
    let server = Server::start();
    server.reply(Reply::said("fine"));
    let mut body = good();
    body[field] = value;
    let response = read(&mut send(&server, "/api/chat", HEADERS, &body));
    let refused = server.take_refusals();
    if why.is_empty() {
        assert!(refused.is_empty() && response.contains("fine"), "{refused:?}\n{body:#}");
    } else {
        assert!(refused.len() == 1 && refused[0].contains(why), "{why:?} in {refused:?}\n{body:#}");
        assert!(response.contains(" 400 ") && response.contains("{\"error\":\""), "{response}");
    }
}

#[test]
fn wrong_top_level_fields_are_refused() {
    check("stream", json!(true), "");
    check("stream", json!(false), "only streams");
    check("model", json!(""), "model");
    check("max_tokens", json!(9), "Extra inputs");
    check("think", json!("high"), "");
    check("think", json!("max"), "invalid think value");
    check("options", json!({"num_ctx": 65536}), "num_predict");
    check("options", json!({"num_predict": 9}), "num_ctx");
    check("options", json!({"num_ctx": 65536, "num_predict": 9, "max_tokens": 9}), "Extra inputs");
    let function = json!({"name": "read", "description": "d", "parameters": {"type": "object"}});
    check("tools", json!([{"type": "function", "function": function}]), "");
    check("tools", json!([function]), "Extra inputs");
    check("tools", json!([{"type": "function", "function": {"name": "re ad"}}]), "pattern");
    check("tools", json!([{"type": "function", "function": {"name": "read"}}]), "object");
}

#[test]
fn the_fake_ollama_refuses_malformed_messages_and_calls() {
    let messages = |rest: &[Value], why: &str| {
        let all = [&[json!({"role": "user", "content": "hi"})], rest].concat();
        check("messages", all.into(), why);
    };
    let call = |name: &str| json!({"function": {"name": name, "arguments": {}}});
    let calls = |calls: Value| json!({"role": "assistant", "content": "", "tool_calls": calls});
    let answer = |name: &str| json!({"role": "tool", "tool_name": name, "content": "ok"});
    let two = calls(json!([call("a"), call("b")]));
    messages(&[two.clone(), answer("a"), answer("b")], "");
    messages(&[two.clone(), answer("b"), answer("a")], "the calls were");
    messages(&[two.clone(), answer("a")], "not answered");
    messages(&[two, answer("a"), json!({"role": "user", "content": "and"})], "not answered");
    messages(&[answer("a")], "the calls were");
    messages(&[calls(json!([{"id": "c1", "function": {}}])), answer("a")], "Extra inputs");
    let text = json!({"function": {"name": "a", "arguments": "{}"}});
    messages(&[calls(json!([text])), answer("a")], "unmarshal");
    messages(&[json!({"role": "assistant", "content": ""})], "nothing is said");
    messages(&[json!({"role": "assistant", "content": "so", "thinking": "hm"})], "no user query");
    messages(&[json!({"role": "model", "content": "so"})], "invalid role");
    messages(&[json!({"role": "user", "content": ""})], "content");
    messages(&[json!({"role": "user", "content": [{"type": "text", "text": "hi"}]})], "content");
    check("messages", json!([]), "no user query");
}

#[test]
fn the_fake_ollama_replies_in_ollamas_format() {
    let server = Server::start();
    let reply = Reply::new().thinking("hm").text("so").call("c1", "read", json!({"path": "a"}));
    server.reply(reply.usage(700, 5));
    let response = read(&mut send(&server, "/api/chat", HEADERS, &good()));
    for part in [
        r#""thinking":"hm""#,
        r#""content":"so""#,
        r#""tool_calls":[{"function":{"name":"read","arguments":{"path":"a"}}}]"#,
        r#""done":true,"done_reason":"stop""#,
        r#""prompt_eval_count":700,"eval_count":5"#,
    ] {
        assert!(response.contains(part), "{part} in {response}");
    }
}
