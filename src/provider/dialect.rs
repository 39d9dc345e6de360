//! Dialects (wire formats of model APIs), and the code that all of them share: their names, the address of a request,
//! and the reading of an answer from its first byte to its end.

use super::facts::ThinkingKind;
use super::parameter::{self, Sent};
use super::sse::Frame;
use super::written::{described, taken::Taken};
use super::{Sampled, anthropic, gemini, ollama, openai_chat, openai_responses, system, tail};
use crate::event::Failure;
use crate::message::{Block, CallId, Input, Parameter, Request, Role, Stop, ToolSpec};
use serde::Deserialize;
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::collections::{HashMap, HashSet};
use std::fmt::Write;

/// A protocol spoken over HTTP. Its name in the configuration is the value of `providers.*.dialect`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Dialect {
    Anthropic,
    #[serde(rename = "openai-chat")]
    OpenAiChat,
    #[serde(rename = "openai-responses")]
    OpenAiResponses,
    Gemini,
    Ollama,
}

/// How an endpoint differs from the standard form of its dialect. The default is the form that most endpoints accept.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "facts that do not depend on each other")]
pub struct Quirks {
    /// The endpoint takes the limit of the reply as `max_completion_tokens`; its newer models refuse `max_tokens`.
    pub completion_tokens: bool,
    /// The endpoint refuses `stream_options`, and reports usage without it.
    pub no_stream_options: bool,
    /// The endpoint accepts only call ids of exactly nine letters or digits.
    pub short_ids: bool,
    /// Earlier replies are sent with their reasoning in the field `reasoning_content`: the endpoint refuses a request
    /// in which a reply with tool calls lacks it.
    pub reasoning_back: bool,
    /// Earlier replies are sent with their reasoning as parts of the reply's content.
    pub thinking_parts: bool,
    /// A request asks for thinking by an object called `reasoning`.
    pub reasoning_object: bool,
    /// A request asks for thinking by a switch called `thinking`.
    pub thinking_switch: bool,
    /// The endpoint passes cache marks on to Anthropic's models.
    pub cache_marks: bool,
    /// The endpoint refuses a user's message directly after the answers to calls.
    pub reply_after_tool: bool,
    /// The endpoint refuses two user messages in a row, because its chat template wants user and assistant to
    /// alternate.
    pub alternate: bool,
}

impl Quirks {
    /// The default, as a constant for tables.
    pub const NONE: Quirks = Quirks {
        completion_tokens: false,
        no_stream_options: false,
        short_ids: false,
        reasoning_back: false,
        thinking_parts: false,
        reasoning_object: false,
        thinking_switch: false,
        cache_marks: false,
        reply_after_tool: false,
        alternate: false,
    };

    /// Switches on the quirk with this name. If the name is unknown, the error lists the known names.
    pub fn set(&mut self, name: &str) -> Result<(), String> {
        let mut all = [
            ("completion_tokens", &mut self.completion_tokens),
            ("no_stream_options", &mut self.no_stream_options),
            ("short_ids", &mut self.short_ids),
            ("reasoning_back", &mut self.reasoning_back),
            ("thinking_parts", &mut self.thinking_parts),
            ("reasoning_object", &mut self.reasoning_object),
            ("thinking_switch", &mut self.thinking_switch),
            ("cache_marks", &mut self.cache_marks),
            ("reply_after_tool", &mut self.reply_after_tool),
            ("alternate", &mut self.alternate),
        ];
        let names = all.each_ref().map(|it| it.0).join(", ");
        match all.iter_mut().find(|it| it.0 == name) {
            Some((_, quirk)) => **quirk = true,
            None => return Err(format!("no quirk is called {name}; the quirks are {names}")),
        }
        Ok(())
    }
}

impl Dialect {
    /// The dialect with this name in the configuration.
    pub fn named(name: &str) -> Option<Dialect> {
        match name {
            "anthropic" => Some(Dialect::Anthropic),
            "openai-chat" | "openai" => Some(Dialect::OpenAiChat),
            "openai-responses" => Some(Dialect::OpenAiResponses),
            "gemini" => Some(Dialect::Gemini),
            "ollama" => Some(Dialect::Ollama),
            _ => None,
        }
    }

    /// Whether a provider with this dialect can search the web by itself for the model. Older models of Gemini refuse
    /// such a search beside other tools.
    pub fn searches(self, model: &str) -> bool {
        match self {
            Dialect::Anthropic | Dialect::OpenAiResponses => true,
            Dialect::Gemini => gemini::searches(model),
            Dialect::OpenAiChat | Dialect::Ollama => false,
        }
    }

