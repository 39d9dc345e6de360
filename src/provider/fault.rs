//! What went wrong, from what the provider said: error bodies and errors within a stream become typed
//! failures. Pure; the clock is an argument.

use super::dialect::Asked;
use crate::event::Failure;
use serde_json::Value;
use std::time::{Duration, SystemTime};

/// Longest wait taken from a provider, in milliseconds: a day.
const LONGEST_WAIT: f64 = 86_400_000.0;
/// Longest quotation of a provider, in characters.
const QUOTE: usize = 400;
/// And of one word of it: beyond that it is no word but raw JSON or noise.
const WORD: usize = 80;

/// A refused request.
#[derive(Debug, Clone, Copy)]
pub struct Refusal<'a> {
    pub status: u16,
    pub body: &'a str,
    /// What the headers say of waiting, in milliseconds.
    pub after_ms: Option<u64>,
    pub provider: &'a str,
    pub model: &'a str,
}

/// An answer with an error status.
pub fn from_status(refusal: &Refusal<'_>) -> Failure {
    let value: Value = serde_json::from_str(refusal.body).unwrap_or_default();
    let said = Said::of(&value, refusal.body);
    // An error under a status of success has only its own kind to go by.
    let status =
        if refusal.status < 300 { said.status.unwrap_or(refusal.status) } else { refusal.status };
    classify(status, &said, refusal.after_ms, refusal.provider, refusal.model)
}

/// An error that came as an event, under status 200.
pub fn in_stream(error: &Value, asked: &Asked) -> Failure {
    let said = Said::of(error, "");
    let status = said.status.unwrap_or(200);
    classify(status, &said, None, &asked.provider, &asked.model)
}

/// An error in the provider's words.
struct Said {
    /// For the user: one line.
    text: String,
    /// For the tables below: its kinds, codes and text in lower case.
    all: String,
    /// The status its kind stands for.
    status: Option<u16>,
    after_ms: Option<u64>,
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
        let code = &error["code"];
        let kinds =
            [&error["type"], code, &error["status"]].map(|kind| kind.as_str().unwrap_or_default());
        let status = code.as_u64().and_then(|code| u16::try_from(code).ok());
        let status = status
            .filter(|code| (400..600).contains(code))
            .or(kinds.iter().find_map(|kind| status_of(kind)));
        let after_ms = retry_delay(error).or_else(|| try_again_in(&text));
        Said { all: format!("{} {text}", kinds.join(" ")).to_lowercase(), text, status, after_ms }
    }
}

/// The HTTP status that a kind of error goes with where it has one.
fn status_of(kind: &str) -> Option<u16> {
    Some(match kind {
        "invalid_request_error" | "invalid_prompt" => 400,
        "authentication_error" | "invalid_api_key" => 401,
        "billing_error" | "insufficient_quota" => 402,
        "permission_error" => 403,
        "not_found_error" | "model_not_found" => 404,
        "request_too_large" | "context_length_exceeded" => 413,
        "rate_limit_error" | "rate_limit_exceeded" | "RESOURCE_EXHAUSTED" => 429,
        "api_error" | "server_error" | "internal_error" | "timeout_error" => 500,
        "overloaded_error" | "server_is_overloaded" | "slow_down" | "UNAVAILABLE" => 529,
        _ => return None,
    })
}

/// How the vendors say that a request does not fit the model's window; each from its own documentation or
/// error texts. In lower case.
const TOO_LONG: [&str; 25] = [
    "prompt is too long",
    "input is too long",
    "input length and `max_tokens` exceed",
    "context_length_exceeded",
    "context window",
    "maximum context length",
    "model's context length",
    "maximum prompt length",
    "maximum allowed input length",
    "exceeds the available context size",
    "greater than the context length",
    "exceeds the context length",
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

/// How they say that the money or the plan is used up. In lower case.
const QUOTA: [&str; 8] = [
    "insufficient_quota",
    "enforced_spend_limit",
    "spend limit",
    "credit balance",
    "insufficient credits",
    "insufficient balance",
    "exceeded your current quota",
    "billing_",
];

/// How Ollama says that the model, or the window that was asked for, is too large for the machine: that does not
/// pass. In lower case.
const NO_ROOM: [&str; 2] = ["system memory", "resource limitations"];

/// How they say that there is no such model. In lower case.
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
    said: &Said,
    after_ms: Option<u64>,
    provider: &str,
    model: &str,
) -> Failure {
    let after_ms = after_ms.or(said.after_ms);
    let says = |table: &[&str]| table.iter().any(|text| said.all.contains(text));
    let text = || said.text.clone();
    // Gemini calls every rate a quota, but names a delay where waiting helps.
    let used_up = says(&QUOTA) && (status != 429 || after_ms.is_none());
    match status {
        402 => Failure::Quota { said: text() },
        _ if used_up => Failure::Quota { said: text() },
        200 | 400 | 413 | 422 | 429 | 500 if says(&TOO_LONG) => Failure::TooLong { said: text() },
        413 => Failure::TooLong { said: text() },
        401 | 403 => Failure::Unauthorized { provider: provider.to_owned(), said: text() },
        // Gemini's word for a wrong key.
        400 if said.all.contains("api key not valid") => {
            Failure::Unauthorized { provider: provider.to_owned(), said: text() }
        }
        404 if said.all.contains("model") => unknown(model, said),
        400 | 422 if says(&NO_MODEL) => unknown(model, said),
        429 => Failure::RateLimited { after_ms },
        500 if says(&NO_ROOM) => Failure::Rejected { status, said: text() },
        408 | 500..=599 => Failure::Overloaded { after_ms },
        _ => Failure::Rejected { status, said: text() },
    }
}

