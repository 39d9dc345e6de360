//! Gemini's generateContent.

use super::{Dialect, Headers, Said, Turn, flat};
use crate::kit::http::{Request, chunk};
use crate::kit::reply::{Part, Reply, Step, Usage, pieces};
use crate::kit::rules::{self, Checked};
use crate::kit::server::Server;
use crate::kit::setup::Setup;
use serde_json::{Map, Value, json};

pub struct Gemini;

impl Dialect for Gemini {
    fn serves(&self, path: &str) -> bool {
        path.starts_with("/v1beta/models/") && path.ends_with(":streamGenerateContent")
    }

    fn choose(&self, setup: Setup, server: &Server) -> Setup {
        setup.gemini(server)
    }

    fn headers(&self, request: &Request) -> Headers {
        if request.header("x-goog-api-key").is_none_or(str::is_empty) {
            return Err((403, "Method doesn't allow unregistered callers."));
        }
        if !request.path.ends_with("?alt=sse") {
            return Err((400, "this server only streams events"));
        }
        Ok(())
    }

    fn check(&self, request: &Request, body: &Map<String, Value>) -> Checked {
        rules::gemini::check(&model(request), body)
    }

    fn error(&self, status: u16, _code: Option<&str>, message: &str) -> Value {
        json!([error(status, message)])
    }

    fn write(&self, reply: &Reply, request: &Request) -> Vec<Step> {
        let mut writer = Writer { steps: Vec::new(), model: model(request), signed: false };
        writer.reply(reply);
        writer.steps
    }

    fn read(&self, body: &Value) -> Vec<Turn> {
        let mut turns = Vec::new();
        if let Some(system) = body.get("systemInstruction") {
            turns.push(Turn::new("system", [Said::Text(flat(&system["parts"]))]));
        }
        let mut ids = Ids::default();
        for content in body["contents"].as_array().into_iter().flatten() {
            let parts = content["parts"].as_array().into_iter().flatten();
            let role = flat(&content["role"]);
            let role = if role == "model" { "assistant" } else { &role };
            turns
                .push(Turn::new(role, parts.filter_map(|part| ids.part(part)).collect::<Vec<_>>()));
        }
        turns
    }
}

/// The model that the path names.
fn model(request: &Request) -> String {
    let name = request.path.rsplit('/').next().unwrap_or_default();
    name.split(':').next().unwrap_or_default().to_owned()
}

fn error(status: u16, message: &str) -> Value {
    let (code, kind) = match status {
        400 => (400, "INVALID_ARGUMENT"),
        401 => (401, "UNAUTHENTICATED"),
        403 => (403, "PERMISSION_DENIED"),
        404 => (404, "NOT_FOUND"),
        429 => (429, "RESOURCE_EXHAUSTED"),
        503 | 529 => (503, "UNAVAILABLE"),
        other => (other, "INTERNAL"),
    };
    json!({"error": {"code": code, "message": message, "status": kind}})
}

/// Gives the ids `c1`, `c2`, … to calls and answers, as tests do. Gemini's API has no ids.
#[derive(Default)]
pub(super) struct Ids {
    calls: usize,
    answers: usize,
}

impl Ids {
    pub(super) fn call(&mut self, name: &Value) -> Said {
        self.calls += 1;
        Said::Call { id: format!("c{}", self.calls), name: flat(name) }
    }

    pub(super) fn answer(&mut self, text: String) -> Said {
        self.answers += 1;
        Said::Answer { id: format!("c{}", self.answers), text }
    }

    /// Reads a part; `None` for a part that holds only a signature.
    fn part(&mut self, part: &Value) -> Option<Said> {
        if let Some(call) = part.get("functionCall") {
            return Some(self.call(&call["name"]));
        }
        if let Some(answer) = part.get("functionResponse") {
            let response = &answer["response"];
            return Some(self.answer(flat(response.get("error").unwrap_or(&response["output"]))));
        }
        let text = flat(&part["text"]);
        match part["thought"] == true {
            _ if text.is_empty() => None,
            true => Some(Said::Thinking(text)),
            false => Some(Said::Text(text)),
        }
    }
}

