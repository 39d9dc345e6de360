//! How a request asks for thinking, and when it must not ask.

use crate::message::{Effort, Request, Thinking};
use serde_json::{Value, json};

/// Writes the request's thinking into `body`, or its temperature if it asks for no thinking: the API accepts only one
/// of them. `messages` are the messages of the body.
pub(super) fn ask(request: &Request, messages: &[Value], body: &mut Value) {
    match request.thinking {
        Some(Thinking::Budget(tokens)) if tokens < request.max_tokens && may_think(messages) => {
            body["thinking"] = json!({ "type": "enabled", "budget_tokens": tokens });
        }
        Some(Thinking::Adaptive(effort)) => {
            // Without `display`, newer models do not show their thoughts.
            body["thinking"] = json!({ "type": "adaptive", "display": "summarized" });
            ask_effort(effort, body);
        }
        said => {
            match said {
                Some(Thinking::Off) => body["thinking"] = json!({ "type": "disabled" }),
                Some(Thinking::Named(effort)) => ask_effort(effort, body),
                _ => {}
            }
            if let Some(temperature) = request.temperature {
                body["temperature"] = temperature.into();
            }
        }
    }
}

/// Writes the effort into `body`, unless it is `high`, the API's default.
fn ask_effort(effort: Effort, body: &mut Value) {
    let name = match effort {
        Effort::Off | Effort::High => return,
        Effort::Low => "low",
        Effort::Medium => "medium",
        Effort::Max => "max",
    };
    body["output_config"] = json!({ "effort": name });
}

/// Whether the running turn began with a thought, or no turn runs. With a budget, the API refuses thinking in a tool
/// loop that began without a thought, for example in another model's loop. Consecutive user messages count as one; if
/// they contain answers, they continue the turn.
fn may_think(messages: &[Value]) -> bool {
    let is_user = |message: &Value| message["role"] == "user";
    let mut first = None;
    for run in messages.chunk_by(|a, b| is_user(a) == is_user(b)).rev() {
        let blocks = || run.iter().filter_map(|message| message["content"].as_array()).flatten();
        if !is_user(&run[0]) {
            first = blocks().next();
        } else if blocks().all(|block| block["type"] != "tool_result") {
            break;
        }
    }
    first.is_none_or(|block| {
        matches!(block["type"].as_str(), Some("thinking" | "redacted_thinking"))
    })
}
