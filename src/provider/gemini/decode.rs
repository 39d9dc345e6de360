//! Reads an answer of Gemini's generateContent. Each chunk has parts of the one candidate; a call is never split
//! between chunks. The reply ends with the stream.

use super::{NAME, search};
use crate::event::{Delta, Failure};
use crate::message::{Block, Reply, Stop, ToolCall, Usage};
use crate::provider::dialect::{self, Asked, json, protocol};
use crate::provider::sse::Frame;
use crate::provider::{Sampled, fault};
use crate::text::cause;
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Chunk<P> {
    candidates: Option<Vec<Candidate<P>>>,
    prompt_feedback: Option<Feedback>,
    usage_metadata: Option<Counts>,
    error: Option<Box<Value>>,
}

/// The model's name. Every chunk repeats it; it is read from one chunk.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Named {
    model_version: Option<String>,
}

/// The token counts so far. The prompt's count includes tokens from the cache; the candidates' count excludes thoughts.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_field_names, reason = "the provider's names")]
struct Counts {
    cached_content_token_count: Option<u64>,
    prompt_token_count: Option<u64>,
    tool_use_prompt_token_count: Option<u64>,
    candidates_token_count: Option<u64>,
    thoughts_token_count: Option<u64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Candidate<P> {
    index: Option<u64>,
    content: Option<Content<P>>,
    finish_reason: Option<String>,
    finish_message: Option<String>,
    grounding_metadata: Option<Box<Value>>,
}

#[derive(Deserialize)]
struct Content<P> {
    parts: Option<Vec<P>>,
}

/// A part that has only text, as nearly all parts do. Any other part is kept unchanged, as a `Value`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Said {
    text: String,
    #[serde(default)]
    thought: bool,
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
    /// The `groundingMetadata` of the chunks: the searches and pages on which the reply is based.
    grounding: Vec<Value>,
}

impl dialect::Decoder for Decoder {
    fn read(&mut self, frame: Frame<'_>, out: &mut Vec<Sampled>) {
        if let Ok(chunk @ Chunk { error: None, .. }) = serde_json::from_str(frame.data) {
            return self.chunk(chunk, frame, out, Decoder::said);
        }
        let failed = match json(frame.data) {
            Ok(Chunk { error: Some(error), .. }) => Ok(*error),
            Ok(chunk) => return self.chunk(chunk, frame, out, Decoder::part),
            // some addresses send an error inside a list
            Err(error) => json::<Vec<Value>>(frame.data).map(Value::Array).map_err(|_| error),
        };
        out.push(match failed {
            Ok(error) => Sampled::Failed(fault::in_stream(&error, &self.asked)),
            Err(error) => protocol(&format!("{}: {}", cause(&error), fault::snippet(frame.data))),
        });
    }

    fn end(&mut self) -> Sampled {
        let Some(mut stop) = self.stop.take() else { return Sampled::Failed(Failure::Cut) };
        let mut blocks = std::mem::take(&mut self.blocks);
        self.grounding.iter().for_each(|it| search::ground(it, &mut blocks));
        let calls = blocks.iter().any(|block| matches!(block, Block::Call(_)));
        if calls && stop == Stop::EndTurn {
            stop = Stop::ToolUse;
        }
        let model = std::mem::take(&mut self.model);
        Sampled::Done(Reply { blocks, stop, usage: self.usage, model, by: String::new() })
    }

