//! Classifies errors of providers: HTTP answers with an error, and errors within a stream, become typed failures. The
//! current time is an argument.

pub mod wait;

use super::dialect::Asked;
use super::key::Secret;
use super::parameter::Sent;
use crate::event::Failure;
use crate::message::Parameter;
use crate::text::secret;
use serde_json::Value;

/// The most characters of a provider's message that are quoted.
const QUOTE: usize = 400;
/// The text that replaces an API key in a quotation.
const KEY_MARK: &str = "[key]";
/// The most characters of one word in a quotation. A longer word is raw JSON or noise.
const WORD: usize = 80;

/// An answer that refuses a request, with facts about the request.
#[derive(Debug, Clone, Copy)]
pub struct Refusal<'a> {
    pub status: u16,
    pub body: &'a str,
    /// The wait that the headers ask for, in milliseconds.
    pub after_ms: Option<u64>,
    pub provider: &'a str,
    pub model: &'a str,
    /// The parameters of the request. The refusal may name one of them.
    pub sent: &'a Sent,
}

/// Classifies an answer with an error status.
pub fn from_status(refusal: &Refusal<'_>) -> Failure {
    let value: Value = serde_json::from_str(refusal.body).unwrap_or_default();
    let mut said = Said::of(&value, refusal.body);
    said.refused = refusal.sent.refused(refusal.body);
    // if the HTTP status says success, the status is taken from the kind of the error
    let status =
        if refusal.status < 300 { said.status.unwrap_or(refusal.status) } else { refusal.status };
    classify(status, said, refusal.after_ms, refusal.provider, refusal.model)
}

/// Classifies an error that came as an event of a stream, under status 200.
pub fn in_stream(error: &Value, asked: &Asked) -> Failure {
    let mut said = Said::of(error, "");
    said.refused = asked.sent.refused(&error.to_string());
    let status = said.status.unwrap_or(200);
    classify(status, said, None, &asked.provider, &asked.model)
}

/// A provider's message about an error.
struct Said {
    /// The message for the user, in one line.
    text: String,
    /// Kinds, codes and text in lower case, for comparison with the tables below.
    all: String,
    /// The HTTP status that corresponds to the kind of error.
    status: Option<u16>,
    after_ms: Option<u64>,
    /// Whether the provider sent neither a message nor a kind of error.
    is_silent: bool,
    /// Whether the body is an HTML page. Then a proxy or portal has answered instead of the provider.
    is_page: bool,
    /// The parameter of the request that the message refuses.
    refused: Option<Parameter>,
}

impl Said {
    fn of(value: &Value, body: &str) -> Said {
        let value = value.get(0).unwrap_or(value);
        let error = match value.get("error") {
            Some(error) if error.is_object() => error,
            _ => value,
        };
        let message = ["message", "error", "detail"].iter().find_map(|name| error[name].as_str());
        let text =
            snippet(message.unwrap_or(if body.is_empty() { "no details given" } else { body }));
        // OpenRouter's own message is always the same, so the message of the provider behind OpenRouter is added.
        let behind = error["metadata"]["raw"].as_str().map(|raw| {
            let value: Value = serde_json::from_str(raw).unwrap_or_default();
            Said::of(&value, raw)
        });
        let text = match &behind {
            Some(it) => snippet(&format!("{text}: {}", it.text)),
            None => text,
        };
        let code = &error["code"];
        let kinds =
            [&error["type"], code, &error["status"]].map(|kind| kind.as_str().unwrap_or_default());
        let status = code.as_u64().and_then(|code| u16::try_from(code).ok());
        let status = status
            .filter(|code| (400..600).contains(code))
            .or(kinds.iter().find_map(|kind| status_of(kind)));
        let after_ms = wait::delay(error).or_else(|| wait::in_text(&text));
        let is_silent =
            message.is_none() && body.trim().is_empty() && kinds.iter().all(|it| it.is_empty());
        let behind = behind.map(|it| it.all).unwrap_or_default();
        let all = format!("{} {text} {behind}", kinds.join(" ")).to_lowercase();
        let is_page = body.trim_start().starts_with('<');
        Said { text, all, status, after_ms, is_silent, is_page, refused: None }
    }
}

