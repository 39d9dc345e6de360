//! Helps to test encoders: a conversation with everything that a dialect has to encode.

use crate::message::{
    Block, CallId, Input, Message, Request, Role, ToolAnswer, ToolCall, ToolSpec,
};
use serde_json::{Value, json};
use std::fmt::Write;

pub(super) fn text(text: &str) -> Block {
    Block::Text { text: text.into() }
}

pub(super) fn call(id: &str, tool: &str, input: Value) -> Block {
    Block::Call(ToolCall { id: CallId(id.into()), tool: tool.into(), input: Input::Json(input) })
}

pub(super) fn answer(id: &str, text: &str, failed: bool) -> Block {
    let summary = "not for the model".into();
    Block::Answer(ToolAnswer {
        id: CallId(id.into()),
        text: text.into(),
        failed,
        summary,
        output: None,
        images: Vec::new(),
        job_end: None,
        foreign: None,
        inquiry: None,
        fault: false,
        verdict: false,
        reversed: false,
        session: None,
        diff: Vec::new(),
        shown: None,
        changed: None,
    })
}

pub(super) fn user(blocks: Vec<Block>) -> Message {
    Message::new(Role::User, blocks)
}

pub(super) fn assistant(blocks: Vec<Block>) -> Message {
    Message::new(Role::Assistant, blocks)
}

pub(super) fn request(messages: Vec<Message>) -> Request {
    let schema = json!({ "type": "object", "properties": { "path": { "type": "string" } } });
    let tools = vec![
        ToolSpec { name: "read".into(), purpose: "Reads a file.".into(), schema: schema.clone() },
        ToolSpec { name: "list".into(), purpose: "Lists a folder.".into(), schema },
    ];
    Request {
        model: "m-1".into(),
        system: "You are Caliban.".into(),
        messages,
        tools,
        max_tokens: 1000,
        ..Request::default()
    }
}

/// A prompt with a file, a reply with reasoning and two calls, and the calls' answers with a notice.
pub(super) fn two_tools() -> Request {
    let excerpt = text("<context path=\"src/a.rs\" lines=\"3-4\">\nfn a() {\n}\n</context>");
    let raw = |provider: &str, value| Block::Raw { provider: provider.into(), value };
    request(vec![
        user(vec![excerpt, text("What is it?")]),
        assistant(vec![
            Block::Thinking { text: "Look.".into(), signature: Some("c2ln".into()) },
            Block::Thinking { text: String::new(), signature: Some("ZW1wdHk=".into()) },
            Block::Thinking { text: "Unsigned.".into(), signature: None },
            raw("anthropic", json!({ "type": "redacted_thinking", "data": "b3A=" })),
            text("I read it."),
            text(" \n"),
            call("toolu_1", "read", json!({ "path": "src/a.rs" })),
            raw("gemini", json!({ "thoughtSignature": "c2ln" })),
            call("functions.list:1", "functions.list", json!({})),
        ]),
        user(vec![
            Block::Notice { text: "2 hunks were kept.".into(), call: None },
            answer("toolu_1", "fn a() {}", false),
            answer("functions.list:1", "No such folder.", true),
        ]),
    ])
}

/// A turn that was stopped while the arguments of its second call were arriving, and the next prompt.
pub(super) fn cancelled() -> Request {
    let broken = Input::Broken { text: "{\"path\": \"sr".into(), why: "EOF".into() };
    let broken =
        Block::Call(ToolCall { id: CallId("call_2".into()), tool: "list".into(), input: broken });
    request(vec![
        user(vec![text("Go.")]),
        assistant(vec![text("I go"), call("call_1", "read", json!({ "path": "a" })), broken]),
        user(vec![answer("call_1", "a", false), answer("call_2", "stopped before it ran", true)]),
        user(vec![text("Go on.")]),
        assistant(vec![Block::Thinking { text: "Only thought.".into(), signature: None }]),
        user(vec![text("Well?")]),
    ])
}

/// A body as text, with each item of a list and each block of a message on its own line.
pub(super) fn shown(body: &Value) -> String {
    let mut text = String::new();
    for (name, value) in body.as_object().unwrap() {
        let Some(items) = value.as_array() else {
            writeln!(text, "{name}: {value}").unwrap();
            continue;
        };
        writeln!(text, "{name}:").unwrap();
        for item in items {
            match item["content"].as_array().or(item["parts"].as_array()) {
                Some(blocks) => {
                    writeln!(text, "  {}:", item["role"]).unwrap();
                    for block in blocks {
                        writeln!(text, "    {block}").unwrap();
                    }
                }
                None => writeln!(text, "  {item}").unwrap(),
            }
        }
    }
    text
}
