//! Encodes a request for Gemini's generateContent.

use super::{NAME, search};
use crate::message::{
    Block, CallId, Effort, Image, Message, Request, Role, Thinking, ToolAnswer, ToolSpec,
};
use crate::provider::dialect::{fitting_name, replayed};
use crate::provider::{answer_text, answered_images, base64, plain_text};
use serde_json::{Map, Value, json};
use std::collections::HashMap;

/// The signature that Google documents for calls that were made by other models.
const UNSIGNED: &str = "skip_thought_signature_validator";

pub(crate) fn body(request: &Request) -> Value {
    let mut body = Map::new();
    if !request.system.trim().is_empty() {
        let parts = json!([{ "text": request.system }]);
        body.insert("systemInstruction".to_owned(), json!({ "parts": parts }));
    }
    let mut tools = Vec::new();
    if !request.tools.is_empty() {
        let declared: Vec<Value> = request.tools.iter().map(tool).collect();
        tools.push(json!({ "functionDeclarations": declared }));
    }
    if request.searches {
        tools.push(json!({ "googleSearch": {} }));
    }
    if !tools.is_empty() {
        body.insert("tools".to_owned(), tools.into());
    }
    let has_searches = request.searches || request.messages.iter().any(search::is_in);
    if has_searches {
        body.insert("toolConfig".to_owned(), json!({ "includeServerSideToolInvocations": true }));
    }
    let mut names = HashMap::new();
    let mut contents = Vec::new();
    for message in &request.messages {
        match message.role {
            Role::User => contents.extend(user(message, &names, has_searches)),
            Role::Assistant => {
                let parts = model(message, wants_signatures(&request.model), has_searches);
                // The API requires a user's message before a model's message with calls. Earlier messages must not
                // change, so a new message is inserted.
                if contents.last().is_some_and(|it| it["role"] == "model") && has_call(&parts) {
                    contents.extend(content("user", &[json!({ "text": "Go on." })]));
                }
                contents.extend(content("model", &parts));
                names.extend(message.blocks.iter().filter_map(|block| match block {
                    Block::Call(call) => Some((&call.id, call.tool.as_str())),
                    _ => None,
                }));
            }
            Role::System | Role::Note => {}
        }
    }
    body.insert("contents".to_owned(), contents.into());
    body.insert("generationConfig".to_owned(), config(request));
    Value::Object(body)
}

fn tool(spec: &ToolSpec) -> Value {
    json!({
        "name": spec.name,
        "description": spec.purpose,
        "parametersJsonSchema": spec.schema,
    })
}

fn config(request: &Request) -> Value {
    let mut config = json!({ "maxOutputTokens": request.max_tokens });
    if let Some(temperature) = request.temperature {
        config["temperature"] = temperature.into();
    }
    if let Some(thinking) = request.thinking {
        config["thinkingConfig"] = self::thinking(thinking, &request.model);
    }
    config
}

/// The field with which a request asks for thinking. If the model cannot switch thinking off, `Off` asks for the least
/// thinking. The numbers come from Google's pages about the models.
fn thinking(thinking: Thinking, model: &str) -> Value {
    match thinking {
        Thinking::Off if wants_signatures(model) => json!({ "thinkingLevel": "low" }),
        Thinking::Off if model.contains("pro") => json!({ "thinkingBudget": 128 }),
        Thinking::Off => json!({ "thinkingBudget": 0 }),
        Thinking::Budget(tokens) => json!({ "thinkingBudget": tokens, "includeThoughts": true }),
        Thinking::Adaptive(_) => json!({ "thinkingBudget": -1, "includeThoughts": true }),
        Thinking::Named(effort) => {
            let level = match effort {
                Effort::Off | Effort::Low => "low",
                Effort::Medium => "medium",
                Effort::High | Effort::Max => "high",
            };
            json!({ "thinkingLevel": level, "includeThoughts": true })
        }
    }
}

