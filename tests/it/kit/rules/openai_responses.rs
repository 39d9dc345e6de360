//! The rules of `OpenAI`'s Responses API, if the provider is told to store nothing.

use super::{Checked, array, identifier, object, repeated, streams, string};
use serde_json::{Map, Value};

type Object = Map<String, Value>;

const FIELDS: &[&str] = &[
    "model",
    "input",
    "instructions",
    "stream",
    "stream_options",
    "store",
    "include",
    "tools",
    "tool_choice",
    "parallel_tool_calls",
    "max_output_tokens",
    "max_tool_calls",
    "reasoning",
    "temperature",
    "top_p",
    "top_logprobs",
    "prompt_cache_key",
    "prompt_cache_retention",
    "text",
    "truncation",
    "metadata",
    "service_tier",
    "safety_identifier",
    "user",
];

/// The types of items that only a model creates and a client sends back.
const KEPT: &[&str] =
    &["web_search_call", "code_interpreter_call", "mcp_call", "mcp_list_tools", "compaction"];

pub(in crate::kit) fn check(body: &Object) -> Checked {
    only(body, "", FIELDS)?;
    streams(body)?;
    let model = string(body, "", "model")?;
    if body.get("store") != Some(&Value::Bool(false)) {
        return Err("store: this server stores nothing".into());
    }
    if body.get("instructions").is_some_and(|it| !it.is_string()) {
        return Err("Invalid type for 'instructions': expected a string".into());
    }
    sampling(body, model)?;
    tools(body)?;
    let input = array(body.get("input"), "input")?;
    if input.is_empty() {
        return Err("Invalid 'input': empty array".into());
    }
    for (i, item) in input.iter().enumerate() {
        check_item(object(item, "input")?, &format!("input[{i}]."))?;
    }
    let ids: Vec<&str> = input.iter().filter_map(|item| item["id"].as_str()).collect();
    if let Some(id) = repeated(&ids) {
        return Err(format!("Duplicate item found with id {id}."));
    }
    thoughts(input)?;
    pairs(input)
}

/// Refuses fields that are not in `allowed`, in the API's words.
fn only(object: &Object, at: &str, allowed: &[&str]) -> Checked {
    match object.keys().find(|key| !allowed.contains(&key.as_str())) {
        Some(key) => Err(format!("Unknown parameter: '{at}{key}'.")),
        None => Ok(()),
    }
}

fn one_of(value: &Value, at: &str, allowed: &[&str]) -> Checked {
    match value.as_str() {
        Some(text) if allowed.contains(&text) => Ok(()),
        _ => Err(format!("Invalid value: {value}. Supported values are: {allowed:?} - '{at}'")),
    }
}

fn sampling(body: &Object, model: &str) -> Checked {
    if let Some(limit) = body.get("max_output_tokens")
        && limit.as_u64().is_none_or(|limit| limit < 16)
    {
        return Err("Invalid 'max_output_tokens': integer below minimum value 16".into());
    }
    if let Some(key) = body.get("prompt_cache_key")
        && key.as_str().is_none_or(|key| key.len() > 64)
    {
        return Err("Invalid 'prompt_cache_key': expected a string of at most 64".into());
    }
    let plain = model.starts_with("gpt-4") || model.contains("-chat");
    let thinks = !plain && ["gpt-", "o1", "o3", "o4"].iter().any(|it| model.starts_with(it));
    if let Some(include) = body.get("include") {
        for it in array(Some(include), "include")? {
            one_of(
                it,
                "include",
                &["reasoning.encrypted_content", "web_search_call.action.sources"],
            )?;
        }
        if plain && include.to_string().contains("encrypted_content") {
            return Err("Encrypted content is not supported with this model.".into());
        }
    }
    if let Some(reasoning) = body.get("reasoning") {
        let reasoning = object(reasoning, "reasoning")?;
        only(reasoning, "reasoning.", &["effort", "summary"])?;
        let efforts = ["none", "minimal", "low", "medium", "high", "xhigh"];
        if let Some(effort) = reasoning.get("effort") {
            one_of(effort, "reasoning.effort", &efforts)?;
        }
        if let Some(summary) = reasoning.get("summary") {
            one_of(summary, "reasoning.summary", &["auto", "concise", "detailed"])?;
        }
    }
    for (field, refused) in [("reasoning", plain), ("temperature", thinks)] {
        if refused && body.contains_key(field) {
            return Err(format!("Unsupported parameter: '{field}' with this model."));
        }
    }
    Ok(())
}

fn tools(body: &Object) -> Checked {
    let Some(tools) = body.get("tools") else { return Ok(()) };
    let mut names = Vec::new();
    for (i, tool) in array(Some(tools), "tools")?.iter().enumerate() {
        let at = format!("tools[{i}].");
        let tool = object(tool, &at)?;
        one_of(tool.get("type").unwrap_or(&Value::Null), &at, &["function", "web_search"])?;
        if tool["type"] == "web_search" {
            only(tool, &at, &["type"])?;
            continue;
        }
        only(tool, &at, &["type", "name", "description", "parameters", "strict"])?;
        let name = string(tool, &at, "name")?;
        identifier(name, &format!("{at}name"))?;
        let schema = tool.get("parameters").unwrap_or(&Value::Null);
        if schema["type"] != "object" {
            return Err(format!("Invalid schema for function '{name}': '{at}parameters'"));
        }
        let strict = tool.get("strict") != Some(&Value::Bool(false));
        if strict && schema["additionalProperties"] != false {
            return Err(format!(
                "Invalid schema for function '{name}': 'additionalProperties' is required to be false"
            ));
        }
        names.push(name);
    }
    match repeated(&names) {
        Some(name) => Err(format!("Duplicate tool '{name}' - 'tools'")),
        None => Ok(()),
    }
}

