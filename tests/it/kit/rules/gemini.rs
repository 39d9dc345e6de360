//! The rules of Gemini's generateContent.

use super::{Checked, array, identifier, object, positive, repeated, string};
use serde_json::{Map, Value};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

type Object = Map<String, Value>;

const FIELDS: &[&str] = &[
    "contents",
    "systemInstruction",
    "tools",
    "toolConfig",
    "safetySettings",
    "generationConfig",
    "cachedContent",
];

/// The fields with the content of a part. A part must have exactly one of these fields.
const DATA: &[&str] = &[
    "text",
    "functionCall",
    "functionResponse",
    "inlineData",
    "fileData",
    "executableCode",
    "codeExecutionResult",
    "toolCall",
    "toolResponse",
];

/// The value that Gemini accepts as the signature of another model's call.
const FOREIGN: &str = "skip_thought_signature_validator";

/// The part with a signature that is valid only for this part.
pub fn signed(mut part: Value) -> Value {
    let signature = signature(part.as_object().unwrap());
    part["thoughtSignature"] = signature.into();
    part
}

/// A signature of letters and digits, long enough to be valid base64. It does not depend on the id of a call.
fn signature(part: &Object) -> String {
    let mut hasher = DefaultHasher::new();
    for (name, value) in part.iter().filter(|(name, _)| *name != "thoughtSignature") {
        let mut value = value.clone();
        if name == "functionCall" {
            value.as_object_mut().map(|it| it.shift_remove("id"));
        }
        (name, value.to_string()).hash(&mut hasher);
    }
    format!("{:016x}", hasher.finish())
}

pub(in crate::kit) fn check(model: &str, body: &Object) -> Checked {
    known(body, "", FIELDS)?;
    if let Some(system) = body.get("systemInstruction") {
        let at = "system_instruction";
        let system = object(system, at)?;
        known(system, at, &["parts", "role"])?;
        for part in array(system.get("parts"), at)? {
            string(object(part, at)?, at, "text")?;
        }
    }
    tools(model, body)?;
    config(model, body)?;
    let contents = array(body.get("contents"), "contents")?;
    if contents.is_empty() {
        return Err("* GenerateContentRequest.contents: contents is not specified".into());
    }
    for (i, content) in contents.iter().enumerate() {
        check_content(object(content, "contents")?, &format!("contents[{i}]"))?;
    }
    ids(body, contents)?;
    turns(contents)?;
    if model.starts_with("gemini-3") { signatures(contents) } else { Ok(()) }
}

/// Checks that calls and answers have ids exactly if the request combines functions with Google's own tools.
fn ids(body: &Object, contents: &[Value]) -> Checked {
    let is_combined =
        body.get("toolConfig").is_some_and(|it| it["includeServerSideToolInvocations"] == true);
    let parts = contents.iter().filter_map(|it| it["parts"].as_array()).flatten();
    let called = parts.filter_map(|it| it.get("functionCall").or(it.get("functionResponse")));
    for it in called {
        match it.get("id") {
            Some(_) if !is_combined => {
                known(object(it, "part")?, "part", &["name", "args", "response"])?;
            }
            None if is_combined => return Err("functionCall.id: required".into()),
            _ => {}
        }
    }
    Ok(())
}

fn known(object: &Object, at: &str, allowed: &[&str]) -> Checked {
    let at = if at.is_empty() { String::new() } else { format!(" at '{at}'") };
    match object.keys().find(|key| !allowed.contains(&key.as_str())) {
        Some(key) => Err(format!(
            "Invalid JSON payload received. Unknown name \"{key}\"{at}: Cannot find field."
        )),
        None => Ok(()),
    }
}

fn tools(model: &str, body: &Object) -> Checked {
    let Some(tools) = body.get("tools") else { return Ok(()) };
    let mut names = Vec::new();
    for tool in array(Some(tools), "tools")? {
        let tool = object(tool, "tools")?;
        known(tool, "tools", &["functionDeclarations", "googleSearch", "codeExecution"])?;
        let declared = tool.get("functionDeclarations");
        if declared.is_none() {
            continue;
        }
        for declared in array(declared, "functionDeclarations")? {
            let at = "tools[0].function_declarations";
            let declared = object(declared, at)?;
            known(declared, at, &["name", "description", "parameters", "parametersJsonSchema"])?;
            let name = string(declared, at, "name")?;
            identifier(name, at)?;
            string(declared, at, "description")?;
            if declared.get("parametersJsonSchema").is_none_or(|schema| schema["type"] != "object")
            {
                return Err(format!("{at}.parameters_json_schema: should be of type OBJECT"));
            }
            names.push(name);
        }
    }
    let searches = array(Some(tools), "tools")?.iter().any(|it| it.get("googleSearch").is_some());
    if searches && !names.is_empty() {
        if !model.starts_with("gemini-3") {
            return Err("Tool use with function calling is unsupported".into());
        }
        if body["toolConfig"]["includeServerSideToolInvocations"] != true {
            return Err("Please enable tool_config.include_server_side_tool_invocations to use Built-in tools with Function calling.".into());
        }
    }
    match repeated(&names) {
        Some(name) => Err(format!("Duplicate function declaration found: {name}")),
        None => Ok(()),
    }
}

