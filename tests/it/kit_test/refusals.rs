//! Tests which requests the fake model server refuses, and which it accepts.

#![expect(clippy::needless_pass_by_value, reason = "the tables read better without ampersands")]

use super::server::{ANTHROPIC, OPENAI, RESPONSES, good, post, read, send};
use crate::kit::reply::Reply;
use crate::kit::rules::anthropic::signature;
use crate::kit::server::Server;
use serde_json::{Map, Value, json};

/// Sends a valid request with these top-level fields changed (null removes a field). The request must be accepted if
/// `why` is empty, otherwise refused with a reason that contains `why`.
#[track_caller]
pub(super) fn check(path: &str, fields: Value, why: &str) {
    let mut body = good(path);
    let Value::Object(fields) = fields else { panic!("fields are an object") };
    let object: &mut Map<String, Value> = body.as_object_mut().unwrap();
    for (name, value) in fields {
        if value.is_null() {
            object.remove(&name);
        } else {
            object.insert(name, value);
        }
    }
    let server = Server::start();
    server.reply(Reply::said("fine"));
    let response = read(&mut post(&server, path, &body));
    let refused = server.take_refusals();
    if why.is_empty() {
        assert!(
            refused.is_empty() && response.contains("fine"),
            "{refused:?}\n{body:#}\n{response}"
        );
    } else {
        assert!(refused.len() == 1 && refused[0].contains(why), "{why:?} in {refused:?}\n{body:#}");
        assert!(
            response.contains(" 400 ") && response.contains("invalid_request_error"),
            "{response}"
        );
    }
}

#[track_caller]
fn anthropic(messages: Value, why: &str) {
    check(ANTHROPIC, json!({"messages": messages}), why);
}

#[track_caller]
fn openai(messages: Value, why: &str) {
    check(OPENAI, json!({"messages": messages}), why);
}

/// A list of messages: a user's question, followed by these messages.
pub(super) fn after(rest: Value) -> Value {
    let mut all = vec![json!({"role": "user", "content": "hi"})];
    all.extend(rest.as_array().unwrap().iter().cloned());
    all.into()
}

fn assistant(blocks: Value) -> Value {
    json!({"role": "assistant", "content": blocks})
}

fn user(blocks: Value) -> Value {
    json!({"role": "user", "content": blocks})
}

fn calls(id: &str) -> Value {
    json!({"type": "tool_use", "id": id, "name": "read", "input": {}})
}

fn result(id: &str) -> Value {
    json!({"type": "tool_result", "tool_use_id": id, "content": "ok"})
}

#[test]
fn the_fake_anthropic_refuses_wrong_top_level_fields() {
    check(ANTHROPIC, json!({}), "");
    let marked = json!([{"type": "text", "text": "s", "cache_control": {"type": "ephemeral"}}]);
    let tool = json!({"name": "read", "description": "d", "input_schema": {"type": "object"}});
    check(ANTHROPIC, json!({"system": marked, "tools": [tool], "temperature": 0.5}), "");
    check(ANTHROPIC, json!({"system": "you are"}), "");
    check(ANTHROPIC, json!({"foo": 1}), "foo: Extra inputs");
    check(ANTHROPIC, json!({"model": null}), "model");
    check(ANTHROPIC, json!({"max_tokens": null}), "max_tokens");
    check(ANTHROPIC, json!({"max_tokens": 0}), "max_tokens");
    check(ANTHROPIC, json!({"messages": []}), "first message");
    check(ANTHROPIC, json!({"messages": null}), "messages");
    check(ANTHROPIC, json!({"stream": null}), "stream");
    check(ANTHROPIC, json!({"system": [{"type": "text", "text": ""}]}), "system.0.text");
    check(ANTHROPIC, json!({"system": [{"type": "image"}]}), "system.0.type");
    check(ANTHROPIC, json!({"tools": [tool, tool]}), "unique");
    let other = json!({"name": "re ad", "input_schema": {"type": "object"}});
    check(ANTHROPIC, json!({"tools": [other]}), "pattern");
    check(ANTHROPIC, json!({"tools": [{"name": "read"}]}), "input_schema");
    check(ANTHROPIC, json!({"tools": [{"name": "read", "parameters": {}}]}), "Extra inputs");
}