fn check_item(item: &Object, at: &str) -> Checked {
    match item.get("type").and_then(Value::as_str).unwrap_or("message") {
        "message" => message(item, at),
        "function_call" => {
            only(item, at, &["type", "id", "call_id", "name", "arguments", "status"])?;
            call_id(item, at)?;
            identifier(string(item, at, "name")?, &format!("{at}name"))?;
            let arguments = item.get("arguments").and_then(Value::as_str);
            let arguments = arguments.ok_or_else(|| format!("Invalid type for '{at}arguments'"))?;
            serde_json::from_str::<Value>(arguments)
                .map(drop)
                .map_err(|_| format!("'{at}arguments': not valid JSON"))
        }
        "function_call_output" => {
            only(item, at, &["type", "id", "call_id", "output", "status"])?;
            call_id(item, at)?;
            match item.get("output") {
                Some(Value::String(_)) => Ok(()),
                output => parts(output, &["input_text", "input_image", "input_file"], at),
            }
        }
        "reasoning" => {
            only(item, at, &["type", "id", "summary", "content", "encrypted_content", "status"])?;
            let id = string(item, at, "id")?;
            parts_or_none(item.get("summary"), "summary_text", at)?;
            string(item, at, "encrypted_content").map(drop).map_err(|_| {
                format!("Item with id '{id}' not found. Items are not persisted when `store` is set to false.")
            })
        }
        kind if KEPT.contains(&kind) => string(item, at, "id").map(drop),
        kind => Err(format!("Invalid value: '{kind}' - '{at}type'")),
    }
}

fn call_id(item: &Object, at: &str) -> Checked {
    if string(item, at, "call_id")?.len() > 64 {
        return Err(format!("Invalid '{at}call_id': string too long, at most 64"));
    }
    Ok(())
}

fn message(item: &Object, at: &str) -> Checked {
    only(item, at, &["type", "id", "role", "content", "status", "phase"])?;
    let role = item.get("role").unwrap_or(&Value::Null);
    one_of(role, &format!("{at}role"), &["user", "assistant", "system", "developer"])?;
    match item.get("content") {
        Some(Value::String(text)) if !text.is_empty() => Ok(()),
        content if role == "assistant" => parts(content, &["output_text", "refusal"], at),
        content => parts(content, &["input_text", "input_image", "input_file"], at),
    }
}

/// Checks that the content is a non-empty list of parts of these types, with non-empty texts.
fn parts(content: Option<&Value>, kinds: &[&str], at: &str) -> Checked {
    let parts = array(content, &format!("{at}content"))?;
    if parts.is_empty() {
        return Err(format!("Invalid '{at}content': empty array"));
    }
    for part in parts {
        let part = object(part, at)?;
        let kind = part.get("type").unwrap_or(&Value::Null);
        one_of(kind, &format!("{at}content"), kinds)?;
        if kind.as_str().is_some_and(|kind| kind.ends_with("_text")) {
            only(part, at, &["type", "text", "annotations", "logprobs"])?;
            string(part, at, "text")?;
        }
        if kind == "input_image" {
            only(part, at, &["type", "image_url", "detail"])?;
            one_of(&part["detail"], at, &["low", "high", "auto"])?;
            super::data_url(string(part, at, "image_url")?, 20 << 20, at)?;
        }
    }
    Ok(())
}

/// Like `parts`, but the list may be empty: the summary of reasoning.
fn parts_or_none(content: Option<&Value>, kind: &str, at: &str) -> Checked {
    if content == Some(&Value::Array(Vec::new())) { Ok(()) } else { parts(content, &[kind], at) }
}

/// Checks that each reasoning item is followed by the item to which it led.
fn thoughts(input: &[Value]) -> Checked {
    let mut open: Option<&Value> = None;
    for item in input {
        let by_model = item["role"] == "assistant"
            || item["type"] == "function_call"
            || KEPT.iter().any(|kind| item["type"] == *kind);
        if item["type"] == "reasoning" {
            open = Some(item);
        } else if by_model {
            open = None;
        } else if open.is_some() {
            break;
        }
    }
    open.map_or(Ok(()), |item| {
        Err(format!(
            "Item {} of type 'reasoning' was provided without its required following item.",
            item["id"]
        ))
    })
}

/// Checks that each call has one output, anywhere after the call.
fn pairs(input: &[Value]) -> Checked {
    let mut open: Vec<&Value> = Vec::new();
    let mut all: Vec<&str> = Vec::new();
    for item in input {
        let id = &item["call_id"];
        match item["type"].as_str() {
            Some("function_call") => {
                open.push(id);
                all.extend(id.as_str());
            }
            Some("function_call_output") => {
                let Some(at) = open.iter().position(|open| *open == id) else {
                    return Err(format!(
                        "No tool call found for function call output with call_id {id}."
                    ));
                };
                open.remove(at);
            }
            _ => {}
        }
    }
    if let Some(id) = open.first() {
        return Err(format!("No tool output found for function call {id}."));
    }
    match repeated(&all) {
        Some(id) => Err(format!("Duplicate function call {id}.")),
        None => Ok(()),
    }
}
