//! `OpenAI`'s Responses API.

use super::openai_chat::{bearer, error};
use super::{Dialect, Headers, Said, Turn, flat};
use crate::kit::http::{Request, chunk};
use crate::kit::reply::{Part, Reply, Step, Usage, pieces};
use crate::kit::rules::{self, Checked};
use crate::kit::server::Server;
use crate::kit::setup::Setup;
use serde_json::{Map, Value, json};

pub struct OpenAiResponses;

impl Dialect for OpenAiResponses {
    fn serves(&self, path: &str) -> bool {
        path == "/v1/responses"
    }

    fn choose(&self, setup: Setup, server: &Server) -> Setup {
        setup.openai(server).before(
            "vim.g.caliban = vim.tbl_deep_extend('force', vim.g.caliban,
               { providers = { openai = { dialect = 'openai-responses' } } })",
        )
    }

    fn headers(&self, request: &Request) -> Headers {
        bearer(request)
    }

    fn check(&self, _request: &Request, body: &Map<String, Value>) -> Checked {
        rules::openai_responses::check(body)
    }

    fn error(&self, status: u16, code: Option<&str>, message: &str) -> Value {
        error(status, code, message)
    }

    fn write(&self, reply: &Reply, request: &Request) -> Vec<Step> {
        let body = &request.json;
        let mut writer = Writer {
            steps: Vec::new(),
            model: body["model"].clone(),
            before: body["input"].as_array().map_or(0, Vec::len),
            output: Vec::new(),
            open: None,
            events: 0,
        };
        writer.reply(reply);
        writer.steps
    }

    fn read(&self, body: &Value) -> Vec<Turn> {
        let mut turns = Vec::new();
        if let Some(system) = body.get("instructions") {
            turns.push(Turn::new("system", [Said::Text(flat(system))]));
        }
        for item in body["input"].as_array().into_iter().flatten() {
            let (role, said) = self::said(item);
            match turns.last_mut() {
                Some(last) if role == "assistant" && last.role == role => last.said.extend(said),
                _ => turns.push(Turn::new(&role, said)),
            }
        }
        turns
    }
}

/// The role of an item, and its content.
fn said(item: &Value) -> (String, Vec<Said>) {
    let field = |name: &str| flat(&item[name]);
    match item["type"].as_str() {
        Some("function_call_output") => {
            ("tool".into(), vec![Said::Answer { id: field("call_id"), text: field("output") }])
        }
        Some("function_call") => {
            ("assistant".into(), vec![Said::Call { id: field("call_id"), name: field("name") }])
        }
        Some("reasoning") => ("assistant".into(), vec![Said::Thinking(field("summary"))]),
        _ => {
            let parts = item["content"].as_array().into_iter().flatten();
            (field("role"), parts.map(|part| Said::Text(flat(&part["text"]))).collect())
        }
    }
}

/// Writes the events of a response.
struct Writer {
    steps: Vec<Step>,
    model: Value,
    /// The number of items in the request. The reply's items are numbered from here, so that no id is used twice.
    before: usize,
    /// The finished items.
    output: Vec<Value>,
    /// The open item, and its text so far.
    open: Option<(Value, String)>,
    events: usize,
}

impl Writer {
    fn event(&mut self, kind: &str, data: Value) {
        let frame = self.frame(kind, data);
        self.steps.push(Step::Bytes(chunk(frame.as_bytes())));
    }

    fn frame(&mut self, kind: &str, mut data: Value) -> String {
        data["type"] = kind.into();
        data["sequence_number"] = self.events.into();
        self.events += 1;
        format!("event: {kind}\ndata: {data}\n\n")
    }

    fn response(&self, status: &str) -> Value {
        json!({"id": "resp_01", "object": "response", "created_at": 1_760_000_000, "status": status,
            "model": self.model, "output": self.output, "error": null, "incomplete_details": null,
            "usage": null})
    }

