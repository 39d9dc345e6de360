//! The rules of other vendors' Chat Completions where they differ from `OpenAI`'s: requests that a vendor accepts in
//! addition, and requests that it refuses.

use super::{Checked, Object};
use serde_json::{Value, json};

/// Checks the body by the vendor's rules and returns the body without the vendor's own fields.
pub(super) fn plain(body: &Object) -> Result<Object, String> {
    let mut body = body.clone();
    let model = body.get("model").and_then(Value::as_str).unwrap_or_default().to_owned();
    let mut messages = body.get("messages").and_then(Value::as_array).cloned().unwrap_or_default();
    if model.starts_with("deepseek") {
        deepseek(&mut messages)?;
        body.shift_remove("thinking");
    } else if model.starts_with("magistral") {
        mistral(&mut messages)?;
    } else if model.contains('/') {
        openrouter(&mut messages);
        body.shift_remove("reasoning");
    }
    if body.contains_key("messages") {
        body.insert("messages".into(), messages.into());
    }
    Ok(body)
}

/// `DeepSeek` requires that each message with calls contains the model's reasoning.
fn deepseek(messages: &mut [Value]) -> Checked {
    for message in messages.iter_mut().filter(|it| it["role"] == "assistant") {
        let reasoning = message.as_object_mut().and_then(|it| it.shift_remove("reasoning_content"));
        let is_given = reasoning.as_ref().and_then(Value::as_str).is_some_and(|it| !it.is_empty());
        if message.get("tool_calls").is_some() && !is_given {
            return Err(
                "The `reasoning_content` in the thinking mode must be passed back to the API."
                    .into(),
            );
        }
    }
    Ok(())
}

fn mistral(messages: &mut [Value]) -> Checked {
    for pair in messages.windows(2) {
        if pair[0]["role"] == "tool" && pair[1]["role"] == "user" {
            return Err("Unexpected role 'user' after role 'tool'".into());
        }
    }
    for message in messages {
        let calls = message["tool_calls"].as_array().into_iter().flatten().map(|call| &call["id"]);
        for id in calls.chain([&message["tool_call_id"]]).filter_map(Value::as_str) {
            if id.len() != 9 || !id.bytes().all(|it| it.is_ascii_alphanumeric()) {
                return Err(format!(
                    "Tool call id was {id} but must be a-z, A-Z, 0-9, with a length of 9."
                ));
            }
        }
        if let (true, Some(parts)) =
            (message["role"] == "assistant", message["content"].as_array_mut())
        {
            parts.retain(|part| part["type"] != "thinking");
            if parts.is_empty() {
                message["content"] = Value::Null;
            }
        }
    }
    Ok(())
}

fn openrouter(messages: &mut [Value]) {
    for message in messages {
        if let Some(message) = message.as_object_mut() {
            message.shift_remove("reasoning_details");
        }
        for part in message["content"].as_array_mut().into_iter().flatten() {
            if part["cache_control"] == json!({"type": "ephemeral"}) {
                part.as_object_mut().map(|part| part.shift_remove("cache_control"));
            }
        }
    }
}
