#![expect(clippy::needless_pass_by_value, reason = "an expectation is written in the call")]

mod asking;

use crate::message::Request;
use crate::provider::dialect::{Dialect, Quirks};
use crate::provider::recut;
use crate::provider::sample_request::{self as sample, answer, assistant, call, user};
use expect_test::{Expect, expect};
use proptest::prelude::*;
use serde_json::{Value, json};

const NONE: Quirks = Quirks::NONE;

macro_rules! streams {
    ($($name:ident: $expected:expr;)*) => {
        $(#[test]
        fn $name() {
            let stream = include_str!(concat!("../../../tests/data/streams/anthropic_", stringify!($name), ".sse"));
            recut::check(Dialect::Anthropic, stream, &$expected);
        })*
    };
}

streams! {
    whole: expect![[r#"
        ~ text "I look."
        ~ call toolu_1 read
        {"type":"text","text":"I look."}
        {"type":"call","id":"toolu_1","tool":"read","input":{"json":{"path":"a"}}}
        ToolUse, 9 in, 2 out, 0 read, 0 written, by "m"
    "#]];
    broken_json: expect![[r#"
        Protocol { said: "EOF while parsing a value at line 1 column 34: {\"type\":\"message_start\",\"message\":" }
    "#]];
    calls: expect![[r#"
        ~ text "I read both."
        ~ call toolu_1 read
        ~ call toolu_2 list
        {"type":"text","text":"I read both."}
        {"type":"call","id":"toolu_1","tool":"read","input":{"json":{"path":"src/a.rs"}}}
        {"type":"call","id":"toolu_2","tool":"list","input":{"json":{}}}
        ToolUse, 13 in, 55 out, 401 read, 30 written, by "claude-sonnet-4-5"
    "#]];
    cut_before_arguments: expect![[r#"
        ~ call toolu_1 write
        {"type":"call","id":"toolu_1","tool":"write","input":{"broken":{"text":"","why":"cut off before its arguments"}}}
        MaxTokens, 12 in, 4096 out, 400 read, 30 written, by "claude-sonnet-4-5"
    "#]];
    cut_call: expect![[r#"
        ~ text "Writing."
        ~ call toolu_1 write
        {"type":"text","text":"Writing."}
        {"type":"call","id":"toolu_1","tool":"write","input":{"broken":{"text":"{\"path\":\"a.rs\",\"content\":\"fn ma","why":"EOF while parsing a string at line 1 column 31"}}}
        MaxTokens, 12 in, 4096 out, 400 read, 30 written, by "claude-sonnet-4-5"
    "#]];
    empty: expect![[r#"
        EndTurn, 12 in, 0 out, 400 read, 30 written, by "claude-sonnet-4-5"
    "#]];
    error_auth: expect![[r#"
        Unauthorized { provider: "them", said: "invalid x-api-key" }
    "#]];
    error_long: expect![[r#"
        TooLong { said: "prompt is too long: 208310 tokens > 200000 maximum", window: Some(200000), prompt: Some(208310) }
    "#]];
    error_rate: expect![[r#"
        RateLimited { after_ms: None, said: "Slow down" }
    "#]];
    interleaved: expect![[r#"
        ~ call toolu_1 read
        ~ call toolu_2 grep
        {"type":"call","id":"toolu_1","tool":"read","input":{"json":{"path":"a"}}}
        {"type":"call","id":"toolu_2","tool":"grep","input":{"json":{"pattern":"xy"}}}
        ToolUse, 12 in, 20 out, 400 read, 30 written, by "claude-sonnet-4-5"
    "#]];
    no_stop_reason: expect![[r#"
        ~ text "So"
        {"type":"text","text":"So"}
        Unknown("no stop_reason"), 12 in, 1 out, 400 read, 30 written, by "claude-sonnet-4-5"
    "#]];
    overloaded: expect![[r#"
        ~ text "So"
        Overloaded { after_ms: None, said: "Overloaded" }
    "#]];
    server_tools: expect![[r#"
        ~ Searched(Searched { query: "neovim", failed: "", results: [Found { title: "", url: "https://neovim.io/" }] })
        ~ text "Found."
        {"type":"raw","provider":"anthropic","value":{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{"query":"neovim"}}}
        {"type":"raw","provider":"anthropic","value":{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[{"type":"web_search_result","url":"https://neovim.io","encrypted_content":"abc"}]}}
        {"type":"searched","query":"neovim","results":[{"title":"","url":"https://neovim.io/"}]}
        {"type":"raw","provider":"anthropic","value":{"type":"compaction","content":"Earlier: much."}}
        {"type":"text","text":"Found."}
        {"type":"raw","provider":"anthropic","value":{"citations":[{"url":"https://neovim.io"}]}}
        Pause, 12 in, 20 out, 400 read, 30 written, by "claude-sonnet-4-5"
    "#]];
    stop_model_context_window_exceeded: expect![[r#"
        ~ text "So"
        {"type":"text","text":"So"}
        ContextExceeded, 12 in, 20 out, 400 read, 30 written, by "claude-sonnet-4-5"
    "#]];
    stop_novel: expect![[r#"
        ~ text "So"
        {"type":"text","text":"So"}
        Unknown("novel"), 12 in, 20 out, 400 read, 30 written, by "claude-sonnet-4-5"
    "#]];
    stop_refusal: expect![[r#"
        ~ text "So"
        {"type":"text","text":"So"}
        Refusal, 12 in, 20 out, 400 read, 30 written, by "claude-sonnet-4-5"
    "#]];
    stop_stop_sequence: expect![[r#"
        ~ text "So"
        {"type":"text","text":"So"}
        StopSequence, 12 in, 20 out, 400 read, 30 written, by "claude-sonnet-4-5"
    "#]];
    surrogate: expect![[r#"
        ~ text "😀 �"
        ~ text "wörld \u{2028}🦀"
        {"type":"text","text":"😀 �wörld  🦀"}
        EndTurn, 12 in, 20 out, 400 read, 30 written, by "claude-sonnet-4-5"
    "#]];
    text: expect![[r#"
        ~ text "Grüße, "
        ~ text "wörld \u{2028}🦀"
        {"type":"text","text":"Grüße, wörld  🦀"}
        EndTurn, 12 in, 20 out, 400 read, 30 written, by "claude-sonnet-4-5"
    "#]];
    thinking: expect![[r#"
        ~ thinking "Let me "
        ~ thinking "see."
        ~ text "Done."
        {"type":"thinking","text":"Let me see.","signature":"c2lnbmVk"}
        {"type":"thinking","text":"","signature":"ZW1wdHk="}
        {"type":"raw","provider":"anthropic","value":{"type":"redacted_thinking","data":"b3BhcXVl"}}
        {"type":"text","text":"Done."}
        EndTurn, 12 in, 20 out, 400 read, 30 written, by "claude-sonnet-4-5"
    "#]];
}

proptest! {
    #[test]
    fn reading_random_bytes_does_not_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let sampled = recut::read(Dialect::Anthropic, [&bytes[..]]);
        prop_assert!(!sampled.is_empty());
    }

    #[test]
    fn events_in_any_order_give_one_reply_or_failure(picks in prop::collection::vec(0usize..60, 0..40)) {
        let all = concat!(
            include_str!("../../../tests/data/streams/anthropic_server_tools.sse"),
            include_str!("../../../tests/data/streams/anthropic_interleaved.sse"),
            include_str!("../../../tests/data/streams/anthropic_thinking.sse"),
        );
        let events: Vec<&str> = all.split_inclusive("\n\n").collect();
        let stream: String = picks.iter().map(|pick| events[pick % events.len()]).collect();
        let sampled = recut::read(Dialect::Anthropic, [stream.as_bytes()]);
        let ends = sampled.iter().filter(|sampled| !matches!(sampled, crate::provider::Sampled::Delta(_)));
        prop_assert_eq!(ends.count(), 1);
    }
}

#[track_caller]
fn check(request: &Request, expected: Expect) {
    let body = Dialect::Anthropic.body(request, NONE);
    expected.assert_eq(&sample::shown(&body));
}

#[test]
fn a_turn_with_two_calls_is_encoded_as_a_request() {
    check(
        &sample::two_tools(),
        expect![[r#"
            model: "m-1"
            max_tokens: 1000
            stream: true
            tools:
              {"name":"read","description":"Reads a file.","input_schema":{"type":"object","properties":{"path":{"type":"string"}}}}
              {"name":"list","description":"Lists a folder.","input_schema":{"type":"object","properties":{"path":{"type":"string"}}}}
            system:
              {"type":"text","text":"You are Caliban.","cache_control":{"type":"ephemeral"}}
            messages:
              "user":
                {"type":"text","text":"<context path=\"src/a.rs\" lines=\"3-4\">\nfn a() {\n}\n</context>"}
                {"type":"text","text":"What is it?","cache_control":{"type":"ephemeral"}}
              "assistant":
                {"type":"thinking","thinking":"Look.","signature":"c2ln"}
                {"type":"thinking","thinking":"","signature":"ZW1wdHk="}
                {"type":"redacted_thinking","data":"b3A="}
                {"type":"text","text":"I read it."}
                {"type":"tool_use","id":"toolu_1","name":"read","input":{"path":"src/a.rs"}}
                {"type":"tool_use","id":"call_950c1f6952735fb74ab07908","name":"functions_list","input":{}}
              "user":
                {"type":"tool_result","tool_use_id":"toolu_1","content":"fn a() {}"}
                {"type":"tool_result","tool_use_id":"call_950c1f6952735fb74ab07908","content":"No such folder.","is_error":true,"cache_control":{"type":"ephemeral"}}
        "#]],
    );
}

#[test]
fn the_request_after_a_stopped_turn_has_an_answer_to_each_call() {
    check(
        &sample::cancelled(),
        expect![[r#"
        model: "m-1"
        max_tokens: 1000
        stream: true
        tools:
          {"name":"read","description":"Reads a file.","input_schema":{"type":"object","properties":{"path":{"type":"string"}}}}
          {"name":"list","description":"Lists a folder.","input_schema":{"type":"object","properties":{"path":{"type":"string"}}}}
        system:
          {"type":"text","text":"You are Caliban.","cache_control":{"type":"ephemeral"}}
        messages:
          "user":
            {"type":"text","text":"Go.","cache_control":{"type":"ephemeral"}}
          "assistant":
            {"type":"text","text":"I go"}
            {"type":"tool_use","id":"call_1","name":"read","input":{"path":"a"}}
            {"type":"tool_use","id":"call_2","name":"list","input":{"broken_json":"{\"path\": \"sr"}}
          "user":
            {"type":"tool_result","tool_use_id":"call_1","content":"a"}
            {"type":"tool_result","tool_use_id":"call_2","content":"stopped before it ran","is_error":true}
          "user":
            {"type":"text","text":"Go on."}
          "user":
            {"type":"text","text":"Well?","cache_control":{"type":"ephemeral"}}
    "#]],
    );
}

#[test]
fn without_a_system_prompt_the_tools_get_a_cache_mark() {
    let request =
        Request { system: String::new(), ..sample::request(vec![user(vec![sample::text("Hi")])]) };
    let body = Dialect::Anthropic.body(&request, NONE);
    assert_eq!(body.get("system"), None);
    assert_eq!(body["tools"][1]["cache_control"], json!({ "type": "ephemeral" }));
}

/// Each request has at most four cache marks, and the next request has a mark at the same place as the last of them.
#[test]
fn each_request_repeats_the_last_cache_mark_of_the_previous_request() {
    for model in ["m-1", "claude-sonnet-4-5"] {
        let mut messages = vec![user(vec![sample::text("Go.")])];
        let mut end: Option<Value> = None;
        for turn in 0..12 {
            let request = Request { model: model.into(), ..sample::request(messages.clone()) };
            let body = Dialect::Anthropic.body(&request, NONE);
            let sent = body["messages"].as_array().unwrap();
            if let Some(end) = end {
                assert!(sent.contains(&end), "{model}, turn {turn}");
            }
            assert!(body.to_string().matches("cache_control").count() <= 4);
            end = sent.last().cloned();
            let id = format!("call_{turn}");
            messages.push(assistant(vec![call(&id, "read", json!({ "path": "a" }))]));
            messages.push(user(vec![answer(&id, &"a ".repeat(200), false)]));
        }
    }
}

#[test]
fn a_blank_tool_answer_is_sent_as_the_words_no_output() {
    let messages = vec![
        assistant(vec![call("call_1", "read", json!({}))]),
        user(vec![answer("call_1", " \n", true)]),
    ];
    let body = Dialect::Anthropic.body(&sample::request(messages), NONE);
    assert_eq!(body["messages"][1]["content"][0]["content"], "(no output)");
}

#[test]
fn a_reply_is_sent_back_with_all_its_blocks_unchanged() {
    let stream = include_str!("../../../tests/data/streams/anthropic_thinking.sse");
    let sampled = recut::read(Dialect::Anthropic, [stream.as_bytes()]);
    let Some(crate::provider::Sampled::Done(reply)) = sampled.last() else { panic!("{sampled:?}") };
    let messages = vec![user(vec![sample::text("Go.")]), assistant(reply.blocks.clone())];
    let body = Dialect::Anthropic.body(&sample::request(messages), NONE);
    let expected = json!([
        { "type": "thinking", "thinking": "Let me see.", "signature": "c2lnbmVk" },
        { "type": "thinking", "thinking": "", "signature": "ZW1wdHk=" },
        { "type": "redacted_thinking", "data": "b3BhcXVl" },
        { "type": "text", "text": "Done." },
    ]);
    assert_eq!(body["messages"][1]["content"].to_string(), expected.to_string());
}
