//! Reads the JSON of answers as servers write it, and calls with their arguments.

use crate::event::Failure;
use crate::message::{Input, Stop};
use crate::provider::Sampled;
use serde_json::Value;

pub(in crate::provider) fn protocol(said: &str) -> Sampled {
    Sampled::Failed(Failure::Protocol { said: said.to_owned() })
}

/// Parses the JSON of a frame. Servers written in JavaScript may cut an emoji in two, which leaves an escaped half of a
/// surrogate pair. Such a half becomes U+FFFD instead of making the reply fail.
pub(in crate::provider) fn json<T: serde::de::DeserializeOwned>(
    data: &str,
) -> Result<T, serde_json::Error> {
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
pub(in crate::provider) fn input(text: String, cut: bool) -> Input {
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
pub(in crate::provider) fn whole_input(given: Value) -> Input {
    match given {
        Value::Null => Input::Json(Value::Object(serde_json::Map::new())),
        Value::String(text) => input(text, false),
        given => Input::Json(given),
    }
}

/// Whether a reply with this stop reason may end in the middle of a call.
pub(in crate::provider) fn cuts_calls(stop: &Stop) -> bool {
    !matches!(stop, Stop::EndTurn | Stop::ToolUse | Stop::StopSequence | Stop::Pause)
}
