//! A scripted reply of the model. A test writes it once; it can be sent in the format of any provider.

use super::dialects::{Dialect, openai_chat::OpenAiChat};
use super::http::{Request, stream_head, unframed, whole};
use serde_json::Value;

/// A reply to queue with `Server::reply`.
#[derive(Debug, Clone, Default)]
pub struct Reply {
    pub(super) parts: Vec<Part>,
    stop: Option<String>,
    pub(super) usage: Usage,
    /// A complete response that is sent instead of a stream of events.
    whole: Option<Whole>,
    headers: Vec<(String, String)>,
    /// Whether the whole response, including its head, waits until the test opens the first gate.
    held: bool,
    /// Whether each byte is sent separately.
    trickles: bool,
}

#[derive(Debug, Clone)]
pub(super) enum Part {
    Text(String),
    Thinking(String),
    Call {
        id: String,
        name: String,
        input: String,
    },
    /// A block of the Messages API, a delta of Chat Completions or a part of generateContent, sent unchanged.
    Block(Value),
    Gate,
    Cut,
    Error {
        kind: String,
        message: String,
    },
    Endless(String),
}

#[derive(Debug, Clone)]
enum Whole {
    Error {
        status: u16,
        code: Option<&'static str>,
        message: String,
    },
    Raw {
        status: u16,
        body: Vec<u8>,
    },
    /// Raw bytes instead of an HTTP response; then the connection is closed.
    Bytes(Vec<u8>),
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Usage {
    pub(super) input: u64,
    pub(super) output: u64,
    pub(super) cache_read: u64,
    pub(super) cache_write: u64,
}

impl Default for Usage {
    fn default() -> Self {
        Usage { input: 10, output: 5, cache_read: 0, cache_write: 0 }
    }
}

/// One action of the server on a connection. A reply is sent as a list of steps.
#[derive(Debug, PartialEq)]
pub enum Step {
    Bytes(Vec<u8>),
    /// Waits until the test opens a gate.
    Gate,
    /// Closes the connection before the body is complete.
    Cut,
    /// Sends these bytes repeatedly until the client closes the connection.
    Endless(Vec<u8>),
}

impl Step {
    /// Splits a step of bytes into one step for each byte.
    fn single(self) -> Vec<Step> {
        match self {
            Step::Bytes(bytes) => bytes.into_iter().map(|byte| Step::Bytes(vec![byte])).collect(),
            other => vec![other],
        }
    }
}

impl Reply {
    pub fn new() -> Reply {
        Reply::default()
    }

    /// A reply that is one text.
    pub fn said(text: &str) -> Reply {
        Reply::new().text(text)
    }

    /// A text in pieces. Each piece is sent when the test opens the next gate.
    pub fn chunks<'a>(pieces: impl IntoIterator<Item = &'a str>) -> Reply {
        pieces.into_iter().fold(Reply::new(), |reply, piece| reply.gate().text(piece))
    }

    /// An error with this status, in the provider's words.
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

    /// The error for a request that is longer than the model's context window.
    pub fn too_long() -> Reply {
        let message = "prompt is too long: 250000 tokens > 200000 maximum";
        Reply::failing(400, Some("context_length_exceeded"), message)
    }

    /// The error for an account without credit.
    pub fn no_quota() -> Reply {
        let message = "You exceeded your current quota: your credit balance is too low.";
        Reply::failing(429, Some("insufficient_quota"), message)
    }

    /// A 400 error with this message.
    pub fn rejected(message: &str) -> Reply {
        Reply::failing(400, None, message)
    }

    fn failing(status: u16, code: Option<&'static str>, message: &str) -> Reply {
        let whole = Whole::Error { status, code, message: message.into() };
        Reply { whole: Some(whole), ..Reply::default() }
    }

    /// A response with this status, these headers, this body and a content length.
    pub fn raw(status: u16, headers: &[(&str, &str)], body: impl AsRef<[u8]>) -> Reply {
        let whole = Whole::Raw { status, body: body.as_ref().to_vec() };
        let reply = Reply { whole: Some(whole), ..Reply::default() };
        headers.iter().fold(reply, |reply, (name, value)| reply.header(name, value))
    }

    /// These bytes instead of an HTTP response; then the connection is closed.
    pub fn bytes(bytes: impl AsRef<[u8]>) -> Reply {
        Reply { whole: Some(Whole::Bytes(bytes.as_ref().to_vec())), ..Reply::default() }
    }

    /// An HTML page with status 200, as a captive portal sends.
    pub fn html() -> Reply {
        let page = "<!DOCTYPE html><html><body>Sign in to the network</body></html>";
        Reply::raw(200, &[("content-type", "text/html")], page)
    }

    /// Sends nothing until the test opens the gate, then a text.
    pub fn hang() -> Reply {
        Reply::said("late").held()
    }

    /// A text that never ends.
    pub fn endless(piece: &str) -> Reply {
        Reply::new().on_and_on(piece)
    }

