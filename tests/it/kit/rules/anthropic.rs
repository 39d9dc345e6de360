//! The rules of Anthropic's Messages API.

use super::{Checked, array, identifier, object, only, positive, repeated, streams, string};
use serde_json::{Map, Value};

mod thinking;

pub use thinking::signature;

type Object = Map<String, Value>;

const FIELDS: &[&str] = &[
    "model",
    "messages",
    "max_tokens",
    "system",
    "tools",
    "tool_choice",
    "stream",
    "thinking",
    "output_config",
    "temperature",
    "top_p",
    "top_k",
    "stop_sequences",
    "metadata",
    "service_tier",
];

pub(in crate::kit) fn check(body: &Object) -> Checked {
    streams(body)?;
    only(body, "", FIELDS)?;
    string(body, "", "model")?;
    positive(body, "max_tokens")?;
    system(body.get("system"))?;
    tools(body)?;
    let messages = array(body.get("messages"), "messages")?;
    for (i, message) in messages.iter().enumerate() {
        check_message(object(message, &format!("messages.{i}"))?, i, i + 1 == messages.len())?;
    }
    if messages.first().is_none_or(|first| first["role"] != "user") {
        return Err("messages: first message must use the \"user\" role".into());
    }
    pairs(messages)?;
    thinking::check(body, messages)?;
    marks(body)
}

fn system(system: Option<&Value>) -> Checked {
    let Some(system) = system.filter(|system| !system.is_string()) else { return Ok(()) };
    for (i, block) in array(Some(system), "system")?.iter().enumerate() {
        let at = format!("system.{i}.");
        let block = object(block, &at)?;
        if block.get("type") != Some(&"text".into()) {
            return Err(format!("{at}type: Input should be 'text'"));
        }
        text(block, &at)?;
    }
    Ok(())
}

fn tools(body: &Object) -> Checked {
    let Some(tools) = body.get("tools") else { return Ok(()) };
    let mut names = Vec::new();
    for (i, tool) in array(Some(tools), "tools")?.iter().enumerate() {
        let at = format!("tools.{i}.");
        let tool = object(tool, &at)?;
        if tool.get("type").is_some_and(|it| it == "web_search_20250305") {
            only(tool, &at, &["type", "name", "max_uses", "cache_control"])?;
            names.push(string(tool, &at, "name")?);
            continue;
        }
        only(tool, &at, &["name", "description", "input_schema", "cache_control", "type"])?;
        let name = string(tool, &at, "name")?;
        identifier(name, &format!("{at}name"))?;
        if tool.get("input_schema").is_none_or(|schema| schema["type"] != "object") {
            return Err(format!("{at}input_schema.type: Field required"));
        }
        names.push(name);
    }
    match repeated(&names) {
        Some(_) => Err("tools: Tool names must be unique.".into()),
        None => Ok(()),
    }
}

fn check_message(message: &Object, i: usize, is_last: bool) -> Checked {
    let at = format!("messages.{i}.");
    only(message, &at, &["role", "content"])?;
    let role = string(message, &at, "role")?;
    if !["user", "assistant"].contains(&role) {
        return Err(format!("{at}role: Input should be 'user' or 'assistant'"));
    }
    if let Some(Value::String(text)) = message.get("content") {
        if text.trim().is_empty() {
            return Err(format!("messages.{i}: all messages must have non-empty content"));
        }
        return trailing(role, text, is_last);
    }
    let blocks = array(message.get("content"), &format!("{at}content"))?;
    if blocks.is_empty() {
        return Err(format!("messages.{i}: all messages must have non-empty content"));
    }
    let mut other = false;
    for (j, block) in blocks.iter().enumerate() {
        let at = format!("{at}content.{j}.");
        let block = object(block, &at)?;
        let kind = string(block, &at, "type")?;
        if kind == "tool_result" && other {
            return Err(format!("{at}type: tool_result blocks must come first in their message"));
        }
        other |= kind != "tool_result";
        check_block(block, kind, role, &at)?;
    }
    let last = blocks.last().and_then(|block| block["type"].as_str()).unwrap_or_default();
    if role == "assistant" && ["thinking", "redacted_thinking"].contains(&last) {
        return Err(format!(
            "messages.{i}: The final block in an assistant message cannot be `{last}`."
        ));
    }
    let last = blocks.last().and_then(|block| block["text"].as_str());
    trailing(role, last.unwrap_or("."), is_last)
}

