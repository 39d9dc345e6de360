//! Tests the fake model server with a minimal client.

use crate::kit::reply::Reply;
use crate::kit::server::Server;
use expect_test::expect;
use serde_json::{Value, json};
use std::io::{Read as _, Write as _};
use std::net::TcpStream;

pub(super) const ANTHROPIC: &str = "/v1/messages";
pub(super) const OPENAI: &str = "/v1/chat/completions";
pub(super) const RESPONSES: &str = "/v1/responses";

/// The body of a valid request.
pub(super) fn good(path: &str) -> Value {
    let messages = json!([{"role": "user", "content": "hi"}]);
    match path {
        ANTHROPIC => json!({"model": "m", "max_tokens": 10, "stream": true, "messages": messages}),
        RESPONSES => json!({"model": "m", "stream": true, "store": false, "input": messages}),
        _ => json!({"model": "m", "stream": true, "messages": messages,
            "stream_options": {"include_usage": true}}),
    }
}

pub(super) fn send(server: &Server, path: &str, headers: &str, body: &Value) -> TcpStream {
    let mut stream = TcpStream::connect(server.url().strip_prefix("http://").unwrap()).unwrap();
    let body = body.to_string();
    let length = body.len();
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: localhost\r\n{headers}content-length: {length}\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(body.as_bytes()).unwrap();
    stream
}

pub(super) fn post(server: &Server, path: &str, body: &Value) -> TcpStream {
    let headers = "content-type: application/json\r\nx-api-key: k\r\nauthorization: Bearer k\r\n\
                   anthropic-version: 2023-06-01\r\n";
    send(server, path, headers, body)
}

/// Reads until the response is complete or the server closes the connection. Returns the response without the framing
/// of chunks.
pub(super) fn read(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    let mut piece = [0; 4096];
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let whole = text.split_once("\r\n\r\n").is_some_and(|(head, body)| {
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
            length.map_or(body.ends_with("0\r\n\r\n"), |length| length.parse() == Ok(body.len()))
        });
        let count = if whole { 0 } else { stream.read(&mut piece).unwrap() };
        if count == 0 {
            return without_framing(&text);
        }
        bytes.extend_from_slice(&piece[..count]);
    }
}

fn without_framing(response: &str) -> String {
    let (head, body) = response.split_once("\r\n\r\n").unwrap_or((response, ""));
    let is_text = |line: &&str| u32::from_str_radix(line, 16).is_err();
    let lines = body.split("\r\n").filter(is_text).collect::<String>();
    let status = head.lines().next().unwrap_or_default();
    format!("{status}\n{}", lines.trim_end())
}

#[test]
fn the_fake_anthropic_streams_a_reply_as_its_events() {
    let server = Server::start();
    server.reply(
        Reply::new()
            .thinking("hm")
            .text("I'll read it.")
            .call("toolu_1", "read", json!({"path": "a"}))
            .usage(12, 34)
            .cached(5, 6),
    );
    let mut stream = post(&server, ANTHROPIC, &good(ANTHROPIC));
    expect![[r#"
        HTTP/1.1 200 Scripted
        event: message_start
        data: {"type":"message_start","message":{"id":"msg_01","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":12,"cache_creation_input_tokens":6,"cache_read_input_tokens":5,"output_tokens":1}}}

        event: ping
        data: {"type":"ping"}

        event: content_block_start
        data: {"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}

        event: content_block_delta
        data: {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hm"}}

        event: content_block_delta
        data: {"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"sig2e53878bd69fd4ff"}}

        event: content_block_stop
        data: {"type":"content_block_stop","index":0}

        event: content_block_start
        data: {"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}}

        event: content_block_delta
        data: {"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"I'll read it."}}

        event: content_block_stop
        data: {"type":"content_block_stop","index":1}

        event: content_block_start
        data: {"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"toolu_1","name":"read","input":{}}}

        event: content_block_delta
        data: {"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":""}}

        event: content_block_delta
        data: {"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{\"path\":\"a\"}"}}

        event: content_block_stop
        data: {"type":"content_block_stop","index":2}

        event: message_delta
        data: {"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":34}}

        event: message_stop
        data: {"type":"message_stop"}"#]]
    .assert_eq(&read(&mut stream));
}

#[test]
fn the_fake_openai_streams_a_reply_as_its_chunks() {
    let server = Server::start();
    server.reply(Reply::new().text("Hi").call("c1", "read", json!({"path": "a"})).cached(5, 0));
    let mut stream = post(&server, OPENAI, &good(OPENAI));
    expect![[r#"
        HTTP/1.1 200 Scripted
        data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1760000000,"model":"m","system_fingerprint":"fp_1","choices":[{"index":0,"delta":{"role":"assistant","content":"","refusal":null},"logprobs":null,"finish_reason":null}],"usage":null}

        data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1760000000,"model":"m","system_fingerprint":"fp_1","choices":[{"index":0,"delta":{"content":"Hi"},"logprobs":null,"finish_reason":null}],"usage":null}

        data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1760000000,"model":"m","system_fingerprint":"fp_1","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"read","arguments":""}}]},"logprobs":null,"finish_reason":null}],"usage":null}

        data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1760000000,"model":"m","system_fingerprint":"fp_1","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"path\":\"a\"}"}}]},"logprobs":null,"finish_reason":null}],"usage":null}

        data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1760000000,"model":"m","system_fingerprint":"fp_1","choices":[{"index":0,"delta":{},"logprobs":null,"finish_reason":"tool_calls"}],"usage":null}

        data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1760000000,"model":"m","system_fingerprint":"fp_1","choices":[],"usage":{"prompt_tokens":15,"completion_tokens":5,"total_tokens":20,"prompt_tokens_details":{"cached_tokens":5}}}

        data: [DONE]"#]].assert_eq(&read(&mut stream));
}