#[test]
fn the_fake_anthropic_refuses_wrong_thinking_settings() {
    let asked = |thinking: Value, why| check(ANTHROPIC, json!({"thinking": thinking}), why);
    asked(json!({"type": "disabled"}), "");
    let off = json!({"model": "claude-opus-5-5", "thinking": {"type": "disabled"}});
    check(ANTHROPIC, off, "not supported for this model");
    asked(json!({"type": "adaptive", "display": "summarized"}), "");
    asked(json!({"type": "on"}), "does not match");
    asked(json!({"budget_tokens": 2000}), "thinking.type");
    asked(json!({"type": "enabled", "budget_tokens": 1023}), "1024");
    asked(json!({"type": "enabled", "budget_tokens": 2000}), "must be greater");
    let thinking = json!({"type": "enabled", "budget_tokens": 2000});
    let enabled = |fields: Value, why| {
        let mut all = json!({"thinking": thinking, "max_tokens": 2001});
        all.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        check(ANTHROPIC, all, why);
    };
    enabled(json!({}), "");
    enabled(json!({"temperature": 1}), "");
    enabled(json!({"temperature": 0.5}), "temperature");
    let effort = |effort: &str, why| {
        check(ANTHROPIC, json!({"output_config": {"effort": effort}}), why);
    };
    effort("low", "");
    effort("off", "effort");
    let thought = json!({"type": "thinking", "thinking": "Hm.", "signature": signature("Hm.")});
    let redacted = json!({"type": "redacted_thinking", "data": "b3A="});
    for (first, why) in
        [(thought, ""), (redacted, ""), (json!({"type": "text", "text": "So"}), "must start")]
    {
        let turn = json!([assistant(json!([first, calls("a")])), user(json!([result("a")]))]);
        enabled(json!({"messages": after(turn.clone())}), why);
        anthropic(after(turn), "");
    }
    let changed = json!([{"type": "thinking", "thinking": "Ha.", "signature": signature("Hm.")}]);
    anthropic(
        after(json!([assistant(changed), user(json!([{"type": "text", "text": "Go"}]))])),
        "Invalid `signature`",
    );
}