    /// The body of the request. The same request always gives the same bytes.
    pub fn body(self, request: &Request, quirks: Quirks) -> Value {
        let in_text = request.calls_as_text.then(|| described::request(request));
        let request = in_text.as_ref().unwrap_or(request);
        let has_none = request.without.contains(&Parameter::System);
        let in_message = has_none.then(|| system::in_first_message(request));
        let request = in_message.as_ref().unwrap_or(request);
        let mut body = match self {
            Dialect::Anthropic => anthropic::body(request),
            Dialect::OpenAiChat => openai_chat::body(request, quirks),
            Dialect::OpenAiResponses => openai_responses::body(request),
            Dialect::Gemini => gemini::body(request),
            Dialect::Ollama => ollama::body(request),
        };
        parameter::leave_out(self, &request.without, &mut body);
        tail::append(self, quirks, &request.tail, &mut body);
        body
    }

    /// The address to which a request for this model is sent, made from the endpoint's base URL. `{model}` in the base
    /// URL is replaced by the model's name. A query in the base URL stays at the end.
    pub fn url(self, base: &str, model: &str) -> String {
        let (place, query) = base.split_at(base.find('?').unwrap_or(base.len()));
        let place = place.replace("{model}", model);
        match self {
            Dialect::Anthropic => format!("{place}/v1/messages{query}"),
            Dialect::OpenAiChat => format!("{place}/chat/completions{query}"),
            Dialect::OpenAiResponses => format!("{place}/responses{query}"),
            Dialect::Gemini => {
                let model = model.strip_prefix("models/").unwrap_or(model);
                format!("{place}/v1beta/models/{model}:streamGenerateContent?alt=sse")
            }
            Dialect::Ollama => format!("{place}/api/chat{query}"),
        }
    }

    /// How a model of this dialect is told to think, if the table of known models does not have the model.
    pub fn thinking(self) -> ThinkingKind {
        if self == Dialect::Anthropic { ThinkingKind::Budget } else { ThinkingKind::Named }
    }

    pub(super) fn decoder(self, asked: Asked) -> Box<dyn Decoder> {
        match self {
            Dialect::Anthropic => Box::new(anthropic::Decoder::new(asked)),
            Dialect::OpenAiChat => Box::new(openai_chat::Decoder::new(asked)),
            Dialect::OpenAiResponses => Box::new(openai_responses::Decoder::new(asked)),
            Dialect::Gemini => Box::new(gemini::Decoder::new(asked)),
            Dialect::Ollama => Box::new(ollama::Decoder::new(asked)),
        }
    }

    /// The context window that a request asks for, in tokens; `None` if the dialect has no such field.
    pub fn window(self, num_ctx: Option<u32>) -> Option<u32> {
        (self == Dialect::Ollama).then(|| ollama::window(num_ctx))
    }
}

/// The facts about a request that a decoder of its answer needs.
#[derive(Debug, Clone, Default)]
pub struct Asked {
    /// The endpoint's name, for error messages.
    pub provider: String,
    pub model: String,
    /// The parameters of the request. A refusal may name one of them.
    pub sent: Sent,
    seed: u64,
    taken: HashSet<String>,
    made: u32,
    /// The queries of the provider's searches whose results may come in this reply, by the searches' ids.
    queries: HashMap<String, String>,
    /// The tools, if the model writes its calls as text.
    written: Vec<ToolSpec>,
}

impl Asked {
    /// Calls that arrive without an id get an id made from `seed`, which should be different for each request.
    pub fn new(provider: &str, request: &Request, seed: u64) -> Asked {
        let taken =
            request.messages.iter().flat_map(|message| &message.blocks).filter_map(|block| {
                match block {
                    Block::Call(call) => Some(call.id.0.clone()),
                    _ => None,
                }
            });
        let last = request.messages.iter().rev().take_while(|it| it.role == Role::Assistant);
        let queries = last.flat_map(|it| &it.blocks).filter_map(|block| match block {
            Block::Raw { value, .. } if value["type"] == "server_tool_use" => Some((
                value["id"].as_str()?.to_owned(),
                value["input"]["query"].as_str()?.to_owned(),
            )),
            _ => None,
        });
        Asked {
            provider: provider.to_owned(),
            model: request.model.clone(),
            sent: Sent::default(),
            seed,
            taken: taken.collect(),
            made: 0,
            queries: queries.collect(),
            written: if request.calls_as_text { request.tools.clone() } else { Vec::new() },
        }
    }

    /// What takes the calls out of the text, if the model writes them there.
    pub(super) fn taken(&self) -> Option<Taken> {
        (!self.written.is_empty()).then(|| Taken::new(self.written.clone(), self.seed))
    }

    /// The query of a search that the provider began in the reply before this one.
    pub(super) fn query(&self, id: &str) -> Option<&str> {
        self.queries.get(id).map(String::as_str)
    }

    /// The id that a call gets in the conversation: the provider's id, or a new one if the provider's is missing or has
    /// been used before.
    pub(super) fn claim(&mut self, given: &str) -> CallId {
        let mut id = given.to_owned();
        while id.is_empty() || self.taken.contains(&id) {
            self.made += 1;
            id = format!("call_{:016x}_{}", self.seed, self.made);
        }
        self.taken.insert(id.clone());
        CallId(id)
    }
}