#[test]
fn the_fake_server_answers_many_requests_on_one_connection_and_records_all() {
    let server = Server::start();
    server.reply(Reply::said("one"));
    server.reply(Reply::said("two"));
    let mut stream = post(&server, ANTHROPIC, &good(ANTHROPIC));
    assert!(read(&mut stream).contains("one"));
    let body = good(OPENAI).to_string();
    let head = "POST /v1/chat/completions HTTP/1.1\r\ncontent-type: application/json\r\nAuthorization: Bearer k";
    write!(stream, "{head}\r\ncontent-length: {}\r\n\r\n{body}", body.len()).unwrap();
    assert!(read(&mut stream).contains("two"));
    let requests = server.wait_requests(2);
    assert_eq!(requests[0].path, ANTHROPIC);
    assert_eq!(requests[0].header("x-api-key"), Some("k"));
    assert_eq!(requests[1].json, good(OPENAI));
    assert_eq!(requests[1].last_user_text(), "hi");
    assert_eq!(server.unfetched(), 0);
}

#[test]
fn the_rest_of_a_reply_is_held_back_until_the_test_opens_the_gate() {
    let server = Server::start();
    let gate = server.reply(Reply::chunks(["first", "second", "third"]).text("fourth"));
    let mut stream = post(&server, ANTHROPIC, &good(ANTHROPIC));
    let mut seen = String::new();
    let mut until = |awaited: &str| {
        let mut piece = [0; 4096];
        while !seen.contains(awaited) {
            let count = stream.read(&mut piece).unwrap();
            assert!(count > 0, "{seen}");
            seen.push_str(&String::from_utf8_lossy(&piece[..count]));
        }
        seen.clone()
    };
    assert!(!until("ping").contains("first"));
    gate.release();
    assert!(!until("first").contains("second"));
    gate.release();
    assert!(!until("second").contains("third"));
    gate.finish();
    until("message_stop");
}

#[test]
fn the_fake_server_notices_that_a_client_closed_its_connection() {
    for reply in [Reply::hang(), Reply::said("a").gate().text("b"), Reply::endless("and on ")] {
        let server = Server::start();
        let _gate = server.reply(reply);
        let stream = post(&server, ANTHROPIC, &good(ANTHROPIC));
        server.wait_requests(1);
        drop(stream);
        server.wait_closed(1);
    }
}

#[test]
fn a_reply_that_hangs_is_sent_when_the_test_opens_its_gate() {
    let server = Server::start();
    let gate = server.reply(Reply::hang());
    let mut stream = post(&server, OPENAI, &good(OPENAI));
    server.wait_requests(1);
    gate.release();
    assert!(read(&mut stream).contains("late"));
}

