//! Asks for reasoning, collects it and sends it back. There is no standard for this: the quirks, or the fields that the
//! server has sent, tell which reasoning has to be sent back and in which field.

use super::NAME;
use crate::message::{Block, Effort, Message, Request, Thinking};
use crate::provider::dialect::Quirks;
use serde_json::{Value, json};

/// Writes into `body` how the model should think.
pub(super) fn ask(request: &Request, quirks: Quirks, body: &mut Value) {
    let Some(thinking) = request.thinking else { return };
    if quirks.reasoning_object {
        body["reasoning"] = match thinking {
            Thinking::Budget(tokens) => json!({ "max_tokens": tokens }),
            Thinking::Off => json!({ "effort": "none" }),
            Thinking::Adaptive(Effort::Max) | Thinking::Named(Effort::Max) => {
                json!({ "effort": "xhigh" })
            }
            Thinking::Adaptive(effort) | Thinking::Named(effort) => {
                json!({ "effort": name(effort) })
            }
        };
    } else if quirks.thinking_switch {
        let switch = if thinking == Thinking::Off { "disabled" } else { "enabled" };
        body["thinking"] = json!({ "type": switch });
    } else if let Thinking::Adaptive(effort) | Thinking::Named(effort) = thinking {
        body["reasoning_effort"] = name(effort).into();
    } else if thinking == Thinking::Off {
        // of OpenAI's models only the newest accept `none`, and requests to these models use another dialect
        let model = request.model.rsplit('/').next().unwrap_or_default();
        let is_theirs = model.starts_with("gpt-") || model.starts_with('o');
        body["reasoning_effort"] = if is_theirs { "low" } else { "none" }.into();
    }
}

fn name(effort: Effort) -> &'static str {
    match effort {
        Effort::Off | Effort::Low => "low",
        Effort::Medium => "medium",
        Effort::High | Effort::Max => "high",
    }
}

/// The texts of the reasoning in one part of a content list.
pub(super) fn texts_of(part: &Value) -> impl Iterator<Item = &str> {
    part["thinking"].as_array().into_iter().flatten().filter_map(|part| part["text"].as_str())
}

/// The `reasoning_details` of a reply. They arrive in pieces and are sent back as a whole. They may be readable,
/// summarised, encrypted or signed.
#[derive(Default)]
pub(super) struct Details(Vec<Value>);

impl Details {
    /// Adds the pieces of one delta. Returns their readable text.
    pub(super) fn add(&mut self, pieces: Vec<Value>) -> String {
        let mut read = String::new();
        for piece in pieces.into_iter().filter(Value::is_object) {
            let text = ["text", "summary"].iter().find_map(|name| piece[name].as_str());
            read.push_str(text.unwrap_or_default());
            let same = |open: &&mut Value| {
                open["index"] == piece["index"] && open["type"] == piece["type"]
            };
            match self.0.last_mut().filter(same) {
                Some(open) => extend(open, &piece),
                None => self.0.push(piece),
            }
        }
        read
    }

    /// The details as a block that is sent back only to the same model.
    pub(super) fn finish(&mut self) -> Option<Block> {
        let details = std::mem::take(&mut self.0);
        let value = json!({ "reasoning_details": details });
        (!details.is_empty()).then(|| Block::Raw { provider: NAME.to_owned(), value })
    }
}

/// Adds a piece to a detail: extends its texts, adds missing fields, and leaves other fields unchanged.
fn extend(open: &mut Value, piece: &Value) {
    for (name, more) in piece.as_object().into_iter().flatten() {
        match (&mut open[name], more) {
            (Value::String(text), Value::String(more))
                if ["text", "summary", "data"].contains(&name.as_str()) =>
            {
                text.push_str(more);
            }
            (absent @ Value::Null, more) => *absent = more.clone(),
            _ => {}
        }
    }
}

/// Adds the reasoning of an earlier reply to the reply's message, if the server requires it.
pub(super) fn replay(message: &Message, quirks: Quirks, value: &mut Value) {
    for block in &message.blocks {
        if let Block::Raw { provider, value: kept } = block
            && let (NAME, Some(details)) = (provider.as_str(), kept.get("reasoning_details"))
        {
            value["reasoning_details"] = details.clone();
        }
    }
    let thoughts: Vec<&str> = message.blocks.iter().filter_map(thought).collect();
    if quirks.reasoning_back {
        // The server refuses a reply with tool calls whose reasoning is missing or empty, even if another model wrote
        // the reply without reasoning.
        let text = if thoughts.is_empty() { " ".to_owned() } else { thoughts.concat() };
        if !thoughts.is_empty() || value.get("tool_calls").is_some() {
            value["reasoning_content"] = text.into();
        }
    }
    if quirks.thinking_parts && !thoughts.is_empty() {
        let part = |text: &str| json!({ "type": "text", "text": text });
        let thinking: Vec<Value> = thoughts.into_iter().map(part).collect();
        let mut parts = vec![json!({ "type": "thinking", "thinking": thinking })];
        parts.extend(value["content"].as_str().map(part));
        value["content"] = parts.into();
    }
}

fn thought(block: &Block) -> Option<&str> {
    match block {
        Block::Thinking { text, .. } if !text.is_empty() => Some(text),
        _ => None,
    }
}
