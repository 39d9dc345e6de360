//! Tests the fake server of `OpenAI`'s Responses API: its answers, and the requests that it refuses.

#![expect(clippy::needless_pass_by_value, reason = "the tables read better without ampersands")]

use super::refusals::{after, check};
use super::server::{RESPONSES, good, post, read};
use crate::kit::reply::Reply;
use crate::kit::server::Server;
use expect_test::expect;
use serde_json::{Value, json};

#[test]
fn the_fake_responses_api_streams_a_reply_as_its_events() {
    let server = Server::start();
    server.reply(
        Reply::new()
            .thinking("hm")
            .text("Hi")
            .call("c1", "read", json!({"path": "a"}))
            .cached(5, 0)
            .stop("max_tokens"),
    );
    let mut stream = post(&server, RESPONSES, &good(RESPONSES));
    expect![[r#"
        HTTP/1.1 200 Scripted
        event: response.created
        data: {"response":{"id":"resp_01","object":"response","created_at":1760000000,"status":"in_progress","model":"m","output":[],"error":null,"incomplete_details":null,"usage":null},"type":"response.created","sequence_number":0}

        event: response.in_progress
        data: {"response":{"id":"resp_01","object":"response","created_at":1760000000,"status":"in_progress","model":"m","output":[],"error":null,"incomplete_details":null,"usage":null},"type":"response.in_progress","sequence_number":1}

        event: response.output_item.added
        data: {"output_index":0,"item":{"summary":[],"id":"re_1","type":"reasoning"},"type":"response.output_item.added","sequence_number":2}

        event: response.reasoning_summary_text.delta
        data: {"delta":"hm","output_index":0,"item_id":"re_1","summary_index":0,"type":"response.reasoning_summary_text.delta","sequence_number":3}

        event: response.reasoning_summary_text.done
        data: {"output_index":0,"item_id":"re_1","text":"hm","type":"response.reasoning_summary_text.done","sequence_number":4}

        event: response.output_item.done
        data: {"output_index":0,"item":{"summary":[{"type":"summary_text","text":"hm"}],"id":"re_1","type":"reasoning","encrypted_content":"c2VhbGVk"},"type":"response.output_item.done","sequence_number":5}

        event: response.output_item.added
        data: {"output_index":1,"item":{"status":"in_progress","role":"assistant","content":[],"id":"me_2","type":"message"},"type":"response.output_item.added","sequence_number":6}

        event: response.output_text.delta
        data: {"delta":"Hi","output_index":1,"item_id":"me_2","content_index":0,"type":"response.output_text.delta","sequence_number":7}

        event: response.output_text.done
        data: {"output_index":1,"item_id":"me_2","text":"Hi","type":"response.output_text.done","sequence_number":8}

        event: response.output_item.done
        data: {"output_index":1,"item":{"status":"completed","role":"assistant","content":[{"type":"output_text","annotations":[],"text":"Hi"}],"id":"me_2","type":"message"},"type":"response.output_item.done","sequence_number":9}

        event: response.output_item.added
        data: {"output_index":2,"item":{"status":"in_progress","call_id":"c1","name":"read","arguments":"","id":"fu_3","type":"function_call"},"type":"response.output_item.added","sequence_number":10}

        event: response.function_call_arguments.delta
        data: {"delta":"{\"path\":\"a\"}","output_index":2,"item_id":"fu_3","type":"response.function_call_arguments.delta","sequence_number":11}

        event: response.function_call_arguments.done
        data: {"output_index":2,"item_id":"fu_3","arguments":"{\"path\":\"a\"}","type":"response.function_call_arguments.done","sequence_number":12}

        event: response.output_item.done
        data: {"output_index":2,"item":{"status":"completed","call_id":"c1","name":"read","arguments":"{\"path\":\"a\"}","id":"fu_3","type":"function_call"},"type":"response.output_item.done","sequence_number":13}

        event: response.incomplete
        data: {"response":{"id":"resp_01","object":"response","created_at":1760000000,"status":"incomplete","model":"m","output":[{"summary":[{"type":"summary_text","text":"hm"}],"id":"re_1","type":"reasoning","encrypted_content":"c2VhbGVk"},{"status":"completed","role":"assistant","content":[{"type":"output_text","annotations":[],"text":"Hi"}],"id":"me_2","type":"message"},{"status":"completed","call_id":"c1","name":"read","arguments":"{\"path\":\"a\"}","id":"fu_3","type":"function_call"}],"error":null,"incomplete_details":{"reason":"max_output_tokens"},"usage":{"input_tokens":15,"input_tokens_details":{"cached_tokens":5},"output_tokens":5,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":20}},"type":"response.incomplete","sequence_number":14}"#]].assert_eq(&read(&mut stream));
}

#[track_caller]
fn responses(input: Value, why: &str) {
    check(RESPONSES, json!({"input": input}), why);
}

#[test]
fn the_fake_responses_api_refuses_wrong_top_level_fields() {
    let tool = |strict: Value| {
        let schema = json!({"type": "object"});
        json!({"tools": [{"type": "function", "name": "read", "parameters": schema, "strict": strict}]})
    };
    check(
        RESPONSES,
        json!({"instructions": "s", "model": "gpt-5", "max_output_tokens": 16, "prompt_cache_key": "k",
            "include": ["reasoning.encrypted_content"],
            "reasoning": {"effort": "xhigh", "summary": "auto"}}),
        "",
    );
    check(RESPONSES, tool(json!(false)), "");
    check(RESPONSES, tool(json!(true)), "additionalProperties");
    check(RESPONSES, tool(Value::Null), "additionalProperties");
    check(RESPONSES, json!({"tools": [{"type": "function", "function": {}}]}), "Unknown parameter");
    check(RESPONSES, json!({"tools": [{"type": "function", "name": "a b"}]}), "pattern");
    check(RESPONSES, json!({"tools": [{"type": "function", "name": "a"}]}), "schema");
    check(RESPONSES, json!({"tools": [{"type": "tool", "name": "a"}]}), "Invalid value");
    check(RESPONSES, json!({"messages": []}), "Unknown parameter: 'messages'");
    check(RESPONSES, json!({"max_tokens": 9}), "Unknown parameter");
    check(RESPONSES, json!({"store": true}), "store");
    check(RESPONSES, json!({"stream": null}), "stream");
    check(RESPONSES, json!({"model": null}), "model");
    check(RESPONSES, json!({"instructions": []}), "instructions");
    check(RESPONSES, json!({"max_output_tokens": 15}), "max_output_tokens");
    check(RESPONSES, json!({"prompt_cache_key": "k".repeat(65)}), "prompt_cache_key");
    check(RESPONSES, json!({"include": ["thoughts"]}), "Supported values");
    let include = json!(["reasoning.encrypted_content"]);
    check(RESPONSES, json!({"model": "gpt-4o", "include": include}), "Encrypted content");
    check(
        RESPONSES,
        json!({"model": "gpt-5-chat-latest", "include": include}),
        "Encrypted content",
    );
    check(RESPONSES, json!({"model": "gpt-4o", "reasoning": {"effort": "low"}}), "Unsupported");
    check(RESPONSES, json!({"model": "gpt-4o", "temperature": 0.5}), "");
    check(RESPONSES, json!({"model": "gpt-5", "temperature": 0.5}), "Unsupported");
    check(RESPONSES, json!({"reasoning": {"effort": "max"}}), "Supported values");
    check(RESPONSES, json!({"reasoning": {"effort": "low", "budget": 5}}), "Unknown parameter");
}

#[test]
fn the_fake_responses_api_refuses_wrong_messages() {
    let part = |role: &str, kind: &str, text: &str| json!([{"type": "message", "role": role, "content": [{"type": kind, "text": text}]}]);
    responses(part("user", "input_text", "x"), "");
    responses(part("assistant", "output_text", "x"), "");
    responses(part("user", "output_text", "x"), "Supported values");
    responses(part("assistant", "input_text", "x"), "Supported values");
    responses(part("user", "text", "x"), "Supported values");
    responses(part("user", "input_text", ""), "text");
    responses(part("tool", "input_text", "x"), "role");
    responses(json!([]), "empty array");
    responses(json!("hi"), "list");
    responses(json!([{"role": "user", "content": ""}]), "content");
    responses(json!([{"role": "user", "content": []}]), "empty array");
    responses(json!([{"role": "user", "content": "u", "name": "me"}]), "Unknown parameter");
    responses(json!([{"type": "thinking", "text": "u"}]), "Invalid value");
    responses(after(json!([{"type": "web_search_call", "id": "ws_1"}])), "");
}

#[test]
fn the_fake_responses_api_refuses_wrong_calls_and_reasoning() {
    let call = |id: &str| json!({"type": "function_call", "call_id": id, "name": "read", "arguments": "{}"});
    let output = |id: &str| json!({"type": "function_call_output", "call_id": id, "output": "ok"});
    let thought =
        json!({"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "x"});
    responses(after(json!([thought, call("a"), call("b"), output("b"), output("a")])), "");
    let mut other = thought.clone();
    other["id"] = "rs_2".into();
    responses(after(json!([thought, other, {"role": "assistant", "content": "so"}])), "");
    responses(after(json!([thought, thought, call("a"), output("a")])), "Duplicate item");
    responses(after(json!([call("a")])), "No tool output found for function call");
    responses(after(json!([output("a"), call("a")])), "No tool call found");
    responses(after(json!([call("a"), output("a"), output("a")])), "No tool call found");
    responses(
        after(json!([call("a"), output("a"), call("a"), output("a")])),
        "Duplicate function call",
    );
    responses(after(json!([thought])), "required following item");
    responses(after(json!([call("a"), thought, output("a")])), "required following item");
    responses(
        after(json!([thought, {"role": "user", "content": "and"}, call("a"), output("a")])),
        "required following item",
    );
    let long = "x".repeat(65);
    responses(after(json!([call(&long), output(&long)])), "too long");
    for (field, value, why) in [
        ("encrypted_content", Value::Null, "not found"),
        ("summary", Value::Null, "list"),
        ("id", Value::Null, "id"),
        ("signature", json!("s"), "Unknown parameter"),
    ] {
        let mut thought = thought.clone();
        thought[field] = value;
        responses(after(json!([thought, call("a"), output("a")])), why);
    }
    for (field, value, why) in [
        ("arguments", json!({}), "Invalid type"),
        ("arguments", json!("{"), "JSON"),
        ("name", json!("re.ad"), "pattern"),
        ("tool", json!(1), "Unknown parameter"),
    ] {
        let mut call = call("a");
        call[field] = value;
        responses(after(json!([call, output("a")])), why);
    }
    let mut broken = output("a");
    broken["output"] = json!([{"type": "text", "text": "ok"}]);
    responses(after(json!([call("a"), broken])), "Supported values");
}
