//! Rules for the requests that the real providers refuse. The reasons are in the providers' own words if these are
//! known.

pub mod anthropic;
pub mod gemini;
pub(super) mod ollama;
pub(super) mod openai_chat;
pub(super) mod openai_responses;

use base64::prelude::{BASE64_STANDARD, Engine as _};
use serde_json::{Map, Value};

/// The result of a check. The error is the reason why the request is refused.
pub type Checked = Result<(), String>;

/// Requires that the request asks for a streamed reply, because this server sends no other replies.
fn streams(body: &Map<String, Value>) -> Checked {
    let streams = body.get("stream") == Some(&Value::Bool(true));
    streams.then_some(()).ok_or_else(|| "stream: this server only streams".into())
}

/// Refuses fields that are not in `allowed`.
fn only(object: &Map<String, Value>, at: &str, allowed: &[&str]) -> Checked {
    match object.keys().find(|key| !allowed.contains(&key.as_str())) {
        Some(key) => Err(format!("{at}{key}: Extra inputs are not permitted")),
        None => Ok(()),
    }
}

/// Returns the field, which must be a non-empty string.
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

/// Checks a tool's name or a call's id against `^[a-zA-Z0-9_-]{1,64}$`.
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

/// Checks that an image is valid base64, is complete, has the format of its media type, and is not too large. `most` is
/// the limit of the base64 text in bytes.
fn image(media: &str, data: &str, most: usize, at: &str) -> Checked {
    let format = match media {
        "image/png" => image::ImageFormat::Png,
        "image/jpeg" => image::ImageFormat::Jpeg,
        _ => return Err(format!("{at}media_type: Input should be 'image/jpeg' or 'image/png'")),
    };
    if data.len() > most {
        return Err(format!("{at}: image exceeds {most} bytes maximum: {} bytes", data.len()));
    }
    let bytes = BASE64_STANDARD.decode(data);
    let bytes = bytes.map_err(|why| format!("{at}: Invalid base64 data: {why}"))?;
    let whole = image::load_from_memory_with_format(&bytes, format);
    let whole = whole.map_err(|why| format!("{at}: Could not process image: {why}"))?;
    let long = whole.width().max(whole.height());
    (long <= 8000)
        .then_some(())
        .ok_or_else(|| format!("{at}: image dimensions exceed max allowed size: 8000 pixels"))
}

/// Checks an image that is given as `data:image/png;base64,…`.
fn data_url(url: &str, most: usize, at: &str) -> Checked {
    let parts = url.strip_prefix("data:").and_then(|it| it.split_once(";base64,"));
    let (media, data) =
        parts.ok_or_else(|| format!("Invalid '{at}': expected a base64 data URL"))?;
    image(media, data, most, at)
}

/// The first name that occurs twice.
fn repeated<'a>(names: &[&'a str]) -> Option<&'a str> {
    names.iter().enumerate().find(|(i, name)| names[..*i].contains(name)).map(|(_, name)| *name)
}
