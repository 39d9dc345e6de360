//! Reads an answer of Anthropic's Messages API: a stream of events that open, extend and close numbered blocks.

use crate::event::Delta;
use crate::message::{Block, CallId, Input, Reply, Searched, Stop, ToolCall, Usage};
use crate::provider::dialect::{self, Asked, json, protocol};
use crate::provider::sse::Frame;
use crate::provider::{Sampled, fault};
use crate::text::cause;
use serde::Deserialize;
use serde_json::{Value, json as object};

#[derive(Deserialize)]
struct Event {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    index: u64,
    delta: Option<Piece>,
    content_block: Option<Value>,
    message: Option<Value>,
    usage: Option<Value>,
    error: Option<Value>,
}

#[derive(Deserialize)]
struct Piece {
    text: Option<String>,
    thinking: Option<String>,
    signature: Option<String>,
    partial_json: Option<String>,
    citation: Option<Value>,
    stop_reason: Option<String>,
}

/// A block that is still arriving.
struct Open {
    index: u64,
    closed: bool,
    kind: Kind,
}

enum Kind {
    Text {
        text: String,
        citations: Vec<Value>,
    },
    Thinking {
        text: String,
        signature: String,
    },
    Call {
        id: CallId,
        tool: String,
        whole: Value,
        pieces: String,
    },
    /// A block of an unknown kind, assembled from its deltas.
    Raw {
        value: Value,
        pieces: String,
        /// The search whose results this block has.
        searched: Option<Searched>,
    },
}

pub(crate) struct Decoder {
    asked: Asked,
    blocks: Vec<Open>,
    stop: Option<Stop>,
    usage: Usage,
    model: String,
}

impl dialect::Decoder for Decoder {
    fn read(&mut self, frame: Frame<'_>, out: &mut Vec<Sampled>) {
        match json::<Event>(frame.data) {
            Ok(event) => self.event(event, frame.data, out),
            Err(error) => {
                let strange = json::<Value>(frame.data).is_ok_and(|value| {
                    !KNOWN.contains(&value["type"].as_str().unwrap_or_default())
                });
                if !strange {
                    out.push(protocol(&format!(
                        "{}: {}",
                        cause(&error),
                        fault::snippet(frame.data)
                    )));
                }
            }
        }
    }

    fn end(&mut self) -> Sampled {
        Sampled::Failed(crate::event::Failure::Cut)
    }

    fn whole(&mut self, message: &Value, out: &mut Vec<Sampled>) {
        self.begin(message);
        for (index, block) in (0..).zip(message["content"].as_array().into_iter().flatten()) {
            self.open(index, block.clone(), out);
            self.close(index, out);
        }
        if let Some(reason) = message["stop_reason"].as_str() {
            self.stop = Some(stop(reason.to_owned()));
            out.push(Sampled::Done(self.reply()));
        }
    }

    fn asked(&self) -> &Asked {
        &self.asked
    }
}

/// The events whose fields must have the expected types. Other events are not checked.
const KNOWN: [&str; 7] = [
    "message_start",
    "content_block_start",
    "content_block_delta",
    "content_block_stop",
    "message_delta",
    "message_stop",
    "error",
];

impl Decoder {
    pub(crate) fn new(asked: Asked) -> Decoder {
        Decoder {
            asked,
            blocks: Vec::new(),
            stop: None,
            usage: Usage::default(),
            model: String::new(),
        }
    }

    fn event(&mut self, event: Event, data: &str, out: &mut Vec<Sampled>) {
        match event.kind.as_str() {
            "message_start" => self.begin(&event.message.unwrap_or_default()),
            "content_block_start" => {
                self.open(event.index, event.content_block.unwrap_or_default(), out);
            }
            "content_block_delta" => {
                if let Some(piece) = event.delta {
                    self.extend(event.index, piece, data, out);
                }
            }
            "content_block_stop" => self.close(event.index, out),
            "message_delta" => {
                if let Some(reason) = event.delta.and_then(|delta| delta.stop_reason) {
                    self.stop = Some(stop(reason));
                }
                self.count(&event.usage.unwrap_or_default());
            }
            "message_stop" => out.push(Sampled::Done(self.reply())),
            "error" => {
                let error = event.error.unwrap_or_default();
                out.push(Sampled::Failed(fault::in_stream(&error, &self.asked)));
            }
            _ => {}
        }
    }