/// The HTTP status that belongs to a kind of error.
fn status_of(kind: &str) -> Option<u16> {
    Some(match kind {
        "invalid_request_error" | "invalid_prompt" => 400,
        "authentication_error" | "invalid_api_key" => 401,
        "billing_error" | "insufficient_quota" => 402,
        "permission_error" => 403,
        "not_found_error" | "model_not_found" => 404,
        "request_too_large" | "context_length_exceeded" => 413,
        "rate_limit_error"
        | "rate_limit_exceeded"
        | "RESOURCE_EXHAUSTED"
        | "ThrottlingException" => 429,
        "api_error"
        | "server_error"
        | "internal_error"
        | "internal_server_error"
        | "InternalServerError"
        | "timeout_error"
        | "INTERNAL" => 500,
        "UNAVAILABLE" | "service_unavailable" | "ServiceUnavailableError" => 503,
        "overloaded_error" | "server_is_overloaded" | "slow_down" => 529,
        _ => return None,
    })
}

/// The vendors' words for a request that does not fit the model's window, in lower case. From their documentation or
/// from real errors.
const TOO_LONG: [&str; 31] = [
    "prompt is too long",
    "prompt too long",
    "prompt exceeds max length",
    "input is too long",
    "input length and `max_tokens` exceed",
    "input length exceeds",
    "range of input length should be",
    "context_length_exceeded",
    "context window",
    "exceeded max context length",
    "exceeds the context length",
    "maximum context length",
    "model's context length",
    "maximum prompt length",
    "maximum allowed input length",
    "longer than the maximum model length",
    "exceeds the available context size",
    "greater than the context length",
    "context the overflows",
    "context length exceeded",
    "reduce the length of the messages",
    "input token count",
    "prompt token count",
    "too large for model with",
    "exceeded model token limit",
    "model_context_window_exceeded",
    "too many tokens",
    "token limit exceeded",
    "max_new_tokens` must be <=",
    "request_too_large",
    "request too large",
];

/// The vendors' words for used-up money or quota, in lower case.
const QUOTA: [&str; 15] = [
    "insufficient_quota",
    "enforced_spend_limit",
    "spend limit",
    "spending limit",
    "api usage limits",
    "credit balance",
    "credit limit exceeded",
    "insufficient credits",
    "insufficient balance",
    "prepayment credits",
    "included credits",
    "all available credits",
    "exceeded your current quota",
    "exceeded_current_quota",
    "billing_",
];

/// Ollama's words, in lower case, for a model or a window that is too large for the machine. Waiting does not help
/// then.
const NO_ROOM: [&str; 2] = ["system memory", "resource limitations"];

/// The vendors' words for being overloaded, in lower case.
const OVERLOADED: [&str; 4] = ["overload", "slow_down", "high demand", "at capacity"];

/// Providers that answer a request that is too long with status 400 and no message.
const SILENT: [&str; 2] = ["cerebras", "mistral"];

/// Words, in lower case, that show that a request was refused because of the key, and not because of the region or the
/// content.
const KEY: [&str; 6] = ["key", "permission", "auth", "token", "credential", "access"];

/// The words, in lower case, with which Anthropic, `OpenAI` and Gemini refuse a thought or a thought's signature.
const THOUGHTS: [&str; 15] = [
    "bound to a different conversation",
    "`signature` in `thinking`",
    "thinking.signature",
    "blocks cannot be modified",
    "latest assistant message cannot be modified",
    "invalid_encrypted_content",
    "could not be decrypted",
    "could not be verified",
    "thought signature",
    "thought_signature is not valid",
    "thought_signature' (type_bytes)",
    "final block in an assistant message cannot be",
    "must start with a thinking block",
    "expected `thinking` or `redacted_thinking`",
    "of type 'reasoning' was provided without",
];

/// The vendors' words for an unknown model, in lower case.
const NO_MODEL: [&str; 6] = [
    "model_not_found",
    "is not a valid model",
    "invalid model",
    "model not exist",
    "unknown model",
    "no endpoints found",
];

