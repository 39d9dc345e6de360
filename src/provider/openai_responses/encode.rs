//! Encodes a request for `OpenAI`'s Responses API.

use super::RAW;
use crate::message::{
    Block, Effort, Image, Message, Request, Role, Thinking, ToolAnswer, ToolCall, ToolSpec,
};
use crate::provider::dialect::{fitting_id, fitting_name, replayed};
use crate::provider::facts::{Facts, ThinkingKind};
use crate::provider::{answer_text, data_url, plain_text};
use serde_json::{Value, json};

/// The longest call id that the API accepts.
const ID: usize = 64;

/// The smallest limit of a reply that the API accepts, in tokens.
const SHORTEST: u32 = 16;

pub(crate) fn body(request: &Request) -> Value {
    let mut input = Vec::new();
    for message in &request.messages {
        match message.role {
            Role::User => user(message, &mut input),
            Role::Assistant => assistant(message, &mut input),
            Role::System | Role::Note => {}
        }
    }
    let mut body = json!({ "model": request.model, "stream": true, "store": false });
    if !request.system.trim().is_empty() {
        body["instructions"] = request.system.as_str().into();
    }
    let search = request.searches.then(|| json!({ "type": "web_search" }));
    let tools: Vec<Value> = request.tools.iter().map(tool).chain(search).collect();
    if !tools.is_empty() {
        body["tools"] = tools.into();
    }
    body["input"] = input.into();
    body["max_output_tokens"] = request.max_tokens.max(SHORTEST).into();
    if let Some(thinking) = request.thinking {
        let effort = match effort(thinking, &request.model) {
            // the API refuses searches with this effort
            "minimal" if request.searches => "low",
            effort => effort,
        };
        body["reasoning"] = json!({ "effort": effort, "summary": "auto" });
    }
    // models that do not reason refuse `reasoning.encrypted_content`
    let reasons =
        request.thinking.is_some() || Facts::of(&request.model).thinking == ThinkingKind::Named;
    let include: Vec<&str> = reasons
        .then_some("reasoning.encrypted_content")
        .into_iter()
        .chain(request.searches.then_some("web_search_call.action.sources"))
        .collect();
    if !include.is_empty() {
        body["include"] = include.into();
    }
    if let Some(temperature) = request.temperature {
        body["temperature"] = temperature.into();
    }
    if !request.thread.is_empty() {
        body["prompt_cache_key"] = request.thread.as_str().into();
    }
    body
}

fn tool(spec: &ToolSpec) -> Value {
    json!({
        "type": "function",
        "name": spec.name,
        "description": spec.purpose,
        "parameters": spec.schema,
        "strict": false,
    })
}

/// Adds an item for each answer, then a message with the texts.
fn user(message: &Message, input: &mut Vec<Value>) {
    for block in &message.blocks {
        if let Block::Answer(answer) = block {
            input.push(json!({
                "type": "function_call_output",
                "call_id": fitting_id(&answer.id, ID),
                "output": output(answer),
            }));
        }
    }
    let parts = message.blocks.iter().filter_map(|block| match block {
        Block::Image(it) => image(it),
        block => plain_text(block).map(text),
    });
    let parts: Vec<Value> = parts.collect();
    if !parts.is_empty() {
        input.push(json!({ "type": "message", "role": "user", "content": parts }));
    }
}

fn text(text: &str) -> Value {
    json!({ "type": "input_text", "text": text })
}

fn image(image: &Image) -> Option<Value> {
    data_url(image).map(|url| json!({ "type": "input_image", "image_url": url, "detail": "auto" }))
}

/// An answer's text, or a list of its text and its images.
fn output(answer: &ToolAnswer) -> Value {
    let images: Vec<Value> = answer.images.iter().filter_map(image).collect();
    if images.is_empty() {
        return answer_text(answer).into();
    }
    std::iter::once(text(answer_text(answer))).chain(images).collect()
}

/// Adds the items of a reply. The API refuses reasoning that is not followed by its message or call, so reasoning at
/// the end of a reply that was cut off is left out.
fn assistant(message: &Message, input: &mut Vec<Value>) {
    let mut reasoning = Vec::new();
    for block in &message.blocks {
        let item = match block {
            Block::Raw { provider, value } if provider == RAW && value.get("type").is_none() => {
                mark_phase(input, value);
                continue;
            }
            Block::Raw { provider, value } if provider == RAW => value.clone(),
            Block::Call(call) => self::call(call),
            block => match plain_text(block) {
                Some(text) => json!({
                    "type": "message",
                    "role": "assistant",
                    "content": [{ "type": "output_text", "text": text }],
                }),
                None => continue,
            },
        };
        if item["type"] == "reasoning" {
            reasoning.push(item);
        } else {
            input.append(&mut reasoning);
            input.push(item);
        }
    }
}

/// Marks the text before this block as an intermediate message or as the final answer. Without this mark, models stop
/// too early.
fn mark_phase(input: &mut [Value], value: &Value) {
    if let Some(last) = input.last_mut().filter(|it| it["role"] == "assistant") {
        last["phase"] = value["phase"].clone();
    }
}

fn call(call: &ToolCall) -> Value {
    json!({
        "type": "function_call",
        "call_id": fitting_id(&call.id, ID),
        "name": fitting_name(&call.tool),
        "arguments": replayed(&call.input).to_string(),
    })
}

/// The name of the effort for this model. Models have different names for the least and the highest effort.
fn effort(thinking: Thinking, model: &str) -> &'static str {
    let name = model.rsplit('/').next().unwrap_or(model);
    let specialised = name.contains("codex") || name.contains("pro");
    match thinking {
        // from GPT-6.1 on, thinking cannot be switched off
        Thinking::Off
            if specialised || version(name).is_none() || version(name) >= Some((6, 1)) =>
        {
            "low"
        }
        Thinking::Off if version(name) < Some((5, 1)) => "minimal",
        Thinking::Off => "none",
        Thinking::Adaptive(Effort::Max) | Thinking::Named(Effort::Max)
            if version(name) >= Some((5, 2)) || name.contains("codex-max") =>
        {
            "xhigh"
        }
        Thinking::Adaptive(effort) | Thinking::Named(effort) => match effort {
            Effort::Off | Effort::Low => "low",
            Effort::Medium => "medium",
            Effort::High | Effort::Max => "high",
        },
        Thinking::Budget(_) => "medium",
    }
}

/// The version in a model's name: `(5, 1)` for `gpt-5.1-mini`.
fn version(name: &str) -> Option<(u32, u32)> {
    let number = name.strip_prefix("gpt-")?.split('-').next()?;
    let (major, minor) = number.split_once('.').unwrap_or((number, "0"));
    Some((major.parse().ok()?, minor.parse().ok()?))
}