    fn begin(&mut self, message: &Value) {
        if let Some(model) = message["model"].as_str() {
            model.clone_into(&mut self.model);
        }
        self.count(&message["usage"]);
    }

    /// Stores the token counts, which are totals so far. If a count is missing or null, the earlier count stays.
    fn count(&mut self, usage: &Value) {
        for (name, count) in [
            ("input_tokens", &mut self.usage.input),
            ("output_tokens", &mut self.usage.output),
            ("cache_read_input_tokens", &mut self.usage.cache_read),
            ("cache_creation_input_tokens", &mut self.usage.cache_write),
        ] {
            *count = usage[name].as_u64().unwrap_or(*count);
        }
    }

    fn block(&mut self, index: u64) -> Option<&mut Open> {
        self.blocks.iter_mut().rev().find(|block| block.index == index)
    }

    fn open(&mut self, index: u64, value: Value, out: &mut Vec<Sampled>) {
        let string = |name: &str| value[name].as_str().unwrap_or_default().to_owned();
        let kind = match value["type"].as_str().unwrap_or_default() {
            "text" => {
                let text = string("text");
                tell(out, Delta::Text, &text);
                let citations = value["citations"].as_array().cloned().unwrap_or_default();
                Kind::Text { text, citations }
            }
            "thinking" => {
                let text = string("thinking");
                tell(out, Delta::Thinking, &text);
                Kind::Thinking { text, signature: string("signature") }
            }
            "tool_use" => {
                let id = self.asked.claim(value["id"].as_str().unwrap_or_default());
                let tool = string("name");
                out.push(Sampled::Delta(Delta::CallBegun { id: id.clone(), tool: tool.clone() }));
                Kind::Call { id, tool, whole: value["input"].clone(), pieces: String::new() }
            }
            _ => Kind::Raw { value, pieces: String::new(), searched: None },
        };
        self.blocks.push(Open { index, closed: false, kind });
    }

    fn extend(&mut self, index: u64, piece: Piece, data: &str, out: &mut Vec<Sampled>) {
        let Some(block) = self.block(index) else { return };
        match &mut block.kind {
            Kind::Text { text, citations } => {
                citations.extend(piece.citation);
                let more = piece.text.unwrap_or_default();
                text.push_str(&more);
                tell(out, Delta::Text, &more);
            }
            Kind::Thinking { text, signature } => {
                let more = piece.thinking.unwrap_or_default();
                text.push_str(&more);
                signature.push_str(&piece.signature.unwrap_or_default());
                tell(out, Delta::Thinking, &more);
            }
            Kind::Call { pieces, .. } => pieces.push_str(&piece.partial_json.unwrap_or_default()),
            Kind::Raw { value, pieces, .. } => match piece.partial_json {
                Some(more) => pieces.push_str(&more),
                None => merge(value, json(data).unwrap_or_default()),
            },
        }
    }

    /// Ends a block. If the block has the results of a search, reports the search.
    fn close(&mut self, index: u64, out: &mut Vec<Sampled>) {
        let Some(at) = self.blocks.iter().rposition(|it| it.index == index) else { return };
        let found = match &self.blocks[at].kind {
            Kind::Raw { value, .. } if value["type"] == "web_search_tool_result" => {
                let query = self.query(value["tool_use_id"].as_str().unwrap_or_default());
                Some(searched(&query, &value["content"]))
            }
            _ => None,
        };
        let block = &mut self.blocks[at];
        if let (Kind::Raw { searched, .. }, Some(found), false) =
            (&mut block.kind, found, block.closed)
        {
            out.push(Sampled::Delta(Delta::Searched(found.clone())));
            *searched = Some(found);
        }
        block.closed = true;
    }

    /// The query of the search with this id.
    fn query(&self, id: &str) -> String {
        let input = self.blocks.iter().find_map(|it| match &it.kind {
            Kind::Raw { value, pieces, .. } if value["id"] == id => {
                Some(json(pieces).unwrap_or_else(|_| value["input"].clone()))
            }
            _ => None,
        });
        let input: Value = input.unwrap_or_default();
        input["query"].as_str().or_else(|| self.asked.query(id)).unwrap_or_default().to_owned()
    }

