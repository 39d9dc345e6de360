//! Classifies errors of providers: HTTP answers with an error, and errors within a stream, become typed failures. The
//! current time is an argument.

mod limits;
pub mod wait;
mod words;

use super::dialect::Asked;
use super::key::Secret;
use super::parameter::Sent;
use crate::event::Failure;
use crate::message::Parameter;
use crate::text::secret;
use serde_json::Value;
use words::Table;

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
    let body = of_event(refusal.body);
    let value: Value = serde_json::from_str(body).unwrap_or_default();
    let mut said = Said::of(&value, body);
    said.refused = refusal.sent.refused(refusal.body);
    // if the HTTP status says success, the status is taken from the kind of the error
    let status =
        if refusal.status < 300 { said.status.unwrap_or(refusal.status) } else { refusal.status };
    let failure = classify(status, said, refusal.after_ms, refusal.provider, refusal.model);
    limits::named(failure, status, refusal.body, refusal.sent.has(Parameter::Images))
}

/// The data of an error's body that is an event of a stream, otherwise the body itself.
fn of_event(body: &str) -> &str {
    let is_event = ["event:", "data:", "error:"].iter().any(|it| body.trim_start().starts_with(it));
    let data =
        |line| str::strip_prefix(line, "data:").or_else(|| str::strip_prefix(line, "error:"));
    body.lines().find_map(data).filter(|_| is_event).unwrap_or(body)
}

/// Classifies an error that came as an event of a stream, under status 200.
pub fn in_stream(error: &Value, asked: &Asked) -> Failure {
    let mut said = Said::of(error, "");
    said.refused = asked.sent.refused(&error.to_string());
    let status = said.status.unwrap_or(200);
    let failure = classify(status, said, None, &asked.provider, &asked.model);
    limits::named(failure, status, &error.to_string(), asked.sent.has(Parameter::Images))
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
    /// The wait that the message itself asks for.
    told_ms: Option<u64>,
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
            Some(error) if error.is_object() || error.is_string() => error,
            _ => value,
        };
        let named = ["message", "error", "detail", "msg"];
        let message = error.as_str().or_else(|| named.iter().find_map(|it| error[it].as_str()));
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
        let told_ms = wait::in_text(&text);
        let after_ms = wait::delay(error).or(told_ms);
        let is_silent =
            message.is_none() && body.trim().is_empty() && kinds.iter().all(|it| it.is_empty());
        let behind = behind.map(|it| it.all).unwrap_or_default();
        let limits = limits_of(error);
        let all = format!("{} {text} {behind} {limits}", kinds.join(" ")).to_lowercase();
        let is_page = body.trim_start().starts_with('<');
        Said { text, all, status, after_ms, told_ms, is_silent, is_page, refused: None }
    }
}

impl Said {
    /// The message; empty if the provider sent none.
    fn words(self) -> String {
        if self.is_silent { String::new() } else { self.text }
    }
}