/// Turns the frames (events or lines) of one dialect's answer into values.
pub(super) trait Decoder: Send {
    /// Adds the content of the frame to `out`. Nothing follows a `Done` or `Failed`.
    fn read(&mut self, frame: Frame<'_>, out: &mut Vec<Sampled>);
    /// Called if the bytes ended without `Done` or `Failed`. Returns the reply if it was complete, otherwise the
    /// failure.
    fn end(&mut self) -> Sampled;
    /// Adds the content of an answer that came as one JSON value instead of a stream. Most dialects send the same
    /// fields in both.
    fn whole(&mut self, value: &Value, out: &mut Vec<Sampled>) {
        let parts = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
        for part in parts {
            self.read(Frame { event: "", data: &part.to_string() }, out);
        }
    }
    /// The request that is answered.
    fn asked(&self) -> &Asked;
}

pub(super) fn protocol(said: &str) -> Sampled {
    Sampled::Failed(Failure::Protocol { said: said.to_owned() })
}

/// Parses the JSON of a frame. Servers written in JavaScript may cut an emoji in two, which leaves an escaped half of a
/// surrogate pair. Such a half becomes U+FFFD instead of making the reply fail.
pub(super) fn json<T: serde::de::DeserializeOwned>(data: &str) -> Result<T, serde_json::Error> {
    serde_json::from_str(data).or_else(|error| {
        let mended = mend_surrogates(data);
        if mended == data { Err(error) } else { serde_json::from_str(&mended) }
    })
}

fn mend_surrogates(data: &str) -> String {
    let mut mended = String::with_capacity(data.len());
    let mut rest = data;
    while let Some(at) = rest.find('\\') {
        let escape = &rest[at..];
        mended.push_str(&rest[..at]);
        let taken = match (unit(escape), escape.get(6..).and_then(unit)) {
            (Some(0xD800..0xDC00), Some(0xDC00..0xE000)) => 12,
            (Some(0xD800..0xE000), _) => 6,
            _ => escape.char_indices().nth(2).map_or(escape.len(), |(end, _)| end),
        };
        let lone = taken == 6;
        mended.push_str(if lone { "\\ufffd" } else { &escape[..taken] });
        rest = &escape[taken..];
    }
    mended + rest
}

/// The UTF-16 code unit of an escape `\uXXXX` at the beginning of the text.
fn unit(text: &str) -> Option<u16> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    u16::from_str_radix(digits, 16).ok()
}

/// A call's arguments, parsed as a whole. Blank text means no arguments, unless the call was `cut` off.
pub(super) fn input(text: String, cut: bool) -> Input {
    if text.trim().is_empty() {
        return if cut {
            Input::Broken { text, why: "cut off before its arguments".to_owned() }
        } else {
            Input::Json(Value::Object(serde_json::Map::new()))
        };
    }
    match serde_json::from_str(&text) {
        Ok(value) => Input::Json(value),
        Err(error) => Input::Broken { text, why: error.to_string() },
    }
}

/// A call's arguments that came as a JSON value. Some servers send the JSON as text, which is parsed.
pub(super) fn whole_input(given: Value) -> Input {
    match given {
        Value::Null => Input::Json(Value::Object(serde_json::Map::new())),
        Value::String(text) => input(text, false),
        given => Input::Json(given),
    }
}

/// Whether a reply with this stop reason may end in the middle of a call.
pub(super) fn cuts_calls(stop: &Stop) -> bool {
    !matches!(stop, Stop::EndTurn | Stop::ToolUse | Stop::StopSequence | Stop::Pause)
}

/// A call's arguments as an object, because providers accept nothing else in an earlier call. Broken JSON is sent back
/// as a string in an object.
pub(super) fn replayed(input: &Input) -> Value {
    match input {
        Input::Json(value) if value.is_object() => value.clone(),
        Input::Json(value) => serde_json::json!({ "not_an_object": value }),
        Input::Broken { text, .. } => serde_json::json!({ "broken_json": text }),
    }
}

/// A call's id in a form that the endpoint accepts: unchanged if it has only letters, digits, `_` and `-` and is not
/// longer than `longest`. Otherwise a digest of the id, which is the same for a call and its answer.
pub(super) fn fitting_id(id: &CallId, longest: usize) -> String {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if !id.0.is_empty() && id.0.len() <= longest && id.0.chars().all(fits) {
        return id.0.clone();
    }
    format!("call_{}", &digest(&id.0)[..24])
}

/// A tool's name in a form that every provider accepts. Models also call tools by names that no provider accepts.
pub(super) fn fitting_name(name: &str) -> String {
    let fits = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    let name: String = name.chars().take(64).map(fits).collect();
    if name.is_empty() { "unnamed".to_owned() } else { name }
}

/// A call's id in the form for endpoints that accept only exactly nine letters or digits.
pub(super) fn nine_letter_id(id: &CallId) -> String {
    if id.0.len() == 9 && id.0.chars().all(|c| c.is_ascii_alphanumeric()) {
        return id.0.clone();
    }
    digest(&id.0)[..9].to_owned()
}

fn digest(text: &str) -> String {
    Sha256::digest(text).iter().fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}