/// Writes the chunks of an answer.
struct Writer {
    steps: Vec<Step>,
    model: String,
    /// Whether the reply's signature was written. The first call has the signature, or the end of a reply without
    /// calls.
    signed: bool,
}

impl Writer {
    fn frame(&self, candidate: &Value, usage: &Value) -> Vec<u8> {
        let data = json!({"candidates": [candidate], "usageMetadata": usage,
            "modelVersion": self.model, "responseId": "r1"});
        chunk(format!("data: {data}\r\n\r\n").as_bytes())
    }

    fn say(&mut self, part: &Value) {
        let candidate = json!({"content": {"parts": [part], "role": "model"}, "index": 0});
        let frame = self.frame(&candidate, &json!({"promptTokenCount": 1}));
        self.steps.push(Step::Bytes(frame));
    }

    fn reply(&mut self, reply: &Reply) {
        for part in &reply.parts {
            if !self.part(part) {
                return;
            }
        }
        let finish = match reply.stop_reason() {
            "end_turn" | "tool_use" => "STOP",
            "max_tokens" => "MAX_TOKENS",
            "refusal" => "SAFETY",
            other => other,
        };
        let mut candidate = json!({"finishReason": finish, "index": 0});
        if !self.signed && !reply.parts.is_empty() {
            let parts = json!([rules::gemini::signed(json!({"text": ""}))]);
            candidate["content"] = json!({"parts": parts, "role": "model"});
        }
        let Usage { input, output, cache_read, cache_write } = reply.usage;
        let usage = json!({"promptTokenCount": input + cache_read + cache_write,
            "cachedContentTokenCount": cache_read, "candidatesTokenCount": output});
        let frame = self.frame(&candidate, &usage);
        self.steps.push(Step::Bytes(frame));
        self.steps.push(Step::Bytes(chunk(b"")));
    }

    /// Writes a part of a reply. False if the stream ends after this part.
    fn part(&mut self, part: &Part) -> bool {
        match part {
            Part::Text(text) => {
                for piece in pieces(text) {
                    self.say(&json!({"text": piece}));
                }
            }
            Part::Thinking(text) => {
                for piece in pieces(text) {
                    self.say(&json!({"text": piece, "thought": true}));
                }
            }
            Part::Call { name, input, .. } => self.call(name, input),
            Part::Block(part) => self.say(part),
            Part::Gate => self.steps.push(Step::Gate),
            Part::Cut => self.steps.push(Step::Cut),
            Part::Error { kind, message } => {
                let status = if kind == "overloaded_error" { 503 } else { 500 };
                let frame = format!("data: {}\r\n\r\n", error(status, message));
                self.steps.push(Step::Bytes(chunk(frame.as_bytes())));
                self.steps.push(Step::Bytes(chunk(b"")));
            }
            Part::Endless(text) => {
                let parts = json!([{"text": text}]);
                let candidate = json!({"content": {"parts": parts, "role": "model"}, "index": 0});
                let frame = self.frame(&candidate, &Value::Null);
                self.steps.push(Step::Endless(frame));
            }
        }
        !matches!(part, Part::Cut | Part::Error { .. } | Part::Endless(_))
    }

    /// Adds a call. Arguments that are not JSON are sent as a string, as a broken server would do.
    fn call(&mut self, name: &str, input: &str) {
        let args = serde_json::from_str(input).unwrap_or_else(|_| Value::from(input));
        let part = json!({"functionCall": {"name": name, "args": args}});
        let sign = !std::mem::replace(&mut self.signed, true) && args.is_object();
        self.say(&if sign { rules::gemini::signed(part) } else { part });
    }
}
