//! The protocols (dialects) of the fake model server, each with its paths, the requests that it refuses, its answers,
//! and the format of its requests.

pub mod anthropic;
pub mod gemini;
pub mod ollama;
pub mod openai_chat;
pub mod openai_responses;

use super::http::Request;
use super::reply::{Reply, Step};
use super::rules::Checked;
use super::server::Server;
use super::setup::Setup;
use serde_json::{Map, Value};

/// All dialects, for tests that must pass in each.
pub const DIALECTS: [&dyn Dialect; 5] = [
    &anthropic::Anthropic,
    &openai_chat::OpenAiChat,
    &openai_responses::OpenAiResponses,
    &gemini::Gemini,
    &ollama::Ollama,
];

/// The result of checking a request's headers. The error is the status and the reason with which the provider would
/// refuse.
pub type Headers = Result<(), (u16, &'static str)>;

pub trait Dialect: Sync {
    /// Whether this path, without its query, belongs to the dialect.
    fn serves(&self, path: &str) -> bool;
    /// Configures the setup so that Caliban finds a model of this dialect at this server.
    fn choose(&self, setup: Setup, server: &Server) -> Setup;
    /// Whether this is the dialect of a local server, which needs no key and whose models are not in the table of known
    /// models.
    fn is_local(&self) -> bool {
        false
    }
    fn headers(&self, request: &Request) -> Headers;
    /// Checks a request's body by the provider's rules.
    fn check(&self, request: &Request, body: &Map<String, Value>) -> Checked;
    /// The provider's error object. Not all providers have codes.
    fn error(&self, status: u16, code: Option<&str>, message: &str) -> Value;
    /// The content type of a stream.
    fn content_type(&self) -> &'static str {
        "text/event-stream; charset=utf-8"
    }
    /// The steps by which the server sends this reply as the answer to this request.
    fn write(&self, reply: &Reply, request: &Request) -> Vec<Step>;
    /// The messages of a request, including the system prompt.
    fn read(&self, body: &Value) -> Vec<Turn>;
}

/// The dialect that the path of a request belongs to.
pub fn of(request: &Request) -> Option<&'static dyn Dialect> {
    let path = request.path.split('?').next()?;
    DIALECTS.into_iter().find(|dialect| dialect.serves(path))
}

/// The status and reason with which the provider would refuse this request; `None` if it would not.
pub(super) fn refusal(request: &Request) -> Option<(u16, String)> {
    let dialect = of(request)?;
    if let Err((status, why)) = dialect.headers(request) {
        return Some((status, why.into()));
    }
    if request.method != "POST" {
        return Some((405, format!("{} is not allowed here", request.method)));
    }
    if !request.header("content-type").is_some_and(|kind| kind.starts_with("application/json")) {
        return Some((400, "content-type: must be application/json".into()));
    }
    let Value::Object(body) = &request.json else {
        return Some((400, "the body is not a JSON object".into()));
    };
    dialect.check(request, body).err().map(|why| (400, why))
}

/// One message of a request.
#[derive(Debug, Clone, PartialEq)]
pub struct Turn {
    /// `system`, `user`, `assistant`, or another role of the dialect.
    pub role: String,
    pub said: Vec<Said>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Said {
    Text(String),
    Thinking(String),
    Call { id: String, name: String },
    Answer { id: String, text: String },
}

impl Turn {
    fn new(role: &str, said: impl IntoIterator<Item = Said>) -> Turn {
        Turn { role: role.to_owned(), said: said.into_iter().collect() }
    }

    /// The texts of the message, joined.
    pub fn text(&self) -> String {
        let texts = self.said.iter().filter_map(|said| match said {
            Said::Text(text) => Some(text.as_str()),
            _ => None,
        });
        texts.collect::<Vec<_>>().join("\n")
    }
}

/// A string as it is, or the texts of blocks joined.
fn flat(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => blocks.iter().map(|it| flat(&it["text"])).collect(),
        _ => String::new(),
    }
}
