#![expect(clippy::needless_pass_by_value, reason = "an expectation is written in the call")]

mod reasoning;

use crate::message::Request;
use crate::provider::dialect::{Asked, Dialect, Quirks};
use crate::provider::reading::Reading;
use crate::provider::sample_request::{self as sample, assistant};
use crate::provider::{Sampled, recut};
use expect_test::{Expect, expect};
use proptest::prelude::*;
use serde_json::json;

const PLAIN: Quirks = Quirks::NONE;

macro_rules! streams {
    ($($name:ident: $expected:expr;)*) => {
        $(#[test]
        fn $name() {
            let stream = include_str!(concat!("../../../tests/data/streams/openai_", stringify!($name), ".sse"));
            recut::check(Dialect::OpenAiChat, stream, &$expected);
        })*
    };
}

streams! {
    think: expect![[r#"
        ~ thinking "\nHm"
        ~ thinking ".\n"
        ~ text "Yes"
        ~ text "."
        ~ call call_a read
        {"type":"thinking","text":"\nHm.\n"}
        {"type":"text","text":"Yes."}
        {"type":"call","id":"call_a","tool":"read","input":{"json":{}}}
        ToolUse, 0 in, 0 out, 0 read, 0 written, by "m"
    "#]];
    think_unopened: expect![[r#"
        ~ text "Hm"
        ~ text ".\n"
        ~ WasThought { bytes: 4 }
        ~ text "Yes."
        {"type":"thinking","text":"Hm.\n"}
        {"type":"text","text":"Yes."}
        EndTurn, 0 in, 0 out, 0 read, 0 written, by "m"
    "#]];
    repeated: expect![[r#"
        ~ call call_a read
        {"type":"call","id":"call_a","tool":"read","input":{"json":{"path":"a"}}}
        ToolUse, 0 in, 0 out, 0 read, 0 written, by "m"
    "#]];
    repeated_arguments: expect![[r#"
        ~ call call_a read
        {"type":"call","id":"call_a","tool":"read","input":{"json":{"path":"a"}}}
        ToolUse, 0 in, 0 out, 0 read, 0 written, by "m"
    "#]];
    function_call: expect![[r#"
        ~ call call_0000000000000abc_1 read
        {"type":"call","id":"call_0000000000000abc_1","tool":"read","input":{"json":{"path":"a"}}}
        ToolUse, 0 in, 0 out, 0 read, 0 written, by "m"
    "#]];
    whole: expect![[r#"
        ~ text "I look."
        ~ call call_a read
        {"type":"text","text":"I look."}
        {"type":"call","id":"call_a","tool":"read","input":{"json":{"path":"a"}}}
        ToolUse, 9 in, 2 out, 0 read, 0 written, by "m"
    "#]];
    whole_after_pieces: expect![[r#"
        ~ text "Yes."
        {"type":"text","text":"Yes."}
        EndTurn, 0 in, 0 out, 0 read, 0 written, by "m"
    "#]];
    error_line: expect![[r#"
        ~ text "So"
        ServerError { status: 500, after_ms: None, said: "the slot was lost" }
    "#]];
    error_line_plain: expect![[r#"
        ~ text "So"
        Broken { said: "the slot was lost" }
    "#]];
    error_string: expect![[r#"
        ~ text "So"
        Broken { said: "the upstream closed the stream" }
    "#]];
    error_in_choice: expect![[r#"
        ~ text "So"
        ServerError { status: 502, after_ms: None, said: "Provider disconnected" }
    "#]];
    error_unnamed: expect![[r#"
        ~ text "So"
        RateLimited { after_ms: None, said: "Worker local total request limit reached (33/32)" }
    "#]];
    double_encoded: expect![[r#"
        ~ call call_a read
        ~ call call_b list
        ~ call call_c list
        ~ call call_d list
        {"type":"call","id":"call_a","tool":"read","input":{"json":"{\"path\":\"a\"}"}}
        {"type":"call","id":"call_b","tool":"list","input":{"json":{}}}
        {"type":"call","id":"call_c","tool":"list","input":{"json":null}}
        {"type":"call","id":"call_d","tool":"list","input":{"json":{}}}
        ToolUse, 0 in, 0 out, 0 read, 0 written, by "gpt-5"
    "#]];
    error_midway: expect![[r#"
        ~ text "So"
        ServerError { status: 502, after_ms: None, said: "Provider disconnected" }
    "#]];
    legacy_finish: expect![[r#"
        ~ call call_a read
        {"type":"call","id":"call_a","tool":"read","input":{"json":{}}}
        ToolUse, 0 in, 0 out, 0 read, 0 written, by "gpt-5"
    "#]];
    reasoning_details: expect![[r#"
        ~ thinking "Let me "
        ~ thinking "see."
        ~ thinking "In short."
        ~ call call_a read
        {"type":"thinking","text":"Let me see.In short."}
        {"type":"raw","provider":"openai-chat","value":{"reasoning_details":[{"type":"reasoning.text","text":"Let me see.","format":"anthropic-claude-v1","index":0,"signature":"c2ln"},{"type":"reasoning.summary","summary":"In short.","index":1},{"type":"reasoning.encrypted","data":"b3BhcXVl","id":"rs_1","index":2}]}}
        {"type":"call","id":"call_a","tool":"read","input":{"json":{}}}
        ToolUse, 10 in, 20 out, 60 read, 30 written, by "gpt-5"
    "#]];
    refused_call: expect![[r#"
        ~ text "I "
        ~ call call_a read
        {"type":"text","text":"I "}
        {"type":"call","id":"call_a","tool":"read","input":{"json":{"path":"a"}}}
        Refusal, 0 in, 0 out, 0 read, 0 written, by "gpt-5"
    "#]];
    sparse: expect![[r#"
        ~ call call_a read
        ~ call call_b grep
        {"type":"call","id":"call_a","tool":"read","input":{"json":{"path":"a"}}}
        {"type":"call","id":"call_b","tool":"grep","input":{"json":{"pattern":"x"}}}
        ToolUse, 0 in, 0 out, 0 read, 0 written, by "gpt-5"
    "#]];
    usage_each: expect![[r#"
        ~ text "So"
        ~ text "."
        {"type":"text","text":"So."}
        EndTurn, 6 in, 2 out, 4 read, 0 written, by "gpt-5"
    "#]];
    broken_json: expect![[r#"
        ~ text "So"
        Protocol { said: "EOF while parsing a list at line 1 column 12: {\"choices\":[" }
    "#]];
    call: expect![[r#"
        ~ call call_a read
        {"type":"call","id":"call_a","tool":"read","input":{"json":{"path":"a.rs"}}}
        ToolUse, 36 in, 20 out, 64 read, 0 written, by "gpt-5"
    "#]];
    content_filter: expect![[r#"
        ~ text "So"
        {"type":"text","text":"So"}
        Refusal, 0 in, 0 out, 0 read, 0 written, by "gpt-5"
    "#]];
    cut: expect![[r#"
        ~ text "So"
        Cut
    "#]];
    cut_before_arguments: expect![[r#"
        ~ call call_a write
        {"type":"call","id":"call_a","tool":"write","input":{"broken":{"text":"","why":"cut off before its arguments"}}}
        MaxTokens, 0 in, 0 out, 0 read, 0 written, by "gpt-5"
    "#]];
    cut_call: expect![[r#"
        ~ call call_a write
        {"type":"call","id":"call_a","tool":"write","input":{"broken":{"text":"{\"content\":\"fn ma","why":"EOF while parsing a string at line 1 column 17"}}}
        MaxTokens, 36 in, 20 out, 64 read, 0 written, by "gpt-5"
    "#]];
    error_bare: expect![[r#"
        ServerError { status: 500, after_ms: None, said: "engine died" }
    "#]];
    error_length: expect![[r#"
        TooLong { said: "too long", window: None, prompt: None }
    "#]];
    error_openrouter: expect![[r#"
        ~ text "So"
        ServerError { status: 502, after_ms: None, said: "Provider disconnected" }
    "#]];
    error_quota: expect![[r#"
        Quota { said: "You exceeded your current quota" }
    "#]];
    finish_error: expect![[r#"
        ~ text "So"
        Broken { said: "" }
    "#]];
    index_all_zero: expect![[r#"
        ~ call call_a read
        ~ call call_b read
        ~ call call_0000000000000abc_1 list
        ~ call call_0000000000000abc_2 list
        {"type":"call","id":"call_a","tool":"read","input":{"json":{"path":"a"}}}
        {"type":"call","id":"call_b","tool":"read","input":{"json":{"path":"b"}}}
        {"type":"call","id":"call_0000000000000abc_1","tool":"list","input":{"json":{}}}
        {"type":"call","id":"call_0000000000000abc_2","tool":"list","input":{"json":{}}}
        ToolUse, 0 in, 0 out, 0 read, 0 written, by "gpt-5"
    "#]];
    keepalive: expect![[r#"
        ~ text "So"
        {"type":"text","text":"So"}
        EndTurn, 0 in, 0 out, 0 read, 0 written, by "gpt-5"
    "#]];
    late_index: expect![[r#"
        ~ call call_a read
        {"type":"call","id":"call_a","tool":"read","input":{"json":{"path":"a"}}}
        ToolUse, 0 in, 0 out, 0 read, 0 written, by "gpt-5"
    "#]];
    late_name: expect![[r#"
        ~ call call_a read
        {"type":"call","id":"call_a","tool":"read","input":{"json":{"path":"a"}}}
        ToolUse, 0 in, 0 out, 0 read, 0 written, by "gpt-5"
    "#]];
    no_done: expect![[r#"
        ~ text "So"
        {"type":"text","text":"So"}
        EndTurn, 36 in, 20 out, 64 read, 0 written, by "gpt-5"
    "#]];
    no_finish: expect![[r#"
        ~ text "So"
        {"type":"text","text":"So"}
        Unknown("no finish_reason"), 0 in, 0 out, 0 read, 0 written, by "gpt-5"
    "#]];
    no_id: expect![[r#"
        ~ call call_0000000000000abc_1 read
        ~ call call_0000000000000abc_2 list
        {"type":"call","id":"call_0000000000000abc_1","tool":"read","input":{"json":{"path":"a"}}}
        {"type":"call","id":"call_0000000000000abc_2","tool":"list","input":{"json":{}}}
        ToolUse, 0 in, 0 out, 0 read, 0 written, by "gpt-5"
    "#]];
    no_index: expect![[r#"
        ~ call call_a read
        ~ call call_b grep
        ~ call call_0000000000000abc_1 list
        {"type":"call","id":"call_a","tool":"read","input":{"json":{"path":"a"}}}
        {"type":"call","id":"call_b","tool":"grep","input":{"json":{"pattern":"x"}}}
        {"type":"call","id":"call_0000000000000abc_1","tool":"list","input":{"json":{}}}
        ToolUse, 0 in, 0 out, 0 read, 0 written, by "gpt-5"
    "#]];
    novel: expect![[r#"
        ~ text "So"
        {"type":"text","text":"So"}
        Unknown("novel"), 0 in, 0 out, 0 read, 0 written, by "gpt-5"
    "#]];
    parallel: expect![[r#"
        ~ call call_a read
        ~ call call_b grep
        ~ call call_c list
        {"type":"call","id":"call_a","tool":"read","input":{"json":{"path":"a"}}}
        {"type":"call","id":"call_b","tool":"grep","input":{"json":{"pattern":"x"}}}
        {"type":"call","id":"call_c","tool":"list","input":{"json":{}}}
        ToolUse, 0 in, 0 out, 0 read, 0 written, by "gpt-5"
    "#]];
    parts: expect![[r#"
        ~ thinking "Hm."
        ~ text "Yes."
        {"type":"thinking","text":"Hm."}
        {"type":"text","text":"Yes."}
        EndTurn, 0 in, 0 out, 0 read, 0 written, by "gpt-5"
    "#]];
    reasoning: expect![[r#"
        ~ thinking "Let me "
        ~ thinking "see"
        ~ thinking "."
        ~ text "Done."
        {"type":"thinking","text":"Let me see."}
        {"type":"text","text":"Done."}
        EndTurn, 0 in, 0 out, 0 read, 0 written, by "gpt-5"
    "#]];
    refusal: expect![[r#"
        ~ text "I cannot "
        ~ text "do that."
        {"type":"text","text":"I cannot do that."}
        Refusal, 0 in, 0 out, 0 read, 0 written, by "gpt-5"
    "#]];
    same_id_twice: expect![[r#"
        ~ call call_a read
        ~ call call_0000000000000abc_1 read
        {"type":"call","id":"call_a","tool":"read","input":{"json":{"path":"a"}}}
        {"type":"call","id":"call_0000000000000abc_1","tool":"read","input":{"json":{"path":"b"}}}
        ToolUse, 0 in, 0 out, 0 read, 0 written, by "gpt-5"
    "#]];
    signed: expect![[r#"
        ~ call fc_1 read
        ~ call fc_2 list
        {"type":"call","id":"fc_1","tool":"read","input":{"json":{"path":"a"}}}
        {"type":"raw","provider":"openai-chat","value":{"extra_content":{"google":{"thought_signature":"c2ln"}}}}
        {"type":"call","id":"fc_2","tool":"list","input":{"json":{}}}
        ToolUse, 0 in, 0 out, 0 read, 0 written, by "gpt-5"
    "#]];
    text: expect![[r#"
        ~ text "Grüße, "
        ~ text "wörld 🦀"
        {"type":"text","text":"Grüße, wörld 🦀"}
        EndTurn, 36 in, 20 out, 64 read, 0 written, by "gpt-5"
    "#]];
    usage_in_choice: expect![[r#"
        ~ text "So"
        {"type":"text","text":"So"}
        EndTurn, 9 in, 2 out, 0 read, 0 written, by "gpt-5"
    "#]];
    whole_arguments: expect![[r#"
        ~ call call_a read
        {"type":"call","id":"call_a","tool":"read","input":{"json":{"path":"a"}}}
        ToolUse, 0 in, 0 out, 0 read, 0 written, by "gpt-5"
    "#]];
}

proptest! {
    #[test]
    fn reading_random_bytes_does_not_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let sampled = recut::read(Dialect::OpenAiChat, [&bytes[..]]);
        prop_assert!(!sampled.is_empty());
    }

    #[test]
    fn chunks_in_any_order_give_one_reply_or_failure(picks in prop::collection::vec(0usize..60, 0..40)) {
        let all = concat!(
            include_str!("../../../tests/data/streams/openai_parallel.sse"),
            include_str!("../../../tests/data/streams/openai_no_index.sse"),
            include_str!("../../../tests/data/streams/openai_late_name.sse"),
            include_str!("../../../tests/data/streams/openai_index_all_zero.sse"),
        );
        let chunks: Vec<&str> = all.split_inclusive("\n\n").collect();
        let stream: String = picks.iter().map(|pick| chunks[pick % chunks.len()]).collect();
        let sampled = recut::read(Dialect::OpenAiChat, [stream.as_bytes()]);
        let ends: Vec<_> = sampled.iter().filter(|sampled| !matches!(sampled, Sampled::Delta(_))).collect();
        prop_assert_eq!(ends.len(), 1);
        if let Sampled::Done(reply) = ends[0] {
            let ids: std::collections::HashSet<_> = reply.calls().map(|call| &call.id).collect();
            prop_assert_eq!(ids.len(), reply.calls().count());
        }
    }
}

const OPENAI: Quirks = Quirks { completion_tokens: true, ..Quirks::NONE };

#[track_caller]
fn check(request: &Request, quirks: Quirks, expected: Expect) {
    let body = Dialect::OpenAiChat.body(request, quirks);
    expected.assert_eq(&sample::shown(&body));
}

#[test]
fn a_turn_with_two_calls_is_encoded_as_a_request() {
    check(
        &sample::two_tools(),
        OPENAI,
        expect![[r#"
            model: "m-1"
            messages:
              {"role":"system","content":"You are Caliban."}
              {"role":"user","content":"<context path=\"src/a.rs\" lines=\"3-4\">\nfn a() {\n}\n</context>\n\nWhat is it?"}
              {"role":"assistant","content":"I read it.","tool_calls":[{"id":"toolu_1","type":"function","function":{"name":"read","arguments":"{\"path\":\"src/a.rs\"}"}},{"id":"call_950c1f6952735fb74ab07908","type":"function","function":{"name":"functions_list","arguments":"{}"}}]}
              {"role":"tool","tool_call_id":"toolu_1","content":"fn a() {}"}
              {"role":"tool","tool_call_id":"call_950c1f6952735fb74ab07908","content":"No such folder."}
            stream: true
            max_completion_tokens: 1000
            stream_options: {"include_usage":true}
            tools:
              {"type":"function","function":{"name":"read","description":"Reads a file.","parameters":{"type":"object","properties":{"path":{"type":"string"}}}}}
              {"type":"function","function":{"name":"list","description":"Lists a folder.","parameters":{"type":"object","properties":{"path":{"type":"string"}}}}}
        "#]],
    );
}

#[test]
fn the_request_after_a_stopped_turn_has_an_answer_to_each_call() {
    check(
        &sample::cancelled(),
        OPENAI,
        expect![[r#"
        model: "m-1"
        messages:
          {"role":"system","content":"You are Caliban."}
          {"role":"user","content":"Go."}
          {"role":"assistant","content":"I go","tool_calls":[{"id":"call_1","type":"function","function":{"name":"read","arguments":"{\"path\":\"a\"}"}},{"id":"call_2","type":"function","function":{"name":"list","arguments":"{\"broken_json\":\"{\\\"path\\\": \\\"sr\"}"}}]}
          {"role":"tool","tool_call_id":"call_1","content":"a"}
          {"role":"tool","tool_call_id":"call_2","content":"stopped before it ran"}
          {"role":"user","content":"Go on."}
          {"role":"user","content":"Well?"}
        stream: true
        max_completion_tokens: 1000
        stream_options: {"include_usage":true}
        tools:
          {"type":"function","function":{"name":"read","description":"Reads a file.","parameters":{"type":"object","properties":{"path":{"type":"string"}}}}}
          {"type":"function","function":{"name":"list","description":"Lists a folder.","parameters":{"type":"object","properties":{"path":{"type":"string"}}}}}
    "#]],
    );
}

#[test]
fn quirks_shorten_call_ids_and_leave_out_stream_options() {
    let body = |quirks| Dialect::OpenAiChat.body(&sample::two_tools(), quirks);
    assert_eq!(body(PLAIN)["max_tokens"], 1000);
    let mistral = body(Quirks { short_ids: true, no_stream_options: true, ..Quirks::default() });
    assert_eq!(mistral.get("stream_options"), None);
    let id = mistral["messages"][2]["tool_calls"][0]["id"].as_str().unwrap();
    assert!(id.len() == 9 && id.chars().all(|c| c.is_ascii_alphanumeric()), "{id}");
    assert_eq!(mistral["messages"][3]["tool_call_id"], id);
}

#[test]
fn a_calls_thought_signature_is_sent_back_with_the_call() {
    let stream = include_str!("../../../tests/data/streams/openai_signed.sse");
    let sampled = recut::read(Dialect::OpenAiChat, [stream.as_bytes()]);
    let Some(Sampled::Done(reply)) = sampled.last() else { panic!("{sampled:?}") };
    let request = sample::request(vec![assistant(reply.blocks.clone())]);
    let body = Dialect::OpenAiChat.body(&request, PLAIN);
    let calls = &body["messages"][1]["tool_calls"];
    assert_eq!(calls[0]["extra_content"], json!({ "google": { "thought_signature": "c2ln" } }));
    assert_eq!(calls[1].get("extra_content"), None);
}

#[test]
fn a_call_with_an_id_of_an_earlier_turn_gets_a_new_id() {
    let stream = include_str!("../../../tests/data/streams/openai_call.sse");
    let request = sample::request(vec![assistant(vec![sample::call("call_a", "read", json!({}))])]);
    let mut reading = Reading::new(Dialect::OpenAiChat, Asked::new("them", &request, 0xdef));
    let mut out = Vec::new();
    reading.push(stream.as_bytes(), &mut out);
    let Some(Sampled::Done(reply)) = out.last() else { panic!("{out:?}") };
    assert_eq!(reply.calls().next().unwrap().id.0, "call_0000000000000def_1");
}

#[test]
fn an_html_page_is_quoted_in_the_failure() {
    let sampled = recut::read(
        Dialect::OpenAiChat,
        [&b" <!DOCTYPE html><html><title>Sign in\nto Wi-Fi</title><body>x"[..]],
    );
    expect![[r#"
        [
            Failed(
                Protocol {
                    said: "Sign in to Wi-Fi",
                },
            ),
        ]
    "#]]
    .assert_debug_eq(&sampled);
}
