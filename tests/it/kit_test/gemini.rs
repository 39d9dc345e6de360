//! Tests the fake Gemini server: its answers, and the requests that it refuses.

#![expect(clippy::needless_pass_by_value, reason = "the tables read better without ampersands")]

use super::server::{read, send};
use crate::kit::reply::Reply;
use crate::kit::rules::gemini::signed;
use crate::kit::server::Server;
use serde_json::{Value, json};

const HEADERS: &str = "content-type: application/json\r\nx-goog-api-key: k\r\n";

fn path(model: &str) -> String {
    format!("/v1beta/models/{model}:streamGenerateContent?alt=sse")
}

/// Sends this body to this model. The request must be accepted if `why` is empty, otherwise refused with a reason that
/// contains `why`.
#[track_caller]
fn check(model: &str, body: Value, why: &str) {
    let server = Server::start();
    server.reply(Reply::said("fine"));
    let response = read(&mut send(&server, &path(model), HEADERS, &body));
    let refused = server.take_refusals();
    if why.is_empty() {
        assert!(refused.is_empty() && response.contains("fine"), "{refused:?}\n{body:#}");
    } else {
        assert!(refused.len() == 1 && refused[0].contains(why), "{why:?} in {refused:?}\n{body:#}");
        assert!(response.contains(" 400 ") && response.contains("[{\"error\":"), "{response}");
    }
}

#[track_caller]
fn contents(contents: Value, why: &str) {
    check("gemini-2.5-pro", json!({"contents": contents}), why);
}

fn text(text: &str) -> Value {
    json!({"text": text})
}

fn user(parts: Value) -> Value {
    json!({"role": "user", "parts": parts})
}

fn model(parts: Value) -> Value {
    json!({"role": "model", "parts": parts})
}

fn call(name: &str) -> Value {
    json!({"functionCall": {"name": name, "args": {}}})
}

fn answer(name: &str) -> Value {
    json!({"functionResponse": {"name": name, "response": {"output": "ok"}}})
}

#[test]
fn wrong_top_level_fields_are_refused() {
    let with = |field: &str, value: Value| {
        let mut body = json!({"contents": [user(json!([text("hi")]))]});
        body[field] = value;
        body
    };
    let two =
        |field: &str, value: Value, why: &str| check("gemini-2.5-pro", with(field, value), why);
    let tool = |fields: Value| json!([{"functionDeclarations": fields}]);
    let read =
        json!({"name": "read", "description": "d", "parametersJsonSchema": {"type": "object"}});
    two("systemInstruction", json!({"parts": [text("s")]}), "");
    two("systemInstruction", json!({"parts": [text("")]}), "text");
    two("system", json!("s"), "Unknown name \"system\"");
    two("model", json!("m"), "Unknown name");
    two("contents", json!([]), "contents is not specified");
    two("tools", tool(json!([read])), "");
    two("tools", tool(json!([read, read])), "Duplicate");
    two("tools", tool(json!([{"name": "re ad", "description": "d"}])), "pattern");
    two("tools", tool(json!([{"name": "read", "description": "d"}])), "OBJECT");
    two("tools", tool(json!([{"name": "read", "input_schema": {}}])), "Unknown name");
    let config = |value: Value, why: &str| two("generationConfig", value, why);
    config(json!({"maxOutputTokens": 9, "temperature": 0.5}), "");
    config(json!({"maxOutputTokens": 0}), "positive");
    config(json!({"max_tokens": 9}), "Unknown name");
    config(json!({"thinkingConfig": {"thinkingBudget": 9, "includeThoughts": true}}), "");
    config(json!({"thinkingConfig": {"thinkingLevel": "low"}}), "not supported");
    config(json!({"thinkingConfig": {"thinkingLevel": "low", "thinkingBudget": 9}}), "only one");
    let three = |level: &str, why: &str| {
        let config = json!({"thinkingConfig": {"thinkingLevel": level}});
        check("gemini-3-pro-preview", with("generationConfig", config), why);
    };
    three("high", "");
    three("max", "Invalid value");
}

#[test]
fn malformed_contents_and_parts_are_refused() {
    contents(json!([user(json!([text("hi")])), model(json!([text("so")]))]), "");
    contents(json!([user(json!([text("hi")])), user(json!([text("and")]))]), "");
    contents(json!([model(json!([text("so")]))]), "first content");
    contents(json!([{"role": "assistant", "parts": [text("so")]}]), "valid role");
    contents(json!([{"parts": [text("hi")]}]), "valid role");
    contents(json!([user(json!([]))]), "must not be empty");
    contents(json!([user(json!([text("")]))]), "must not be empty");
    contents(json!([user(json!([{}]))]), "oneof");
    contents(json!([user(json!([{"text": "a", "functionCall": {}}]))]), "oneof");
    contents(json!([user(json!([{"text": "a", "type": "text"}]))]), "Unknown name \"type\"");
    contents(json!([{"role": "user", "content": "hi"}]), "Unknown name \"content\"");
    contents(json!([user(json!([call("read")]))]), "not allowed in role user");
}

