//! The Messages API's rules for thinking and for calls of server tools.

use super::{Checked, Object};
use serde_json::Value;
use std::hash::{DefaultHasher, Hash, Hasher};

/// The signature which proves that this server has sent the thought.
pub fn signature(thinking: &str) -> String {
    let mut hasher = DefaultHasher::new();
    thinking.hash(&mut hasher);
    format!("sig{:016x}", hasher.finish())
}

pub(super) fn check(body: &Object, messages: &[Value]) -> Checked {
    if let Some(effort) = body.get("output_config").map(|config| &config["effort"])
        && !["low", "medium", "high", "max"].contains(&effort.as_str().unwrap_or_default())
    {
        return Err(format!("output_config.effort: unexpected {effort}"));
    }
    let asked = body.get("thinking");
    match asked.and_then(|asked| asked["type"].as_str()) {
        None if asked.is_some() => return Err("thinking.type: Field required".into()),
        Some("disabled") if thinks_always(body) => {
            return Err(
                "\"thinking.type.disabled\" is not supported for this model. Use \"thinking.type.adaptive\" and \
                 \"output_config.effort\" to control thinking behavior."
                    .into(),
            );
        }
        None | Some("disabled") => {}
        Some("adaptive") => only_warm(body)?,
        Some("enabled") => {
            only_warm(body)?;
            budget(body)?;
            begins_with_thought(messages)?;
        }
        Some(other) => return Err(format!("thinking: Input tag '{other}' does not match")),
    }
    server_tools(messages)
}

fn thinks_always(body: &Object) -> bool {
    let model = body.get("model").and_then(Value::as_str).unwrap_or_default();
    model.contains("-5-5") || model.contains("fable")
}

fn only_warm(body: &Object) -> Checked {
    match body.get("temperature") {
        Some(warmth) if warmth.as_f64() != Some(1.0) => {
            Err("`temperature` may only be set to 1 when thinking is enabled".into())
        }
        _ => Ok(()),
    }
}

fn budget(body: &Object) -> Checked {
    let budget = body["thinking"]["budget_tokens"].as_u64().unwrap_or(0);
    if budget < 1024 {
        return Err(
            "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024".into(),
        );
    }
    if budget >= body["max_tokens"].as_u64().unwrap_or(0) {
        return Err("`max_tokens` must be greater than `thinking.budget_tokens`".into());
    }
    Ok(())
}

fn blocks<'a>(messages: &'a [&Value]) -> impl Iterator<Item = &'a Value> {
    messages.iter().filter_map(|it| it["content"].as_array()).flatten()
}

/// Merges consecutive messages of one role, as the server does.
fn merged(messages: &[Value]) -> Vec<Vec<&Value>> {
    let runs = messages.chunk_by(|a, b| a["role"] == b["role"]);
    runs.map(|run| run.iter().collect()).collect()
}

/// Checks that, with thinking enabled, a turn that continues with results of calls has begun with a thought.
fn begins_with_thought(messages: &[Value]) -> Checked {
    let runs = merged(messages);
    let prompt = runs.iter().rposition(|run| {
        run[0]["role"] == "user" && blocks(run).all(|block| block["type"] != "tool_result")
    });
    let Some(reply) = runs.get(prompt.map_or(0, |at| at + 1)) else { return Ok(()) };
    let first = blocks(reply).next().map(|block| &block["type"]);
    match first.and_then(Value::as_str) {
        None | Some("thinking" | "redacted_thinking") => Ok(()),
        Some(other) => Err(format!(
            "Expected `thinking` or `redacted_thinking`, but found `{other}`. When `thinking` is enabled, a final \
             `assistant` message must start with a thinking block"
        )),
    }
}

/// Checks that a call of a server tool without a result is only in a reply that the model is to continue.
fn server_tools(messages: &[Value]) -> Checked {
    let runs = merged(messages);
    for run in &runs[..runs.len().saturating_sub(1)] {
        for block in blocks(run).filter(|block| block["type"] == "server_tool_use") {
            if !blocks(run).any(|it| it["tool_use_id"] == block["id"]) {
                return Err(format!(
                    "`web_search` tool use with id {} was found without a corresponding `web_search_tool_result` block",
                    block["id"]
                ));
            }
        }
    }
    Ok(())
}
