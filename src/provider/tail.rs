//! The tail: a text after the last message of a request, which later requests do not repeat. The tail is added to the
//! finished body, so that everything before it has the same bytes and cache marks as in a request without a tail.

use super::dialect::{Dialect, Quirks};
use serde_json::{Value, json};

/// Adds the tail after the last message of a body.
pub(super) fn append(dialect: Dialect, quirks: Quirks, tail: &str, body: &mut Value) {
    if tail.is_empty() {
        return;
    }
    let (list, message) = match dialect {
        Dialect::Anthropic => {
            ("messages", json!({ "role": "user", "content": [{ "type": "text", "text": tail }] }))
        }
        Dialect::OpenAiChat => return append_to_chat(quirks, tail, body),
        Dialect::OpenAiResponses => {
            let content = json!([{ "type": "input_text", "text": tail }]);
            ("input", json!({ "type": "message", "role": "user", "content": content }))
        }
        Dialect::Gemini => ("contents", json!({ "role": "user", "parts": [{ "text": tail }] })),
        Dialect::Ollama => ("messages", json!({ "role": "user", "content": tail })),
    };
    if let Some(all) = body[list].as_array_mut() {
        all.push(message);
    }
}

/// Adds the tail to a Chat Completions body. Some servers refuse two user messages in a row, or a user message directly
/// after a tool's result.
fn append_to_chat(quirks: Quirks, tail: &str, body: &mut Value) {
    let Some(all) = body["messages"].as_array_mut() else { return };
    let role = all.last().and_then(|it| it["role"].as_str()).unwrap_or_default().to_owned();
    if quirks.alternate && role == "user" {
        let Some(last) = all.last_mut() else { return };
        match &mut last["content"] {
            Value::String(text) => text.push_str(&format!("\n\n{tail}")),
            Value::Array(parts) => parts.push(json!({ "type": "text", "text": tail })),
            _ => (),
        }
        return;
    }
    if quirks.reply_after_tool && role == "tool" {
        all.push(json!({ "role": "assistant", "content": "I have the results." }));
    }
    all.push(json!({ "role": "user", "content": tail }));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::{Block, CallId, Input, Message, Request, Role, ToolAnswer, ToolCall};

    fn request(tail: &str, ends_with_answer: bool) -> Request {
        let said =
            |text: &str| Message::new(Role::User, vec![Block::Text { text: text.to_owned() }]);
        let id = CallId("c1".into());
        let call = ToolCall { id: id.clone(), tool: "list".into(), input: Input::Json(json!({})) };
        let answer =
            Message::new(Role::User, vec![Block::Answer(ToolAnswer::done(&id, "a".into(), ""))]);
        let mut messages =
            vec![said("go"), Message::new(Role::Assistant, vec![Block::Call(call)]), answer];
        if !ends_with_answer {
            messages.push(said("and?"));
        }
        let system = "be good ".repeat(2_000);
        let model = "anthropic/claude-sonnet-4-5".to_owned();
        Request {
            model,
            system,
            messages,
            tail: tail.to_owned(),
            max_tokens: 9,
            ..Request::default()
        }
    }

    /// Everything before the tail has the same bytes as in a request without a tail, including the cache marks.
    #[test]
    fn a_tail_leaves_everything_before_it_as_it_was() {
        let careful = Quirks { alternate: true, cache_marks: true, ..Quirks::default() };
        let replying = Quirks { reply_after_tool: true, ..Quirks::default() };
        for ends_with_answer in [true, false] {
            for (dialect, quirks) in [
                (Dialect::Anthropic, Quirks::default()),
                (Dialect::OpenAiChat, Quirks::default()),
                (Dialect::OpenAiChat, careful),
                (Dialect::OpenAiChat, replying),
                (Dialect::OpenAiResponses, Quirks::default()),
                (Dialect::Gemini, Quirks::default()),
                (Dialect::Ollama, Quirks::default()),
            ] {
                let before = dialect.body(&request("", ends_with_answer), quirks).to_string();
                let after =
                    dialect.body(&request("the tail", ends_with_answer), quirks).to_string();
                let same =
                    std::iter::zip(before.bytes(), after.bytes()).take_while(|(a, b)| a == b);
                let same = same.count();
                // after the tail come only the ends of the enclosing texts and lists
                assert!(after.contains("the tail"), "{after}");
                let rest = &before[same..];
                assert!(after.ends_with(rest), "{dialect:?}: {rest}");
                assert!(!rest.contains("and?") && !rest.contains("c1"), "{dialect:?}: {rest}");
            }
        }
    }
}
