#![expect(clippy::needless_raw_string_hashes, reason = "the form in which expect-test writes them")]
#![expect(clippy::needless_pass_by_value, reason = "an expectation is written in the call")]

use crate::message::{Block, Effort, Request, Thinking};
use crate::provider::dialect::{Dialect, Quirks};
use crate::provider::sample_request::{self as sample, assistant, call, user};
use crate::provider::{Sampled, recut};
use expect_test::{Expect, expect};
use proptest::prelude::*;
use serde_json::{Value, json};

macro_rules! streams {
    ($($name:ident: $expected:expr;)*) => {
        $(#[test]
        fn $name() {
            let stream = include_str!(concat!("../../../tests/data/streams/responses_", stringify!($name), ".sse"));
            recut::check(Dialect::OpenAiResponses, stream, &$expected);
        })*
    };
}

streams! {
    whole: expect![[r#"
        ~ text "I look."
        ~ call call_a read
        {"type":"text","text":"I look."}
        {"type":"call","id":"call_a","tool":"read","input":{"json":{"path":"a"}}}
        ToolUse, 9 in, 2 out, 0 read, 0 written, by "m"
    "#]];
    at_once: expect![[r#"
        ~ thinking "Hm."
        ~ text "At once."
        ~ call call_a read
        {"type":"thinking","text":"Hm."}
        {"type":"raw","provider":"openai-responses","value":{"id":"rs_1","type":"reasoning","summary":[{"type":"summary_text","text":"Hm."}],"encrypted_content":"ZW5j"}}
        {"type":"text","text":"At once."}
        {"type":"call","id":"call_a","tool":"read","input":{"json":{"path":"a"}}}
        ToolUse, 36 in, 20 out, 64 read, 0 written, by "gpt-5"
    "#]];
    broken_json: expect![[r#"
        Protocol { said: "EOF while parsing a value at line 1 column 45: {\"type\":\"response.output_text.delta\",\"delta\":" }
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
        ~ thinking "Hm."
        ~ call call_a write
        {"type":"thinking","text":"Hm."}
        {"type":"raw","provider":"openai-responses","value":{"id":"rs_1","type":"reasoning","summary":[{"type":"summary_text","text":"Hm."}],"encrypted_content":"c2VhbGVk"}}
        {"type":"call","id":"call_a","tool":"write","input":{"broken":{"text":"{\"path\":\"a.rs\",\"content\":\"fn ma","why":"EOF while parsing a string at line 1 column 31"}}}
        MaxTokens, 9 in, 4096 out, 0 read, 0 written, by "gpt-5"
    "#]];
    cut_thought: expect![[r#"
        ~ thinking "Hm."
        {"type":"thinking","text":"Hm."}
        {"type":"raw","provider":"openai-responses","value":{"id":"rs_1","type":"reasoning","summary":[{"type":"summary_text","text":"Hm."}],"encrypted_content":"c2VhbGVk"}}
        MaxTokens, 0 in, 0 out, 0 read, 0 written, by "gpt-5"
    "#]];
    done_is_empty: expect![[r#"
        ~ call call_a read
        ~ call call_b read
        {"type":"call","id":"call_a","tool":"read","input":{"json":{"path":"a"}}}
        {"type":"call","id":"call_b","tool":"read","input":{"json":{"path":"b"}}}
        ToolUse, 36 in, 20 out, 64 read, 0 written, by "gpt-5"
    "#]];
    empty: expect![[r#"
        EndTurn, 36 in, 20 out, 64 read, 0 written, by "gpt-5"
    "#]];
    error_bare: expect![[r#"
        UnknownModel { model: "m", said: "No such model" }
    "#]];
    error_nested: expect![[r#"
        ~ text "So"
        Overloaded { after_ms: None, said: "Overloaded" }
    "#]];
    error_quota: expect![[r#"
        Quota { said: "You exceeded your current quota" }
    "#]];
    failed: expect![[r#"
        ServerError { status: 500, after_ms: None, said: "The server had an error." }
    "#]];
    failed_bare: expect![[r#"
        Broken { said: "" }
    "#]];
    failed_busy: expect![[r#"
        Overloaded { after_ms: None, said: "Try later." }
    "#]];
    failed_prompt: expect![[r#"
        Rejected { status: 400, said: "Not this." }
    "#]];
    failed_long: expect![[r#"
        TooLong { said: "Your input exceeds the context window of this model.", window: None, prompt: None }
    "#]];
    failed_rate: expect![[r#"
        RateLimited { after_ms: Some(1300), said: "Rate limit reached for gpt-5. Please try again in 1.3s." }
    "#]];
    ids_change: expect![[r#"
        ~ call call_a read
        ~ call call_b read
        {"type":"call","id":"call_a","tool":"read","input":{"json":{"path":"a"}}}
        {"type":"call","id":"call_b","tool":"read","input":{"json":{"path":"b"}}}
        ToolUse, 36 in, 20 out, 64 read, 0 written, by "gpt-5"
    "#]];
    index_all_zero: expect![[r#"
        ~ call call_a read
        ~ call call_b read
        {"type":"call","id":"call_a","tool":"read","input":{"json":{"path":"a"}}}
        {"type":"call","id":"call_b","tool":"read","input":{"json":{"path":"b"}}}
        ToolUse, 36 in, 20 out, 64 read, 0 written, by "gpt-5"
    "#]];
    interleaved: expect![[r#"
        ~ call call_a read
        ~ call call_b grep
        {"type":"call","id":"call_a","tool":"read","input":{"json":{"path":"a"}}}
        {"type":"call","id":"call_b","tool":"grep","input":{"json":{"pattern":"x"}}}
        ToolUse, 36 in, 20 out, 64 read, 0 written, by "gpt-5"
    "#]];
    no_ids: expect![[r#"
        ~ call call_a read
        ~ call call_b read
        {"type":"call","id":"call_a","tool":"read","input":{"json":{"path":"a"}}}
        {"type":"call","id":"call_b","tool":"read","input":{"json":{"path":"b"}}}
        ToolUse, 36 in, 20 out, 64 read, 0 written, by "gpt-5"
    "#]];
    no_names: expect![[r#"
        ~ call call_0000000000000abc_1 read
        ~ call call_0000000000000abc_2 read
        {"type":"call","id":"call_0000000000000abc_1","tool":"read","input":{"json":{"path":"a"}}}
        {"type":"call","id":"call_0000000000000abc_2","tool":"read","input":{"json":{"path":"b"}}}
        ToolUse, 36 in, 20 out, 64 read, 0 written, by "gpt-5"
    "#]];
    novel: expect![[r#"
        ~ text "So"
        {"type":"text","text":"So"}
        Unknown("novel"), 0 in, 0 out, 0 read, 0 written, by "gpt-5"
    "#]];
    only_done: expect![[r#"
        ~ call call_a read
        ~ call call_b read
        {"type":"call","id":"call_a","tool":"read","input":{"json":{"path":"a"}}}
        {"type":"call","id":"call_b","tool":"read","input":{"json":{"path":"b"}}}
        ToolUse, 36 in, 20 out, 64 read, 0 written, by "gpt-5"
    "#]];
    out_of_order: expect![[r#"
        ~ call call_b read
        ~ call call_a list
        {"type":"call","id":"call_a","tool":"list","input":{"json":{}}}
        {"type":"call","id":"call_b","tool":"read","input":{"json":{"path":"b"}}}
        ToolUse, 36 in, 20 out, 64 read, 0 written, by "gpt-5"
    "#]];
    parallel: expect![[r#"
        ~ text "Both."
        ~ call call_a read
        ~ call call_b list
        ~ call call_c list
        {"type":"text","text":"Both."}
        {"type":"call","id":"call_a","tool":"read","input":{"json":{"path":"a"}}}
        {"type":"call","id":"call_b","tool":"list","input":{"json":{}}}
        {"type":"call","id":"call_c","tool":"list","input":{"json":{}}}
        ToolUse, 36 in, 20 out, 64 read, 0 written, by "gpt-5"
    "#]];
    reasoning: expect![[r#"
        ~ thinking "**Plan**\n\nLook "
        ~ thinking "first."
        ~ thinking "\n\n"
        ~ thinking "Then write."
        ~ call call_a read
        {"type":"thinking","text":"**Plan**\n\nLook first.\n\nThen write."}
        {"type":"raw","provider":"openai-responses","value":{"id":"rs_1","type":"reasoning","summary":[{"type":"summary_text","text":"**Plan**\n\nLook first."},{"type":"summary_text","text":"Then write."}],"encrypted_content":"c2VhbGVk"}}
        {"type":"call","id":"call_a","tool":"read","input":{"json":{"path":"a.rs"}}}
        ToolUse, 36 in, 20 out, 64 read, 0 written, by "gpt-5"
    "#]];
    reasoning_hidden: expect![[r#"
        ~ thinking "Hm."
        ~ text "Yes."
        {"type":"raw","provider":"openai-responses","value":{"id":"rs_1","type":"reasoning","summary":[],"encrypted_content":"c2VhbGVk"}}
        {"type":"thinking","text":"Hm."}
        {"type":"raw","provider":"openai-responses","value":{"id":"rs_2","type":"reasoning","summary":[{"type":"summary_text","text":"Hm."}],"encrypted_content":"ZW5j"}}
        {"type":"text","text":"Yes."}
        EndTurn, 36 in, 20 out, 64 read, 0 written, by "gpt-5"
    "#]];
    reasoning_unsealed: expect![[r#"
        ~ thinking "Local."
        ~ text "Yes."
        {"type":"thinking","text":"Local."}
        {"type":"text","text":"Yes."}
        EndTurn, 36 in, 20 out, 64 read, 0 written, by "gpt-5"
    "#]];
    refusal: expect![[r#"
        ~ text "I cannot "
        ~ text "do that."
        {"type":"text","text":"I cannot do that."}
        Refusal, 36 in, 20 out, 64 read, 0 written, by "gpt-5"
    "#]];
    same_id_twice: expect![[r#"
        ~ call call_a read
        ~ call call_0000000000000abc_1 read
        {"type":"call","id":"call_a","tool":"read","input":{"json":{"path":"a"}}}
        {"type":"call","id":"call_0000000000000abc_1","tool":"read","input":{"json":{"path":"b"}}}
        ToolUse, 36 in, 20 out, 64 read, 0 written, by "gpt-5"
    "#]];
    server_tools: expect![[r#"
        ~ Searched(Searched { query: "neovim", failed: "", results: [] })
        ~ text "Found."
        {"type":"raw","provider":"openai-responses","value":{"id":"ws_1","type":"web_search_call","status":"completed","action":{"type":"search","query":"neovim"}}}
        {"type":"searched","query":"neovim"}
        {"type":"raw","provider":"openai-responses","value":{"id":"cmp_1","type":"compaction","encrypted_content":"b3A="}}
        {"type":"text","text":"Found."}
        EndTurn, 36 in, 20 out, 64 read, 0 written, by "gpt-5"
    "#]];
    surrogate: expect![[r#"
        ~ text "😀 �"
        {"type":"text","text":"😀 �"}
        EndTurn, 36 in, 20 out, 64 read, 0 written, by "gpt-5"
    "#]];
    text: expect![[r#"
        ~ text "Grüße, "
        ~ text "wörld 🦀"
        {"type":"text","text":"Grüße, wörld 🦀"}
        EndTurn, 36 in, 20 out, 64 read, 0 written, by "gpt-5-2025-08-07"
    "#]];
}

proptest! {
    #[test]
    fn reading_random_bytes_does_not_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let sampled = recut::read(Dialect::OpenAiResponses, [&bytes[..]]);
        prop_assert!(!sampled.is_empty());
    }

    #[test]
    fn events_in_any_order_give_one_reply_or_failure(picks in prop::collection::vec(0usize..100, 0..40)) {
        let all = concat!(
            include_str!("../../../tests/data/streams/responses_reasoning.sse"),
            include_str!("../../../tests/data/streams/responses_interleaved.sse"),
            include_str!("../../../tests/data/streams/responses_no_ids.sse"),
            include_str!("../../../tests/data/streams/responses_no_names.sse"),
            include_str!("../../../tests/data/streams/responses_server_tools.sse"),
        );
        let events: Vec<&str> = all.split_inclusive("\n\n").collect();
        let stream: String = picks.iter().map(|pick| events[pick % events.len()]).collect();
        let sampled = recut::read(Dialect::OpenAiResponses, [stream.as_bytes()]);
        let ends: Vec<_> = sampled.iter().filter(|it| !matches!(it, Sampled::Delta(_))).collect();
        prop_assert_eq!(ends.len(), 1);
        if let Sampled::Done(reply) = ends[0] {
            let ids: std::collections::HashSet<_> = reply.calls().map(|call| &call.id).collect();
            prop_assert_eq!(ids.len(), reply.calls().count());
        }
    }
}

fn body(request: &Request) -> Value {
    Dialect::OpenAiResponses.body(request, Quirks::default())
}

#[track_caller]
fn check(request: &Request, expected: Expect) {
    expected.assert_eq(&sample::shown(&body(request)));
}

#[test]
fn a_turn_with_two_calls_is_encoded_as_a_request() {
    let mut request = sample::two_tools();
    request.model = "gpt-5".into();
    request.thread = "5eed".into();
    check(
        &request,
        expect![[r#"
            model: "gpt-5"
            stream: true
            store: false
            instructions: "You are Caliban."
            tools:
              {"type":"function","name":"read","description":"Reads a file.","parameters":{"type":"object","properties":{"path":{"type":"string"}}},"strict":false}
              {"type":"function","name":"list","description":"Lists a folder.","parameters":{"type":"object","properties":{"path":{"type":"string"}}},"strict":false}
            input:
              "user":
                {"type":"input_text","text":"<context path=\"src/a.rs\" lines=\"3-4\">\nfn a() {\n}\n</context>"}
                {"type":"input_text","text":"What is it?"}
              "assistant":
                {"type":"output_text","text":"I read it."}
              {"type":"function_call","call_id":"toolu_1","name":"read","arguments":"{\"path\":\"src/a.rs\"}"}
              {"type":"function_call","call_id":"call_950c1f6952735fb74ab07908","name":"functions_list","arguments":"{}"}
              {"type":"function_call_output","call_id":"toolu_1","output":"fn a() {}"}
              {"type":"function_call_output","call_id":"call_950c1f6952735fb74ab07908","output":"No such folder."}
            max_output_tokens: 1000
            include:
              "reasoning.encrypted_content"
            prompt_cache_key: "5eed"
        "#]],
    );
}

#[test]
fn the_request_after_a_stopped_turn_has_an_answer_to_each_call() {
    check(
        &sample::cancelled(),
        expect![[r#"
        model: "m-1"
        stream: true
        store: false
        instructions: "You are Caliban."
        tools:
          {"type":"function","name":"read","description":"Reads a file.","parameters":{"type":"object","properties":{"path":{"type":"string"}}},"strict":false}
          {"type":"function","name":"list","description":"Lists a folder.","parameters":{"type":"object","properties":{"path":{"type":"string"}}},"strict":false}
        input:
          "user":
            {"type":"input_text","text":"Go."}
          "assistant":
            {"type":"output_text","text":"I go"}
          {"type":"function_call","call_id":"call_1","name":"read","arguments":"{\"path\":\"a\"}"}
          {"type":"function_call","call_id":"call_2","name":"list","arguments":"{\"broken_json\":\"{\\\"path\\\": \\\"sr\"}"}
          {"type":"function_call_output","call_id":"call_1","output":"a"}
          {"type":"function_call_output","call_id":"call_2","output":"stopped before it ran"}
          "user":
            {"type":"input_text","text":"Go on."}
          "user":
            {"type":"input_text","text":"Well?"}
        max_output_tokens: 1000
    "#]],
    );
}

#[test]
fn a_reply_is_sent_back_with_all_its_blocks_unchanged() {
    let sent = |name: &str| {
        let path =
            format!("{}/tests/data/streams/responses_{name}.sse", env!("CARGO_MANIFEST_DIR"));
        let stream = std::fs::read_to_string(path).unwrap();
        let sampled = recut::read(Dialect::OpenAiResponses, [stream.as_bytes()]);
        let Some(Sampled::Done(reply)) = sampled.last() else { panic!("{sampled:?}") };
        let messages = vec![user(vec![sample::text("Go.")]), assistant(reply.blocks.clone())];
        let items = body(&sample::request(messages))["input"].as_array().unwrap()[1..].to_vec();
        items.iter().map(Value::to_string).collect::<Vec<_>>().join("\n")
    };
    expect![[r#"
        {"id":"rs_1","type":"reasoning","summary":[{"type":"summary_text","text":"**Plan**\n\nLook first."},{"type":"summary_text","text":"Then write."}],"encrypted_content":"c2VhbGVk"}
        {"type":"function_call","call_id":"call_a","name":"read","arguments":"{\"path\":\"a.rs\"}"}"#]].assert_eq(&sent("reasoning"));
    expect![[r#"
        {"id":"rs_1","type":"reasoning","summary":[],"encrypted_content":"c2VhbGVk"}
        {"id":"rs_2","type":"reasoning","summary":[{"type":"summary_text","text":"Hm."}],"encrypted_content":"ZW5j"}
        {"type":"message","role":"assistant","content":[{"type":"output_text","text":"Yes."}]}"#]].assert_eq(&sent("reasoning_hidden"));
    expect![[r#"
        {"id":"ws_1","type":"web_search_call","status":"completed","action":{"type":"search","query":"neovim"}}
        {"id":"cmp_1","type":"compaction","encrypted_content":"b3A="}
        {"type":"message","role":"assistant","content":[{"type":"output_text","text":"Found."}]}"#]].assert_eq(&sent("server_tools"));
    assert_eq!(sent("cut_thought"), "");
    expect![[
        r#"{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Yes."}]}"#
    ]]
    .assert_eq(&sent("reasoning_unsealed"));
}

#[test]
fn call_ids_and_tool_names_are_changed_to_fit_the_api() {
    let long = "x".repeat(65);
    let messages = vec![
        assistant(vec![call(&long, "re ad", json!({}))]),
        user(vec![sample::answer(&long, " \n", true)]),
    ];
    let input = &body(&sample::request(messages))["input"];
    assert_eq!(input[0]["name"], "re_ad");
    assert_eq!(input[0]["call_id"], input[1]["call_id"]);
    assert!(input[0]["call_id"].as_str().unwrap().len() <= 64);
    assert_eq!(input[1]["output"], "(no output)");
}

#[test]
fn thinking_is_sent_as_an_effort_that_the_model_accepts() {
    let said = |model: &str| {
        let word = |thinking| {
            let request = Request {
                model: model.into(),
                thinking: Some(thinking),
                ..sample::request(vec![user(vec![sample::text("Hi")])])
            };
            let body = body(&request);
            assert_eq!(body["reasoning"]["summary"], "auto");
            assert_eq!(body["include"], json!(["reasoning.encrypted_content"]));
            body["reasoning"]["effort"].as_str().unwrap().to_owned()
        };
        let efforts = [Effort::Low, Effort::Medium, Effort::High, Effort::Max];
        let words: Vec<String> =
            std::iter::once(Thinking::Off).chain(efforts.map(Thinking::Named)).map(word).collect();
        format!("{model}: {}\n", words.join(" "))
    };
    let models = [
        "o3",
        "gpt-5",
        "gpt-5-codex",
        "gpt-5.1",
        "gpt-5.1-codex-max",
        "gpt-5.2",
        "openai/gpt-6",
        "gpt-oss-20b",
    ];
    expect![[r#"
        o3: low low medium high high
        gpt-5: minimal low medium high high
        gpt-5-codex: low low medium high high
        gpt-5.1: none low medium high high
        gpt-5.1-codex-max: low low medium high xhigh
        gpt-5.2: none low medium high xhigh
        openai/gpt-6: none low medium high xhigh
        gpt-oss-20b: low low medium high high
    "#]]
    .assert_eq(&models.map(said).concat());
}

#[test]
fn a_request_omits_fields_that_are_not_set() {
    let request = Request {
        model: "gpt-4o".into(),
        tools: Vec::new(),
        system: " ".into(),
        ..sample::request(vec![user(vec![sample::text("Hi"), Block::Text { text: " ".into() }])])
    };
    check(
        &request,
        expect![[r#"
        model: "gpt-4o"
        stream: true
        store: false
        input:
          "user":
            {"type":"input_text","text":"Hi"}
        max_output_tokens: 1000
    "#]],
    );
    let small = body(&Request { temperature: Some(0.5), max_tokens: 1, ..request });
    assert_eq!(small["temperature"], 0.5);
    assert_eq!(small["max_output_tokens"], 16);
}