/// Whether the model refuses calls without a signature: Gemini from 3 on.
fn wants_signatures(model: &str) -> bool {
    let name = model.rsplit('/').next().unwrap_or(model);
    name.strip_prefix("gemini-").is_some_and(|version| !version.starts_with(['1', '2']))
}

/// Whether the API lets Google search the web beside other tools of a request for this model.
pub(crate) fn searches(model: &str) -> bool {
    wants_signatures(model)
}

/// A message (content) with these parts; `None` if there are no parts.
fn content(role: &str, parts: &[Value]) -> Option<Value> {
    (!parts.is_empty()).then(|| json!({ "role": role, "parts": parts }))
}

fn has_call(parts: &[Value]) -> bool {
    parts.iter().any(|part| part.get("functionCall").is_some())
}

/// A user's message as contents. All answers and their images are in one content, because Gemini requires as many
/// answers as there were calls before. The texts are in another content.
fn user<'a>(
    message: &'a Message,
    names: &HashMap<&'a CallId, &'a str>,
    has_ids: bool,
) -> impl Iterator<Item = Value> {
    let mut answers = Vec::new();
    let mut texts = Vec::new();
    for block in &message.blocks {
        match block {
            Block::Answer(answer) => {
                let name = names.get(&answer.id).copied().unwrap_or_default();
                answers.push(self::answer(answer, name, has_ids));
            }
            Block::Image(it) => texts.extend(image(it)),
            _ => texts.extend(plain_text(block).map(|text| json!({ "text": text }))),
        }
    }
    answers.extend(answered_images(message).filter_map(image));
    content("user", &answers).into_iter().chain(content("user", &texts))
}

fn image(image: &Image) -> Option<Value> {
    let data = json!({ "mimeType": image.media(), "data": base64(image)? });
    Some(json!({ "inlineData": data }))
}

fn answer(answer: &ToolAnswer, tool: &str, has_ids: bool) -> Value {
    let field = if answer.failed { "error" } else { "output" };
    let response = json!({ field: answer_text(answer) });
    let mut answered = json!({ "name": fitting_name(tool), "response": response });
    if has_ids {
        answered["id"] = answer.id.0.as_str().into();
    }
    json!({ "functionResponse": answered })
}

/// The parts of a reply. Calls are sent without ids, because some addresses of the API refuse ids. A request with
/// searches by the provider needs the ids.
fn model(message: &Message, wants_signatures: bool, has_ids: bool) -> Vec<Value> {
    let mut parts: Vec<Value> = Vec::new();
    // whether the last part was made from the previous block
    let mut follows = false;
    for block in &message.blocks {
        let part = match block {
            Block::Raw { provider, .. } if provider != NAME => continue,
            Block::Raw { value, .. } => match (signature(value), parts.last_mut()) {
                (Some(signature), Some(part)) if follows => {
                    part["thoughtSignature"] = signature.clone();
                    continue;
                }
                (Some(signature), _) => Some(json!({ "text": "", "thoughtSignature": signature })),
                (None, _) => Some(value.clone()),
            },
            Block::Thinking { text, .. } => Some(json!({ "text": text, "thought": true })),
            Block::Call(call) => {
                let args = replayed(&call.input);
                let mut made = json!({ "name": fitting_name(&call.tool), "args": args });
                if has_ids {
                    made["id"] = call.id.0.as_str().into();
                }
                Some(json!({ "functionCall": made }))
            }
            _ => plain_text(block).map(|text| json!({ "text": text })),
        };
        follows = part.is_some();
        parts.extend(part);
    }
    parts.retain(|part| part["thought"] != true || part.get("thoughtSignature").is_some());
    let first = parts.iter_mut().find(|part| part.get("functionCall").is_some());
    if let Some(call) = first.filter(|part| wants_signatures && part["thoughtSignature"].is_null())
    {
        call["thoughtSignature"] = UNSIGNED.into();
    }
    parts
}

/// The signature in a raw block that has only a signature.
fn signature(value: &Value) -> Option<&Value> {
    value.as_object().filter(|fields| fields.len() == 1)?.get("thoughtSignature")
}