    fn reply(&mut self, reply: &Reply) {
        self.event("response.created", json!({"response": self.response("in_progress")}));
        self.event("response.in_progress", json!({"response": self.response("in_progress")}));
        for part in &reply.parts {
            if !self.part(part) {
                return;
            }
        }
        let reason = match reply.stop_reason() {
            "end_turn" | "tool_use" => None,
            "max_tokens" => Some("max_output_tokens"),
            "refusal" => Some("content_filter"),
            other => Some(other),
        };
        self.close();
        let status = if reason.is_some() { "incomplete" } else { "completed" };
        let mut response = self.response(status);
        if let Some(reason) = reason {
            response["incomplete_details"] = json!({"reason": reason});
        }
        let Usage { input, output, cache_read, cache_write } = reply.usage;
        let prompt = input + cache_read + cache_write;
        response["usage"] = json!({
            "input_tokens": prompt, "input_tokens_details": {"cached_tokens": cache_read},
            "output_tokens": output, "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": prompt + output});
        self.event(&format!("response.{status}"), json!({"response": response}));
        self.steps.push(Step::Bytes(chunk(b"")));
    }

    /// Writes a part of a reply. False if the stream ends after this part.
    fn part(&mut self, part: &Part) -> bool {
        match part {
            Part::Text(text) => {
                self.message();
                self.pieces("response.output_text.delta", "content_index", text);
            }
            Part::Thinking(text) => {
                self.open("reasoning", json!({"summary": []}));
                self.pieces("response.reasoning_summary_text.delta", "summary_index", text);
            }
            Part::Call { id, name, input } => {
                self.close();
                let call =
                    json!({"status": "in_progress", "call_id": id, "name": name, "arguments": ""});
                self.open("function_call", call);
                self.pieces("response.function_call_arguments.delta", "", input);
                self.close();
            }
            Part::Block(item) => {
                self.close();
                let item = json!({"output_index": self.output.len(), "item": item});
                self.event("response.output_item.added", item.clone());
                self.event("response.output_item.done", item.clone());
                self.output.push(item["item"].clone());
            }
            Part::Gate => self.steps.push(Step::Gate),
            Part::Cut => self.steps.push(Step::Cut),
            Part::Error { kind, message } => {
                self.event("error", json!({"code": kind, "message": message, "param": null}));
                self.steps.push(Step::Bytes(chunk(b"")));
            }
            Part::Endless(text) => {
                self.message();
                let delta = self.named(json!({"content_index": 0, "delta": text}));
                let frame = self.frame("response.output_text.delta", delta);
                self.steps.push(Step::Endless(chunk(frame.as_bytes())));
            }
        }
        !matches!(part, Part::Cut | Part::Error { .. } | Part::Endless(_))
    }

    fn message(&mut self) {
        let message = json!({"status": "in_progress", "role": "assistant", "content": []});
        self.open("message", message);
    }

    /// Opens an item, unless an item of the same type is open.
    fn open(&mut self, kind: &str, mut item: Value) {
        if self.open.as_ref().is_some_and(|(open, _)| open["type"] == kind) {
            return;
        }
        self.close();
        item["id"] = format!("{}_{}", &kind[..2], self.before + self.output.len()).into();
        item["type"] = kind.into();
        let added = json!({"output_index": self.output.len(), "item": item});
        self.event("response.output_item.added", added);
        self.open = Some((item, String::new()));
    }

    /// An event's data with the open item's id and index.
    fn named(&self, mut data: Value) -> Value {
        data["output_index"] = self.output.len().into();
        data["item_id"] = self.open.as_ref().unwrap().0["id"].clone();
        data
    }

    fn pieces(&mut self, kind: &str, index: &str, text: &str) {
        for piece in pieces(text) {
            let mut delta = self.named(json!({"delta": piece}));
            if !index.is_empty() {
                delta[index] = 0.into();
            }
            self.event(kind, delta);
        }
        self.open.as_mut().unwrap().1.push_str(text);
    }

    fn close(&mut self) {
        if self.open.is_none() {
            return;
        }
        let names = self.named(json!({}));
        let (mut item, text) = self.open.take().unwrap();
        let mut told = names;
        match item["type"].as_str().unwrap() {
            "message" => {
                item["content"] = json!([{"type": "output_text", "annotations": [], "text": text}]);
                item["status"] = "completed".into();
                told["text"] = text.into();
                self.event("response.output_text.done", told);
            }
            "reasoning" => {
                item["summary"] = json!([{"type": "summary_text", "text": text}]);
                item["encrypted_content"] = "c2VhbGVk".into();
                told["text"] = text.into();
                self.event("response.reasoning_summary_text.done", told);
            }
            _ => {
                item["arguments"] = text.clone().into();
                item["status"] = "completed".into();
                told["arguments"] = text.into();
                self.event("response.function_call_arguments.done", told);
            }
        }
        let done = json!({"output_index": self.output.len(), "item": item});
        self.event("response.output_item.done", done);
        self.output.push(item);
    }
}
