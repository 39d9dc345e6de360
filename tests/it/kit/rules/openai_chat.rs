//! The rules of `OpenAI`'s Chat Completions API.

use super::{Checked, array, identifier, object, positive, streams, string};
use serde_json::{Map, Value};

mod vendors;

type Object = Map<String, Value>;

const FIELDS: &[&str] = &[
    "model",
    "messages",
    "stream",
    "stream_options",
    "tools",
    "tool_choice",
    "parallel_tool_calls",
    "max_tokens",
    "max_completion_tokens",
    "temperature",
    "top_p",
    "n",
    "stop",
    "seed",
    "user",
    "metadata",
    "store",
    "reasoning_effort",
    "verbosity",
    "response_format",
    "service_tier",
    "prompt_cache_key",
    "safety_identifier",
    "presence_penalty",
    "frequency_penalty",
    "logit_bias",
    "logprobs",
    "top_logprobs",
];

pub(in crate::kit) fn check(body: &Object) -> Checked {
    streams(body)?;
    let body = &vendors::plain(body)?;
    if let Some(key) = body.keys().find(|key| !FIELDS.contains(&key.as_str())) {
        return Err(format!("Unrecognized request argument supplied: {key}"));
    }
    string(body, "", "model")?;
    for limit in ["max_tokens", "max_completion_tokens"] {
        if body.contains_key(limit) {
            positive(body, limit)?;
        }
    }
    reasoning(body)?;
    tools(body)?;
    let messages = array(body.get("messages"), "messages")?;
    let is_blind = ["o1-mini", "o3-mini", "gpt-3.5"];
    if is_blind.iter().any(|it| body["model"].as_str().is_some_and(|model| model.starts_with(it)))
        && body["messages"].to_string().contains("\"image_url\"")
    {
        return Err("Invalid content type. image_url is only supported by certain models.".into());
    }
    if messages.is_empty() {
        return Err("[] is too short - 'messages'".into());
    }
    let mut open: Vec<String> = Vec::new();
    for (i, message) in messages.iter().enumerate() {
        let at = format!("messages[{i}].");
        let message = object(message, &at)?;
        let role = string(message, &at, "role")?;
        if role == "tool" {
            answer(message, &at, &mut open)?;
            continue;
        }
        unanswered(&open)?;
        match role {
            "system" | "developer" | "user" => plain(message, role, &at)?,
            "assistant" => open = assistant(message, &at)?,
            other => {
                return Err(format!(
                    "'{other}' is not one of ['system', 'assistant', 'user', 'function', 'tool', and 'developer']. - '{at}role'"
                ));
            }
        }
    }
    unanswered(&open)
}

/// Checks that a request to a reasoning model does not have the fields that such models refuse.
fn reasoning(body: &Object) -> Checked {
    let model = body.get("model").and_then(Value::as_str).unwrap_or_default();
    let reasons = ["gpt-5", "gpt-6", "o1", "o3", "o4"].iter().any(|it| model.starts_with(it));
    if !reasons || model.contains("-chat") {
        return Ok(());
    }
    if body.contains_key("max_tokens") {
        return Err("Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.".into());
    }
    if body.contains_key("temperature") {
        return Err("Unsupported value: 'temperature' does not support 0.2 with this model. Only the default (1) value is supported.".into());
    }
    Ok(())
}

fn unanswered(open: &[String]) -> Checked {
    if open.is_empty() {
        return Ok(());
    }
    Err(format!(
        "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: {}",
        open.join(", ")
    ))
}

fn known(message: &Object, at: &str, allowed: &[&str]) -> Checked {
    match message.keys().find(|key| !allowed.contains(&key.as_str())) {
        Some(key) => {
            Err(format!("Additional properties are not allowed ('{key}' was unexpected) - '{at}'"))
        }
        None => Ok(()),
    }
}

fn answer(message: &Object, at: &str, open: &mut Vec<String>) -> Checked {
    known(message, at, &["role", "content", "tool_call_id"])?;
    let id = string(message, at, "tool_call_id")?;
    let Some(found) = open.iter().position(|open| open == id) else {
        return Err(format!(
            "Invalid parameter: messages with role 'tool' must be a response to a preceding message with 'tool_calls': {id} - '{at}'"
        ));
    };
    open.remove(found);
    content(message, at, &["text"])
}

fn plain(message: &Object, role: &str, at: &str) -> Checked {
    known(message, at, &["role", "content", "name"])?;
    let parts: &[&str] =
        if role == "user" { &["text", "image_url", "input_audio", "file"] } else { &["text"] };
    content(message, at, parts)?;
    if role == "user" && message.get("content").and_then(Value::as_str).is_some_and(str::is_empty) {
        return Err(format!("{at}content: user content must not be empty"));
    }
    Ok(())
}

