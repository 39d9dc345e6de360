//! Reads an answer of Ollama's chat API: pieces of one message, and a last line that says why the reply ended.

use crate::event::{Delta, Failure};
use crate::message::{Block, Reply, Stop, ToolCall, Usage};
use crate::provider::dialect::{self, Asked, json, protocol};
use crate::provider::sse::Frame;
use crate::provider::{Sampled, fault};
use crate::text::cause;
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Deserialize)]
struct Line {
    message: Option<Message>,
    #[serde(default)]
    done: bool,
    done_reason: Option<String>,
    prompt_eval_count: Option<u64>,
    eval_count: Option<u64>,
    error: Option<Value>,
}

/// The model's name. Every line repeats it; it is read from one line.
#[derive(Deserialize)]
struct Named {
    model: Option<String>,
}

#[derive(Deserialize)]
struct Message {
    thinking: Option<String>,
    content: Option<String>,
    tool_calls: Option<Vec<Call>>,
}

#[derive(Deserialize)]
struct Call {
    id: Option<String>,
    function: Function,
}

#[derive(Deserialize)]
struct Function {
    #[serde(default)]
    name: String,
    #[serde(default)]
    arguments: Value,
}

pub(crate) struct Decoder {
    asked: Asked,
    blocks: Vec<Block>,
    model: String,
}

impl dialect::Decoder for Decoder {
    fn read(&mut self, frame: Frame<'_>, out: &mut Vec<Sampled>) {
        match json::<Line>(frame.data) {
            Ok(Line { error: Some(error), .. }) => {
                // an error within the stream has no HTTP status; it counts as an error of the server
                let error = json!({ "code": 500, "message": error });
                out.push(Sampled::Failed(fault::in_stream(&error, &self.asked)));
            }
            Ok(line) => self.line(line, frame, out),
            Err(error) => {
                out.push(protocol(&format!("{}: {}", cause(&error), fault::snippet(frame.data))));
            }
        }
    }

    fn end(&mut self) -> Sampled {
        Sampled::Failed(Failure::Cut)
    }

    fn asked(&self) -> &Asked {
        &self.asked
    }
}

impl Decoder {
    pub(crate) fn new(asked: Asked) -> Decoder {
        Decoder { asked, blocks: Vec::new(), model: String::new() }
    }

    fn line(&mut self, line: Line, frame: Frame<'_>, out: &mut Vec<Sampled>) {
        if self.model.is_empty() {
            self.model = json(frame.data).ok().and_then(|it: Named| it.model).unwrap_or_default();
        }
        if let Some(message) = line.message {
            self.think(message.thinking.unwrap_or_default(), out);
            self.say(message.content.unwrap_or_default(), out);
            for call in message.tool_calls.unwrap_or_default() {
                if !(line.done && self.has(&call)) {
                    self.call(call, out);
                }
            }
        }
        if line.done {
            let usage = Usage {
                input: line.prompt_eval_count.unwrap_or(0),
                output: line.eval_count.unwrap_or(0),
                ..Usage::default()
            };
            let blocks = std::mem::take(&mut self.blocks);
            let stop = stop(line.done_reason.unwrap_or_default(), &blocks);
            let model = std::mem::take(&mut self.model);
            out.push(Sampled::Done(Reply { blocks, stop, usage, model, by: String::new() }));
        }
    }

    fn say(&mut self, more: String, out: &mut Vec<Sampled>) {
        if more.is_empty() {
            return;
        }
        match self.blocks.last_mut() {
            Some(Block::Text { text }) => text.push_str(&more),
            _ => self.blocks.push(Block::Text { text: more.clone() }),
        }
        out.push(Sampled::Delta(Delta::Text(more)));
    }

    fn think(&mut self, more: String, out: &mut Vec<Sampled>) {
        if more.is_empty() {
            return;
        }
        out.push(Sampled::Delta(Delta::Thinking(more.clone())));
        match self.blocks.last_mut() {
            Some(Block::Thinking { text, .. }) => text.push_str(&more),
            _ => self.blocks.push(Block::Thinking { text: more, signature: None }),
        }
    }

    /// Whether this call has arrived. Some servers repeat it in the last line.
    fn has(&self, call: &Call) -> bool {
        let input = dialect::whole_input(call.function.arguments.clone());
        self.blocks.iter().any(|it| {
            matches!(it, Block::Call(own) if own.tool == call.function.name && own.input == input)
        })
    }

    fn call(&mut self, call: Call, out: &mut Vec<Sampled>) {
        let id = self.asked.claim(&call.id.unwrap_or_default());
        let tool = call.function.name;
        out.push(Sampled::Delta(Delta::CallBegun { id: id.clone(), tool: tool.clone() }));
        let input = dialect::whole_input(call.function.arguments);
        self.blocks.push(Block::Call(ToolCall { id, tool, input }));
    }
}

fn stop(reason: String, blocks: &[Block]) -> Stop {
    let calls = blocks.iter().any(|block| matches!(block, Block::Call(_)));
    match reason.as_str() {
        // older servers send no reason
        "stop" | "" if calls => Stop::ToolUse,
        "stop" | "" => Stop::EndTurn,
        "length" => Stop::MaxTokens,
        // these reasons come from models of other providers, whose replies Ollama passes on
        "refusal" | "content_filter" => Stop::Refusal,
        _ => Stop::Unknown(reason),
    }
}
