//! Dialects (wire formats of model APIs), and the code that all of them share: their names, the address of a request,
//! and the reading of an answer from its first byte to its end.

mod asked;
mod json;
mod kind;
mod quirks;
mod sendable;

pub use asked::Asked;
pub(super) use asked::Decoder;
pub(super) use json::{cuts_calls, input, json, protocol, whole_input};
pub use kind::Dialect;
pub use quirks::Quirks;
pub(super) use sendable::{fitting_id, fitting_name, nine_letter_id, replayed};

use super::written::described;
use super::{anthropic, gemini, ollama, openai_chat, openai_responses, parameter, system, tail};
use crate::message::{Parameter, Request};
use serde_json::Value;

impl Dialect {
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
