//! Reading an answer of generateContent: chunks of parts of one candidate, whole calls among them, and an end
//! that is the end of the stream.

use super::NAME;
use crate::event::{Delta, Failure};
use crate::message::{Block, Reply, Stop, ToolCall, Usage};
use crate::provider::dialect::{self, Asked, json, protocol};
use crate::provider::sse::Frame;
use crate::provider::{Sampled, fault};
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Chunk {
    candidates: Option<Vec<Candidate>>,
    prompt_feedback: Option<Feedback>,
    usage_metadata: Option<Value>,
    model_version: Option<String>,
    error: Option<Value>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Candidate {
    index: Option<u64>,
    content: Option<Content>,
    finish_reason: Option<String>,
    finish_message: Option<String>,
}

#[derive(Deserialize)]
struct Content {
    parts: Option<Vec<Value>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Feedback {
    block_reason: Option<String>,
}

pub(crate) struct Decoder {
    asked: Asked,
    blocks: Vec<Block>,
    stop: Option<Stop>,
    usage: Usage,
    model: String,
}

impl dialect::Decoder for Decoder {
    fn read(&mut self, frame: Frame<'_>, out: &mut Vec<Sampled>) {
        let failed = match json::<Chunk>(frame.data) {
            Ok(Chunk { error: Some(error), .. }) => Ok(error),
            Ok(chunk) => return self.chunk(chunk, out),
            // Errors come in a list where the answer would have been one.
            Err(error) => json::<Vec<Value>>(frame.data).map(Value::Array).map_err(|_| error),
        };
        out.push(match failed {
            Ok(error) => Sampled::Failed(fault::in_stream(&error, &self.asked)),
            Err(error) => protocol(&format!("{error}: {}", fault::snippet(frame.data))),
        });
    }

    fn end(&mut self) -> Sampled {
        let Some(mut stop) = self.stop.take() else { return Sampled::Failed(Failure::Cut) };
        let blocks = std::mem::take(&mut self.blocks);
        let calls = blocks.iter().any(|block| matches!(block, Block::Call(_)));
        if calls && stop == Stop::EndTurn {
            stop = Stop::ToolUse;
        }
        let model = std::mem::take(&mut self.model);
        Sampled::Done(Reply { blocks, stop, usage: self.usage, model, by: String::new() })
    }
}

impl Decoder {
    pub(crate) fn new(asked: Asked) -> Decoder {
        Decoder {
            asked,
            blocks: Vec::new(),
            stop: None,
            usage: Usage::default(),
            model: String::new(),
        }
    }

    fn chunk(&mut self, chunk: Chunk, out: &mut Vec<Sampled>) {
        if let Some(model) = chunk.model_version.filter(|model| !model.is_empty()) {
            self.model = model;
        }
        if let Some(usage) = chunk.usage_metadata {
            self.count(&usage);
        }
        if chunk.prompt_feedback.and_then(|feedback| feedback.block_reason).is_some() {
            self.stop = Some(Stop::Refusal);
        }
        // One candidate was asked for.
        let candidates = chunk.candidates.unwrap_or_default();
        for candidate in candidates.into_iter().filter(|it| it.index.unwrap_or(0) == 0) {
            let parts = candidate.content.and_then(|content| content.parts).unwrap_or_default();
            for part in parts {
                self.part(part, out);
            }
            if let Some(reason) = candidate.finish_reason {
                self.stop = Some(stop(reason, candidate.finish_message));
            }
        }
    }

    /// The counts are totals so far. What was read from the cache is part of the prompt's count; what was thought
    /// is none of the candidates'.
    fn count(&mut self, usage: &Value) {
        let count = |name: &str| usage[name].as_u64().unwrap_or(0);
        let cached = count("cachedContentTokenCount");
        let prompt = count("promptTokenCount").saturating_add(count("toolUsePromptTokenCount"));
        self.usage.cache_read = cached;
        self.usage.input = prompt.saturating_sub(cached);
        self.usage.output =
            count("candidatesTokenCount").saturating_add(count("thoughtsTokenCount"));
    }

    fn part(&mut self, mut part: Value, out: &mut Vec<Sampled>) {
        let signature = part["thoughtSignature"].as_str().filter(|text| !text.is_empty());
        let signature = signature.map(str::to_owned);
        let text = part["text"].as_str().unwrap_or_default();
        // A blank text is left out of the next request, and its signature must not be.
        let is_blank = text.is_empty() || (signature.is_some() && text.trim().is_empty());
        if part["functionCall"].is_object() {
            self.call(part["functionCall"].take(), out);
        } else if !is_blank {
            self.say(text, part["thought"] == true, signature.is_some(), out);
        } else {
            self.keep(part, signature.is_some());
            return;
        }
        if let Some(signature) = signature {
            let value = json!({ "thoughtSignature": signature });
            self.blocks.push(Block::Raw { provider: NAME.to_owned(), value });
        }
    }

    /// A part that is neither text nor a call, or holds nothing but a signature: as it came, in its place.
    fn keep(&mut self, mut part: Value, signed: bool) {
        let Some(fields) = part.as_object_mut() else { return };
        let is_empty = fields
            .keys()
            .all(|name| ["text", "thought", "thoughtSignature"].contains(&name.as_str()));
        if is_empty && !signed {
            return;
        }
        if is_empty {
            // A part is refused without some kind of content.
            fields.entry("text").or_insert_with(|| "".into());
        }
        self.blocks.push(Block::Raw { provider: NAME.to_owned(), value: part });
    }

    /// Pieces of a text are joined; a signed part is one for itself.
    fn say(&mut self, more: &str, thought: bool, signed: bool, out: &mut Vec<Sampled>) {
        let more = more.to_owned();
        let delta = if thought { Delta::Thinking } else { Delta::Text };
        out.push(Sampled::Delta(delta(more.clone())));
        match self.blocks.last_mut() {
            Some(Block::Text { text }) if !thought && !signed => text.push_str(&more),
            Some(Block::Thinking { text, .. }) if thought && !signed => text.push_str(&more),
            _ if thought => self.blocks.push(Block::Thinking { text: more, signature: None }),
            _ => self.blocks.push(Block::Text { text: more }),
        }
    }

    fn call(&mut self, mut call: Value, out: &mut Vec<Sampled>) {
        let id = self.asked.claim(call["id"].as_str().unwrap_or_default());
        let tool = call["name"].as_str().unwrap_or_default().to_owned();
        out.push(Sampled::Delta(Delta::CallBegun { id: id.clone(), tool: tool.clone() }));
        let input = dialect::whole_input(call["args"].take());
        self.blocks.push(Block::Call(ToolCall { id, tool, input }));
    }
}

fn stop(reason: String, message: Option<String>) -> Stop {
    match reason.as_str() {
        "STOP" => Stop::EndTurn,
        "MAX_TOKENS" => Stop::MaxTokens,
        "SAFETY" | "RECITATION" | "LANGUAGE" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII" => {
            Stop::Refusal
        }
        _ => Stop::Unknown(match message {
            Some(message) => format!("{reason}: {}", fault::snippet(&message)),
            None => reason,
        }),
    }
}