fn trailing(role: &str, text: &str, is_last: bool) -> Checked {
    if is_last && role == "assistant" && text.trim_end() != text {
        return Err("messages: final assistant content cannot end with trailing whitespace".into());
    }
    Ok(())
}

fn check_block(block: &Object, kind: &str, role: &str, at: &str) -> Checked {
    let by = match kind {
        "text" => role,
        "image" | "document" | "tool_result" => "user",
        "thinking"
        | "redacted_thinking"
        | "tool_use"
        | "server_tool_use"
        | "web_search_tool_result" => "assistant",
        _ => {
            return Err(format!(
                "{at}type: Input tag '{kind}' does not match any of the expected tags"
            ));
        }
    };
    if by != role {
        return Err(format!("{at}type: `{kind}` blocks can only be in `{by}` messages"));
    }
    match kind {
        "text" => text(block, at),
        "image" => {
            only(block, at, &["type", "source", "cache_control"])?;
            image(object(block.get("source").unwrap_or(&Value::Null), &format!("{at}source"))?, at)
        }
        "document" => {
            only(block, at, &["type", "source", "cache_control", "title", "context", "citations"])?;
            object(block.get("source").unwrap_or(&Value::Null), &format!("{at}source")).map(drop)
        }
        "thinking" => {
            only(block, at, &["type", "thinking", "signature"])?;
            let signed = string(block, at, "signature")?;
            let text = block.get("thinking").and_then(Value::as_str);
            let text = text.ok_or_else(|| format!("{at}thinking: Field required"))?;
            if signed != signature(text) {
                return Err(format!("{at}signature: Invalid `signature` in `thinking` block"));
            }
            Ok(())
        }
        "server_tool_use" => {
            only(block, at, &["type", "id", "name", "input", "cache_control"])?;
            string(block, at, "id").map(drop)
        }
        "web_search_tool_result" => {
            only(block, at, &["type", "tool_use_id", "content", "cache_control"])?;
            string(block, at, "tool_use_id").map(drop)
        }
        "redacted_thinking" => {
            only(block, at, &["type", "data"])?;
            string(block, at, "data").map(drop)
        }
        "tool_use" => {
            only(block, at, &["type", "id", "name", "input", "cache_control"])?;
            identifier(string(block, at, "id")?, &format!("{at}id"))?;
            identifier(string(block, at, "name")?, &format!("{at}name"))?;
            let input = block.get("input").unwrap_or(&Value::Null);
            object(input, &format!("{at}input")).map(drop)
        }
        _ => result(block, at),
    }
}

fn image(source: &Object, at: &str) -> Checked {
    let at = format!("{at}source.");
    only(source, &at, &["type", "media_type", "data"])?;
    if source.get("type") != Some(&"base64".into()) {
        return Err(format!("{at}type: Input should be 'base64'"));
    }
    let (media, data) = (string(source, &at, "media_type")?, string(source, &at, "data")?);
    super::image(media, data, 5 << 20, &at)
}

fn text(block: &Object, at: &str) -> Checked {
    only(block, at, &["type", "text", "cache_control", "citations"])?;
    if string(block, at, "text")?.trim().is_empty() {
        return Err(format!("{at}text: text content blocks must contain non-whitespace text"));
    }
    Ok(())
}

