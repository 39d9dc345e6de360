//! What the real providers refuse, in their own words where they are known.

mod anthropic;
mod openai;

use super::http::Request;
use serde_json::{Map, Value, json};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    Anthropic,
    OpenAi,
}

/// The reason for which a request is refused.
type Checked = Result<(), String>;

/// Status and reason, where the request's provider would refuse it.
pub(super) fn refusal(request: &Request) -> Option<(u16, String)> {
    let dialect = request.dialect()?;
    let said = |status: u16| move |message: String| (status, message);
    let keyless = match dialect {
        Dialect::Anthropic => request.header("x-api-key").is_none_or(str::is_empty),
        Dialect::OpenAi => {
            let key =
                request.header("authorization").and_then(|value| value.strip_prefix("Bearer "));
            key.is_none_or(str::is_empty)
        }
    };
    if keyless {
        let message = match dialect {
            Dialect::Anthropic => "x-api-key header is required",
            Dialect::OpenAi => "You didn't provide an API key.",
        };
        return Some((401, message.into()));
    }
    if request.method != "POST" {
        return Some((405, format!("{} is not allowed here", request.method)));
    }
    if !request.header("content-type").is_some_and(|kind| kind.starts_with("application/json")) {
        return Some((400, "content-type: must be application/json".into()));
    }
    if dialect == Dialect::Anthropic && request.header("anthropic-version") != Some("2023-06-01") {
        return Some((400, "anthropic-version: header is required".into()));
    }
    let Value::Object(body) = &request.json else {
        return Some((400, "the body is not a JSON object".into()));
    };
    if body.get("stream") != Some(&Value::Bool(true)) {
        return Some((400, "stream: this server only streams".into()));
    }
    let checked = match dialect {
        Dialect::Anthropic => anthropic::check(body),
        Dialect::OpenAi => openai::check(body),
    };
    checked.err().map(said(400))
}

/// The provider's error object; `code` is for the Chat Completions API.
pub(super) fn error_body(
    dialect: Dialect,
    status: u16,
    code: Option<&str>,
    message: &str,
) -> Value {
    match dialect {
        Dialect::Anthropic => {
            let kind = match status {
                401 => "authentication_error",
                403 => "permission_error",
                404 => "not_found_error",
                413 => "request_too_large",
                429 => "rate_limit_error",
                529 => "overloaded_error",
                400..=499 => "invalid_request_error",
                _ => "api_error",
            };
            json!({"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_01"})
        }
        Dialect::OpenAi => {
            let (kind, usual) = match status {
                401 => ("invalid_request_error", Some("invalid_api_key")),
                404 => ("invalid_request_error", Some("model_not_found")),
                429 => ("requests", Some("rate_limit_exceeded")),
                400..=499 => ("invalid_request_error", None),
                _ => ("server_error", None),
            };
            let kind = code.filter(|code| *code == "insufficient_quota").unwrap_or(kind);
            json!({"error": {"message": message, "type": kind, "param": null, "code": code.or(usual)}})
        }
    }
}

/// Only these fields.
fn only(object: &Map<String, Value>, at: &str, allowed: &[&str]) -> Checked {
    match object.keys().find(|key| !allowed.contains(&key.as_str())) {
        Some(key) => Err(format!("{at}{key}: Extra inputs are not permitted")),
        None => Ok(()),
    }
}

/// The field as a non-empty string.
fn string<'a>(object: &'a Map<String, Value>, at: &str, field: &str) -> Result<&'a str, String> {
    let value = object.get(field).and_then(Value::as_str).filter(|text| !text.is_empty());
    value.ok_or_else(|| format!("{at}{field}: a string that is not empty is required"))
}

fn object<'a>(value: &'a Value, at: &str) -> Result<&'a Map<String, Value>, String> {
    value.as_object().ok_or_else(|| format!("{at}: Input should be an object"))
}

fn array<'a>(value: Option<&'a Value>, at: &str) -> Result<&'a [Value], String> {
    value
        .and_then(Value::as_array)
        .map(Vec::as_slice)
        .ok_or_else(|| format!("{at}: Input should be a list"))
}

/// A tool's name or a call's id: `^[a-zA-Z0-9_-]{1,64}$`.
fn identifier(text: &str, at: &str) -> Checked {
    let fits = (1..=64).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
    fits.then_some(())
        .ok_or_else(|| format!("{at}: String should match pattern '^[a-zA-Z0-9_-]{{1,64}}$'"))
}

fn positive(object: &Map<String, Value>, field: &str) -> Checked {
    let fits = object.get(field).and_then(Value::as_u64).is_some_and(|number| number > 0);
    fits.then_some(()).ok_or_else(|| format!("{field}: a positive integer is required"))
}

/// The first that occurs twice.
fn repeated<'a>(names: &[&'a str]) -> Option<&'a str> {
    names.iter().enumerate().find(|(i, name)| names[..*i].contains(name)).map(|(_, name)| *name)
}