#[test]
fn an_error_reply_has_the_format_of_its_provider() {
    #[track_caller]
    fn check(reply: Reply, path: &str, expected: &[&str]) {
        let server = Server::start();
        server.reply(reply);
        let response = read(&mut post(&server, path, &good(path)));
        for part in expected {
            assert!(response.contains(part), "{part} in {response}");
        }
    }
    check(
        Reply::error(401),
        ANTHROPIC,
        &["401", r#"{"type":"error","error":{"type":"authentication_error""#],
    );
    check(Reply::error(401), OPENAI, &["401", r#""code":"invalid_api_key""#]);
    check(Reply::error(404), ANTHROPIC, &["404", "not_found_error", "model: "]);
    check(Reply::error(404), OPENAI, &["404", "model_not_found"]);
    check(Reply::error(403), ANTHROPIC, &["403", "permission_error"]);
    check(Reply::error(429), ANTHROPIC, &["429", "rate_limit_error"]);
    check(Reply::error(500), ANTHROPIC, &["500", "api_error"]);
    check(Reply::error(500), OPENAI, &["500", "server_error"]);
    check(Reply::error(529), ANTHROPIC, &["529", "overloaded_error", "Overloaded"]);
    check(Reply::too_long(), ANTHROPIC, &["400", "invalid_request_error", "prompt is too long"]);
    check(Reply::too_long(), OPENAI, &["400", "context_length_exceeded"]);
    check(Reply::no_quota(), OPENAI, &["429", r#""code":"insufficient_quota""#]);
    check(Reply::html(), ANTHROPIC, &["200", "<!DOCTYPE html>"]);
    check(Reply::raw(418, &[], "tea"), OPENAI, &["418", "tea"]);
    let busy = Reply::said("half").stream_error("overloaded_error", "Overloaded");
    check(
        busy.clone(),
        ANTHROPIC,
        &["200", "half", r#"{"type":"error","error":{"type":"overloaded_error""#],
    );
    check(busy, OPENAI, &["200", "half", r#"data: {"error":{"message":"Overloaded""#]);
    check(Reply::said("ends").stop("max_tokens"), ANTHROPIC, &[r#""stop_reason":"max_tokens""#]);
    check(Reply::said("ends").stop("max_tokens"), OPENAI, &[r#""finish_reason":"length""#]);
    check(Reply::new().call_raw("c", "read", "{\"pa"), OPENAI, &[r#""arguments":"{\"pa""#]);
}

#[test]
fn the_fake_server_sends_a_replys_extra_headers_and_breaks_off_a_cut_reply() {
    let server = Server::start();
    server.reply(Reply::error(429).header("retry-after", "2"));
    let mut raw = String::new();
    let mut stream = post(&server, ANTHROPIC, &good(ANTHROPIC));
    while !raw.contains("}}") && !raw.ends_with('}') {
        let mut piece = [0; 4096];
        let count = stream.read(&mut piece).unwrap();
        raw.push_str(&String::from_utf8_lossy(&piece[..count]));
    }
    assert!(raw.contains("\r\nretry-after: 2\r\n"), "{raw}");
    server.reply(Reply::said("half").cut());
    let response = read(&mut post(&server, ANTHROPIC, &good(ANTHROPIC)));
    assert!(response.contains("half") && !response.contains("message_stop"), "{response}");
}

#[test]
fn a_request_without_a_queued_reply_gets_500_and_fails_the_test() {
    let server = Server::start().impatient();
    assert!(read(&mut post(&server, ANTHROPIC, &good(ANTHROPIC))).contains("500"));
    assert_eq!(server.take_unexpected(), ["POST /v1/messages"]);
    let server = Server::start().impatient();
    read(&mut post(&server, ANTHROPIC, &good(ANTHROPIC)));
    let dropped = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| drop(server)));
    assert!(dropped.is_err());
}

#[test]
fn a_refused_request_uses_up_no_queued_reply_and_fails_the_test() {
    let server = Server::start();
    server.reply(Reply::said("kept"));
    assert!(read(&mut post(&server, ANTHROPIC, &json!({"stream": true}))).contains("400"));
    assert_eq!(server.unfetched(), 1);
    let dropped = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| drop(server)));
    assert!(dropped.is_err());
}