fn result(block: &Object, at: &str) -> Checked {
    only(block, at, &["type", "tool_use_id", "content", "is_error", "cache_control"])?;
    identifier(string(block, at, "tool_use_id")?, &format!("{at}tool_use_id"))?;
    let failed = block.get("is_error") == Some(&true.into());
    match block.get("content") {
        None | Some(Value::String(_)) => {
            let text = block.get("content").and_then(Value::as_str).unwrap_or_default();
            if failed && text.is_empty() {
                return Err(format!("{at}content: content cannot be empty if `is_error` is true"));
            }
            Ok(())
        }
        content => {
            for (k, inner) in array(content, &format!("{at}content"))?.iter().enumerate() {
                let at = format!("{at}content.{k}.");
                let inner = object(inner, &at)?;
                match string(inner, &at, "type")? {
                    kind @ ("text" | "image" | "document") => {
                        check_block(inner, kind, "user", &at)?;
                    }
                    kind => {
                        return Err(format!("{at}type: Input tag '{kind}' is not expected here"));
                    }
                }
            }
            Ok(())
        }
    }
}

/// Checks that each call is answered in the next message, and that each answer belongs to a call of the message before.
fn pairs(messages: &[Value]) -> Checked {
    let ids = |message: Option<&Value>, kind: &str, field: &str| -> Vec<String> {
        let blocks = message.and_then(|message| message["content"].as_array()).map(Vec::as_slice);
        let blocks = blocks.unwrap_or_default().iter().filter(|block| block["type"] == kind);
        blocks.filter_map(|block| block[field].as_str().map(str::to_owned)).collect()
    };
    let mut all = Vec::new();
    for (i, message) in messages.iter().enumerate() {
        let calls = ids(Some(message), "tool_use", "id");
        let answers = ids(messages.get(i + 1), "tool_result", "tool_use_id");
        if let Some(open) = calls.iter().find(|id| !answers.contains(id)) {
            return Err(format!(
                "messages.{i}: `tool_use` ids were found without `tool_result` blocks immediately after: {open}"
            ));
        }
        let before = if i == 0 { Vec::new() } else { ids(messages.get(i - 1), "tool_use", "id") };
        let own = ids(Some(message), "tool_result", "tool_use_id");
        if let Some(stray) = own.iter().find(|id| !before.contains(id)) {
            return Err(format!(
                "messages.{i}: unexpected `tool_use_id` found in `tool_result` blocks: {stray}"
            ));
        }
        if let Some(id) = repeated(&own.iter().map(String::as_str).collect::<Vec<_>>()) {
            return Err(format!(
                "messages.{i}: each tool_use must have a single result. Found multiple for {id}"
            ));
        }
        all.extend(calls);
    }
    match repeated(&all.iter().map(String::as_str).collect::<Vec<_>>()) {
        Some(_) => Err("messages: `tool_use` ids must be unique".into()),
        None => Ok(()),
    }
}

/// Checks that there are at most four cache marks, each of a known kind.
fn marks(body: &Object) -> Checked {
    fn collect<'a>(value: &'a Value, found: &mut Vec<&'a Value>) {
        match value {
            Value::Array(items) => items.iter().for_each(|item| collect(item, found)),
            Value::Object(fields) => {
                found.extend(fields.get("cache_control").filter(|mark| !mark.is_null()));
                fields.get("content").into_iter().for_each(|content| collect(content, found));
            }
            _ => {}
        }
    }
    let mut found = Vec::new();
    for field in ["tools", "system", "messages"] {
        body.get(field).into_iter().for_each(|value| collect(value, &mut found));
    }
    if found.len() > 4 {
        return Err(format!(
            "A maximum of 4 blocks with cache_control may be provided. Found {}.",
            found.len()
        ));
    }
    match found.iter().find(|mark| mark["type"] != "ephemeral") {
        Some(mark) => Err(format!("cache_control.type: Input should be 'ephemeral', not {mark}")),
        None => Ok(()),
    }
}
