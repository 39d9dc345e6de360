//! Reads an answer of the Responses API: events that add, extend and complete the items of a reply, and an event that
//! ends it.

use super::items::{Class, Items, Key, Stage, arguments};
use crate::event::Failure;
use crate::message::{Reply, Stop, Usage};
use crate::provider::dialect::{self, Asked, json, protocol};
use crate::provider::sse::Frame;
use crate::provider::{Sampled, fault};
use crate::text::cause;
use serde::Deserialize;
use serde_json::Value;

#[derive(Deserialize)]
struct Event {
    #[serde(rename = "type", default)]
    kind: String,
    #[serde(default)]
    item_id: Option<String>,
    output_index: Option<u64>,
    delta: Option<String>,
    text: Option<String>,
    refusal: Option<String>,
    arguments: Option<Value>,
    item: Option<Value>,
    response: Option<Value>,
    error: Option<Value>,
}

pub(crate) struct Decoder {
    asked: Asked,
    items: Items,
    refused: bool,
    usage: Usage,
    model: String,
}

impl dialect::Decoder for Decoder {
    fn read(&mut self, frame: Frame<'_>, out: &mut Vec<Sampled>) {
        if frame.data.trim() == "[DONE]" {
            return;
        }
        match json::<Event>(frame.data) {
            Ok(event) => self.event(event, frame, out),
            Err(error) => {
                let strange = json::<Value>(frame.data)
                    .is_ok_and(|value| !is_known(value["type"].as_str().unwrap_or_default()));
                if !strange {
                    out.push(protocol(&format!(
                        "{}: {}",
                        cause(&error),
                        fault::snippet(frame.data)
                    )));
                }
            }
        }
    }

    fn end(&mut self) -> Sampled {
        Sampled::Failed(Failure::Cut)
    }

    fn whole(&mut self, response: &Value, out: &mut Vec<Sampled>) {
        if response["output"].is_array() {
            self.over("completed", response, out);
        }
    }

    fn asked(&self) -> &Asked {
        &self.asked
    }
}

/// Whether the fields of an event of this kind have to be as expected. Other events are not checked.
fn is_known(kind: &str) -> bool {
    let kinds = ["output_item", "output_text", "refusal", "reasoning", "function_call_arguments"];
    let ends = ["completed", "incomplete", "failed", "done"];
    let name = kind.strip_prefix("response.").unwrap_or_default();
    kind == "error" || ends.contains(&name) || kinds.iter().any(|it| name.starts_with(it))
}

impl Decoder {
    pub(crate) fn new(asked: Asked) -> Decoder {
        Decoder {
            asked,
            items: Items::default(),
            refused: false,
            usage: Usage::default(),
            model: String::new(),
        }
    }

    fn event(&mut self, mut event: Event, frame: Frame<'_>, out: &mut Vec<Sampled>) {
        let kind = std::mem::take(&mut event.kind);
        let kind = if kind.is_empty() { frame.event } else { &kind };
        match kind.strip_prefix("response.") {
            Some(name @ ("completed" | "incomplete" | "failed" | "done")) => {
                self.over(name, &event.response.unwrap_or_default(), out);
            }
            Some("created" | "in_progress") => self.begun(&event.response.unwrap_or_default()),
            Some(name) => self.item(name, &event, out),
            None if kind == "error" || event.error.is_some() => {
                let error = event.error.unwrap_or_else(|| json(frame.data).unwrap_or_default());
                out.push(Sampled::Failed(fault::in_stream(&error, &self.asked)));
            }
            None => {}
        }
    }

