//! Encodes a request for Chat Completions.

use super::images::{self, content, text};
use super::{NAME, marks, reasoning};
use crate::message::{Block, CallId, Message, Parameter, Request, Role, ToolCall, ToolSpec};
use crate::provider::dialect::{Quirks, fitting_id, fitting_name, nine_letter_id, replayed};
use crate::provider::{answer_text, object};
use serde_json::{Value, json};

/// The longest call id that `OpenAI` accepts.
const ID: usize = 40;

pub(crate) fn body(request: &Request, quirks: Quirks) -> Value {
    let mut messages = Vec::new();
    if !request.system.trim().is_empty() {
        messages.push(json!({ "role": "system", "content": request.system }));
    }
    for message in &request.messages {
        match message.role {
            Role::User => user(message, quirks, &mut messages),
            Role::Assistant => messages.extend(assistant(message, quirks)),
            Role::System | Role::Note => {}
        }
    }
    if quirks.alternate {
        join_users(&mut messages);
    }
    let tools: Value = request.tools.iter().map(tool).collect();
    if quirks.cache_marks {
        marks::mark(request, &tools, &mut messages);
    }
    let mut body = object([
        ("model", request.model.as_str().into()),
        ("messages", messages.into()),
        ("stream", true.into()),
    ]);
    if let Some(limit) = limit(request, quirks) {
        body[limit] = request.max_tokens.into();
    }
    if !quirks.no_stream_options {
        body["stream_options"] = json!({ "include_usage": true });
    }
    if !request.tools.is_empty() {
        body["tools"] = tools;
    }
    if let Some(temperature) = request.temperature {
        body["temperature"] = temperature.into();
    }
    reasoning::ask(request, quirks, &mut body);
    body
}

/// The name of the field that limits the length of the reply. `None` if the server has refused both names.
fn limit(request: &Request, quirks: Quirks) -> Option<&'static str> {
    let old = (Parameter::MaxTokens, "max_tokens");
    let new = (Parameter::MaxCompletionTokens, "max_completion_tokens");
    // OpenRouter accepts the old name for all models, and translates it
    let wants_new = !quirks.reasoning_object && refuses_max_tokens(&request.model);
    let order = if quirks.completion_tokens || wants_new { [new, old] } else { [old, new] };
    order.into_iter().find(|(it, _)| !request.without.contains(it)).map(|(_, name)| name)
}

/// Whether this is a reasoning model of `OpenAI`, on any server. Such models refuse `max_tokens`.
fn refuses_max_tokens(model: &str) -> bool {
    let name = model.rsplit('/').next().unwrap_or(model).to_lowercase();
    let number = |rest: &str| -> Option<u32> {
        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        rest.get(..end)?.parse().ok()
    };
    match (name.strip_prefix("gpt-"), name.strip_prefix('o')) {
        (Some(rest), _) => number(rest).is_some_and(|it| it >= 5),
        (None, Some(rest)) => {
            let is_series = |it: u32| {
                let behind = rest.get(it.to_string().len()..).unwrap_or_default();
                behind.is_empty() || behind.starts_with('-')
            };
            number(rest).is_some_and(is_series)
        }
        (None, None) => false,
    }
}

/// Joins consecutive user messages.
fn join_users(messages: &mut Vec<Value>) {
    messages.dedup_by(|next, before| {
        if next["role"] != "user" || before["role"] != "user" {
            return false;
        }
        before["content"] = images::joined(before["content"].take(), next["content"].take());
        true
    });
}

fn tool(spec: &ToolSpec) -> Value {
    let function =
        json!({ "name": spec.name, "description": spec.purpose, "parameters": spec.schema });
    json!({ "type": "function", "function": function })
}

/// Adds one message for each answer, then one message with the text.
fn user(message: &Message, quirks: Quirks, messages: &mut Vec<Value>) {
    for block in &message.blocks {
        if let Block::Answer(answer) = block {
            let id = fitting(&answer.id, quirks);
            messages.push(
                json!({ "role": "tool", "tool_call_id": id, "content": answer_text(answer) }),
            );
        }
    }
    if let Some(content) = content(message) {
        if quirks.reply_after_tool && messages.last().is_some_and(|last| last["role"] == "tool") {
            messages.push(json!({ "role": "assistant", "content": "I have the results." }));
        }
        messages.push(json!({ "role": "user", "content": content }));
    }
}

/// The message for a reply; `None` for a reply with nothing to send back, for example with reasoning only.
fn assistant(message: &Message, quirks: Quirks) -> Option<Value> {
    let calls: Vec<Value> = message
        .blocks
        .iter()
        .enumerate()
        .filter_map(|(at, block)| match block {
            Block::Call(call) => Some(self::call(call, message.blocks.get(at + 1), quirks)),
            _ => None,
        })
        .collect();
    let content = text(message);
    if calls.is_empty() && content.is_none() {
        return None;
    }
    let mut value = json!({ "role": "assistant", "content": content });
    if !calls.is_empty() {
        value["tool_calls"] = calls.into();
    }
    reasoning::replay(message, quirks, &mut value);
    Some(value)
}

/// A call in the form of Chat Completions. `behind` is the next block, which may have fields that the server added to
/// the call.
fn call(call: &ToolCall, behind: Option<&Block>, quirks: Quirks) -> Value {
    let function =
        json!({ "name": fitting_name(&call.tool), "arguments": replayed(&call.input).to_string() });
    let mut value =
        json!({ "id": fitting(&call.id, quirks), "type": "function", "function": function });
    if let Some(Block::Raw { provider, value: added }) = behind
        && let (NAME, Some(extra)) = (provider.as_str(), added.get("extra_content"))
    {
        value["extra_content"] = extra.clone();
    }
    value
}

fn fitting(id: &CallId, quirks: Quirks) -> String {
    if quirks.short_ids { nine_letter_id(id) } else { fitting_id(id, ID) }
}