fn config(model: &str, body: &Object) -> Checked {
    let Some(config) = body.get("generationConfig") else { return Ok(()) };
    let at = "generation_config";
    let config = object(config, at)?;
    let fields = ["maxOutputTokens", "temperature", "topP", "topK", "stopSequences"];
    known(config, at, &[&fields[..], &["thinkingConfig"]].concat())?;
    if config.contains_key("maxOutputTokens") {
        positive(config, "maxOutputTokens")?;
    }
    let Some(thinking) = config.get("thinkingConfig") else { return Ok(()) };
    let thinking = object(thinking, at)?;
    known(thinking, at, &["thinkingBudget", "thinkingLevel", "includeThoughts"])?;
    if thinking.contains_key("thinkingBudget") && thinking.contains_key("thinkingLevel") {
        return Err("You can only set only one of thinking budget and thinking level.".into());
    }
    if let Some(level) = thinking.get("thinkingLevel") {
        if !model.starts_with("gemini-3") {
            return Err("Thinking level is not supported for this model.".into());
        }
        if !["minimal", "low", "medium", "high"].contains(&level.as_str().unwrap_or_default()) {
            return Err(format!("Invalid value at '{at}.thinking_config.thinking_level'"));
        }
    }
    Ok(())
}

fn check_content(content: &Object, at: &str) -> Checked {
    known(content, at, &["role", "parts"])?;
    let role = content.get("role").and_then(Value::as_str).unwrap_or_default();
    if !["user", "model"].contains(&role) {
        return Err("Please use a valid role: user, model.".into());
    }
    let parts = array(content.get("parts"), at)?;
    if parts.is_empty() {
        return Err(format!(
            "* GenerateContentRequest.{at}.parts: contents.parts must not be empty."
        ));
    }
    for (i, part) in parts.iter().enumerate() {
        let at = format!("{at}.parts[{i}]");
        check_part(object(part, &at)?, role, &at)?;
    }
    Ok(())
}

fn check_part(part: &Object, role: &str, at: &str) -> Checked {
    known(part, at, &[DATA, &["thought", "thoughtSignature"]].concat())?;
    let kinds: Vec<&String> = part.keys().filter(|key| DATA.contains(&key.as_str())).collect();
    let [kind] = kinds[..] else {
        return Err(format!(
            "{at}.data: required oneof field 'data' must have one initialized field"
        ));
    };
    if let Some(given) = part.get("thoughtSignature") {
        let foreign = given == FOREIGN && kind == "functionCall";
        if role != "model" || !(foreign || *given == signature(part)) {
            return Err(format!("{at}: Thought signature is not valid."));
        }
    } else if kind == "text" && part["text"] == "" {
        return Err(format!("{at}.text: must not be empty"));
    }
    match kind.as_str() {
        "functionCall" => {
            let call = object(&part[kind], at)?;
            known(call, &format!("{at}.function_call"), &["name", "args", "id"])?;
            identifier(string(call, at, "name")?, at)?;
            object(call.get("args").unwrap_or(&Value::Null), at)?;
        }
        "functionResponse" => {
            let answer = object(&part[kind], at)?;
            known(answer, &format!("{at}.function_response"), &["name", "response", "id"])?;
            string(answer, at, "name")?;
            object(answer.get("response").unwrap_or(&Value::Null), at)?;
        }
        "inlineData" => {
            let data = object(&part[kind], at)?;
            known(data, &format!("{at}.inline_data"), &["mimeType", "data"])?;
            let (media, data) = (string(data, at, "mimeType")?, string(data, at, "data")?);
            super::image(media, data, 20 << 20, at)?;
        }
        _ => {}
    }
    let theirs = if kind == "functionCall" { "model" } else { "user" };
    let is_call = kind == "functionCall" || kind == "functionResponse";
    if is_call && role != theirs {
        return Err(format!("{at}: {kind} is not allowed in role {role}"));
    }
    Ok(())
}

/// The names of a content's calls, or of its answers.
fn names<'a>(content: &'a Value, kind: &str) -> Vec<&'a str> {
    let parts = content["parts"].as_array().into_iter().flatten();
    parts.filter_map(|part| part.get(kind)?["name"].as_str()).collect()
}

fn turns(contents: &[Value]) -> Checked {
    if contents[0]["role"] != "user" {
        return Err("Please ensure that the first content is of role user".into());
    }
    let mut open: Vec<&str> = Vec::new();
    for (i, content) in contents.iter().enumerate() {
        let calls = names(content, "functionCall");
        if !calls.is_empty() && contents[i - 1]["role"] != "user" {
            return Err("Please ensure that function call turn comes immediately after a user turn or after a function response turn.".into());
        }
        let mut answers = names(content, "functionResponse");
        if answers.len() != open.len() {
            return Err("Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.".into());
        }
        answers.sort_unstable();
        open.sort_unstable();
        if answers != open {
            return Err(format!("function responses to {answers:?}, but the calls were {open:?}"));
        }
        open = calls;
    }
    if open.is_empty() { Ok(()) } else { Err("a function call is not answered".into()) }
}

/// Checks that in the current turn, which begins with the user's last text, the first call of each reply has a
/// signature.
fn signatures(contents: &[Value]) -> Checked {
    let is_prompt = |content: &Value| {
        content["role"] == "user" && names(content, "functionResponse").is_empty()
    };
    let begin = contents.iter().rposition(is_prompt).unwrap_or(0);
    for (i, content) in contents.iter().enumerate().skip(begin) {
        let parts = content["parts"].as_array().into_iter().flatten();
        let first = parts.into_iter().find(|part| part.get("functionCall").is_some());
        if first.is_some_and(|call| call.get("thoughtSignature").is_none()) {
            return Err(format!(
                "Function call is missing a thought_signature in functionCall parts. Additional data, position {i}."
            ));
        }
    }
    Ok(())
}
