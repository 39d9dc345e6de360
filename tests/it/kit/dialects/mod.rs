//! The protocols the model server speaks: how each is addressed, refuses, answers, and is read.

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

/// All of them, for tests of what must be the same.
pub const DIALECTS: [&dyn Dialect; 5] = [
    &anthropic::Anthropic,
    &openai_chat::OpenAiChat,
    &openai_responses::OpenAiResponses,
    &gemini::Gemini,
    &ollama::Ollama,
];

/// Status and reason, where a provider refuses a request for its headers.
pub type Headers = Result<(), (u16, &'static str)>;

pub trait Dialect: Sync {
    /// Whether it is spoken at this path, which is without a query.
    fn serves(&self, path: &str) -> bool;
    /// Makes a model of it at the server the one that is found.
    fn choose(&self, setup: Setup, server: &Server) -> Setup;
    /// Whether it is a server on one's own machine, which wants no key and whose models no table knows.
    fn is_local(&self) -> bool {
        false
    }
    fn headers(&self, request: &Request) -> Headers;
    /// What the provider would refuse in the body.
    fn check(&self, request: &Request, body: &Map<String, Value>) -> Checked;
    /// The provider's error object; not all of them have codes.
    fn error(&self, status: u16, code: Option<&str>, message: &str) -> Value;
    /// Of a stream.
    fn content_type(&self) -> &'static str {
        "text/event-stream; charset=utf-8"
    }
    /// The body of the stream that answers this request.
    fn write(&self, reply: &Reply, request: &Request) -> Vec<Step>;
    /// What a request says, the system text included.
    fn read(&self, body: &Value) -> Vec<Turn>;
}

/// The protocol that belongs to the path of a request.
pub fn of(request: &Request) -> Option<&'static dyn Dialect> {
    let path = request.path.split('?').next()?;
    DIALECTS.into_iter().find(|dialect| dialect.serves(path))
}

/// Status and reason, where the request's provider would refuse it.
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
    /// `system`, `user`, `assistant`, or what else the dialect has.
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

    /// Its texts.
    pub fn text(&self) -> String {
        let texts = self.said.iter().filter_map(|said| match said {
            Said::Text(text) => Some(text.as_str()),
            _ => None,
        });
        texts.collect::<Vec<_>>().join("\n")
    }
}

/// A string, or the texts of blocks.
fn flat(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => blocks.iter().map(|it| flat(&it["text"])).collect(),
        _ => String::new(),
    }
}