    fn reply(&mut self) -> Reply {
        let stop = self.stop.take().unwrap_or_else(|| Stop::Unknown("no stop_reason".to_owned()));
        let last = self.blocks.len().saturating_sub(1);
        let may_cut = dialect::cuts_calls(&stop);
        let is_cited = self
            .blocks
            .iter()
            .any(|it| matches!(&it.kind, Kind::Text { citations, .. } if !citations.is_empty()));
        // the API refuses to continue a reply that ends in blanks
        if let (Stop::Pause, Some(Open { kind: Kind::Text { text, .. }, .. })) =
            (&stop, self.blocks.last_mut())
        {
            text.truncate(text.trim_end().len());
        }
        let blocks = std::mem::take(&mut self.blocks)
            .into_iter()
            .enumerate()
            .flat_map(|(at, block)| {
                let cut = !block.closed || (may_cut && at == last);
                finished(block.kind, cut, is_cited)
            })
            .collect();
        Reply {
            blocks,
            stop,
            usage: self.usage,
            model: std::mem::take(&mut self.model),
            by: String::new(),
        }
    }
}

fn tell(out: &mut Vec<Sampled>, delta: fn(String) -> Delta, text: &str) {
    if !text.is_empty() {
        out.push(Sampled::Delta(delta(text.to_owned())));
    }
}

/// Adds a delta to a block of an unknown kind: strings are extended, other values are replaced.
fn merge(block: &mut Value, mut event: Value) {
    let (Some(block), Some(delta)) = (block.as_object_mut(), event["delta"].as_object_mut()) else {
        return;
    };
    for (name, more) in std::mem::take(delta) {
        match (block.get_mut(&name), more) {
            _ if name == "type" => {}
            (Some(Value::String(text)), Value::String(more)) => text.push_str(&more),
            (_, more) => {
                block.insert(name, more);
            }
        }
    }
}

/// The search whose results are in this content, or the error that came instead.
fn searched(query: &str, content: &Value) -> Searched {
    let Some(results) = content.as_array() else {
        return Searched::failed(query, content["error_code"].as_str().unwrap_or_default());
    };
    let mut searched = Searched::new(query);
    for it in results {
        searched
            .add(it["title"].as_str().unwrap_or_default(), it["url"].as_str().unwrap_or_default());
    }
    searched
}

/// The blocks that a finished block becomes. In a reply with citations, each text is followed by a block with its
/// citations, even if the text has none. The chat joins texts that are divided only by such blocks.
fn finished(kind: Kind, cut: bool, is_cited: bool) -> Vec<Block> {
    let raw = |value| Block::Raw { provider: "anthropic".to_owned(), value };
    match kind {
        Kind::Text { text, .. } if text.is_empty() => Vec::new(),
        Kind::Text { text, citations } => {
            // a blank text is not sent, so its citations would go with the text before it
            let citations = if text.trim().is_empty() { Vec::new() } else { citations };
            let citations = is_cited.then(|| raw(object!({ "citations": citations })));
            std::iter::once(Block::Text { text }).chain(citations).collect()
        }
        Kind::Thinking { text, signature } if text.is_empty() && signature.is_empty() => Vec::new(),
        Kind::Thinking { text, signature } => {
            vec![Block::Thinking { text, signature: (!signature.is_empty()).then_some(signature) }]
        }
        Kind::Call { id, tool, whole, pieces } => {
            let came_whole =
                pieces.is_empty() && whole.as_object().is_some_and(|fields| !fields.is_empty());
            let input = if came_whole { Input::Json(whole) } else { dialect::input(pieces, cut) };
            vec![Block::Call(ToolCall { id, tool, input })]
        }
        Kind::Raw { mut value, pieces, searched } => {
            if let (Ok(input), true) = (serde_json::from_str(&pieces), value.is_object()) {
                value["input"] = input;
            }
            std::iter::once(raw(value)).chain(searched.map(Block::Searched)).collect()
        }
    }
}

fn stop(reason: String) -> Stop {
    match reason.as_str() {
        "end_turn" => Stop::EndTurn,
        "tool_use" => Stop::ToolUse,
        "max_tokens" => Stop::MaxTokens,
        "stop_sequence" => Stop::StopSequence,
        "pause_turn" => Stop::Pause,
        "refusal" => Stop::Refusal,
        "model_context_window_exceeded" => Stop::ContextExceeded,
        _ => Stop::Unknown(reason),
    }
}