    fn asked(&self) -> &Asked {
        &self.asked
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
            grounding: Vec::new(),
        }
    }

    fn chunk<P>(
        &mut self,
        chunk: Chunk<P>,
        frame: Frame<'_>,
        out: &mut Vec<Sampled>,
        take: fn(&mut Decoder, P, &mut Vec<Sampled>),
    ) {
        if self.model.is_empty() {
            let named = json(frame.data).ok();
            self.model = named.and_then(|it: Named| it.model_version).unwrap_or_default();
        }
        if let Some(counts) = chunk.usage_metadata {
            self.count(&counts);
        }
        if chunk.prompt_feedback.and_then(|feedback| feedback.block_reason).is_some() {
            self.stop = Some(Stop::Refusal);
        }
        // the request asks for a single candidate
        let candidates = chunk.candidates.unwrap_or_default();
        for candidate in candidates.into_iter().filter(|it| it.index.unwrap_or(0) == 0) {
            let parts = candidate.content.and_then(|content| content.parts).unwrap_or_default();
            for part in parts {
                take(self, part, out);
            }
            if let Some(grounding) = candidate.grounding_metadata {
                self.grounding.push(*grounding);
            }
            if let Some(reason) = candidate.finish_reason {
                self.stop = Some(stop(reason, candidate.finish_message));
            }
        }
    }

    fn count(&mut self, counts: &Counts) {
        let cached = counts.cached_content_token_count.unwrap_or(0);
        let sum = |a: Option<u64>, b: Option<u64>| a.unwrap_or(0).saturating_add(b.unwrap_or(0));
        let prompt = sum(counts.prompt_token_count, counts.tool_use_prompt_token_count);
        self.usage.cache_read = cached;
        self.usage.input = prompt.saturating_sub(cached);
        self.usage.output = sum(counts.candidates_token_count, counts.thoughts_token_count);
    }

    fn said(&mut self, part: Said, out: &mut Vec<Sampled>) {
        if !part.text.is_empty() {
            self.say(part.text, part.thought, false, out);
        }
    }

    fn part(&mut self, mut part: Value, out: &mut Vec<Sampled>) {
        let signature = part["thoughtSignature"].as_str().filter(|text| !text.is_empty());
        let signature = signature.map(str::to_owned);
        let text = part["text"].as_str().unwrap_or_default();
        // the next request leaves out a blank text, but has to repeat its signature
        let is_blank = text.is_empty() || (signature.is_some() && text.trim().is_empty());
        if part["functionCall"].is_object() {
            self.call(part["functionCall"].take(), out);
        } else if !is_blank {
            self.say(text.to_owned(), part["thought"] == true, signature.is_some(), out);
        } else {
            let searched = search::of(&part, &self.blocks);
            self.keep(part, signature.is_some());
            if let Some(it) = searched {
                out.push(Sampled::Delta(Delta::Searched(it.clone())));
                self.blocks.push(Block::Searched(it));
            }
            return;
        }
        if let Some(signature) = signature {
            let value = json!({ "thoughtSignature": signature });
            self.blocks.push(Block::Raw { provider: NAME.to_owned(), value });
        }
    }

    /// Keeps a part unchanged and at its place. Such a part is neither text nor a call, or has only a signature.
    fn keep(&mut self, mut part: Value, signed: bool) {
        let Some(fields) = part.as_object_mut() else { return };
        let is_empty = fields
            .keys()
            .all(|name| ["text", "thought", "thoughtSignature"].contains(&name.as_str()));
        if is_empty && !signed {
            return;
        }
        if is_empty {
            // the API refuses a part without any content
            fields.entry("text").or_insert_with(|| "".into());
        }
        self.blocks.push(Block::Raw { provider: NAME.to_owned(), value: part });
    }

    /// Appends a piece of text to the previous text block. A part with a signature stays a separate block.
    fn say(&mut self, more: String, thought: bool, signed: bool, out: &mut Vec<Sampled>) {
        match self.blocks.last_mut() {
            Some(Block::Text { text }) if !thought && !signed => text.push_str(&more),
            Some(Block::Thinking { text, .. }) if thought && !signed => text.push_str(&more),
            _ if thought => {
                self.blocks.push(Block::Thinking { text: more.clone(), signature: None });
            }
            _ => self.blocks.push(Block::Text { text: more.clone() }),
        }
        let delta = if thought { Delta::Thinking } else { Delta::Text };
        out.push(Sampled::Delta(delta(more)));
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
