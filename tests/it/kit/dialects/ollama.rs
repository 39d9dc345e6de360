//! Ollama's own chat.

use super::gemini::Ids;
use super::{Dialect, Headers, Said, Turn, flat};
use crate::kit::http::{Request, chunk};
use crate::kit::reply::{Part, Reply, Step, Usage, pieces};
use crate::kit::rules::{self, Checked};
use crate::kit::server::Server;
use crate::kit::setup::Setup;
use serde_json::{Map, Value, json};

pub struct Ollama;

impl Dialect for Ollama {
    fn serves(&self, path: &str) -> bool {
        path == "/api/chat"
    }

    fn choose(&self, setup: Setup, server: &Server) -> Setup {
        setup.ollama(server)
    }

    fn is_local(&self) -> bool {
        true
    }

    fn headers(&self, _request: &Request) -> Headers {
        Ok(())
    }

    fn check(&self, _request: &Request, body: &Map<String, Value>) -> Checked {
        rules::ollama::check(body)
    }

    fn error(&self, _status: u16, _code: Option<&str>, message: &str) -> Value {
        json!({ "error": message })
    }

    fn content_type(&self) -> &'static str {
        "application/x-ndjson"
    }

    fn write(&self, reply: &Reply, request: &Request) -> Vec<Step> {
        let mut writer = Writer { steps: Vec::new(), model: request.json["model"].clone() };
        writer.reply(reply, request);
        writer.steps
    }

    fn read(&self, body: &Value) -> Vec<Turn> {
        let mut ids = Ids::default();
        let messages = body["messages"].as_array().into_iter().flatten();
        let read = |message: &Value| {
            let content = flat(&message["content"]);
            let mut said = Vec::new();
            if message["role"] == "tool" {
                said.push(ids.answer(content));
                return Turn::new("tool", said);
            }
            if !flat(&message["thinking"]).is_empty() {
                said.push(Said::Thinking(flat(&message["thinking"])));
            }
            if !content.is_empty() {
                said.push(Said::Text(content));
            }
            let calls = message["tool_calls"].as_array().into_iter().flatten();
            said.extend(calls.map(|call| ids.call(&call["function"]["name"])));
            Turn::new(&flat(&message["role"]), said)
        };
        messages.map(read).collect()
    }
}

/// Writes the lines of an answer.
struct Writer {
    steps: Vec<Step>,
    model: Value,
}

impl Writer {
    fn line(&self, message: &Value) -> Vec<u8> {
        let line = json!({"model": self.model, "created_at": "2026-01-01T00:00:00Z",
            "message": message, "done": false});
        chunk(format!("{line}\n").as_bytes())
    }

    fn say(&mut self, field: &str, value: &Value) {
        let mut message = json!({"role": "assistant", "content": ""});
        message[field] = value.clone();
        let line = self.line(&message);
        self.steps.push(Step::Bytes(line));
    }

    fn reply(&mut self, reply: &Reply, request: &Request) {
        for part in &reply.parts {
            if !self.part(part) {
                return;
            }
        }
        let reason = match reply.stop_reason() {
            "end_turn" | "tool_use" => "stop",
            "max_tokens" => "length",
            other => other,
        };
        let Usage { input, output, cache_read, cache_write } = reply.usage;
        // Reports at least the tokens of the whole request as read, even if the test has set fewer.
        let read = (input + cache_read + cache_write).max(request.body.len() as u64 / 4);
        let line = json!({"model": self.model, "created_at": "2026-01-01T00:00:00Z",
            "message": {"role": "assistant", "content": ""}, "done": true, "done_reason": reason,
            "total_duration": 9, "prompt_eval_count": read, "eval_count": output});
        self.steps.push(Step::Bytes(chunk(format!("{line}\n").as_bytes())));
        self.steps.push(Step::Bytes(chunk(b"")));
    }

    /// Writes a part of a reply. False if the stream ends after this part.
    fn part(&mut self, part: &Part) -> bool {
        match part {
            Part::Text(text) => {
                for piece in pieces(text) {
                    self.say("content", &piece.into());
                }
            }
            Part::Thinking(text) => {
                for piece in pieces(text) {
                    self.say("thinking", &piece.into());
                }
            }
            Part::Call { name, input, .. } => {
                // Arguments that are not JSON are sent as a string, as a broken server would do.
                let arguments =
                    serde_json::from_str(input).unwrap_or_else(|_| Value::from(input.as_str()));
                let function = json!({"name": name, "arguments": arguments});
                self.say("tool_calls", &json!([{ "function": function }]));
            }
            Part::Block(_) => {}
            Part::Gate => self.steps.push(Step::Gate),
            Part::Cut => self.steps.push(Step::Cut),
            Part::Error { message, .. } => {
                let line = json!({ "error": message });
                self.steps.push(Step::Bytes(chunk(format!("{line}\n").as_bytes())));
                self.steps.push(Step::Bytes(chunk(b"")));
            }
            Part::Endless(text) => {
                let line = self.line(&json!({"role": "assistant", "content": text}));
                self.steps.push(Step::Endless(line));
            }
        }
        !matches!(part, Part::Cut | Part::Error { .. } | Part::Endless(_))
    }
}