/// The names of the limits that Google says are reached, such as `GenerateRequestsPerDayPerProject`.
fn limits_of(error: &Value) -> String {
    let details = error["details"].as_array().into_iter().flatten();
    let violations = details.flat_map(|it| it["violations"].as_array().into_iter().flatten());
    violations.filter_map(|it| it["quotaId"].as_str()).collect::<Vec<_>>().join(" ")
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
        | "ThrottlingException"
        | "throttlingException"
        | "too_many_requests" => 429,
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

/// Providers that answer a request that is too long with status 400 and no message.
const SILENT: [&str; 2] = ["cerebras", "mistral"];

fn classify(
    status: u16,
    said: Said,
    after_ms: Option<u64>,
    provider: &str,
    model: &str,
) -> Failure {
    let asked_ms = after_ms.or(said.after_ms);
    let says = |table: &Table| words::says(&said.all, table);
    let is_lasting = says(words::LASTING) && said.told_ms.is_none();
    // Gemini calls every rate limit a quota, but names a delay if waiting helps.
    let used_up = says(words::QUOTA) && (status != 429 || asked_ms.is_none());
    let unauthorized = |said| Failure::Unauthorized { provider: provider.to_owned(), said };
    let unknown = |said| Failure::UnknownModel { model: model.to_owned(), said };
    let throttled = |said| Failure::RateLimited { after_ms: asked_ms, said };
    match status {
        402 => Failure::Quota { said: said.text },
        _ if used_up => Failure::Quota { said: said.text },
        // The request alone has more tokens than are allowed in a minute, so waiting does not help.
        413 | 429 if says(&[&["request too large"]]) => limits::too_long(said.text),
        200 | 400 | 403 | 429 if is_lasting => Failure::Quota { said: said.text },
        // Amazon calls both a request that is too long and a minute's limit too many tokens
        200 | 400 | 403 | 500 if says(words::THROTTLE) => throttled(said.words()),
        200 | 400 | 413 | 422 | 500 if says(words::TOO_LONG) => limits::too_long(said.text),
        400 if said.is_silent && SILENT.contains(&provider) => limits::too_long(String::new()),
        200 | 400 | 422 if says(words::THOUGHTS) => Failure::Thoughts { status, said: said.text },
        413 => limits::too_long(said.text),
        200 | 400 | 422 | 500 | 501 if said.refused.is_some() => unsupported(status, said),
        200 | 400..=499 | 500 | 501 if says(words::NO_TOOLS) => {
            Failure::NoTools { model: model.to_owned(), said: said.text }
        }
        200 | 400 | 403 | 422 | 451 if says(words::FILTERED) => {
            Failure::Filtered { said: said.text }
        }
        // Gemini's message for a wrong key
        400 if said.all.contains("api key not valid") => unauthorized(said.text),
        401 | 403 if said.is_page => Failure::Protocol { said: said.text },
        401 => unauthorized(said.text),
        403 if said.is_silent || says(words::KEY) => unauthorized(said.text),
        404 if said.all.contains("model") || says(words::NO_MODEL) => unknown(said.text),
        400 | 422 if says(words::NO_MODEL) => unknown(said.text),
        429 => throttled(said.words()),
        500 if says(words::NO_ROOM) => Failure::Rejected { status, said: said.text },
        529 => Failure::Overloaded { after_ms: asked_ms, said: said.words() },
        200 | 500..=599 if says(words::OVERLOADED) => {
            Failure::Overloaded { after_ms: asked_ms, said: said.words() }
        }
        408 | 500..=599 => Failure::ServerError { status, after_ms: asked_ms, said: said.words() },
        // an error without a status, in the middle of an answer
        200 if !says(words::INVALID) => Failure::Broken { said: said.words() },
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

/// Whether an error's words say that a request has too many bytes, not too many tokens: those of a proxy.
pub fn is_of_bytes(said: &str) -> bool {
    let said = said.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|it| said.contains(it));
    has(&["too large", "maximum size", "too big"])
        && !has(&["token", "context", "prompt", "window"])
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
        Failure::NotAgreed { to } => (&mut [to], None),
        Failure::Offline { host, why } => (&mut [host], Some(why)),
        Failure::Proxy { variable, address, host, why } => {
            (&mut [variable, address, host], Some(why))
        }
        Failure::Unauthorized { provider, said } => (&mut [provider], Some(said)),
        Failure::UnknownModel { model, said } | Failure::NoTools { model, said } => {
            (&mut [model], Some(said))
        }
        Failure::Quota { said }
        | Failure::Filtered { said }
        | Failure::RateLimited { said, .. }
        | Failure::Overloaded { said, .. }
        | Failure::TooLong { said, .. }
        | Failure::SmallWindow { said, .. }
        | Failure::Unfit { said, .. }
        | Failure::Exceeds { said, .. }
        | Failure::Rejected { said, .. }
        | Failure::Thoughts { said, .. }
        | Failure::Unsupported { said, .. }
        | Failure::ServerError { said, .. }
        | Failure::Broken { said }
        | Failure::Protocol { said } => (&mut [], Some(said)),
        Failure::Cut | Failure::Empty | Failure::Endless { .. } | Failure::Stalled { .. } => {
            (&mut [], None)
        }
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
