//! Encodes a request for Ollama's chat API.

use crate::message::{Block, CallId, Effort, Message, Request, Role, Thinking, ToolSpec};
use crate::provider::dialect::{fitting_name, replayed};
use crate::provider::{RESULTS, answer_text, answered_images, base64, object, plain_text};
use serde_json::{Value, json};
use std::collections::HashMap;

/// The context window that requests ask for by default, in tokens: the smallest that Ollama's documentation recommends
/// for coding tools. Ollama's own default is 4096 on most machines. A model with a smaller window uses its own.
const WINDOW: u32 = 65_536;

/// The context window that every request asks for, in tokens. It is the same for all requests, because for another
/// window Ollama would load the model again.
pub(crate) fn window(num_ctx: Option<u32>) -> u32 {
    num_ctx.unwrap_or(WINDOW)
}

pub(crate) fn body(request: &Request) -> Value {
    let mut messages = Vec::new();
    if !request.system.trim().is_empty() {
        messages.push(json!({ "role": "system", "content": request.system }));
    }
    let mut names = HashMap::new();
    for message in &request.messages {
        match message.role {
            Role::User => user(message, &names, &mut messages),
            Role::Assistant => {
                messages.extend(assistant(message));
                names.extend(message.blocks.iter().filter_map(|block| match block {
                    Block::Call(call) => Some((&call.id, call.tool.as_str())),
                    _ => None,
                }));
            }
            Role::System | Role::Note => {}
        }
    }
    let mut options =
        json!({ "num_ctx": window(request.num_ctx), "num_predict": request.max_tokens });
    if let Some(temperature) = request.temperature {
        options["temperature"] = temperature.into();
    }
    let mut body = object([
        ("model", request.model.as_str().into()),
        ("messages", messages.into()),
        ("stream", true.into()),
        ("options", options),
    ]);
    if !request.tools.is_empty() {
        body["tools"] = request.tools.iter().map(tool).collect();
    }
    if let Some(thinking) = request.thinking {
        body["think"] = think(thinking, &request.model);
    }
    body
}

fn tool(spec: &ToolSpec) -> Value {
    let function =
        json!({ "name": spec.name, "description": spec.purpose, "parameters": spec.schema });
    json!({ "type": "function", "function": function })
}

/// How a model is told to think. Only gpt-oss accepts the name of an effort. Other models are only told whether to
/// think.
fn think(thinking: Thinking, model: &str) -> Value {
    match thinking {
        Thinking::Off => false.into(),
        Thinking::Named(effort) if model.contains("gpt-oss") => match effort {
            Effort::Off | Effort::Low => "low".into(),
            Effort::Medium => "medium".into(),
            Effort::High | Effort::Max => "high".into(),
        },
        Thinking::Budget(_) | Thinking::Adaptive(_) | Thinking::Named(_) => true.into(),
    }
}

/// Adds one message for each answer, then one message with the text and all images. The text tells which image is
/// which: before an image of a file comes the file's name, and images of results are named in order.
fn user(message: &Message, names: &HashMap<&CallId, &str>, messages: &mut Vec<Value>) {
    for block in &message.blocks {
        if let Block::Answer(answer) = block {
            let name = fitting_name(names.get(&answer.id).copied().unwrap_or_default());
            let content = answer_text(answer);
            messages.push(json!({ "role": "tool", "tool_name": name, "content": content }));
        }
    }
    let of_results: Vec<String> = answered_images(message).filter_map(base64).collect();
    let own = message.blocks.iter().filter_map(|block| match block {
        Block::Image(it) => base64(it),
        _ => None,
    });
    let told = (!of_results.is_empty()).then_some(RESULTS);
    let images: Vec<String> = of_results.into_iter().chain(own).collect();
    if let Some(content) =
        joined(told.into_iter().chain(message.blocks.iter().filter_map(plain_text)))
    {
        let mut value = object([("role", "user".into()), ("content", content.into())]);
        if !images.is_empty() {
            value["images"] = images.into();
        }
        messages.push(value);
    }
}

/// The message for a reply; `None` for a reply with nothing to send back, for example with reasoning only.
fn assistant(message: &Message) -> Option<Value> {
    let calls: Vec<Value> = message.blocks.iter().filter_map(call).collect();
    let content = joined(message.blocks.iter().filter_map(plain_text));
    if content.is_none() && calls.is_empty() {
        return None;
    }
    let mut value = json!({ "role": "assistant", "content": content.unwrap_or_default() });
    // models get the thoughts of a reply back while its calls are being answered
    let thoughts = message.blocks.iter().filter_map(|block| match block {
        Block::Thinking { text, .. } if !text.trim().is_empty() => Some(text.as_str()),
        _ => None,
    });
    if let Some(thoughts) = joined(thoughts) {
        value["thinking"] = thoughts.into();
    }
    if !calls.is_empty() {
        value["tool_calls"] = calls.into();
    }
    Some(value)
}

fn call(block: &Block) -> Option<Value> {
    let Block::Call(call) = block else { return None };
    let arguments = replayed(&call.input);
    Some(json!({ "function": { "name": fitting_name(&call.tool), "arguments": arguments } }))
}

fn joined<'a>(texts: impl Iterator<Item = &'a str>) -> Option<String> {
    let texts: Vec<&str> = texts.collect();
    (!texts.is_empty()).then(|| texts.join("\n\n"))
}
