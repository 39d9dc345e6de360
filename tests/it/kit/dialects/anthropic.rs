//! Anthropic's Messages API.

use super::{Dialect, Headers, Said, Turn, flat};
use crate::kit::http::{Request, chunk};
use crate::kit::reply::{Part, Reply, Step, Usage, pieces};
use crate::kit::rules::{self, Checked};
use crate::kit::server::Server;
use crate::kit::setup::Setup;
use serde_json::{Map, Value, json};

pub struct Anthropic;

impl Dialect for Anthropic {
    fn serves(&self, path: &str) -> bool {
        path == "/v1/messages"
    }

    fn choose(&self, setup: Setup, server: &Server) -> Setup {
        setup.anthropic(server)
    }

    fn headers(&self, request: &Request) -> Headers {
        if request.header("x-api-key").is_none_or(str::is_empty) {
            return Err((401, "x-api-key header is required"));
        }
        if request.header("anthropic-version") != Some("2023-06-01") {
            return Err((400, "anthropic-version: header is required"));
        }
        Ok(())
    }

    fn check(&self, _request: &Request, body: &Map<String, Value>) -> Checked {
        rules::anthropic::check(body)
    }

    fn error(&self, status: u16, _code: Option<&str>, message: &str) -> Value {
        let kind = match status {
            401 => "authentication_error",
            403 => "permission_error",
            404 => "not_found_error",
            413 => "request_too_large",
            429 => "rate_limit_error",
            529 => "overloaded_error",
            400..=499 => "invalid_request_error",
            _ => "api_error",
        };
        json!({"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_01"})
    }

    fn write(&self, reply: &Reply, request: &Request) -> Vec<Step> {
        let mut writer = Writer::default();
        writer.reply(reply, &request.json);
        writer.steps
    }

    fn read(&self, body: &Value) -> Vec<Turn> {
        let system = Turn::new("system", [Said::Text(flat(&body["system"]))]);
        let messages = body["messages"].as_array().cloned().unwrap_or_default();
        let read = |message: &Value| {
            let said = match &message["content"] {
                Value::Array(blocks) => blocks.iter().map(block).collect(),
                text => vec![Said::Text(flat(text))],
            };
            Turn::new(&flat(&message["role"]), said)
        };
        let system = Some(system).filter(|_| body.get("system").is_some());
        system.into_iter().chain(messages.iter().map(read)).collect()
    }
}

fn block(block: &Value) -> Said {
    let field = |name: &str| flat(&block[name]);
    match block["type"].as_str() {
        Some("tool_use") => Said::Call { id: field("id"), name: field("name") },
        Some("tool_result") => Said::Answer { id: field("tool_use_id"), text: field("content") },
        Some("thinking") => Said::Thinking(field("thinking")),
        _ => Said::Text(field("text")),
    }
}

/// Writes the events of the Messages API.
#[derive(Default)]
struct Writer {
    steps: Vec<Step>,
    index: usize,
    /// The type of the open block.
    open: Option<&'static str>,
    /// The thought to be signed.
    thought: String,
}

impl Writer {
    fn event(&mut self, data: &Value) {
        self.steps.push(Step::Bytes(chunk(Self::frame(data).as_bytes())));
    }

    fn frame(data: &Value) -> String {
        format!("event: {}\ndata: {data}\n\n", data["type"].as_str().unwrap())
    }

    fn reply(&mut self, reply: &Reply, body: &Value) {
        let Usage { input, output, cache_read, cache_write } = reply.usage;
        self.event(&json!({"type": "message_start", "message": {
            "id": "msg_01", "type": "message", "role": "assistant", "model": body["model"], "content": [],
            "stop_reason": null, "stop_sequence": null,
            "usage": {"input_tokens": input, "cache_creation_input_tokens": cache_write,
                      "cache_read_input_tokens": cache_read, "output_tokens": 1},
        }}));
        self.event(&json!({"type": "ping"}));
        for part in &reply.parts {
            if !self.part(part) {
                return;
            }
        }
        self.close();
        self.event(&json!({"type": "message_delta",
            "delta": {"stop_reason": reply.stop_reason(), "stop_sequence": null},
            "usage": {"output_tokens": output}}));
        self.event(&json!({"type": "message_stop"}));
        self.steps.push(Step::Bytes(chunk(b"")));
    }

    /// Writes a part of a reply. False if the stream ends after this part.
    fn part(&mut self, part: &Part) -> bool {
        match part {
            Part::Text(text) => {
                self.open("text", &json!({"type": "text", "text": ""}));
                for piece in pieces(text) {
                    self.delta("text_delta", "text", &piece);
                }
            }
            Part::Thinking(text) => {
                let block = json!({"type": "thinking", "thinking": "", "signature": ""});
                self.open("thinking", &block);
                self.thought.push_str(text);
                for piece in pieces(text) {
                    self.delta("thinking_delta", "thinking", &piece);
                }
            }
            Part::Call { id, name, input } => {
                self.close();
                self.open(
                    "tool_use",
                    &json!({"type": "tool_use", "id": id, "name": name, "input": {}}),
                );
                self.delta("input_json_delta", "partial_json", "");
                for piece in pieces(input) {
                    self.delta("input_json_delta", "partial_json", &piece);
                }
                self.close();
            }
            Part::Block(block) => {
                self.close();
                self.open("block", block);
                self.close();
            }
            Part::Gate => self.steps.push(Step::Gate),
            Part::Cut => self.steps.push(Step::Cut),
            Part::Error { kind, message } => {
                self.event(&json!({"type": "error", "error": {"type": kind, "message": message}}));
                self.steps.push(Step::Bytes(chunk(b"")));
            }
            Part::Endless(text) => {
                self.open("text", &json!({"type": "text", "text": ""}));
                let delta = json!({"type": "content_block_delta", "index": self.index,
                    "delta": {"type": "text_delta", "text": text}});
                self.steps.push(Step::Endless(chunk(Self::frame(&delta).as_bytes())));
            }
        }
        !matches!(part, Part::Cut | Part::Error { .. } | Part::Endless(_))
    }

    fn open(&mut self, kind: &'static str, block: &Value) {
        if self.open == Some(kind) {
            return;
        }
        self.close();
        self.open = Some(kind);
        self.event(
            &json!({"type": "content_block_start", "index": self.index, "content_block": block}),
        );
    }

    fn close(&mut self) {
        let Some(kind) = self.open.take() else { return };
        if kind == "thinking" {
            let signature = rules::anthropic::signature(&std::mem::take(&mut self.thought));
            self.delta("signature_delta", "signature", &signature);
        }
        self.event(&json!({"type": "content_block_stop", "index": self.index}));
        self.index += 1;
    }

    fn delta(&mut self, kind: &str, field: &str, text: &str) {
        let delta = json!({"type": kind, field: text});
        self.event(&json!({"type": "content_block_delta", "index": self.index, "delta": delta}));
    }
}
