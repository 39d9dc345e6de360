//! Tests how a request asks for thinking, which calls of server tools are sent back, and where cache marks are set.

use super::{NONE, Value, answer, assistant, call, json, sample, user};
use crate::message::{Block, Effort, Message, Request, Thinking};
use crate::provider::dialect::Dialect;
use expect_test::expect;
use std::fmt::Write;

fn thought() -> Block {
    Block::Thinking { text: "Hm.".into(), signature: Some("c2ln".into()) }
}

fn raw(value: Value) -> Block {
    Block::Raw { provider: "anthropic".into(), value }
}

fn body(messages: Vec<Message>, thinking: Option<Thinking>) -> Value {
    let base = sample::request(messages);
    let request = Request { thinking, max_tokens: 4000, temperature: Some(0.5), ..base };
    Dialect::Anthropic.body(&request, NONE)
}

#[test]
fn a_request_with_thinking_has_anthropics_fields_for_it_and_no_temperature() {
    let mut text = String::new();
    let asked = [
        None,
        Some(Thinking::Off),
        Some(Thinking::Budget(2048)),
        Some(Thinking::Budget(4000)),
        Some(Thinking::Adaptive(Effort::Low)),
        Some(Thinking::Adaptive(Effort::High)),
        Some(Thinking::Adaptive(Effort::Max)),
        Some(Thinking::Named(Effort::Medium)),
    ];
    for thinking in asked {
        let body = body(vec![user(vec![sample::text("Hi")])], thinking);
        let said = ["thinking", "output_config", "temperature"].map(|name| body[name].to_string());
        writeln!(text, "{thinking:?}: {}", said.join(" ")).unwrap();
    }
    expect![[r#"
        None: null null 0.5
        Some(Off): {"type":"disabled"} null 0.5
        Some(Budget(2048)): {"type":"enabled","budget_tokens":2048} null null
        Some(Budget(4000)): null null 0.5
        Some(Adaptive(Low)): {"type":"adaptive","display":"summarized"} {"effort":"low"} null
        Some(Adaptive(High)): {"type":"adaptive","display":"summarized"} null null
        Some(Adaptive(Max)): {"type":"adaptive","display":"summarized"} {"effort":"max"} null
        Some(Named(Medium)): null {"effort":"medium"} 0.5
    "#]]
    .assert_eq(&text);
}

#[test]
fn a_tool_loop_that_began_without_a_thought_continues_without_thinking() {
    let go = || user(vec![sample::text("Go.")]);
    let reply = |thinks: bool, id: &str| {
        let call = call(id, "read", json!({}));
        assistant(if thinks { vec![thought(), call] } else { vec![sample::text("So."), call] })
    };
    let answers = |id: &str| user(vec![answer(id, "a", false)]);
    let steer = || user(vec![sample::text("And this.")]);
    let thinks = |messages: Vec<Message>| {
        !body(messages, Some(Thinking::Budget(2048)))["thinking"].is_null()
    };
    assert!(thinks(vec![go()]));
    assert!(thinks(vec![go(), reply(true, "a"), answers("a")]));
    assert!(!thinks(vec![go(), reply(false, "a"), answers("a")]));
    assert!(!thinks(vec![go(), reply(false, "a"), answers("a"), steer()]));
    // the loop began with a thought, and a later reply of the same model has no thought
    assert!(thinks(vec![go(), reply(true, "a"), answers("a"), reply(false, "b"), answers("b")]));
    // a new turn has begun
    assert!(thinks(vec![
        go(),
        reply(false, "a"),
        answers("a"),
        assistant(vec![sample::text("Done.")]),
        go()
    ]));
    // a model with an effort instead of a budget may think even if the loop began without a thought
    let adaptive = Some(Thinking::Adaptive(Effort::High));
    assert!(!body(vec![go(), reply(false, "a"), answers("a")], adaptive)["thinking"].is_null());
}

#[test]
fn a_server_tool_call_is_sent_back_if_it_has_a_result_or_can_be_continued() {
    let search =
        || raw(json!({ "type": "server_tool_use", "id": "s1", "name": "web_search", "input": {} }));
    let found =
        || raw(json!({ "type": "web_search_tool_result", "tool_use_id": "s1", "content": [] }));
    let go = || user(vec![sample::text("Go.")]);
    let kinds = |messages: Vec<Message>| -> Vec<String> {
        let body = body(messages, None);
        let messages = body["messages"].as_array().unwrap().iter();
        messages
            .map(|it| {
                let kinds =
                    it["content"].as_array().unwrap().iter().map(|it| it["type"].to_string());
                kinds.collect::<Vec<_>>().join(" ").replace('"', "")
            })
            .collect()
    };
    assert_eq!(kinds(vec![go(), assistant(vec![search()])]), ["text", "server_tool_use"]);
    assert_eq!(
        kinds(vec![
            go(),
            assistant(vec![search()]),
            assistant(vec![found(), sample::text("So.")]),
            go()
        ]),
        ["text", "server_tool_use", "web_search_tool_result text", "text"]
    );
    assert_eq!(kinds(vec![go(), assistant(vec![search()]), go()]), ["text", "text"]);
    assert_eq!(
        kinds(vec![go(), assistant(vec![thought(), search()]), go()]),
        ["text", "thinking", "text"]
    );
}

/// Even if a reply has many calls, the API finds the last cached request from one of the marks.
#[test]
fn a_long_chain_of_blocks_has_a_cache_mark_about_every_fifteen_blocks() {
    for last in [answer("c29", "a", false), sample::text("And?")] {
        let calls = (0..30).map(|n| call(&format!("c{n}"), "read", json!({})));
        let mut answers: Vec<Block> =
            (0..29).map(|n| answer(&format!("c{n}"), "a", false)).collect();
        answers.push(last);
        let messages = vec![
            user(vec![sample::text("Go.")]),
            assistant(std::iter::once(thought()).chain(calls).collect()),
            user(answers),
            assistant(vec![sample::text("Half a")]),
            user(vec![sample::text("On.")]),
        ];
        let body = body(messages, None);
        let blocks: Vec<&Value> = body["messages"]
            .as_array()
            .unwrap()
            .iter()
            .flat_map(|it| it["content"].as_array().unwrap())
            .collect();
        let marked: Vec<usize> = blocks
            .iter()
            .enumerate()
            .filter(|(_, it)| !it["cache_control"].is_null())
            .map(|(at, _)| at)
            .collect();
        assert_eq!(marked, [46, 61, 63]);
        assert_eq!(body.to_string().matches("cache_control").count(), 4);
    }
}

/// A mark after a text that is too short for the cache would waste one of the four marks.
#[test]
fn a_text_too_short_to_be_cached_gets_no_cache_mark() {
    // the lengths in bytes of the system prompt, the prompt and a call's answer
    let marks = |model: &str, lengths: [usize; 3]| {
        let [system, prompt, given] = lengths.map(|it| "x".repeat(it));
        let messages = vec![
            user(vec![sample::text(&prompt)]),
            assistant(vec![call("c", "read", json!({}))]),
            user(vec![answer("c", &given, false)]),
        ];
        let request = Request { model: model.into(), system, ..sample::request(messages) };
        let body = Dialect::Anthropic.body(&request, NONE);
        let marked = |it: &Value| it.to_string().contains("cache_control");
        let places = [&body["tools"], &body["system"], &body["messages"][0], &body["messages"][2]];
        places.map(|it| if marked(it) { 'x' } else { '-' }).iter().collect::<String>()
    };
    for (model, lengths, expected) in [
        ("m-1", [1, 1, 1], "-xxx"),
        ("claude-sonnet-4-5", [100, 100, 100], "----"),
        ("claude-sonnet-4-5", [2000, 1, 1], "-xxx"),
        ("claude-sonnet-4-5", [100, 2000, 1], "--xx"),
        ("claude-sonnet-4-5", [100, 100, 2000], "---x"),
        ("claude-sonnet-4-5", [0, 2000, 1], "--xx"),
        ("claude-haiku-4-5", [2000, 2000, 2000], "----"),
        ("claude-haiku-4-5", [8000, 1, 1], "-xxx"),
    ] {
        assert_eq!(marks(model, lengths), expected, "{model} {lengths:?}");
    }
}

/// A thought cannot be marked, so the block before the thought is marked.
#[test]
fn thoughts_never_get_a_cache_mark() {
    for length in 1..40 {
        let mut messages = vec![user(vec![sample::text("Go.")])];
        for n in 0..length {
            let id = format!("c{n}");
            messages.push(assistant(vec![
                thought(),
                raw(json!({ "type": "redacted_thinking", "data": "b3A=" })),
                call(&id, "read", json!({})),
            ]));
            messages.push(user(vec![answer(&id, "a", false)]));
        }
        let body = body(messages, None);
        for block in body["messages"]
            .as_array()
            .unwrap()
            .iter()
            .flat_map(|it| it["content"].as_array().unwrap())
        {
            let is_thought = block["type"].as_str().unwrap().ends_with("thinking");
            assert!(!is_thought || block["cache_control"].is_null(), "{block}");
        }
        assert!(body.to_string().matches("cache_control").count() <= 4);
    }
}
