//! The rules of Ollama's chat API. The real server silently ignores unknown fields; here they are refused.

use super::{Checked, array, identifier, object, only, streams, string};
use serde_json::{Map, Value};

type Object = Map<String, Value>;

const FIELDS: &[&str] =
    &["model", "messages", "stream", "tools", "think", "format", "options", "keep_alive"];

const OPTIONS: &[&str] =
    &["num_ctx", "num_predict", "temperature", "top_p", "top_k", "seed", "stop"];

pub(in crate::kit) fn check(body: &Object) -> Checked {
    streams(body)?;
    only(body, "", FIELDS)?;
    string(body, "", "model")?;
    options(body)?;
    tools(body)?;
    let think = body.get("think").unwrap_or(&Value::Bool(true));
    if !(think.is_boolean() || ["low", "medium", "high"].map(Value::from).contains(think)) {
        return Err(format!("invalid think value: {think}"));
    }
    let messages = array(body.get("messages"), "messages")?;
    // `qwen3-vl`, `qwen2.5vl` and others accept images
    let is_blind = body["model"].as_str().is_some_and(|it| it.starts_with("qwen3:"));
    if is_blind && messages.iter().any(|it| it.get("images").is_some()) {
        return Err("this model is missing data required for image input".into());
    }
    let mut open: Vec<String> = Vec::new();
    for (i, message) in messages.iter().enumerate() {
        let at = format!("messages[{i}].");
        check_message(object(message, &at)?, &at, &mut open)?;
    }
    unanswered(&open)?;
    if messages.last().is_none_or(|last| last["role"] == "assistant" || last["role"] == "system") {
        return Err("no user query found in messages".into());
    }
    Ok(())
}

fn options(body: &Object) -> Checked {
    let options = object(body.get("options").unwrap_or(&Value::Null), "options")?;
    only(options, "options.", OPTIONS)?;
    for name in ["num_ctx", "num_predict"] {
        if options.get(name).and_then(Value::as_u64).is_none_or(|number| number == 0) {
            return Err(format!("option \"{name}\" must be of type integer, and positive"));
        }
    }
    Ok(())
}

fn tools(body: &Object) -> Checked {
    for tool in body.get("tools").map_or(Ok(&[][..]), |tools| array(Some(tools), "tools"))? {
        let tool = object(tool, "tools")?;
        only(tool, "tools.", &["type", "function"])?;
        let function = object(tool.get("function").unwrap_or(&Value::Null), "tools.function")?;
        only(function, "tools.function.", &["name", "description", "parameters"])?;
        identifier(string(function, "tools.function.", "name")?, "tools.function.name")?;
        if function.get("parameters").is_none_or(|schema| schema["type"] != "object") {
            return Err("tools.function.parameters: should be an object".into());
        }
    }
    Ok(())
}

fn unanswered(open: &[String]) -> Checked {
    match open.first() {
        Some(name) => Err(format!("the call of {name} is not answered")),
        None => Ok(()),
    }
}

fn check_message(message: &Object, at: &str, open: &mut Vec<String>) -> Checked {
    let role = string(message, at, "role")?;
    if role == "tool" {
        only(message, at, &["role", "content", "tool_name"])?;
        string(message, at, "content")?;
        let name = string(message, at, "tool_name")?;
        if open.first().is_none_or(|first| first != name) {
            return Err(format!("{at}tool_name: {name}, but the calls were {open:?}"));
        }
        open.remove(0);
        return Ok(());
    }
    unanswered(open)?;
    match role {
        "system" | "user" => {
            only(message, at, &["role", "content", "images"])?;
            let images = message.get("images").map(|it| array(Some(it), at)).transpose()?;
            for data in images.unwrap_or_default() {
                let data = data.as_str().ok_or("illegal base64 data at input byte 0")?;
                let media = if data.starts_with("/9j/") { "image/jpeg" } else { "image/png" };
                super::image(media, data, 20 << 20, at)?;
            }
            string(message, at, "content").map(|_| ())
        }
        "assistant" => {
            only(message, at, &["role", "content", "thinking", "tool_calls"])?;
            let calls =
                message.get("tool_calls").map(|calls| array(Some(calls), at)).transpose()?;
            for call in calls.unwrap_or_default() {
                open.push(name_of(object(call, at)?, at)?);
            }
            match message.get("content") {
                Some(Value::String(text)) if !text.is_empty() || !open.is_empty() => Ok(()),
                _ => Err(format!("{at}content: nothing is said or called")),
            }
        }
        _ => Err(format!("invalid role: {role}, must be one of [system, user, assistant, tool]")),
    }
}

/// The name of the function that is called.
fn name_of(call: &Object, at: &str) -> Result<String, String> {
    only(call, at, &["function"])?;
    let function = object(call.get("function").unwrap_or(&Value::Null), at)?;
    only(function, at, &["name", "arguments"])?;
    if !function.get("arguments").is_some_and(Value::is_object) {
        return Err(format!("{at}arguments: cannot unmarshal into an object"));
    }
    let name = string(function, at, "name")?;
    identifier(name, at)?;
    Ok(name.to_owned())
}