fn unknown(model: &str, said: &Said) -> Failure {
    Failure::UnknownModel { model: model.to_owned(), said: said.text.clone() }
}

/// One line of untrusted text, without tags of a page and control characters, clipped.
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

/// Google's `RetryInfo`: `"retryDelay": "37s"`.
fn retry_delay(error: &Value) -> Option<u64> {
    let details = error["details"].as_array()?;
    let delay = details.iter().find_map(|detail| detail["retryDelay"].as_str())?;
    millis(delay.strip_suffix('s')?.parse::<f64>().ok()? * 1000.0)
}

/// As `OpenAI` and Groq say it: `Please try again in 1.3s`, `… in 20ms`, `… in 1m30s`.
fn try_again_in(text: &str) -> Option<u64> {
    let (_, rest) = text.split_once("try again in ")?;
    let mut total = 0.0;
    let mut number = String::new();
    let mut chars = rest.chars().peekable();
    let mut found = false;
    while let Some(c) = chars.next() {
        let unit = match c {
            '0'..='9' | '.' => {
                number.push(c);
                continue;
            }
            'm' if chars.next_if_eq(&'s').is_some() => 1.0,
            's' => 1000.0,
            'm' => 60_000.0,
            'h' => 3_600_000.0,
            _ => break,
        };
        let Ok(amount) = number.trim_end_matches('.').parse::<f64>() else { break };
        total += amount * unit;
        found = true;
        number.clear();
    }
    if found { millis(total) } else { None }
}

/// The wait a pair of headers asks for, in milliseconds: `retry-after-ms`, else `retry-after` in seconds or as
/// a date. Negative is none; more than a day is a day.
pub fn retry_after(ms: Option<&str>, after: Option<&str>, now: SystemTime) -> Option<u64> {
    if let Some(wait) = ms.and_then(|ms| ms.trim().parse().ok()).and_then(millis) {
        return Some(wait);
    }
    let after = after?.trim();
    let seconds = after.parse().ok().or_else(|| {
        let wait = http_date(after)?.duration_since(now).unwrap_or_default();
        Some(wait.as_secs_f64())
    });
    millis(seconds? * 1000.0)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "clamped to 0..=LONGEST_WAIT before"
)]
fn millis(wait: f64) -> Option<u64> {
    (!wait.is_nan()).then(|| wait.clamp(0.0, LONGEST_WAIT).ceil() as u64)
}

/// An IMF-fixdate, the only form servers may send: `Sun, 06 Nov 1994 08:49:37 GMT`.
fn http_date(text: &str) -> Option<SystemTime> {
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let mut words = text.split_once(", ")?.1.split([' ', ':']);
    let day: u64 = words.next()?.parse().ok().filter(|day| (1..=31).contains(day))?;
    let month = words.next()?;
    let month = MONTHS.iter().position(|name| *name == month)? as u64;
    let year: u64 = words.next()?.parse().ok().filter(|year| (1970..10_000).contains(year))?;
    let mut time = 0;
    for _ in 0..3 {
        time = time * 60 + words.next()?.parse::<u64>().ok().filter(|part| *part < 61)?;
    }
    // Days before the month in a year that begins in March, so that the leap day comes last.
    let (year, month) = if month < 2 { (year - 1, month + 10) } else { (year, month - 2) };
    let days = year * 365 + year / 4 - year / 100 + year / 400 + (month * 153 + 2) / 5 + day - 1;
    let since = days.checked_sub(719_468)? * 86_400 + time;
    Some(SystemTime::UNIX_EPOCH + Duration::from_secs(since))
}

/// Takes a key out of everything a failure would show.
pub fn without_key(mut failure: Failure, key: &str) -> Failure {
    if key.is_empty() {
        return failure;
    }
    let texts: &mut [&mut String] = match &mut failure {
        Failure::NoKey { provider, variable } => &mut [provider, variable],
        Failure::KeyCommand { provider, why } => &mut [provider, why],
        Failure::Offline { host, why } => &mut [host, why],
        Failure::Unauthorized { provider, said } => &mut [provider, said],
        Failure::UnknownModel { model, said } => &mut [model, said],
        Failure::Quota { said }
        | Failure::TooLong { said }
        | Failure::Rejected { said, .. }
        | Failure::Protocol { said } => &mut [said],
        Failure::RateLimited { .. }
        | Failure::Overloaded { .. }
        | Failure::Cut
        | Failure::Stalled { .. } => &mut [],
    };
    for text in texts {
        if text.contains(key) {
            **text = text.replace(key, "[key]");
        }
    }
    failure
}

#[cfg(test)]
mod tests;
