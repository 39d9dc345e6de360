//! Tests how reasoning is asked for and sent back, cache marks, and other requirements of servers that imitate
//! `OpenAI`.

use super::{Quirks, assistant, json, recut, sample};
use crate::message::{Block, Effort, Message, Request, Thinking};
use crate::provider::Sampled;
use crate::provider::dialect::Dialect;
use crate::provider::sample_request::{answer, call, user};
use expect_test::expect;
use serde_json::Value;
use std::fmt::Write;

const DEEPSEEK: Quirks = Quirks { reasoning_back: true, thinking_switch: true, ..Quirks::NONE };
const MISTRAL: Quirks = Quirks { thinking_parts: true, reply_after_tool: true, ..Quirks::NONE };
const OPENROUTER: Quirks = Quirks { reasoning_object: true, cache_marks: true, ..Quirks::NONE };

fn body(messages: Vec<Message>, quirks: Quirks) -> Value {
    let request = Request { model: "anthropic/m".into(), ..sample::request(messages) };
    Dialect::OpenAiChat.body(&request, quirks)
}

fn thought(text: &str) -> Block {
    Block::Thinking { text: text.into(), signature: None }
}

#[test]
fn thinking_is_sent_in_the_fields_of_each_server() {
    let mut text = String::new();
    let asked = [
        None,
        Some(Thinking::Off),
        Some(Thinking::Budget(2048)),
        Some(Thinking::Adaptive(Effort::Medium)),
        Some(Thinking::Named(Effort::Low)),
        Some(Thinking::Named(Effort::Max)),
    ];
    for thinking in asked {
        write!(text, "{thinking:?}:").unwrap();
        for (model, quirks) in [
            ("gpt-oss-120b", Quirks::NONE),
            ("m", Quirks::NONE),
            ("m", DEEPSEEK),
            ("m", OPENROUTER),
        ] {
            let base = sample::request(vec![user(vec![sample::text("Hi")])]);
            let request = Request { model: model.into(), thinking, temperature: Some(0.5), ..base };
            let body = Dialect::OpenAiChat.body(&request, quirks);
            assert_eq!(body["temperature"], 0.5);
            for name in ["reasoning_effort", "thinking", "reasoning"] {
                if let Some(value) = body.get(name) {
                    write!(text, " {name}={value}").unwrap();
                }
            }
            text.push(';');
        }
        text.push('\n');
    }
    expect![[r#"
        None:;;;;
        Some(Off): reasoning_effort="low"; reasoning_effort="none"; thinking={"type":"disabled"}; reasoning={"effort":"none"};
        Some(Budget(2048)):;; thinking={"type":"enabled"}; reasoning={"max_tokens":2048};
        Some(Adaptive(Medium)): reasoning_effort="medium"; reasoning_effort="medium"; thinking={"type":"enabled"}; reasoning={"effort":"medium"};
        Some(Named(Low)): reasoning_effort="low"; reasoning_effort="low"; thinking={"type":"enabled"}; reasoning={"effort":"low"};
        Some(Named(Max)): reasoning_effort="high"; reasoning_effort="high"; thinking={"type":"enabled"}; reasoning={"effort":"xhigh"};
    "#]].assert_eq(&text);
}

/// A turn with the model's own thoughts, and a call of another model whose thoughts have been left out.
fn thoughtful() -> Vec<Message> {
    vec![
        user(vec![sample::text("Go.")]),
        assistant(vec![
            thought("Hm. "),
            thought("So."),
            sample::text("I look."),
            call("a", "read", json!({})),
        ]),
        user(vec![answer("a", "a", false)]),
        assistant(vec![call("b", "read", json!({}))]),
        user(vec![answer("b", "b", false), Block::Text { text: "And?".into() }]),
        assistant(vec![thought("Well."), sample::text("Done.")]),
        assistant(vec![sample::text("Indeed.")]),
    ]
}

#[test]
fn reasoning_is_sent_back_only_to_servers_that_require_it() {
    let mut text = String::new();
    for (name, quirks) in [("none", Quirks::NONE), ("deepseek", DEEPSEEK), ("mistral", MISTRAL)] {
        writeln!(text, "{name}").unwrap();
        for message in body(thoughtful(), quirks)["messages"].as_array().unwrap() {
            let calls = message.get("tool_calls").map_or("", |_| " calls");
            let reasoning = message.get("reasoning_content").map(|it| format!(" reasoning {it}"));
            let role = message["role"].as_str().unwrap();
            writeln!(
                text,
                "  {role}{calls} {}{}",
                message["content"],
                reasoning.unwrap_or_default()
            )
            .unwrap();
        }
    }
    expect![[r#"
        none
          system "You are Caliban."
          user "Go."
          assistant calls "I look."
          tool "a"
          assistant calls null
          tool "b"
          user "And?"
          assistant "Done."
          assistant "Indeed."
        deepseek
          system "You are Caliban."
          user "Go."
          assistant calls "I look." reasoning "Hm. So."
          tool "a"
          assistant calls null reasoning " "
          tool "b"
          user "And?"
          assistant "Done." reasoning "Well."
          assistant "Indeed."
        mistral
          system "You are Caliban."
          user "Go."
          assistant calls [{"type":"thinking","thinking":[{"type":"text","text":"Hm. "},{"type":"text","text":"So."}]},{"type":"text","text":"I look."}]
          tool "a"
          assistant calls null
          tool "b"
          assistant "I have the results."
          user "And?"
          assistant [{"type":"thinking","thinking":[{"type":"text","text":"Well."}]},{"type":"text","text":"Done."}]
          assistant "Indeed."
    "#]].assert_eq(&text);
}

#[test]
fn reasoning_details_are_sent_back_unchanged() {
    let stream = include_str!("../../../../tests/data/streams/openai_reasoning_details.sse");
    let sampled = recut::read(Dialect::OpenAiChat, [stream.as_bytes()]);
    let Some(Sampled::Done(reply)) = sampled.last() else { panic!("{sampled:?}") };
    let body = body(vec![assistant(reply.blocks.clone())], OPENROUTER);
    let expected = json!([
        { "type": "reasoning.text", "text": "Let me see.", "format": "anthropic-claude-v1", "index": 0, "signature": "c2ln" },
        { "type": "reasoning.summary", "summary": "In short.", "index": 1 },
        { "type": "reasoning.encrypted", "data": "b3BhcXVl", "id": "rs_1", "index": 2 },
    ]);
    assert_eq!(body["messages"][1]["reasoning_details"].to_string(), expected.to_string());
    assert_eq!(body["messages"][1].get("reasoning_content"), None);
}

/// The next request has a cache mark at the end of this request again.
#[test]
fn anthropics_models_behind_openrouter_get_cache_marks() {
    let mut messages = vec![user(vec![sample::text("Go.")])];
    let mut end: Option<Value> = None;
    for turn in 0..5 {
        let body = body(messages.clone(), OPENROUTER);
        let sent = body["messages"].as_array().unwrap();
        assert_eq!(sent[0]["content"][0]["cache_control"], json!({ "type": "ephemeral" }));
        assert!(end.is_none_or(|end| sent.contains(&end)), "turn {turn}");
        assert_eq!(
            body.to_string().matches("cache_control").count(),
            if turn == 0 { 2 } else { 3 }
        );
        end = sent.last().cloned();
        let id = format!("call_{turn}");
        messages.push(assistant(vec![call(&id, "read", json!({}))]));
        messages.push(user(vec![answer(&id, "a", false)]));
    }
    let request = Request { model: "openai/gpt-5".into(), ..sample::request(messages) };
    let others = Dialect::OpenAiChat.body(&request, OPENROUTER);
    assert!(!others.to_string().contains("cache_control"));
}
