//! Reads an answer of Chat Completions: pieces (deltas) of one choice, a finish reason, the token counts, and `[DONE]`.

use super::calls::{Calls, Function, Piece};
use super::reasoning::{self, Details};
use crate::event::{Delta, Failure};
use crate::message::{Block, Reply, Stop, Usage};
use crate::provider::dialect::{self, Asked, json, protocol};
use crate::provider::sse::Frame;
use crate::provider::{Sampled, fault};
use crate::text::cause;
use serde::Deserialize;
use serde_json::Value;

/// A piece of the answer. Rare fields are boxed to keep it small, because an answer has thousands of pieces.
#[derive(Deserialize)]
struct Chunk {
    choices: Option<Vec<Choice>>,
    usage: Option<Box<Value>>,
    error: Option<Box<Value>>,
}

/// The model's name. Every chunk repeats it; it is read from one chunk.
#[derive(Deserialize)]
struct Named {
    model: Option<String>,
}

#[derive(Deserialize)]
struct Choice {
    index: Option<u64>,
    delta: Option<Message>,
    finish_reason: Option<String>,
    usage: Option<Box<Value>>,
    error: Option<Box<Value>>,
    /// The whole message, from a server that does not stream. Some servers send it after the pieces, too.
    message: Option<Box<Message>>,
}

#[derive(Deserialize)]
struct Message {
    /// The text. Some servers send a list of typed parts instead.
    content: Option<Box<Value>>,
    reasoning_content: Option<Box<Value>>,
    reasoning: Option<Box<Value>>,
    reasoning_text: Option<Box<Value>>,
    reasoning_details: Option<Vec<Value>>,
    refusal: Option<String>,
    tool_calls: Option<Vec<Piece>>,
    /// The call, in the form that `tool_calls` has replaced.
    function_call: Option<Function>,
}

pub(crate) struct Decoder {
    asked: Asked,
    /// Text and reasoning, in order of arrival. The calls come after them.
    said: Vec<Block>,
    details: Details,
    calls: Calls,
    finish: Option<String>,
    refused: bool,
    usage: Usage,
    model: String,
}

impl dialect::Decoder for Decoder {
    fn read(&mut self, frame: Frame<'_>, out: &mut Vec<Sampled>) {
        if frame.data.trim() == "[DONE]" {
            out.push(self.done());
            return;
        }
        match json::<Chunk>(frame.data) {
            Ok(chunk) => self.chunk(chunk, frame, out),
            Err(error) => {
                out.push(protocol(&format!("{}: {}", cause(&error), fault::snippet(frame.data))));
            }
        }
    }

    fn end(&mut self) -> Sampled {
        if self.finish.is_some() { self.done() } else { Sampled::Failed(Failure::Cut) }
    }

    fn asked(&self) -> &Asked {
        &self.asked
    }
}

impl Decoder {
    pub(crate) fn new(asked: Asked) -> Decoder {
        Decoder {
            asked,
            said: Vec::new(),
            details: Details::default(),
            calls: Calls::default(),
            finish: None,
            refused: false,
            usage: Usage::default(),
            model: String::new(),
        }
    }

    fn chunk(&mut self, chunk: Chunk, frame: Frame<'_>, out: &mut Vec<Sampled>) {
        let error = chunk.error.or_else(|| match chunk.choices {
            Some(_) => None,
            None => bare_error(frame),
        });
        if let Some(error) = error {
            out.push(Sampled::Failed(fault::in_stream(&error, &self.asked)));
            return;
        }
        if self.model.is_empty() {
            self.model = json(frame.data).ok().and_then(|it: Named| it.model).unwrap_or_default();
        }
        self.count(chunk.usage);
        let choices = chunk.choices.unwrap_or_default();
        // the request asks for a single choice
        for choice in choices.into_iter().filter(|choice| choice.index.unwrap_or(0) == 0) {
            self.count(choice.usage);
            if let Some(error) = choice.error.filter(|it| !it.is_null()) {
                out.push(Sampled::Failed(fault::in_stream(&error, &self.asked)));
                return;
            }
            let is_new = self.said.is_empty() && self.calls.is_empty();
            let whole = choice.message.filter(|_| is_new).map(|it| *it);
            let finish = choice.finish_reason.filter(|reason| !reason.is_empty());
            if let Some(message) = choice.delta.or(whole) {
                self.message(message, finish.is_some(), out);
            }
            self.finish = finish.or(self.finish.take());
        }
        if let Some(failure) = self.failed_finish() {
            out.push(Sampled::Failed(failure));
        }
    }

