//! What a test lets the model answer, written once and rendered as either provider would send it.

use super::http::{chunk, stream_head, whole};
use super::rules::{Dialect, error_body};
use serde_json::{Value, json};

/// A reply in the making; see `Server::reply`.
#[derive(Debug, Clone, Default)]
pub struct Reply {
    parts: Vec<Part>,
    stop: Option<String>,
    usage: Usage,
    /// In place of a stream of events.
    whole: Option<Whole>,
    headers: Vec<(String, String)>,
    /// Not even the head is sent before the first release.
    held: bool,
}

#[derive(Debug, Clone)]
enum Part {
    Text(String),
    Thinking(String),
    Call { id: String, name: String, input: String },
    Gate,
    Cut,
    Error { kind: String, message: String },
    Endless(String),
}

#[derive(Debug, Clone)]
enum Whole {
    Error { status: u16, code: Option<&'static str>, message: String },
    Raw { status: u16, body: Vec<u8> },
}

#[derive(Debug, Clone, Copy)]
struct Usage {
    input: u64,
    output: u64,
    cache_read: u64,
    cache_write: u64,
}

impl Default for Usage {
    fn default() -> Self {
        Usage { input: 10, output: 5, cache_read: 0, cache_write: 0 }
    }
}

/// What the connection does, in order.
#[derive(Debug, PartialEq)]
pub(super) enum Step {
    Bytes(Vec<u8>),
    /// Waits for a release.
    Gate,
    /// Closes the connection, the body unfinished.
    Cut,
    /// These bytes again and again, until the client closes.
    Endless(Vec<u8>),
}

impl Reply {
    pub fn new() -> Reply {
        Reply::default()
    }

    /// A reply of one text.
    pub fn said(text: &str) -> Reply {
        Reply::new().text(text)
    }

    /// One text, each piece of it sent when the test releases it.
    pub fn chunks<'a>(pieces: impl IntoIterator<Item = &'a str>) -> Reply {
        pieces.into_iter().fold(Reply::new(), |reply, piece| reply.gate().text(piece))
    }

    /// An error as the provider words it: 400, 401, 403, 404 (the model), 429, 500, 529 and the like.
    pub fn error(status: u16) -> Reply {
        let message = match status {
            401 => "invalid x-api-key",
            403 => "Your API key does not have permission to use the specified resource.",
            404 => "model: no-such-model",
            429 => "This request would exceed your organization's rate limit.",
            529 => "Overloaded",
            400 => "invalid request",
            _ => "Internal server error",
        };
        Reply::failing(status, None, message)
    }

    /// The request is longer than the model's window.
    pub fn too_long() -> Reply {
        let message = "prompt is too long: 250000 tokens > 200000 maximum";
        Reply::failing(400, Some("context_length_exceeded"), message)
    }

    /// The account has no money left.
    pub fn no_quota() -> Reply {
        let message = "You exceeded your current quota: your credit balance is too low.";
        Reply::failing(429, Some("insufficient_quota"), message)
    }

    fn failing(status: u16, code: Option<&'static str>, message: &str) -> Reply {
        let whole = Whole::Error { status, code, message: message.into() };
        Reply { whole: Some(whole), ..Reply::default() }
    }

    /// These bytes as the body, with a content length.
    pub fn raw(status: u16, headers: &[(&str, &str)], body: impl AsRef<[u8]>) -> Reply {
        let whole = Whole::Raw { status, body: body.as_ref().to_vec() };
        let reply = Reply { whole: Some(whole), ..Reply::default() };
        headers.iter().fold(reply, |reply, (name, value)| reply.header(name, value))
    }

    /// What a captive portal answers: a page, with status 200.
    pub fn html() -> Reply {
        let page = "<!DOCTYPE html><html><body>Sign in to the network</body></html>";
        Reply::raw(200, &[("content-type", "text/html")], page)
    }

    /// No answer at all until the test releases it (then a text).
    pub fn hang() -> Reply {
        Reply::said("late").held()
    }

    /// A text that never ends.
    pub fn endless(piece: &str) -> Reply {
        let mut reply = Reply::new();
        reply.parts.push(Part::Endless(piece.into()));
        reply
    }

    #[must_use]
    pub fn text(self, text: &str) -> Reply {
        self.part(Part::Text(text.into()))
    }

    #[must_use]
    pub fn thinking(self, text: &str) -> Reply {
        self.part(Part::Thinking(text.into()))
    }

    /// A tool call.
    #[must_use]
    pub fn call(self, id: &str, name: &str, input: impl Into<Value>) -> Reply {
        self.call_raw(id, name, &input.into().to_string())
    }

    /// A tool call whose arguments are this text, JSON or not.
    #[must_use]
    pub fn call_raw(self, id: &str, name: &str, input: &str) -> Reply {
        self.part(Part::Call { id: id.into(), name: name.into(), input: input.into() })
    }