    fn item(&mut self, name: &str, event: &Event, out: &mut Vec<Sampled>) {
        let item = event.item.as_ref().unwrap_or(&Value::Null);
        let id = event.item_id.as_deref().or(item["id"].as_str()).unwrap_or_default();
        let key = |stage| Key { id, index: event.output_index, stage };
        let piece = event.delta.as_deref().unwrap_or_default();
        match name {
            "output_item.added" => self.items.add(key(Stage::Pieces), item, &mut self.asked, out),
            "output_item.done" => {
                self.refused |= refuses(item);
                self.items.end(key(Stage::Ended), item, &mut self.asked, out);
            }
            "output_text.delta" => {
                self.items.extend(Class::Message, key(Stage::Pieces), piece, out);
            }
            "refusal.delta" => {
                self.refused = true;
                self.items.extend(Class::Message, key(Stage::Pieces), piece, out);
            }
            "reasoning_summary_text.delta" | "reasoning_text.delta" => {
                self.items.extend(Class::Reasoning, key(Stage::Pieces), piece, out);
            }
            "reasoning_summary_part.added" => self.items.part(key(Stage::Pieces), out),
            "function_call_arguments.delta" => {
                self.items.extend(Class::Call, key(Stage::Pieces), piece, out);
            }
            "function_call_arguments.done" => {
                let text = event.arguments.as_ref().map(arguments).unwrap_or_default();
                self.items.whole(Class::Call, key(Stage::Whole), &text, out);
            }
            "output_text.done" => {
                let text = event.text.as_deref().unwrap_or_default();
                self.items.whole(Class::Message, key(Stage::Whole), text, out);
            }
            "refusal.done" => {
                self.refused = true;
                let text = event.refusal.as_deref().unwrap_or_default();
                self.items.whole(Class::Message, key(Stage::Whole), text, out);
            }
            _ => {}
        }
    }

    fn begun(&mut self, response: &Value) {
        if let Some(model) = response["model"].as_str() {
            model.clone_into(&mut self.model);
        }
    }

    fn over(&mut self, name: &str, response: &Value, out: &mut Vec<Sampled>) {
        self.begun(response);
        let status = response["status"].as_str().unwrap_or(name);
        if status == "failed" {
            out.push(match &response["error"] {
                Value::Null => Sampled::Failed(Failure::Broken { said: String::new() }),
                error => Sampled::Failed(fault::in_stream(error, &self.asked)),
            });
            return;
        }
        if self.items.is_empty() {
            // a server that does not stream sends all items at once
            for (index, item) in (0..).zip(response["output"].as_array().into_iter().flatten()) {
                let id = item["id"].as_str().unwrap_or_default();
                self.refused |= refuses(item);
                let key = Key { id, index: Some(index), stage: Stage::Ended };
                self.items.end(key, item, &mut self.asked, out);
            }
        }
        self.count(&response["usage"]);
        let stop = self.stop(status, response["incomplete_details"]["reason"].as_str());
        let blocks = self.items.finish(dialect::cuts_calls(&stop), &mut self.asked);
        let model = std::mem::take(&mut self.model);
        let reply = Reply { blocks, stop, usage: self.usage, model, by: String::new() };
        out.push(Sampled::Done(reply));
    }

    /// Stores the token counts, which are totals. The input's count includes tokens from the cache.
    fn count(&mut self, usage: &Value) {
        let count = |value: &Value| value.as_u64().unwrap_or(0);
        self.usage.cache_read = count(&usage["input_tokens_details"]["cached_tokens"]);
        self.usage.input = count(&usage["input_tokens"]).saturating_sub(self.usage.cache_read);
        self.usage.output = count(&usage["output_tokens"]);
    }

    fn stop(&self, status: &str, reason: Option<&str>) -> Stop {
        match (status, reason) {
            _ if self.refused => Stop::Refusal,
            ("incomplete", Some("max_output_tokens")) => Stop::MaxTokens,
            ("incomplete", Some("content_filter")) => Stop::Refusal,
            ("incomplete", reason) => Stop::Unknown(reason.unwrap_or("no reason").to_owned()),
            ("completed" | "done", _) if self.items.has_calls() => Stop::ToolUse,
            ("completed" | "done", _) => Stop::EndTurn,
            (status, _) => Stop::Unknown(status.to_owned()),
        }
    }
}

fn refuses(item: &Value) -> bool {
    let parts = item["content"].as_array();
    parts.into_iter().flatten().any(|part| part["type"] == "refusal")
}
