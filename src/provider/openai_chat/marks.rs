//! Sets cache marks for Anthropic's models, at an endpoint that passes the marks on to them.

use crate::message::Request;
use crate::provider::prefix::CacheMinimum;
use serde_json::{Value, json};

/// Sets a cache mark after the system prompt, at the end of this request, and at the end of the previous request, each
/// only if the text before it is long enough to be cached.
pub(super) fn mark(request: &Request, tools: &Value, messages: &mut [Value]) {
    if !request.model.starts_with("anthropic/") {
        return;
    }
    let is_spoken = |message: &Value| message["role"] != "assistant";
    let reply = messages.iter().rposition(|message| !is_spoken(message));
    let before = reply.and_then(|reply| messages[..reply].iter().rposition(is_spoken));
    let system = messages.iter().position(|message| message["role"] == "system");
    let last = messages.iter().rposition(is_spoken);
    let mut minimum = CacheMinimum::of(&request.model);
    minimum.take(tools);
    let short = minimum.too_short(messages);
    for at in [system, before, last].into_iter().flatten().filter(|at| *at >= short) {
        let content = &mut messages[at]["content"];
        if let Some(text) = content.as_str() {
            let mark = json!({ "type": "ephemeral" });
            *content = json!([{ "type": "text", "text": text, "cache_control": mark }]);
        } else if let Some(part) = content.as_array_mut().and_then(|it| it.last_mut()) {
            part["cache_control"] = json!({ "type": "ephemeral" });
        }
    }
}