    /// What follows waits for a release.
    #[must_use]
    pub fn gate(self) -> Reply {
        self.part(Part::Gate)
    }

    /// The connection is closed here.
    #[must_use]
    pub fn cut(self) -> Reply {
        self.part(Part::Cut)
    }

    /// An error in the middle of the stream, after a 200; the stream ends with it.
    #[must_use]
    pub fn stream_error(self, kind: &str, message: &str) -> Reply {
        self.part(Part::Error { kind: kind.into(), message: message.into() })
    }

    /// The stop reason in Anthropic's words (`end_turn`, `tool_use`, `max_tokens`, …); without it what the
    /// parts suggest.
    #[must_use]
    pub fn stop(mut self, reason: &str) -> Reply {
        self.stop = Some(reason.into());
        self
    }

    /// Tokens in (beside the cached ones) and out.
    #[must_use]
    pub fn usage(mut self, input: u64, output: u64) -> Reply {
        self.usage = Usage { input, output, ..self.usage };
        self
    }

    /// Tokens read from and written to the cache.
    #[must_use]
    pub fn cached(mut self, read: u64, written: u64) -> Reply {
        self.usage = Usage { cache_read: read, cache_write: written, ..self.usage };
        self
    }

    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Reply {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Not even the head is sent before the first release.
    #[must_use]
    pub fn held(mut self) -> Reply {
        self.held = true;
        self
    }

    fn part(mut self, part: Part) -> Reply {
        self.parts.push(part);
        self
    }

    /// The steps of the answer to this request body. Only raw replies suit a path of neither dialect.
    pub(super) fn render(&self, dialect: Option<Dialect>, body: &Value) -> Vec<Step> {
        let mut steps = Vec::new();
        if self.held {
            steps.push(Step::Gate);
        }
        let mut headers = self.headers.clone();
        match (&self.whole, dialect) {
            (Some(Whole::Raw { status, body }), _) => {
                steps.push(Step::Bytes(whole(*status, &headers, body)));
            }
            (Some(Whole::Error { status, code, message }), dialect) => {
                headers.push(("content-type".into(), "application/json".into()));
                let dialect = dialect.unwrap_or(Dialect::OpenAi);
                let body = error_body(dialect, *status, *code, message).to_string();
                steps.push(Step::Bytes(whole(*status, &headers, body.as_bytes())));
            }
            (None, Some(Dialect::Anthropic)) => {
                steps.push(Step::Bytes(stream_head(&headers)));
                Anthropic { steps: &mut steps, index: 0, open: None }.reply(self, body);
            }
            (None, Some(Dialect::OpenAi)) => {
                steps.push(Step::Bytes(stream_head(&headers)));
                OpenAi { steps: &mut steps, model: body["model"].clone(), calls: 0 }
                    .reply(self, body);
            }
            (None, None) => steps.push(Step::Bytes(whole(404, &headers, b"no such path"))),
        }
        steps
    }

    fn stop_reason(&self) -> &str {
        let calls = self.parts.iter().any(|part| matches!(part, Part::Call { .. }));
        self.stop.as_deref().unwrap_or(if calls { "tool_use" } else { "end_turn" })
    }
}

/// A text in pieces as small as models send them.
fn pieces(text: &str) -> Vec<String> {
    let characters: Vec<char> = text.chars().collect();
    characters.chunks(20).map(|piece| piece.iter().collect()).collect()
}

/// Writes the events of the Messages API.
struct Anthropic<'a> {
    steps: &'a mut Vec<Step>,
    index: usize,
    /// The type of the block that is open.
    open: Option<&'static str>,
}

impl Anthropic<'_> {
    fn event(&mut self, data: &Value) {
        self.steps.push(Step::Bytes(chunk(Self::frame(data).as_bytes())));
    }

    fn frame(data: &Value) -> String {
        format!("event: {}\ndata: {data}\n\n", data["type"].as_str().unwrap())
    }

    fn reply(mut self, reply: &Reply, body: &Value) {
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

    /// False where the stream ends with it.
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
            self.delta("signature_delta", "signature", "c2lnbmVk");
        }
        self.event(&json!({"type": "content_block_stop", "index": self.index}));
        self.index += 1;
    }

    fn delta(&mut self, kind: &str, field: &str, text: &str) {
        let delta = json!({"type": kind, field: text});
        self.event(&json!({"type": "content_block_delta", "index": self.index, "delta": delta}));
    }
}

/// Writes the chunks of the Chat Completions API.
struct OpenAi<'a> {
    steps: &'a mut Vec<Step>,
    model: Value,
    calls: usize,
}

impl OpenAi<'_> {
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

    fn reply(mut self, reply: &Reply, body: &Value) {
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

    /// False where the stream ends with it.
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