    /// From here on, sends this text again and again until the connection is closed.
    #[must_use]
    pub fn on_and_on(self, piece: &str) -> Reply {
        self.part(Part::Endless(piece.into()))
    }

    #[must_use]
    pub fn text(self, text: &str) -> Reply {
        self.part(Part::Text(text.into()))
    }

    #[must_use]
    pub fn thinking(self, text: &str) -> Reply {
        self.part(Part::Thinking(text.into()))
    }

    /// Adds a block, delta or part that is sent unchanged and exists in only one dialect.
    #[must_use]
    pub fn block(self, block: Value) -> Reply {
        self.part(Part::Block(block))
    }

    /// Adds a tool call.
    #[must_use]
    pub fn call(self, id: &str, name: &str, input: impl Into<Value>) -> Reply {
        self.call_raw(id, name, &input.into().to_string())
    }

    /// Adds a tool call whose arguments are this text, JSON or not.
    #[must_use]
    pub fn call_raw(self, id: &str, name: &str, input: &str) -> Reply {
        self.part(Part::Call { id: id.into(), name: name.into(), input: input.into() })
    }

    /// Adds a gate: the rest of the reply is sent once the test opens the gate.
    #[must_use]
    pub fn gate(self) -> Reply {
        self.part(Part::Gate)
    }

    /// Closes the connection at this point.
    #[must_use]
    pub fn cut(self) -> Reply {
        self.part(Part::Cut)
    }

    /// Ends the stream, whose status was 200, with an error event.
    #[must_use]
    pub fn stream_error(self, kind: &str, message: &str) -> Reply {
        self.part(Part::Error { kind: kind.into(), message: message.into() })
    }

    /// Sets the stop reason, in Anthropic's words (`end_turn`, `tool_use`, `max_tokens`, …). Without this call, the
    /// parts of the reply determine the stop reason.
    #[must_use]
    pub fn stop(mut self, reason: &str) -> Reply {
        self.stop = Some(reason.into());
        self
    }

    /// Sets the number of input tokens (without cached tokens) and of output tokens.
    #[must_use]
    pub fn usage(mut self, input: u64, output: u64) -> Reply {
        self.usage = Usage { input, output, ..self.usage };
        self
    }

    /// Sets the number of tokens that are read from the cache and written to the cache.
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

    /// Holds back the whole response, including its head, until the test opens the first gate.
    #[must_use]
    pub fn held(mut self) -> Reply {
        self.held = true;
        self
    }

    /// Sends the whole response, including the head, byte by byte.
    #[must_use]
    pub fn trickling(mut self) -> Reply {
        self.trickles = true;
        self
    }

    fn part(mut self, part: Part) -> Reply {
        self.parts.push(part);
        self
    }

    /// The steps that answer this request. Panics if `dialect` is `None` and the reply is not a complete response.
    pub(super) fn render(&self, dialect: Option<&dyn Dialect>, request: &Request) -> Vec<Step> {
        let mut steps = Vec::new();
        if self.held {
            steps.push(Step::Gate);
        }
        let mut headers = self.headers.clone();
        match (&self.whole, dialect) {
            (Some(Whole::Raw { status, body }), _) => {
                steps.push(Step::Bytes(whole(*status, &headers, body)));
            }
            (Some(Whole::Bytes(bytes)), _) => {
                steps.extend([Step::Bytes(bytes.clone()), Step::Cut]);
            }
            (Some(Whole::Error { status, code, message }), dialect) => {
                headers.push(("content-type".into(), "application/json".into()));
                let dialect = dialect.unwrap_or(&OpenAiChat);
                let body = dialect.error(*status, *code, message).to_string();
                steps.push(Step::Bytes(whole(*status, &headers, body.as_bytes())));
            }
            (None, Some(dialect)) => {
                steps.push(Step::Bytes(stream_head(dialect.content_type(), &headers)));
                steps.extend(dialect.write(self, request));
            }
            (None, None) => steps.push(Step::Bytes(whole(404, &headers, b"no such path"))),
        }
        if self.trickles { steps.into_iter().flat_map(Step::single).collect() } else { steps }
    }

    /// The pieces of the response body to this request, without HTTP's framing.
    pub fn body(&self, dialect: &dyn Dialect, request: &Request) -> Vec<Vec<u8>> {
        let steps = dialect.write(self, request).into_iter();
        let chunks = steps.filter_map(|step| match step {
            Step::Bytes(bytes) => Some(unframed(&bytes)),
            _ => None,
        });
        chunks.collect()
    }

    /// The stop reason, in Anthropic's words.
    pub(super) fn stop_reason(&self) -> &str {
        let calls = self.parts.iter().any(|part| matches!(part, Part::Call { .. }));
        self.stop.as_deref().unwrap_or(if calls { "tool_use" } else { "end_turn" })
    }
}

/// Splits a text into pieces as small as models send.
pub(super) fn pieces(text: &str) -> Vec<String> {
    let characters: Vec<char> = text.chars().collect();
    characters.chunks(20).map(|piece| piece.iter().collect()).collect()
}
