//! Requests to a model that writes its calls as text: the tools are described in the system prompt, and earlier calls and
//! their answers are texts.

use crate::message::{Block, Input, Message, Request, ToolAnswer, ToolCall, ToolSpec};
use serde_json::{Value, json};

const HOW: &str = r#"# Tools

You can call the tools below. To call one, write this in your answer, outside of a code block, with all arguments in one JSON object:

<tool_call>
{"name": "read", "arguments": {"path": "a.txt"}}
</tool_call>

Several calls are several of these blocks. Write nothing after your calls: the next message has their results, each in a <tool_response>. Never write a <tool_response> yourself. An answer without a call ends your turn.

The tools, each with the JSON schema of its arguments:"#;

/// The request without anything that only a server with tools understands.
pub(in crate::provider) fn request(request: &Request) -> Request {
    let tools: Vec<String> = request.tools.iter().map(tool).collect();
    let system = if tools.is_empty() {
        request.system.clone()
    } else {
        format!("{}\n\n{HOW}\n{}", request.system, tools.join("\n")).trim().to_owned()
    };
    let messages = request.messages.iter().map(message).collect();
    Request { system, messages, tools: Vec::new(), searches: false, ..request.clone() }
}

fn tool(tool: &ToolSpec) -> String {
    let ToolSpec { name, purpose, schema } = tool;
    json!({ "name": name, "description": purpose, "parameters": schema }).to_string()
}

fn message(message: &Message) -> Message {
    let blocks = message.blocks.iter().flat_map(|it| match it {
        Block::Call(it) => vec![text(call(it))],
        Block::Answer(it) => {
            let images = it.images.iter().cloned().map(Block::Image);
            std::iter::once(text(answer(it))).chain(images).collect()
        }
        it => vec![it.clone()],
    });
    Message { blocks: blocks.collect(), ..message.clone() }
}

fn text(text: String) -> Block {
    Block::Text { text }
}

fn call(call: &ToolCall) -> String {
    let input = match &call.input {
        Input::Json(value) => value.clone(),
        Input::Broken { text, .. } => Value::String(text.clone()),
    };
    let call = json!({ "name": call.tool, "arguments": input });
    format!("<tool_call>\n{call}\n</tool_call>")
}

fn answer(answer: &ToolAnswer) -> String {
    let outcome = if answer.failed { " failed" } else { "" };
    format!("<tool_response{outcome}>\n{}\n</tool_response>", crate::provider::answer_text(answer))
}