#[test]
fn the_fake_gemini_refuses_calls_and_answers_that_do_not_match() {
    let with = |calls: Value, answers: Value| {
        json!([user(json!([text("hi")])), model(calls), user(answers)])
    };
    let count = "number of function response parts";
    contents(with(json!([call("a"), call("b")]), json!([answer("b"), answer("a")])), "");
    contents(with(json!([call("a"), call("b")]), json!([answer("a")])), count);
    contents(with(json!([call("a")]), json!([answer("a"), answer("a")])), count);
    contents(with(json!([call("a")]), json!([text("and")])), count);
    contents(with(json!([call("a")]), json!([answer("b")])), "the calls were");
    contents(json!([user(json!([answer("a")]))]), count);
    contents(json!([user(json!([text("hi")])), model(json!([call("a")]))]), "not answered");
    let split = json!([
        user(json!([text("hi")])),
        model(json!([text("so")])),
        model(json!([call("a")])),
        user(json!([answer("a")]))
    ]);
    contents(split, "immediately after a user turn");
    let mut with_id = call("a");
    with_id["functionCall"]["id"] = "c1".into();
    contents(with(json!([with_id]), json!([answer("a")])), "Unknown name \"id\"");
    let plain = json!({"functionResponse": {"name": "a", "response": "ok"}});
    contents(with(json!([call("a")]), json!([plain])), "object");
    let listed = json!({"functionCall": {"name": "a", "args": []}});
    contents(with(json!([listed]), json!([answer("a")])), "object");
}

#[test]
fn the_fake_gemini_refuses_a_call_without_the_thought_signature_that_it_gave() {
    let sentinel = |mut call: Value| {
        call["thoughtSignature"] = "skip_thought_signature_validator".into();
        call
    };
    let step = |calls: Value| [model(calls), user(json!([answer("a"), answer("b")]))].to_vec();
    let turn = |steps: &[Vec<Value>]| {
        let contents = [vec![user(json!([text("hi")]))], steps.concat()].concat();
        json!({ "contents": contents })
    };
    let three = |steps: &[Vec<Value>], why: &str| check("gemini-3-pro-preview", turn(steps), why);
    let good = step(json!([signed(call("a")), call("b")]));
    let unsigned = step(json!([call("a"), call("b")]));
    three(std::slice::from_ref(&good), "");
    three(&[step(json!([text("so"), sentinel(call("a")), call("b")]))], "");
    three(std::slice::from_ref(&unsigned), "missing a thought_signature");
    three(&[good.clone(), unsigned.clone()], "missing a thought_signature");
    three(&[step(json!([call("a"), signed(call("b"))]))], "missing a thought_signature");
    check("gemini-2.5-pro", turn(std::slice::from_ref(&unsigned)), "");
    // calls of an earlier turn need no signature
    three(&[unsigned, vec![user(json!([text("and")]))], good.clone()], "");
    // a signature is valid only for its own part
    let mut moved = call("a");
    moved["thoughtSignature"] = signed(call("b"))["thoughtSignature"].clone();
    three(&[step(json!([moved, call("b")]))], "not valid");
    three(&[step(json!([sentinel(text("so")), signed(call("a")), call("b")]))], "not valid");
    three(&[step(json!([signed(text("")), signed(call("a")), call("b")]))], "");
}

#[test]
fn the_fake_gemini_refuses_a_missing_key_and_replies_in_geminis_format() {
    let body = json!({"contents": [user(json!([text("hi")]))]});
    for (path, headers, status, why) in [
        (path("m"), "content-type: application/json\r\n", " 403 ", "unregistered callers"),
        (path("m"), "x-goog-api-key: k\r\n", " 400 ", "content-type"),
        (path("m").replace("?alt=sse", ""), HEADERS, " 400 ", "only streams"),
    ] {
        let server = Server::start();
        let response = read(&mut send(&server, &path, headers, &body));
        assert!(response.contains(status) && response.contains(why), "{response}");
        assert_eq!(server.take_refusals().len(), 1);
    }
    let server = Server::start();
    let reply = Reply::new().thinking("hm").text("so").call("c1", "read", json!({"path": "a"}));
    server.reply(reply.call("c2", "list", json!({})).usage(7, 5).cached(3, 0));
    let response = read(&mut send(&server, &path("gemini-x"), HEADERS, &body));
    for part in [
        r#"{"text":"hm","thought":true}"#,
        r#"{"text":"so"}"#,
        r#""functionCall":{"name":"read","args":{"path":"a"}},"thoughtSignature":""#,
        r#"{"functionCall":{"name":"list","args":{}}}"#,
        r#""finishReason":"STOP""#,
        r#""promptTokenCount":10,"cachedContentTokenCount":3,"candidatesTokenCount":5"#,
        r#""modelVersion":"gemini-x""#,
    ] {
        assert!(response.contains(part), "{part} in {response}");
    }
}
