#![expect(clippy::needless_pass_by_value, reason = "an expectation is written in the call")]

use crate::message::{Block, Effort, Request, Thinking};
use crate::provider::dialect::{Dialect, Quirks};
use crate::provider::sample_request::{self as sample, answer, assistant, user};
use crate::provider::{Sampled, recut};
use expect_test::{Expect, expect};
use proptest::prelude::*;
use serde_json::{Value, json};

fn read(stream: &[u8]) -> Vec<Sampled> {
    recut::read(Dialect::Gemini, [stream])
}

macro_rules! streams {
    ($($name:ident: $expected:expr;)*) => {
        $(#[test]
        fn $name() {
            let stream = include_str!(concat!("../../../tests/data/streams/gemini_", stringify!($name), ".sse"));
            recut::check(Dialect::Gemini, stream, &$expected);
        })*
    };
}

streams! {
    whole: expect![[r#"
        ~ text "I "
        ~ text "look."
        ~ call call_0000000000000abc_1 read
        {"type":"text","text":"I look."}
        {"type":"call","id":"call_0000000000000abc_1","tool":"read","input":{"json":{"path":"a"}}}
        ToolUse, 9 in, 2 out, 0 read, 0 written, by "m"
    "#]];
    blocked: expect![[r#"
        Refusal, 9 in, 0 out, 0 read, 0 written, by "gemini-2.5-pro"
    "#]];
    broken_json: expect![[r#"
        ~ text "So"
        Protocol { said: "EOF while parsing an object at line 1 column 25: {\"candidates\":[{\"content\"" }
    "#]];
    call: expect![[r#"
        ~ call call_0000000000000abc_1 read
        {"type":"call","id":"call_0000000000000abc_1","tool":"read","input":{"json":{"path":"a.rs"}}}
        {"type":"raw","provider":"gemini","value":{"thoughtSignature":"c2ln"}}
        ToolUse, 12 in, 20 out, 400 read, 0 written, by "gemini-2.5-pro"
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
        EndTurn, 12 in, 20 out, 400 read, 0 written, by "gemini-2.5-pro"
    "#]];
    error_internal: expect![[r#"
        ServerError { status: 500, after_ms: None, said: "An internal error has occurred." }
    "#]];
    error_key: expect![[r#"
        Unauthorized { provider: "them", said: "API key not valid. Please pass a valid API key." }
    "#]];
    error_list: expect![[r#"
        Overloaded { after_ms: None, said: "The model is overloaded. Please try again later." }
    "#]];
    error_long: expect![[r#"
        TooLong { said: "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).", window: Some(1048576), prompt: Some(1200000) }
    "#]];
    error_model: expect![[r#"
        UnknownModel { model: "m", said: "models/gemini-9 is not found for API version v1beta, or is not supported for generateContent." }
    "#]];
    error_rate: expect![[r#"
        ~ text "So"
        RateLimited { after_ms: Some(37000), said: "You exceeded your current quota." }
    "#]];
    interleaved: expect![[r#"
        ~ thinking "Hm."
        ~ thinking "More."
        ~ text "Say"
        ~ text " on."
        ~ text " "
        ~ call call_0000000000000abc_1 read
        ~ text "End"
        ~ text "."
        {"type":"thinking","text":"Hm."}
        {"type":"raw","provider":"gemini","value":{"thoughtSignature":"b25l"}}
        {"type":"thinking","text":"More."}
        {"type":"text","text":"Say"}
        {"type":"raw","provider":"gemini","value":{"thoughtSignature":"dHdv"}}
        {"type":"text","text":" on. "}
        {"type":"call","id":"call_0000000000000abc_1","tool":"read","input":{"json":{"path":"a"}}}
        {"type":"raw","provider":"gemini","value":{"thoughtSignature":"dGhyZWU="}}
        {"type":"raw","provider":"gemini","value":{"thoughtSignature":"Zm91cg==","text":""}}
        {"type":"text","text":"End"}
        {"type":"raw","provider":"gemini","value":{"thoughtSignature":"Zml2ZQ=="}}
        {"type":"text","text":"."}
        ToolUse, 12 in, 20 out, 400 read, 0 written, by "gemini-2.5-pro"
    "#]];
    malformed_call: expect![[r#"
        ~ text "So"
        {"type":"text","text":"So"}
        Unknown("MALFORMED_FUNCTION_CALL: Malformed function call: print(default_api.read(path='a') x"), 12 in, 20 out, 400 read, 0 written, by "gemini-2.5-pro"
    "#]];
    odd_args: expect![[r#"
        ~ call call_0000000000000abc_1 list
        ~ call call_0000000000000abc_2 read
        ~ call call_0000000000000abc_3 read
        ~ call call_0000000000000abc_4 read
        {"type":"call","id":"call_0000000000000abc_1","tool":"list","input":{"json":{}}}
        {"type":"call","id":"call_0000000000000abc_2","tool":"read","input":{"json":{"path":"a"}}}
        {"type":"call","id":"call_0000000000000abc_3","tool":"read","input":{"broken":{"text":"{\"path","why":"EOF while parsing a string at line 1 column 6"}}}
        {"type":"call","id":"call_0000000000000abc_4","tool":"read","input":{"json":[]}}
        ToolUse, 12 in, 20 out, 400 read, 0 written, by "gemini-2.5-pro"
    "#]];
    no_parts: expect![[r#"
        EndTurn, 12 in, 20 out, 400 read, 0 written, by "gemini-2.5-pro"
    "#]];
    other_candidate: expect![[r#"
        ~ text "yes"
        {"type":"text","text":"yes"}
        EndTurn, 12 in, 20 out, 400 read, 0 written, by "gemini-2.5-pro"
    "#]];
    parallel: expect![[r#"
        ~ text "I read both."
        ~ call call_0000000000000abc_1 read
        ~ call call_0000000000000abc_2 list
        ~ call given read
        {"type":"text","text":"I read both."}
        {"type":"call","id":"call_0000000000000abc_1","tool":"read","input":{"json":{"path":"a"}}}
        {"type":"raw","provider":"gemini","value":{"thoughtSignature":"c2ln"}}
        {"type":"call","id":"call_0000000000000abc_2","tool":"list","input":{"json":{}}}
        {"type":"call","id":"given","tool":"read","input":{"json":{}}}
        ToolUse, 12 in, 20 out, 400 read, 0 written, by "gemini-2.5-pro"
    "#]];
    parts: expect![[r#"
        ~ text "Two."
        {"type":"raw","provider":"gemini","value":{"executableCode":{"language":"PYTHON","code":"1+1"}}}
        {"type":"raw","provider":"gemini","value":{"codeExecutionResult":{"outcome":"OUTCOME_OK","output":"2"},"thoughtSignature":"c2ln"}}
        {"type":"text","text":"Two."}
        {"type":"raw","provider":"gemini","value":{"novel":{"a":1}}}
        EndTurn, 12 in, 20 out, 400 read, 0 written, by "gemini-2.5-pro"
    "#]];
    stop_blocklist: expect![[r#"
        ~ text "So"
        {"type":"text","text":"So"}
        Refusal, 12 in, 20 out, 400 read, 0 written, by "gemini-2.5-pro"
    "#]];
    stop_max_tokens: expect![[r#"
        ~ text "So"
        {"type":"text","text":"So"}
        MaxTokens, 12 in, 20 out, 400 read, 0 written, by "gemini-2.5-pro"
    "#]];
    stop_other: expect![[r#"
        ~ text "So"
        {"type":"text","text":"So"}
        Unknown("OTHER"), 12 in, 20 out, 400 read, 0 written, by "gemini-2.5-pro"
    "#]];
    stop_prohibited_content: expect![[r#"
        ~ text "So"
        {"type":"text","text":"So"}
        Refusal, 12 in, 20 out, 400 read, 0 written, by "gemini-2.5-pro"
    "#]];
    stop_recitation: expect![[r#"
        ~ text "So"
        {"type":"text","text":"So"}
        Refusal, 12 in, 20 out, 400 read, 0 written, by "gemini-2.5-pro"
    "#]];
    stop_safety: expect![[r#"
        ~ text "So"
        {"type":"text","text":"So"}
        Refusal, 12 in, 20 out, 400 read, 0 written, by "gemini-2.5-pro"
    "#]];
    stop_spii: expect![[r#"
        ~ text "So"
        {"type":"text","text":"So"}
        Refusal, 12 in, 20 out, 400 read, 0 written, by "gemini-2.5-pro"
    "#]];
    surrogate: expect![[r#"
        ~ text "😀 �"
        {"type":"text","text":"😀 �"}
        EndTurn, 0 in, 0 out, 0 read, 0 written, by ""
    "#]];
    text: expect![[r#"
        ~ text "Grüße, "
        ~ text "wörld \u{2028}🦀"
        {"type":"text","text":"Grüße, wörld  🦀"}
        EndTurn, 12 in, 20 out, 400 read, 0 written, by "gemini-2.5-pro"
    "#]];
    thinking: expect![[r#"
        ~ thinking "Let me "
        ~ thinking "see."
        ~ text "Done."
        {"type":"thinking","text":"Let me see."}
        {"type":"text","text":"Done."}
        {"type":"raw","provider":"gemini","value":{"text":"","thoughtSignature":"c2ln"}}
        EndTurn, 12 in, 20 out, 400 read, 0 written, by "gemini-3-pro-preview"
    "#]];
    unexpected_call: expect![[r#"
        Unknown("UNEXPECTED_TOOL_CALL"), 12 in, 20 out, 400 read, 0 written, by "gemini-2.5-pro"
    "#]];
    usage_last: expect![[r#"
        ~ text "So"
        {"type":"text","text":"So"}
        EndTurn, 23 in, 7 out, 0 read, 0 written, by "gemini-2.5-pro"
    "#]];
}

proptest! {
    #[test]
    fn reading_random_bytes_does_not_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        prop_assert!(!read(&bytes).is_empty());
    }

    #[test]
    fn events_in_any_order_give_one_reply_or_failure(picks in prop::collection::vec(0usize..60, 0..40)) {
        let all = concat!(
            include_str!("../../../tests/data/streams/gemini_interleaved.sse"),
            include_str!("../../../tests/data/streams/gemini_parts.sse"),
            include_str!("../../../tests/data/streams/gemini_parallel.sse"),
            include_str!("../../../tests/data/streams/gemini_blocked.sse"),
        );
        let events: Vec<&str> = all.split_inclusive("\n\n").collect();
        let stream: String = picks.iter().map(|pick| events[pick % events.len()]).collect();
        let sampled = read(stream.as_bytes());
        let ends = sampled.iter().filter(|sampled| !matches!(sampled, Sampled::Delta(_)));
        prop_assert_eq!(ends.count(), 1);
    }
}

/// The body of a request to this model.
fn body(request: Request, model: &str) -> Value {
    let request = Request { model: model.to_owned(), ..request };
    Dialect::Gemini.body(&request, Quirks::default())
}

#[track_caller]
fn check(request: Request, model: &str, expected: Expect) {
    expected.assert_eq(&sample::shown(&body(request, model)));
}

#[test]
fn a_turn_with_two_calls_is_encoded_as_a_request() {
    check(
        sample::two_tools(),
        "gemini-2.5-pro",
        expect![[r#"
            systemInstruction: {"parts":[{"text":"You are Caliban."}]}
            tools:
              {"functionDeclarations":[{"name":"read","description":"Reads a file.","parametersJsonSchema":{"type":"object","properties":{"path":{"type":"string"}}}},{"name":"list","description":"Lists a folder.","parametersJsonSchema":{"type":"object","properties":{"path":{"type":"string"}}}}]}
            contents:
              "user":
                {"text":"<context path=\"src/a.rs\" lines=\"3-4\">\nfn a() {\n}\n</context>"}
                {"text":"What is it?"}
              "model":
                {"text":"I read it."}
                {"functionCall":{"name":"read","args":{"path":"src/a.rs"}},"thoughtSignature":"c2ln"}
                {"functionCall":{"name":"functions_list","args":{}}}
              "user":
                {"functionResponse":{"name":"read","response":{"output":"fn a() {}"}}}
                {"functionResponse":{"name":"functions_list","response":{"error":"No such folder."}}}
            generationConfig: {"maxOutputTokens":1000}
        "#]],
    );
}

#[test]
fn the_request_after_a_stopped_turn_has_an_answer_to_each_call() {
    check(
        sample::cancelled(),
        "gemini-2.5-pro",
        expect![[r#"
        systemInstruction: {"parts":[{"text":"You are Caliban."}]}
        tools:
          {"functionDeclarations":[{"name":"read","description":"Reads a file.","parametersJsonSchema":{"type":"object","properties":{"path":{"type":"string"}}}},{"name":"list","description":"Lists a folder.","parametersJsonSchema":{"type":"object","properties":{"path":{"type":"string"}}}}]}
        contents:
          "user":
            {"text":"Go."}
          "model":
            {"text":"I go"}
            {"functionCall":{"name":"read","args":{"path":"a"}}}
            {"functionCall":{"name":"list","args":{"broken_json":"{\"path\": \"sr"}}}
          "user":
            {"functionResponse":{"name":"read","response":{"output":"a"}}}
            {"functionResponse":{"name":"list","response":{"error":"stopped before it ran"}}}
          "user":
            {"text":"Go on."}
          "user":
            {"text":"Well?"}
        generationConfig: {"maxOutputTokens":1000}
    "#]],
    );
}

/// A reply is sent back with the same parts, and with every signature at its part.
#[test]
fn a_reply_is_sent_back_with_all_its_blocks_unchanged() {
    let stream = include_str!("../../../tests/data/streams/gemini_interleaved.sse");
    let sampled = read(stream.as_bytes());
    let Some(Sampled::Done(reply)) = sampled.last() else { panic!("{sampled:?}") };
    let messages = vec![user(vec![sample::text("Go.")]), assistant(reply.blocks.clone())];
    check(
        sample::request(messages),
        "gemini-3-pro-preview",
        expect![[r#"
        systemInstruction: {"parts":[{"text":"You are Caliban."}]}
        tools:
          {"functionDeclarations":[{"name":"read","description":"Reads a file.","parametersJsonSchema":{"type":"object","properties":{"path":{"type":"string"}}}},{"name":"list","description":"Lists a folder.","parametersJsonSchema":{"type":"object","properties":{"path":{"type":"string"}}}}]}
        contents:
          "user":
            {"text":"Go."}
          "model":
            {"text":"Hm.","thought":true,"thoughtSignature":"b25l"}
            {"text":"Say","thoughtSignature":"dHdv"}
            {"text":" on. "}
            {"functionCall":{"name":"read","args":{"path":"a"}},"thoughtSignature":"dGhyZWU="}
            {"thoughtSignature":"Zm91cg==","text":""}
            {"text":"End","thoughtSignature":"Zml2ZQ=="}
            {"text":"."}
        generationConfig: {"maxOutputTokens":1000}
    "#]],
    );
}

/// If a part was removed, its signature is not sent with the part before it.
#[test]
fn a_thought_signature_is_never_sent_with_another_part() {
    let signed = |signature: &str| Block::Raw {
        provider: "gemini".into(),
        value: json!({ "thoughtSignature": signature }),
    };
    let blocks = vec![signed("b25l"), sample::text("So."), sample::text(" "), signed("dHdv")];
    let body =
        body(sample::request(vec![user(vec![sample::text("Go.")]), assistant(blocks)]), "gemini-3");
    let expected = json!([
        { "text": "", "thoughtSignature": "b25l" },
        { "text": "So." },
        { "text": "", "thoughtSignature": "dHdv" },
    ]);
    assert_eq!(body["contents"][1]["parts"], expected);
}

#[test]
fn the_first_call_of_a_reply_of_another_model_gets_the_signature_that_google_documents() {
    let step = |n: u32| {
        let (one, two) = (format!("call_{n}a"), format!("call_{n}b"));
        let calls = vec![
            sample::text("So."),
            sample::call(&one, "read", json!({})),
            sample::call(&two, "list", json!({})),
        ];
        [assistant(calls), user(vec![answer(&one, "a", false), answer(&two, "b", true)])]
    };
    let messages =
        [vec![user(vec![sample::text("Go.")])], step(1).to_vec(), step(2).to_vec()].concat();
    let signatures = |model: &str| {
        let body = body(sample::request(messages.clone()), model);
        let contents = body["contents"].as_array().unwrap().clone();
        let parts =
            contents.iter().flat_map(|content| content["parts"].as_array().unwrap().clone());
        parts.map(|part| u8::from(part.get("thoughtSignature").is_some())).collect::<Vec<_>>()
    };
    for model in ["gemini-3-pro-preview", "gemini-3.5-flash", "models/gemini-flash-latest"] {
        assert_eq!(signatures(model), [0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0], "{model}");
    }
    for model in ["gemini-2.5-pro", "gemini-1.5-flash", "gemma-3-27b-it"] {
        assert!(!signatures(model).contains(&1), "{model}");
    }
}

#[test]
fn thinking_and_temperature_are_sent_in_geminis_fields() {
    let config = |thinking, model: &str| {
        let request = Request { thinking, temperature: Some(0.5), ..sample::cancelled() };
        body(request, model)["generationConfig"].to_string()
    };
    let (two, three) = ("gemini-2.5-flash", "gemini-3-pro-preview");
    let lines = [
        config(None, two),
        config(Some(Thinking::Off), two),
        config(Some(Thinking::Off), "gemini-2.5-pro"),
        config(Some(Thinking::Off), three),
        config(Some(Thinking::Budget(2048)), two),
        config(Some(Thinking::Adaptive(Effort::High)), two),
        config(Some(Thinking::Named(Effort::Medium)), three),
        config(Some(Thinking::Named(Effort::Max)), three),
    ];
    expect![[r#"
        {"maxOutputTokens":1000,"temperature":0.5}
        {"maxOutputTokens":1000,"temperature":0.5,"thinkingConfig":{"thinkingBudget":0}}
        {"maxOutputTokens":1000,"temperature":0.5,"thinkingConfig":{"thinkingBudget":128}}
        {"maxOutputTokens":1000,"temperature":0.5,"thinkingConfig":{"thinkingLevel":"low"}}
        {"maxOutputTokens":1000,"temperature":0.5,"thinkingConfig":{"thinkingBudget":2048,"includeThoughts":true}}
        {"maxOutputTokens":1000,"temperature":0.5,"thinkingConfig":{"thinkingBudget":-1,"includeThoughts":true}}
        {"maxOutputTokens":1000,"temperature":0.5,"thinkingConfig":{"thinkingLevel":"medium","includeThoughts":true}}
        {"maxOutputTokens":1000,"temperature":0.5,"thinkingConfig":{"thinkingLevel":"high","includeThoughts":true}}"#]].assert_eq(&lines.join("\n"));
}