    /// The failure that the finish reason stands for; `None` if the reply ended normally.
    fn failed_finish(&self) -> Option<Failure> {
        match self.finish.as_deref()? {
            "error" => Some(Failure::Broken { said: String::new() }),
            "insufficient_system_resource" => {
                Some(Failure::Overloaded { after_ms: None, said: String::new() })
            }
            _ => None,
        }
    }

    fn message(&mut self, delta: Message, is_last: bool, out: &mut Vec<Sampled>) {
        let details = self.details.add(delta.reasoning_details.unwrap_or_default());
        let reasoning = [delta.reasoning_content, delta.reasoning, delta.reasoning_text];
        let named = reasoning.iter().flatten().filter_map(|it| it.as_str());
        // some servers send the same text in two fields
        if let Some(text) = named.chain([details.as_str()]).find(|text| !text.is_empty()) {
            self.think(text, out);
        }
        match delta.content.map(|it| *it) {
            Some(Value::String(text)) => self.say(text, out),
            Some(Value::Array(parts)) => parts.iter().for_each(|part| self.part(part, out)),
            _ => {}
        }
        if let Some(refusal) = delta.refusal.filter(|text| !text.is_empty()) {
            self.refused = true;
            self.say(refusal, out);
        }
        let old = delta.function_call.map(Piece::of_one);
        for piece in delta.tool_calls.unwrap_or_default().into_iter().chain(old) {
            self.calls.add(piece, is_last, &mut self.asked, out);
        }
    }

    /// A typed part of the content: text, or reasoning with a list of texts.
    fn part(&mut self, part: &Value, out: &mut Vec<Sampled>) {
        if let Some(text) = part["text"].as_str() {
            self.say(text.to_owned(), out);
        }
        for text in reasoning::texts_of(part) {
            self.think(text, out);
        }
    }

    fn say(&mut self, more: String, out: &mut Vec<Sampled>) {
        if more.is_empty() {
            return;
        }
        match self.said.last_mut() {
            Some(Block::Text { text }) => text.push_str(&more),
            _ => self.said.push(Block::Text { text: more.clone() }),
        }
        out.push(Sampled::Delta(Delta::Text(more)));
    }

    fn think(&mut self, more: &str, out: &mut Vec<Sampled>) {
        match self.said.last_mut() {
            Some(Block::Thinking { text, .. }) => text.push_str(more),
            _ => self.said.push(Block::Thinking { text: more.to_owned(), signature: None }),
        }
        out.push(Sampled::Delta(Delta::Thinking(more.to_owned())));
    }

    /// Stores the token counts, which are totals and replace earlier counts. The prompt's count includes tokens from
    /// the cache.
    fn count(&mut self, usage: Option<Box<Value>>) {
        let Some(usage) = usage.filter(|it| it.is_object()) else { return };
        let details = &usage["prompt_tokens_details"];
        let cached =
            [&details["cached_tokens"], &usage["prompt_cache_hit_tokens"], &usage["cached_tokens"]];
        let cached = cached.into_iter().find_map(Value::as_u64).unwrap_or(0);
        let written = details["cache_write_tokens"].as_u64().unwrap_or(0);
        let prompt = usage["prompt_tokens"].as_u64().unwrap_or(0);
        self.usage.cache_read = cached;
        self.usage.cache_write = written;
        self.usage.input = prompt.saturating_sub(cached).saturating_sub(written);
        self.usage.output = usage["completion_tokens"].as_u64().unwrap_or(0);
    }

    fn done(&mut self) -> Sampled {
        let stop = self.stop();
        let mut blocks = std::mem::take(&mut self.said);
        let cut = dialect::cuts_calls(&stop);
        blocks.extend(self.details.finish());
        blocks.extend(self.calls.finish(cut, &mut self.asked));
        let model = std::mem::take(&mut self.model);
        Sampled::Done(Reply { blocks, stop, usage: self.usage, model, by: String::new() })
    }

    fn stop(&mut self) -> Stop {
        let reason = self.finish.take().unwrap_or_else(|| "no finish_reason".to_owned());
        match reason.as_str() {
            _ if self.refused => Stop::Refusal,
            "stop" | "eos" | "end_turn" if self.calls.is_empty() => Stop::EndTurn,
            "stop" | "eos" | "end_turn" | "tool_calls" | "function_call" => Stop::ToolUse,
            "length" => Stop::MaxTokens,
            "model_length" => Stop::ContextExceeded,
            "content_filter" => Stop::Refusal,
            _ => Stop::Unknown(reason),
        }
    }
}

/// The error in an event that is nothing but an error.
fn bare_error(frame: Frame<'_>) -> Option<Box<Value>> {
    let whole: Box<Value> = json(frame.data).ok()?;
    (frame.event == "error" || whole["object"] == "error").then_some(whole)
}
