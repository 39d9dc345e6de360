//! Takes the calls out of the text of a reply, for a model that writes them there. Text that may become a call is held
//! back until the reply is complete.

use super::{Written, find, may_begin};
use crate::event::Delta;
use crate::message::{Block, CallId, Input, Reply, Stop, ToolCall, ToolSpec};
use crate::provider::Sampled;

pub(in crate::provider) struct Taken {
    tools: Vec<ToolSpec>,
    seed: u64,
    made: u32,
    held: String,
    /// Whether all text is held back that still comes, and whether some was passed on.
    holds: bool,
    has_said: bool,
}

impl Taken {
    /// Calls get ids made from `seed`, which is different for each request.
    pub(in crate::provider) fn new(tools: Vec<ToolSpec>, seed: u64) -> Taken {
        Taken { tools, seed, made: 0, held: String::new(), holds: false, has_said: false }
    }

    /// Passes on values to `out`.
    pub(in crate::provider) fn pass(&mut self, values: &mut Vec<Sampled>, out: &mut Vec<Sampled>) {
        for value in values.drain(..) {
            match value {
                Sampled::Delta(Delta::Text(text)) => self.push(&text, out),
                Sampled::Delta(Delta::WasThought { bytes }) => self.take_back(bytes, out),
                Sampled::Done(reply) => {
                    let mut begun = Vec::new();
                    let reply = self.read(reply, &mut begun);
                    if begun.is_empty() {
                        self.release(out);
                    }
                    out.extend(begun);
                    out.push(Sampled::Done(reply));
                }
                Sampled::Failed(failure) => {
                    self.release(out);
                    out.push(Sampled::Failed(failure));
                }
                other @ Sampled::Delta(_) => out.push(other),
            }
        }
    }

    fn push(&mut self, text: &str, out: &mut Vec<Sampled>) {
        self.held.push_str(text);
        if self.holds {
            return;
        }
        let found = may_begin(&self.held, !self.has_said);
        // the blanks before a call are no text
        let end = found.map_or(self.held.len(), |it| it.0);
        let rest = self.held.split_off(self.held[..end].trim_end().len());
        let said = std::mem::replace(&mut self.held, rest);
        if !said.is_empty() {
            self.has_said = true;
            out.push(Sampled::Delta(Delta::Text(said)));
        }
        self.holds = found.is_some_and(|it| it.1);
    }

    /// Takes back text that was a thought, as far as it is not held.
    fn take_back(&mut self, bytes: usize, out: &mut Vec<Sampled>) {
        let held = self.held.len().min(bytes);
        self.held.truncate(self.held.len() - held);
        self.holds = false;
        if bytes > held {
            out.push(Sampled::Delta(Delta::WasThought { bytes: bytes - held }));
        }
    }

    fn release(&mut self, out: &mut Vec<Sampled>) {
        let held = std::mem::take(&mut self.held);
        if !held.is_empty() {
            out.push(Sampled::Delta(Delta::Text(held)));
        }
    }

    /// The reply with its calls as blocks. What the model wrote after its first call is left out: it cannot know the
    /// result.
    fn read(&mut self, mut reply: Reply, begun: &mut Vec<Sampled>) -> Reply {
        if !matches!(
            reply.stop,
            Stop::EndTurn | Stop::StopSequence | Stop::ToolUse | Stop::Unknown(_)
        ) {
            return reply;
        }
        if reply.calls().next().is_some() {
            return reply;
        }
        let mut blocks = Vec::new();
        for block in std::mem::take(&mut reply.blocks) {
            let Block::Text { text } = &block else {
                blocks.push(block);
                continue;
            };
            let found = find(text, &self.tools);
            let Some(first) = found.first() else {
                blocks.push(block);
                continue;
            };
            let before = text[..first.range.start].trim_end();
            if !before.is_empty() {
                blocks.push(Block::Text { text: before.to_owned() });
            }
            for it in found {
                let call = self.call(it);
                let (id, tool) = (call.id.clone(), call.tool.clone());
                begun.push(Sampled::Delta(Delta::CallBegun { id, tool }));
                blocks.push(Block::Call(call));
            }
        }
        if !begun.is_empty() {
            reply.stop = Stop::ToolUse;
        }
        Reply { blocks, ..reply }
    }

    fn call(&mut self, written: Written) -> ToolCall {
        self.made += 1;
        let id = CallId(format!("text_{:016x}_{}", self.seed, self.made));
        ToolCall { id, tool: written.tool, input: Input::Json(written.input) }
    }
}
