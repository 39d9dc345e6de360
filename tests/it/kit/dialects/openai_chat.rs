//! The Chat Completions API of `OpenAI` and many others.

use super::{Dialect, Headers, Said, Turn, flat};
use crate::kit::http::{Request, chunk};
use crate::kit::reply::{Part, Reply, Step, Usage, pieces};
use crate::kit::rules::{self, Checked};
use crate::kit::server::Server;
use crate::kit::setup::Setup;
use serde_json::{Map, Value, json};

pub struct OpenAiChat;

impl Dialect for OpenAiChat {
    fn serves(&self, path: &str) -> bool {
        path == "/v1/chat/completions" || is_deployment(path)
    }

    fn choose(&self, setup: Setup, server: &Server) -> Setup {
        setup.openai(server)
    }

    fn headers(&self, request: &Request) -> Headers {
        if !is_deployment(&request.path) {
            return bearer(request);
        }
        if request.header("api-key").is_none_or(str::is_empty) {
            return Err((401, "Access denied due to missing subscription key."));
        }
        let versioned = request.path.contains("?api-version=2");
        versioned.then_some(()).ok_or((404, "Resource not found"))
    }

    fn check(&self, _request: &Request, body: &Map<String, Value>) -> Checked {
        rules::openai_chat::check(body)
    }

    fn error(&self, status: u16, code: Option<&str>, message: &str) -> Value {
        error(status, code, message)
    }

    fn write(&self, reply: &Reply, request: &Request) -> Vec<Step> {
        let model = match &request.json["model"] {
            _ if is_deployment(&request.path) => "gpt-5-2025-08-07".into(),
            model => model.clone(),
        };
        let mut writer = Writer { steps: Vec::new(), model, calls: 0 };
        writer.reply(reply, &request.json);
        writer.steps
    }

    fn read(&self, body: &Value) -> Vec<Turn> {
        let messages = body["messages"].as_array().cloned().unwrap_or_default();
        messages.iter().map(turn).collect()
    }
}

/// Whether this is the path of an Azure deployment.
fn is_deployment(path: &str) -> bool {
    path.starts_with("/openai/deployments/") && path.contains("/chat/completions")
}

/// Checks that the request has the key as a bearer token.
pub(super) fn bearer(request: &Request) -> Headers {
    let key = request.header("authorization").and_then(|value| value.strip_prefix("Bearer "));
    match key {
        Some(key) if !key.is_empty() => Ok(()),
        _ => Err((401, "You didn't provide an API key.")),
    }
}

/// An error object in `OpenAI`'s format.
pub(super) fn error(status: u16, code: Option<&str>, message: &str) -> Value {
    let (kind, usual) = match status {
        401 => ("invalid_request_error", Some("invalid_api_key")),
        404 => ("invalid_request_error", Some("model_not_found")),
        429 => ("requests", Some("rate_limit_exceeded")),
        400..=499 => ("invalid_request_error", None),
        _ => ("server_error", None),
    };
    let kind = code.filter(|code| *code == "insufficient_quota").unwrap_or(kind);
    json!({"error": {"message": message, "type": kind, "param": null, "code": code.or(usual)}})
}

fn turn(message: &Value) -> Turn {
    let mut said = Vec::new();
    match (&message["tool_call_id"], &message["content"]) {
        (Value::String(id), content) => {
            said.push(Said::Answer { id: id.clone(), text: flat(content) });
        }
        (_, Value::Null) => {}
        (_, Value::Array(parts)) => {
            said.extend(parts.iter().map(|part| Said::Text(flat(&part["text"]))));
        }
        (_, content) => said.push(Said::Text(flat(content))),
    }
    for call in message["tool_calls"].as_array().into_iter().flatten() {
        said.push(Said::Call { id: flat(&call["id"]), name: flat(&call["function"]["name"]) });
    }
    Turn::new(&flat(&message["role"]), said)
}

/// Writes the chunks of the Chat Completions API.
struct Writer {
    steps: Vec<Step>,
    model: Value,
    calls: usize,
}

impl Writer {
    fn chunk(&mut self, choices: &Value, usage: &Value) {
        let frame = self.frame(choices, usage);
        self.steps.push(Step::Bytes(chunk(frame.as_bytes())));
    }

    fn frame(&self, choices: &Value, usage: &Value) -> String {
        let data = json!({"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1_760_000_000,
            "model": self.model, "system_fingerprint": "fp_1", "choices": choices, "usage": usage});
        format!("data: {data}\n\n")
    }

    fn delta(&mut self, delta: &Value) {
        self.chunk(&Self::choice(delta, &Value::Null), &Value::Null);
    }

    fn choice(delta: &Value, finish: &Value) -> Value {
        json!([{"index": 0, "delta": delta, "logprobs": null, "finish_reason": finish}])
    }

    fn reply(&mut self, reply: &Reply, body: &Value) {
        self.delta(&json!({"role": "assistant", "content": "", "refusal": null}));
        for part in &reply.parts {
            if !self.part(part) {
                return;
            }
        }
        let finish = match reply.stop_reason() {
            "end_turn" => "stop",
            "tool_use" => "tool_calls",
            "max_tokens" => "length",
            "refusal" => "content_filter",
            other => other,
        };
        self.chunk(&Self::choice(&json!({}), &finish.into()), &Value::Null);
        if body["stream_options"]["include_usage"] == true {
            let Usage { input, output, cache_read, cache_write } = reply.usage;
            let prompt = input + cache_read + cache_write;
            self.chunk(
                &json!([]),
                &json!({"prompt_tokens": prompt, "completion_tokens": output, "total_tokens": prompt + output,
                    "prompt_tokens_details": {"cached_tokens": cache_read}}),
            );
        }
        self.steps.push(Step::Bytes(chunk(b"data: [DONE]\n\n")));
        self.steps.push(Step::Bytes(chunk(b"")));
    }

    /// Writes a part of a reply. False if the stream ends after this part.
    fn part(&mut self, part: &Part) -> bool {
        match part {
            Part::Text(text) => {
                for piece in pieces(text) {
                    self.delta(&json!({"content": piece}));
                }
            }
            Part::Thinking(text) => {
                for piece in pieces(text) {
                    self.delta(&json!({"reasoning_content": piece}));
                }
            }
            Part::Call { id, name, input } => self.call(id, name, input),
            Part::Block(delta) => self.delta(delta),
            Part::Gate => self.steps.push(Step::Gate),
            Part::Cut => self.steps.push(Step::Cut),
            Part::Error { kind, message } => {
                let error = json!({"error": {"message": message, "type": kind, "code": null}});
                self.steps.push(Step::Bytes(chunk(format!("data: {error}\n\n").as_bytes())));
                self.steps.push(Step::Bytes(chunk(b"")));
            }
            Part::Endless(text) => {
                let choice = Self::choice(&json!({"content": text}), &Value::Null);
                let frame = self.frame(&choice, &Value::Null);
                self.steps.push(Step::Endless(chunk(frame.as_bytes())));
            }
        }
        !matches!(part, Part::Cut | Part::Error { .. } | Part::Endless(_))
    }

    fn call(&mut self, id: &str, name: &str, input: &str) {
        let index = self.calls;
        self.calls += 1;
        self.delta(&json!({"tool_calls": [{"index": index, "id": id, "type": "function",
            "function": {"name": name, "arguments": ""}}]}));
        for piece in pieces(input) {
            self.delta(
                &json!({"tool_calls": [{"index": index, "function": {"arguments": piece}}]}),
            );
        }
    }
}
