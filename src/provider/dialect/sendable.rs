//! Calls of earlier replies in a form that providers accept.

use crate::message::{CallId, Input};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::fmt::Write;

/// A call's arguments as an object, because providers accept nothing else in an earlier call. Broken JSON is sent back
/// as a string in an object.
pub(in crate::provider) fn replayed(input: &Input) -> Value {
    match input {
        Input::Json(value) if value.is_object() => value.clone(),
        Input::Json(value) => serde_json::json!({ "not_an_object": value }),
        Input::Broken { text, .. } => serde_json::json!({ "broken_json": text }),
    }
}

/// A call's id in a form that the endpoint accepts: unchanged if it has only letters, digits, `_` and `-` and is not
/// longer than `longest`. Otherwise a digest of the id, which is the same for a call and its answer.
pub(in crate::provider) fn fitting_id(id: &CallId, longest: usize) -> String {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if !id.0.is_empty() && id.0.len() <= longest && id.0.chars().all(fits) {
        return id.0.clone();
    }
    format!("call_{}", &digest(&id.0)[..24])
}

/// A tool's name in a form that every provider accepts. Models also call tools by names that no provider accepts.
pub(in crate::provider) fn fitting_name(name: &str) -> String {
    let fits = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    let name: String = name.chars().take(64).map(fits).collect();
    if name.is_empty() { "unnamed".to_owned() } else { name }
}

/// A call's id in the form for endpoints that accept only exactly nine letters or digits.
pub(in crate::provider) fn nine_letter_id(id: &CallId) -> String {
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
