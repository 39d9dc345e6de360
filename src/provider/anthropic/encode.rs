//! Encodes a request for Anthropic's Messages API, with cache marks where the next request looks for them.

use super::thinking;
use crate::message::{Block, Image, Message, Request, Role, ToolAnswer, ToolSpec};
use crate::provider::dialect::{fitting_id, fitting_name, replayed};
use crate::provider::prefix::CacheMinimum;
use crate::provider::{answer_text, base64, object, plain_text};
use serde_json::{Value, json};
use std::collections::HashSet;

/// The longest call id that the API accepts. The API's pattern is `^[a-zA-Z0-9_-]{1,64}$`.
const ID: usize = 64;

/// The most searches of the provider in one reply.
const SEARCHES: u32 = 8;

pub(crate) fn body(request: &Request) -> Value {
    let mut body =
        json!({ "model": request.model, "max_tokens": request.max_tokens, "stream": true });
    let tools = request.tools.iter().map(tool).chain(request.searches.then(search));
    let tools: Vec<Value> = tools.collect();
    if !tools.is_empty() {
        body["tools"] = tools.into();
    }
    if !request.system.trim().is_empty() {
        body["system"] = json!([{ "type": "text", "text": request.system }]);
    }
    let mut minimum = CacheMinimum::of(&request.model);
    minimum.take(&body["tools"]);
    minimum.take(&body["system"]);
    let last = if body["system"].is_null() { "tools" } else { "system" };
    if minimum.is_enough() && !body[last].is_null() {
        mark(&mut body[last]);
    }
    let mut messages: Vec<Value> = request.messages.iter().filter_map(message).collect();
    close_server_tools(&mut messages);
    thinking::ask(request, &messages, &mut body);
    mark_messages(&mut messages, minimum);
    body["messages"] = messages.into();
    body
}

/// Removes calls of server tools (such as web search) that have no result, because the API would refuse the next
/// request. A call stays if the model will still continue its reply.
fn close_server_tools(messages: &mut Vec<Value>) {
    let finished = messages.iter().rposition(|message| message["role"] == "user").unwrap_or(0);
    let results: HashSet<String> = messages
        .iter()
        .filter_map(|message| message["content"].as_array())
        .flatten()
        .filter(|block| block["type"] != "tool_result")
        .filter_map(|block| block["tool_use_id"].as_str().map(str::to_owned))
        .collect();
    for message in &mut messages[..finished] {
        let Some(content) = message["content"].as_array_mut() else { continue };
        content.retain(|block| {
            block["type"] != "server_tool_use"
                || block["id"].as_str().is_some_and(|id| results.contains(id))
        });
    }
    messages.retain(|message| message["content"] != json!([]));
}

fn tool(spec: &ToolSpec) -> Value {
    json!({ "name": spec.name, "description": spec.purpose, "input_schema": spec.schema })
}

/// The provider's tool that searches the web.
fn search() -> Value {
    json!({ "type": "web_search_20250305", "name": "web_search", "max_uses": SEARCHES })
}

/// The distance between two cache marks, in blocks. The API looks back 20 blocks from a mark.
const STRIDE: usize = 15;

/// Sets cache marks at the end of this request, and at the end of the previous request (the last user message before
/// the last reply), so that the API reads from its cache what the previous request has stored there. A third mark is
/// `STRIDE` blocks before the second. It helps if the previous request was stopped before it was cached: from the third
/// mark the API finds the end of an earlier request.
fn mark_messages(messages: &mut [Value], minimum: CacheMinimum) {
    let short = minimum.too_short(messages);
    let last = |messages: &[Value], role: &str| {
        messages.iter().rposition(|message| message["role"] == role)
    };
    let Some(end) = last(messages, "user") else { return };
    let before = last(messages, "assistant").and_then(|reply| last(&messages[..reply], "user"));
    for at in before.into_iter().chain([end]).filter(|at| *at >= short) {
        mark(&mut messages[at]["content"]);
    }
    let Some(before) = before.filter(|at| *at >= short) else { return };
    let earlier = messages[short..=before].iter_mut().filter_map(|it| it["content"].as_array_mut());
    let takes_mark = |block: &&mut Value| {
        let kind = block["type"].as_str();
        matches!(kind, Some("text" | "tool_use" | "tool_result"))
    };
    if let Some(block) = earlier.flatten().rev().skip(STRIDE).find(takes_mark) {
        block["cache_control"] = json!({ "type": "ephemeral" });
    }
}

/// Sets a cache mark on the last block of a list.
fn mark(blocks: &mut Value) {
    if let Some(block) = blocks.as_array_mut().and_then(|blocks| blocks.last_mut()) {
        block["cache_control"] = json!({ "type": "ephemeral" });
    }
}

/// The message in the API's form. `None` for a message that models do not get, and for an empty message.
fn message(message: &Message) -> Option<Value> {
    let role = match message.role {
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::System | Role::Note => return None,
    };
    let mut blocks = message.blocks.iter().collect::<Vec<_>>();
    // Answers to calls come first, because the API refuses them after other blocks. The sort is stable.
    blocks.sort_by_key(|block| role == "user" && !matches!(block, Block::Answer(_)));
    let mut content: Vec<Value> = Vec::new();
    for block in blocks {
        match (block, content.last_mut()) {
            (Block::Raw { provider, value }, Some(text))
                if provider == "anthropic" && is_citations(value) =>
            {
                if text["type"] == "text" && value["citations"] != json!([]) {
                    text["citations"] = value["citations"].clone();
                }
            }
            (Block::Raw { value, .. }, _) if is_citations(value) => (),
            _ => content.extend(self::block(block)),
        }
    }
    (!content.is_empty()).then(|| object([("role", role.into()), ("content", content.into())]))
}

/// Whether a raw block has only the citations of the text before it.
fn is_citations(value: &Value) -> bool {
    value.get("type").is_none() && value.get("citations").is_some()
}

fn block(block: &Block) -> Option<Value> {
    match block {
        Block::Thinking { text, signature } => {
            let signature = signature.as_ref()?;
            Some(json!({ "type": "thinking", "thinking": text, "signature": signature }))
        }
        Block::Call(call) => Some(object([
            ("type", "tool_use".into()),
            ("id", fitting_id(&call.id, ID).into()),
            ("name", fitting_name(&call.tool).into()),
            ("input", replayed(&call.input)),
        ])),
        Block::Answer(answer) => Some(self::answer(answer)),
        Block::Raw { provider, value } => (provider == "anthropic").then(|| value.clone()),
        Block::Image(it) => image(it),
        Block::Text { .. } | Block::Excerpt(_) | Block::Notice { .. } | Block::Searched(_) => {
            plain_text(block).map(|text| json!({ "type": "text", "text": text }))
        }
    }
}

fn image(image: &Image) -> Option<Value> {
    let (media, data) = (image.media().into(), base64(image)?.into());
    let source = object([("type", "base64".into()), ("media_type", media), ("data", data)]);
    Some(object([("type", "image".into()), ("source", source)]))
}

fn answer(answer: &ToolAnswer) -> Value {
    let mut content: Value = answer_text(answer).into();
    let images: Vec<Value> = answer.images.iter().filter_map(image).collect();
    if !images.is_empty() {
        let text = object([("type", "text".into()), ("text", content)]);
        content = std::iter::once(text).chain(images).collect();
    }
    let mut block = object([
        ("type", "tool_result".into()),
        ("tool_use_id", fitting_id(&answer.id, ID).into()),
        ("content", content),
    ]);
    if answer.failed {
        block["is_error"] = true.into();
    }
    block
}