fn content(message: &Object, at: &str, kinds: &[&str]) -> Checked {
    match message.get("content") {
        Some(Value::String(_)) => Ok(()),
        Some(Value::Array(parts)) if !parts.is_empty() => {
            for part in parts {
                let part = object(part, at)?;
                let kind = string(part, at, "type")?;
                if !kinds.contains(&kind) {
                    return Err(format!("Invalid value: '{kind}' - '{at}content'"));
                }
                known(part, at, &["type", kind])?;
                if kind == "text" {
                    string(part, at, "text")?;
                }
                if kind == "image_url" {
                    let url = object(&part[kind], at)?;
                    known(url, at, &["url", "detail"])?;
                    super::data_url(string(url, at, "url")?, 20 << 20, at)?;
                }
            }
            Ok(())
        }
        other => Err(format!(
            "Invalid value for 'content': expected a string or parts, got {other:?} - '{at}'"
        )),
    }
}

/// Checks an assistant message and returns the ids of its calls.
fn assistant(message: &Object, at: &str) -> Result<Vec<String>, String> {
    known(message, at, &["role", "content", "name", "refusal", "tool_calls"])?;
    let calls = message.get("tool_calls").filter(|calls| !calls.is_null());
    match message.get("content") {
        None | Some(Value::Null) if calls.is_some() => {}
        Some(Value::String(text)) if text.is_empty() => {
            return Err(format!("{at}content: assistant content must not be empty"));
        }
        _ => content(message, at, &["text", "refusal"])?,
    }
    let Some(calls) = calls else { return Ok(Vec::new()) };
    let calls = array(Some(calls), at)?;
    if calls.is_empty() {
        return Err(format!("[] is too short - '{at}tool_calls'"));
    }
    let mut ids: Vec<String> = Vec::new();
    for call in calls {
        let id = check_call(object(call, at)?, at)?;
        if ids.contains(&id) {
            return Err(format!("Duplicate tool call id {id} - '{at}tool_calls'"));
        }
        ids.push(id);
    }
    Ok(ids)
}

fn check_call(call: &Object, at: &str) -> Result<String, String> {
    known(call, at, &["id", "type", "function"])?;
    let id = string(call, at, "id")?;
    if id.len() > 40 {
        return Err(format!(
            "Invalid '{at}tool_calls.id': string too long. Expected a string with maximum length 40"
        ));
    }
    if call.get("type") != Some(&"function".into()) {
        return Err(format!("Missing required parameter: '{at}tool_calls.type'"));
    }
    let function = object(call.get("function").unwrap_or(&Value::Null), at)?;
    known(function, at, &["name", "arguments"])?;
    identifier(string(function, at, "name")?, at)?;
    let arguments = function.get("arguments").and_then(Value::as_str);
    let arguments =
        arguments.ok_or_else(|| format!("Invalid type for '{at}arguments': expected a string"))?;
    if serde_json::from_str::<Value>(arguments).is_err() {
        return Err(format!("'{at}arguments': not valid JSON"));
    }
    Ok(id.to_owned())
}

fn tools(body: &Object) -> Checked {
    let Some(tools) = body.get("tools") else {
        let stray =
            ["tool_choice", "parallel_tool_calls"].into_iter().find(|key| body.contains_key(*key));
        return stray.map_or(Ok(()), |key| {
            Err(format!("'{key}' is only allowed when 'tools' are specified."))
        });
    };
    let tools = array(Some(tools), "tools")?;
    if tools.is_empty() {
        return Err("[] is too short - 'tools'".into());
    }
    if tools.len() > 128 {
        return Err(format!(
            "Invalid 'tools': array too long. Expected at most 128, but got {}",
            tools.len()
        ));
    }
    for (i, tool) in tools.iter().enumerate() {
        let at = format!("tools[{i}].");
        let tool = object(tool, &at)?;
        known(tool, &at, &["type", "function"])?;
        if tool.get("type") != Some(&"function".into()) {
            return Err(format!("Missing required parameter: '{at}type'"));
        }
        let function = object(tool.get("function").unwrap_or(&Value::Null), &at)?;
        known(function, &at, &["name", "description", "parameters", "strict"])?;
        identifier(string(function, &at, "name")?, &format!("{at}function.name"))?;
        if function.get("parameters").is_some_and(|schema| schema["type"] != "object") {
            return Err(format!("Invalid schema for function: '{at}function.parameters'"));
        }
    }
    Ok(())
}