fn classify(
    status: u16,
    said: Said,
    after_ms: Option<u64>,
    provider: &str,
    model: &str,
) -> Failure {
    let after_ms = after_ms.or(said.after_ms);
    let says = |table: &[&str]| table.iter().any(|text| said.all.contains(text));
    // Gemini calls every rate limit a quota, but names a delay if waiting helps.
    let used_up = says(&QUOTA) && (status != 429 || after_ms.is_none());
    let unauthorized = |said| Failure::Unauthorized { provider: provider.to_owned(), said };
    let unknown = |said| Failure::UnknownModel { model: model.to_owned(), said };
    match status {
        402 => Failure::Quota { said: said.text },
        _ if used_up => Failure::Quota { said: said.text },
        // The request alone has more tokens than are allowed in a minute, so waiting does not help.
        429 if says(&["request too large"]) => Failure::TooLong { said: said.text },
        200 | 400 | 413 | 422 | 500 if says(&TOO_LONG) => Failure::TooLong { said: said.text },
        400 if said.is_silent && SILENT.contains(&provider) => {
            Failure::TooLong { said: String::new() }
        }
        200 | 400 | 422 if says(&THOUGHTS) => Failure::Thoughts { status, said: said.text },
        413 => Failure::TooLong { said: said.text },
        200 | 400 | 422 | 500 | 501 if said.refused.is_some() => unsupported(status, said),
        // Gemini's message for a wrong key
        400 if said.all.contains("api key not valid") => unauthorized(said.text),
        401 | 403 if said.is_page => Failure::Protocol { said: said.text },
        401 => unauthorized(said.text),
        403 if said.is_silent || says(&KEY) => unauthorized(said.text),
        404 if said.all.contains("model") || says(&NO_MODEL) => unknown(said.text),
        400 | 422 if says(&NO_MODEL) => unknown(said.text),
        429 => Failure::RateLimited { after_ms },
        500 if says(&NO_ROOM) => Failure::Rejected { status, said: said.text },
        529 => Failure::Overloaded { after_ms },
        500..=599 if says(&OVERLOADED) => Failure::Overloaded { after_ms },
        408 | 500..=599 => {
            let said = if said.is_silent { String::new() } else { said.text };
            Failure::ServerError { status, after_ms, said }
        }
        _ => Failure::Rejected { status, said: said.text },
    }
}

fn unsupported(status: u16, said: Said) -> Failure {
    let Said { text, refused, .. } = said;
    match refused {
        Some(parameter) => Failure::Unsupported { status, said: text, parameter },
        None => Failure::Rejected { status, said: text },
    }
}

/// A quotation of untrusted text: one line, cut if it is long, without HTML tags and control characters.
pub fn snippet(text: &str) -> String {
    let title = text.split_once("<title>").and_then(|(_, rest)| rest.split_once("</title>"));
    let text = title.map_or(text, |(title, _)| title);
    let words: Vec<String> = text
        .split(|c: char| c.is_whitespace() || c.is_control())
        .filter(|w| !w.is_empty())
        .map(|word| clipped(word, WORD))
        .collect();
    clipped(&words.join(" "), QUOTE)
}

fn clipped(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Replaces these API keys in every text of a failure. In quoted messages of a provider, parts of keys are replaced
/// too.
pub fn without_secrets(failure: Failure, secrets: &[Secret]) -> Failure {
    // whole keys come first, because a key may contain a part of another key
    let whole =
        secrets.iter().fold(failure, |failure, it| without_key(failure, it.expose(), false));
    secrets.iter().fold(whole, |failure, it| without_key(failure, it.expose(), true))
}

fn without_key(mut failure: Failure, key: &str, in_parts: bool) -> Failure {
    if key.is_empty() {
        return failure;
    }
    let (names, said): (&mut [&mut String], Option<&mut String>) = match &mut failure {
        Failure::NoKey { provider, variable } => (&mut [provider, variable], None),
        Failure::KeyCommand { provider, why } | Failure::StoredKey { provider, why } => {
            (&mut [provider], Some(why))
        }
        Failure::Header { provider, name, why } => (&mut [provider, name], Some(why)),
        Failure::Offline { host, why } => (&mut [host], Some(why)),
        Failure::Unauthorized { provider, said } => (&mut [provider], Some(said)),
        Failure::UnknownModel { model, said } => (&mut [model], Some(said)),
        Failure::Quota { said }
        | Failure::TooLong { said }
        | Failure::Rejected { said, .. }
        | Failure::Thoughts { said, .. }
        | Failure::Unsupported { said, .. }
        | Failure::ServerError { said, .. }
        | Failure::Protocol { said } => (&mut [], Some(said)),
        Failure::RateLimited { .. }
        | Failure::Overloaded { .. }
        | Failure::Cut
        | Failure::Endless { .. }
        | Failure::Stalled { .. } => (&mut [], None),
    };
    for name in names {
        **name = name.replace(key, KEY_MARK);
    }
    if let Some(said) = said {
        *said = if in_parts {
            secret::without_parts(said, key, KEY_MARK)
        } else {
            said.replace(key, KEY_MARK)
        };
    }
    failure
}

#[cfg(test)]
mod tests;