#[test]
fn the_fake_anthropic_refuses_wrong_server_tools() {
    let search = json!({"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {}});
    let found = json!({"type": "web_search_tool_result", "tool_use_id": "s1", "content": []});
    let go = user(json!([{"type": "text", "text": "Go"}]));
    anthropic(after(json!([assistant(json!([search]))])), "");
    anthropic(after(json!([assistant(json!([search])), assistant(json!([found])), go])), "");
    anthropic(after(json!([assistant(json!([search])), go])), "without a corresponding");
    anthropic(after(json!([user(json!([found]))])), "assistant");
}

#[test]
fn the_rules_of_the_fake_openai_depend_on_the_requested_model() {
    let model = |model: &str, rest: Value, why| {
        check(OPENAI, json!({"model": model, "messages": after(rest)}), why);
    };
    let call = |id: &str| json!([{"id": id, "type": "function", "function": {"name": "read", "arguments": "{}"}}]);
    let turn = |mut reply: Value| {
        reply["role"] = "assistant".into();
        reply["tool_calls"] = call("abcdefghi");
        json!([reply, {"role": "tool", "tool_call_id": "abcdefghi", "content": "ok"}])
    };
    let followed = |turn: Value| {
        let mut all = turn.as_array().unwrap().clone();
        all.push(json!({"role": "user", "content": "and?"}));
        Value::from(all)
    };
    model("deepseek-chat", turn(json!({"reasoning_content": "Hm."})), "");
    model("deepseek-chat", turn(json!({"reasoning_content": ""})), "must be passed back");
    model("deepseek-chat", turn(json!({})), "must be passed back");
    model("gpt-5", turn(json!({"reasoning_content": "Hm."})), "unexpected");
    model("gpt-5", followed(turn(json!({}))), "");
    model("magistral-medium", followed(turn(json!({}))), "after role 'tool'");
    let thinking = json!([{"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}]);
    model("magistral-medium", turn(json!({"content": thinking})), "");
    model("gpt-5", turn(json!({"content": thinking})), "Invalid value");
    let mut long = turn(json!({}));
    long[0]["tool_calls"] = call("call_1");
    long[1]["tool_call_id"] = "call_1".into();
    model("magistral-medium", long, "length of 9");
    model("anthropic/claude", turn(json!({"reasoning_details": []})), "");
    model("gpt-5", turn(json!({"reasoning_details": []})), "unexpected");
    let marked = json!([{"role": "user", "content": [{"type": "text", "text": "a", "cache_control": {"type": "ephemeral"}}]}]);
    model("anthropic/claude", marked.clone(), "");
    model("gpt-5", marked, "unexpected");
}

#[test]
fn the_fake_anthropic_refuses_wrong_messages() {
    anthropic(json!([{"role": "assistant", "content": "hi"}]), "first message");
    anthropic(json!([{"role": "system", "content": "hi"}]), "role");
    anthropic(json!([{"role": "user", "content": "hi", "name": "me"}]), "Extra inputs");
    anthropic(json!([{"role": "user", "content": ""}]), "non-empty");
    anthropic(json!([user(json!([]))]), "non-empty");
    anthropic(json!([user(json!([{"type": "text", "text": ""}]))]), "text");
    anthropic(json!([user(json!([{"type": "text", "text": " \n"}]))]), "non-whitespace");
    anthropic(after(json!([assistant(json!([{"type": "text", "text": "\n"}]))])), "non-whitespace");
    anthropic(after(json!([assistant(json!([{"type": "text", "text": "so "}]))])), "trailing");
    anthropic(after(json!([assistant(json!([{"type": "text", "text": "so"}]))])), "");
    anthropic(json!([user(json!([{"type": "video"}]))]), "expected tags");
    anthropic(json!([user(json!([{"type": "text", "text": "a", "foo": 1}]))]), "Extra inputs");
    anthropic(json!([user(json!([calls("a")]))]), "can only be in");
    anthropic(json!([user(json!([{"type": "image"}]))]), "source");
}

#[test]
fn the_fake_anthropic_refuses_wrong_thinking_blocks() {
    let thinking =
        |block: Value| after(json!([assistant(json!([block, {"type": "text", "text": "so"}]))]));
    anthropic(
        thinking(json!({"type": "thinking", "thinking": "hm", "signature": signature("hm")})),
        "",
    );
    anthropic(thinking(json!({"type": "thinking", "thinking": "hm"})), "signature");
    anthropic(
        thinking(json!({"type": "thinking", "thinking": "hm", "signature": ""})),
        "signature",
    );
    anthropic(thinking(json!({"type": "thinking", "signature": "s"})), "thinking");
    anthropic(thinking(json!({"type": "redacted_thinking", "data": "x"})), "");
    anthropic(thinking(json!({"type": "redacted_thinking"})), "data");
}

#[test]
fn the_fake_anthropic_refuses_calls_and_results_that_do_not_match() {
    let with = |first: Value, second: Value| after(json!([assistant(first), user(second)]));
    anthropic(with(json!([calls("a"), calls("b")]), json!([result("b"), result("a")])), "");
    anthropic(with(json!([calls("a")]), json!([result("a"), {"type": "text", "text": "and"}])), "");
    anthropic(with(json!([calls("a")]), json!([{"type": "text", "text": "and"}])), "without");
    anthropic(
        with(json!([calls("a")]), json!([{"type": "text", "text": "and"}, result("a")])),
        "first",
    );
    anthropic(after(json!([assistant(json!([calls("a")]))])), "without");
    anthropic(json!([user(json!([result("a")]))]), "unexpected `tool_use_id`");
    anthropic(
        with(json!([calls("a")]), json!([result("a"), result("b")])),
        "unexpected `tool_use_id`",
    );
    anthropic(with(json!([calls("a")]), json!([result("a"), result("a")])), "single result");
    anthropic(with(json!([calls("a"), calls("a")]), json!([result("a")])), "unique");
    anthropic(with(json!([calls("a:b")]), json!([result("a:b")])), "pattern");
    let mut long = calls("a");
    long["name"] = "n".repeat(65).into();
    anthropic(with(json!([long]), json!([result("a")])), "pattern");
    let mut list = calls("a");
    list["input"] = json!([]);
    anthropic(with(json!([list]), json!([result("a")])), "input");
    let mut failed = result("a");
    failed["is_error"] = true.into();
    anthropic(with(json!([calls("a")]), json!([failed])), "");
    failed["content"] = "".into();
    anthropic(with(json!([calls("a")]), json!([failed])), "cannot be empty");
    let mut inner = result("a");
    inner["content"] = json!([{"type": "text", "text": "x"}]);
    anthropic(with(json!([calls("a")]), json!([inner])), "");
    inner["content"] = json!([{"type": "text", "text": ""}]);
    anthropic(with(json!([calls("a")]), json!([inner])), "text");
    inner["content"] = json!([{"type": "thinking"}]);
    anthropic(with(json!([calls("a")]), json!([inner])), "expected here");
}

#[test]
fn the_fake_anthropic_refuses_wrong_cache_marks() {
    let marked = |kind: &str| json!({"type": "text", "text": "a", "cache_control": {"type": kind}});
    let blocks = |count: usize| user(vec![marked("ephemeral"); count].into());
    anthropic(json!([blocks(4)]), "");
    anthropic(json!([blocks(5)]), "maximum of 4");
    check(ANTHROPIC, json!({"system": [marked("ephemeral")], "messages": [blocks(4)]}), "Found 5");
    anthropic(json!([user(json!([marked("forever")]))]), "ephemeral");
}

#[test]
fn the_fake_openai_refuses_wrong_top_level_fields() {
    let tool = |name: &str| json!({"type": "function", "function": {"name": name, "parameters": {"type": "object"}}});
    check(
        OPENAI,
        json!({"tools": [tool("read")], "tool_choice": "auto", "max_completion_tokens": 5}),
        "",
    );
    check(OPENAI, json!({"foo": 1}), "Unrecognized");
    check(OPENAI, json!({"system": "you are"}), "Unrecognized");
    check(OPENAI, json!({"model": null}), "model");
    check(OPENAI, json!({"max_tokens": -1}), "max_tokens");
    check(OPENAI, json!({"messages": []}), "too short");
    check(OPENAI, json!({"tools": []}), "too short");
    check(OPENAI, json!({"tool_choice": "auto"}), "only allowed");
    check(OPENAI, json!({"tools": [tool("a b")]}), "pattern");
    check(OPENAI, json!({"tools": [{"name": "read"}]}), "Additional properties");
    let many = |count: usize| (0..count).map(|n| tool(&format!("t{n}"))).collect::<Vec<_>>();
    check(OPENAI, json!({"tools": many(128)}), "");
    check(OPENAI, json!({"tools": many(129)}), "too long");
    check(OPENAI, json!({"stream": null, "stream_options": {"include_usage": true}}), "stream");
}

#[test]
fn the_fake_openai_refuses_wrong_messages() {
    let part = |kind: &str| json!([{"role": "user", "content": [{"type": kind, kind: "x"}]}]);
    openai(json!([{"role": "system", "content": "s"}, {"role": "user", "content": "u"}]), "");
    openai(json!([{"role": "developer", "content": "s"}, {"role": "user", "content": "u"}]), "");
    openai(json!([{"role": "critic", "content": "s"}]), "not one of");
    openai(json!([{"role": "user", "content": ""}]), "empty");
    openai(json!([{"role": "user", "content": []}]), "content");
    openai(json!([{"role": "user"}]), "content");
    openai(json!([{"role": "user", "content": "u", "id": 1}]), "Additional properties");
    openai(part("text"), "");
    openai(part("thinking"), "Invalid value");
    openai(after(json!([{"role": "assistant", "content": ""}])), "empty");
    openai(after(json!([{"role": "assistant", "content": null}])), "content");
    openai(
        after(json!([{"role": "assistant", "content": "so", "reasoning_content": "hm"}])),
        "Additional",
    );
}

#[test]
fn the_fake_openai_refuses_calls_and_answers_that_do_not_match() {
    let call = |id: &str| json!({"id": id, "type": "function", "function": {"name": "read", "arguments": "{}"}});
    let calling = |calls: Value| json!({"role": "assistant", "content": null, "tool_calls": calls});
    let answer = |id: &str| json!({"role": "tool", "tool_call_id": id, "content": "ok"});
    let asks = json!({"role": "user", "content": "and"});
    openai(
        after(json!([calling(json!([call("a"), call("b")])), answer("b"), answer("a"), asks])),
        "",
    );
    openai(after(json!([calling(json!([call("a")]))])), "did not have response messages: a");
    openai(
        after(json!([calling(json!([call("a"), call("b")])), answer("a"), asks])),
        "messages: b",
    );
    openai(after(json!([answer("a")])), "preceding message");
    openai(
        after(json!([calling(json!([call("a")])), answer("a"), answer("a")])),
        "preceding message",
    );
    openai(after(json!([calling(json!([call("a"), call("a")])), answer("a")])), "Duplicate");
    openai(after(json!([calling(json!([]))])), "too short");
    openai(after(json!([calling(json!([call(&"x".repeat(41))]))])), "too long");
    let mut empty = calling(json!([call("a")]));
    empty["content"] = "".into();
    openai(after(json!([empty, answer("a")])), "empty");
    for (arguments, why) in
        [(json!({}), "a string"), (json!("{\"a\""), "JSON"), (json!(""), "JSON")]
    {
        let mut broken = call("a");
        broken["function"]["arguments"] = arguments;
        openai(after(json!([calling(json!([broken])), answer("a")])), why);
    }
    let mut named = call("a");
    named["function"]["name"] = "re.ad".into();
    openai(after(json!([calling(json!([named])), answer("a")])), "pattern");
    let mut untyped = call("a");
    untyped["type"] = "tool".into();
    openai(after(json!([calling(json!([untyped])), answer("a")])), "type");
}

#[test]
fn the_fake_servers_refuse_missing_or_wrong_headers() {
    let json = "content-type: application/json\r\n";
    let cases = [
        (ANTHROPIC, "anthropic-version: 2023-06-01\r\n", " 401 ", "authentication_error"),
        (ANTHROPIC, "x-api-key: \r\nanthropic-version: 2023-06-01\r\n", " 401 ", "x-api-key"),
        (ANTHROPIC, "x-api-key: k\r\n", " 400 ", "anthropic-version"),
        (OPENAI, "", " 401 ", "API key"),
        (OPENAI, "authorization: k\r\n", " 401 ", "API key"),
        (RESPONSES, "", " 401 ", "API key"),
    ];
    for (path, headers, status, why) in cases {
        let server = Server::start();
        let response = read(&mut send(&server, path, &format!("{json}{headers}"), &good(path)));
        assert!(response.contains(status) && response.contains(why), "{why} in {response}");
        assert_eq!(server.take_refusals().len(), 1);
    }
    let server = Server::start();
    let response = read(&mut send(&server, OPENAI, "authorization: Bearer k\r\n", &good(OPENAI)));
    assert!(response.contains("content-type"), "{response}");
    assert_eq!(server.take_refusals().len(), 1);
}
