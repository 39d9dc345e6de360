#![expect(clippy::needless_pass_by_value, reason = "an expectation is written in the call")]

use crate::event::Failure;
use crate::message::{Effort, Request, Thinking};
use crate::provider::dialect::{Asked, Dialect, Quirks};
use crate::provider::reading::Reading;
use crate::provider::sample_request as sample;
use crate::provider::{Sampled, recut};
use expect_test::{Expect, expect};
use proptest::prelude::*;
use serde_json::{Value, json};

macro_rules! streams {
    ($($name:ident: $expected:expr;)*) => {
        $(#[test]
        fn $name() {
            let stream = include_str!(concat!("../../../tests/data/streams/ollama_", stringify!($name), ".ndjson"));
            recut::check(Dialect::Ollama, stream, &$expected);
        })*
    };
}

streams! {
    think: expect![[r#"
        ~ thinking "Hm."
        ~ text "Yes."
        ~ call call_0000000000000abc_1 read
        {"type":"thinking","text":"Hm."}
        {"type":"text","text":"Yes."}
        {"type":"call","id":"call_0000000000000abc_1","tool":"read","input":{"json":{"path":"a"}}}
        ToolUse, 9 in, 2 out, 0 read, 0 written, by "m"
    "#]];
    blank_lines: expect![[r#"
        ~ text "So"
        {"type":"text","text":"So"}
        EndTurn, 412 in, 20 out, 0 read, 0 written, by "qwen3:8b"
    "#]];
    broken_json: expect![[r#"
        ~ text "So"
        Protocol { said: "EOF while parsing a value at line 1 column 30: {\"model\":\"qwen3:8b\",\"message\":" }
    "#]];
    call: expect![[r#"
        ~ call call_0000000000000abc_1 read
        {"type":"call","id":"call_0000000000000abc_1","tool":"read","input":{"json":{"path":"a.rs"}}}
        ToolUse, 412 in, 20 out, 0 read, 0 written, by "qwen3:8b"
    "#]];
    call_length: expect![[r#"
        ~ call call_0000000000000abc_1 write
        {"type":"call","id":"call_0000000000000abc_1","tool":"write","input":{"json":{"path":"a"}}}
        MaxTokens, 412 in, 20 out, 0 read, 0 written, by "qwen3:8b"
    "#]];
    cut: expect![[r#"
        ~ text "So"
        Cut
    "#]];
    cut_call: expect![[r#"
        ~ text "So"
        ~ call call_0000000000000abc_1 write
        Cut
    "#]];
    empty: expect![[r#"
        EndTurn, 412 in, 20 out, 0 read, 0 written, by "qwen3:8b"
    "#]];
    error_first: expect![[r#"
        Rejected { status: 500, said: "model runner has unexpectedly stopped, this may be due to resource limitations or an internal error" }
    "#]];
    error_long: expect![[r#"
        TooLong { said: "the input length exceeds the context length", window: None, prompt: None }
    "#]];
    error_midway: expect![[r#"
        ~ text "So"
        ServerError { status: 500, after_ms: None, said: "an error was encountered while running the model: unexpected EOF" }
    "#]];
    interleaved: expect![[r#"
        ~ thinking "Hm."
        ~ text "First."
        ~ call call_0000000000000abc_1 read
        ~ text "Then."
        ~ thinking "More."
        {"type":"thinking","text":"Hm."}
        {"type":"text","text":"First."}
        {"type":"call","id":"call_0000000000000abc_1","tool":"read","input":{"json":{"path":"a"}}}
        {"type":"text","text":"Then."}
        {"type":"thinking","text":"More."}
        ToolUse, 412 in, 20 out, 0 read, 0 written, by "qwen3:8b"
    "#]];
    no_newline: expect![[r#"
        ~ text "So"
        ~ text " it is."
        {"type":"text","text":"So it is."}
        EndTurn, 412 in, 20 out, 0 read, 0 written, by "qwen3:8b"
    "#]];
    odd_args: expect![[r#"
        ~ call call_0000000000000abc_1 list
        ~ call call_0000000000000abc_2 read
        ~ call call_0000000000000abc_3 read
        ~ call call_0000000000000abc_4 read
        ~ call call_0000000000000abc_5 list
        {"type":"call","id":"call_0000000000000abc_1","tool":"list","input":{"json":{}}}
        {"type":"call","id":"call_0000000000000abc_2","tool":"read","input":{"json":{"path":"a"}}}
        {"type":"call","id":"call_0000000000000abc_3","tool":"read","input":{"broken":{"text":"{\"path","why":"EOF while parsing a string at line 1 column 6"}}}
        {"type":"call","id":"call_0000000000000abc_4","tool":"read","input":{"json":[]}}
        {"type":"call","id":"call_0000000000000abc_5","tool":"list","input":{"json":{}}}
        ToolUse, 412 in, 20 out, 0 read, 0 written, by "qwen3:8b"
    "#]];
    parallel: expect![[r#"
        ~ text "I read both."
        ~ call call_0000000000000abc_1 read
        ~ call call_x list
        ~ call call_0000000000000abc_2 read
        {"type":"text","text":"I read both."}
        {"type":"call","id":"call_0000000000000abc_1","tool":"read","input":{"json":{"path":"a"}}}
        {"type":"call","id":"call_x","tool":"list","input":{"json":{}}}
        {"type":"call","id":"call_0000000000000abc_2","tool":"read","input":{"json":{"path":"b"}}}
        ToolUse, 412 in, 20 out, 0 read, 0 written, by "qwen3:8b"
    "#]];
    stop_length: expect![[r#"
        ~ text "So"
        {"type":"text","text":"So"}
        MaxTokens, 412 in, 20 out, 0 read, 0 written, by "qwen3:8b"
    "#]];
    stop_load: expect![[r#"
        Unknown("load"), 412 in, 20 out, 0 read, 0 written, by "qwen3:8b"
    "#]];
    stop_none: expect![[r#"
        ~ text "So"
        {"type":"text","text":"So"}
        EndTurn, 412 in, 20 out, 0 read, 0 written, by "qwen3:8b"
    "#]];
    surrogate: expect![[r#"
        ~ text "😀 �"
        {"type":"text","text":"😀 �"}
        EndTurn, 412 in, 20 out, 0 read, 0 written, by "qwen3:8b"
    "#]];
    text: expect![[r#"
        ~ text "Grüße, "
        ~ text "wörld \u{2028}🦀"
        {"type":"text","text":"Grüße, wörld  🦀"}
        EndTurn, 412 in, 20 out, 0 read, 0 written, by "qwen3:8b"
    "#]];
    thinking: expect![[r#"
        ~ thinking "Let me "
        ~ thinking "see."
        ~ text "Done."
        {"type":"thinking","text":"Let me see."}
        {"type":"text","text":"Done."}
        EndTurn, 412 in, 20 out, 0 read, 0 written, by "qwen3:8b"
    "#]];
}

proptest! {
    #[test]
    fn reading_random_bytes_does_not_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        prop_assert!(!recut::read(Dialect::Ollama, [&bytes[..]]).is_empty());
    }
}

#[test]
fn a_line_of_more_than_16_mib_is_a_failure() {
    let mut reading = Reading::new(Dialect::Ollama, Asked::default());
    let mut out = Vec::new();
    for piece in vec![b'x'; 17 << 20].chunks(1 << 20) {
        reading.push(piece, &mut out);
    }
    reading.end(&mut out);
    let [Sampled::Failed(failure)] = &out[..] else { panic!("{out:?}") };
    expect![[r#"Protocol { said: "an event of more than 16 MiB" }"#]]
        .assert_eq(&format!("{failure:?}"));
}

#[test]
fn an_html_page_is_quoted_in_the_failure() {
    for page in ["<!DOCTYPE html>\n<title>Sign in</title>", " <title>Sign in</title>"] {
        let sampled = recut::read(Dialect::Ollama, [page.as_bytes()]);
        let [Sampled::Failed(Failure::Protocol { said })] = &sampled[..] else { panic!("{page}") };
        assert!(said.contains("<!DOCTYPE html>") || said == "Sign in", "{said}");
    }
}

fn body(request: Request, model: &str) -> Value {
    let request = Request { model: model.to_owned(), ..request };
    Dialect::Ollama.body(&request, Quirks::default())
}

#[track_caller]
fn check(request: Request, expected: Expect) {
    expected.assert_eq(&sample::shown(&body(request, "qwen3:8b")));
}

#[test]
fn a_turn_with_two_calls_is_encoded_as_a_request() {
    check(
        sample::two_tools(),
        expect![[r#"
        model: "qwen3:8b"
        messages:
          {"role":"system","content":"You are Caliban."}
          {"role":"user","content":"<context path=\"src/a.rs\" lines=\"3-4\">\nfn a() {\n}\n</context>\n\nWhat is it?"}
          {"role":"assistant","content":"I read it.","thinking":"Look.\n\nUnsigned.","tool_calls":[{"function":{"name":"read","arguments":{"path":"src/a.rs"}}},{"function":{"name":"functions_list","arguments":{}}}]}
          {"role":"tool","tool_name":"read","content":"fn a() {}"}
          {"role":"tool","tool_name":"functions_list","content":"No such folder."}
        stream: true
        options: {"num_ctx":65536,"num_predict":1000}
        tools:
          {"type":"function","function":{"name":"read","description":"Reads a file.","parameters":{"type":"object","properties":{"path":{"type":"string"}}}}}
          {"type":"function","function":{"name":"list","description":"Lists a folder.","parameters":{"type":"object","properties":{"path":{"type":"string"}}}}}
    "#]],
    );
}

#[test]
fn the_request_after_a_stopped_turn_has_an_answer_to_each_call() {
    check(
        sample::cancelled(),
        expect![[r#"
        model: "qwen3:8b"
        messages:
          {"role":"system","content":"You are Caliban."}
          {"role":"user","content":"Go."}
          {"role":"assistant","content":"I go","tool_calls":[{"function":{"name":"read","arguments":{"path":"a"}}},{"function":{"name":"list","arguments":{"broken_json":"{\"path\": \"sr"}}}]}
          {"role":"tool","tool_name":"read","content":"a"}
          {"role":"tool","tool_name":"list","content":"stopped before it ran"}
          {"role":"user","content":"Go on."}
          {"role":"user","content":"Well?"}
        stream: true
        options: {"num_ctx":65536,"num_predict":1000}
        tools:
          {"type":"function","function":{"name":"read","description":"Reads a file.","parameters":{"type":"object","properties":{"path":{"type":"string"}}}}}
          {"type":"function","function":{"name":"list","description":"Lists a folder.","parameters":{"type":"object","properties":{"path":{"type":"string"}}}}}
    "#]],
    );
}

#[test]
fn the_configured_context_window_and_temperature_are_sent_as_options() {
    let request = Request { num_ctx: Some(131_072), temperature: Some(0.5), ..sample::cancelled() };
    let options = json!({ "num_ctx": 131_072, "num_predict": 1000, "temperature": 0.5 });
    assert_eq!(body(request, "m")["options"], options);
}

#[test]
fn thinking_is_sent_in_ollamas_fields() {
    let think = |thinking, model: &str| {
        let request = Request { thinking: Some(thinking), ..sample::cancelled() };
        body(request, model)["think"].clone()
    };
    assert_eq!(think(Thinking::Off, "qwen3:8b"), false);
    assert_eq!(think(Thinking::Named(Effort::Low), "qwen3:8b"), true);
    assert_eq!(think(Thinking::Budget(1024), "qwen3:8b"), true);
    assert_eq!(think(Thinking::Named(Effort::Medium), "gpt-oss:20b"), "medium");
    assert_eq!(think(Thinking::Named(Effort::Max), "hf.co/x/gpt-oss:20b"), "high");
}
