//! A reply in the chat: its blocks while it arrives, and once it is complete.

use super::blocks::{Block, Content, Shape, View};
use super::lines::Thought;
use super::{calls, lines};
use crate::message::{Block as Part, Reply};
use crate::session::MAX_CALLS;

impl View {
    /// Completes the blocks of a reply that has arrived completely.
    pub(super) fn replied(&mut self, reply: &Reply, now_ms: u64) {
        self.close_live(Some(now_ms));
        let arriving = self.take_arriving();
        if arriving.is_empty() {
            self.reply(&reply.blocks, MAX_CALLS, Some(now_ms));
            return;
        }
        self.complete_searches(&arriving, &reply.blocks);
        for call in reply.calls().take(MAX_CALLS) {
            match self.calls.get(&call.id).copied().filter(|at| self.is_arriving(*at)) {
                Some(at) => self.complete(at, call),
                None => drop(self.push_tool(call.id.clone(), &call.tool, Some(call), None)),
            }
        }
        self.remove_unfinished(arriving);
        self.leave_out(reply.calls().count().saturating_sub(MAX_CALLS));
    }

    pub(super) fn take_arriving(&mut self) -> Vec<usize> {
        self.begun = 0;
        std::mem::take(&mut self.arriving)
    }

    /// Whether a block shows a call whose arguments have not arrived yet.
    fn is_arriving(&self, at: usize) -> bool {
        matches!(&self.blocks[at].content, Content::Tool(tool) if tool.call.is_none())
    }

    pub(super) fn remove_unfinished(&mut self, arriving: Vec<usize>) {
        for at in arriving {
            if self.is_arriving(at) {
                self.remove(at);
            }
        }
    }

    /// Shows in one line how many calls of a reply were not run, because there may be thousands of them.
    fn leave_out(&mut self, calls: usize) {
        if calls > 0 {
            self.notice(&lines::over_limit(calls));
        }
    }

    /// Shows a complete reply, whose first `taken` calls are run.
    pub(super) fn reply(&mut self, blocks: &[Part], taken: usize, now_ms: Option<u64>) {
        self.calls_of(blocks, taken, now_ms);
        self.leave_out(calls(blocks).count().saturating_sub(taken));
    }

    fn calls_of(&mut self, blocks: &[Part], taken: usize, now_ms: Option<u64>) {
        let mut room = taken;
        for block in lines::run_together(blocks) {
            match &*block {
                Part::Text { text } => {
                    let text = lines::clean(text.trim_start());
                    if !text.trim().is_empty() {
                        let at = self.push(Shape::Text, Content::Stream { text });
                        self.blocks[at].done = true;
                    }
                }
                Part::Thinking { text, .. } if !text.trim().is_empty() => {
                    let text = lines::clean(text);
                    let time = Thought::Over { took: None };
                    let thinking = Content::Thinking { text, open: false, time, in_run: false };
                    let at = self.push(Shape::Thinking, thinking);
                    self.blocks[at].done = true;
                }
                Part::Searched(it) => drop(self.push_search(it)),
                Part::Call(call) if room > 0 => {
                    room -= 1;
                    self.push_tool(call.id.clone(), &call.tool, Some(call), now_ms);
                }
                _ => (),
            }
        }
    }

    pub(super) fn grow(&mut self, text: &str, thinking: bool, now_ms: u64) {
        let fits = |block: &Block| match block.content {
            Content::Stream { .. } => !thinking,
            Content::Thinking { .. } => thinking,
            _ => false,
        };
        let at = match self.live {
            Some(at) if fits(&self.blocks[at]) => at,
            _ => {
                self.close_live(Some(now_ms));
                let at = if thinking {
                    let time = Thought::Arriving { began: now_ms };
                    let text = String::new();
                    self.push(
                        Shape::Thinking,
                        Content::Thinking { text, open: false, time, in_run: false },
                    )
                } else if text.trim().is_empty() {
                    return;
                } else {
                    self.push(Shape::Text, Content::Stream { text: String::new() })
                };
                self.live = Some(at);
                self.unfinished.clear();
                self.arriving.push(at);
                at
            }
        };
        match &mut self.blocks[at].content {
            Content::Stream { text: whole } => {
                let is_first = whole.is_empty();
                lines::push_clean(whole, text, &mut self.unfinished);
                if is_first {
                    whole.drain(..whole.len() - whole.trim_start().len());
                }
                self.dirty.insert(at);
            }
            Content::Thinking { text: whole, open, .. } => {
                lines::push_clean(whole, text, &mut self.unfinished);
                if *open {
                    self.changed(at);
                }
            }
            _ => (),
        }
    }

    /// Shows the text that is arriving as a thought.
    pub(super) fn take_for_thought(&mut self) {
        let Some(at) = self.live else { return };
        let Content::Stream { text } = &mut self.blocks[at].content else { return };
        let text = std::mem::take(text);
        self.live = None;
        self.arriving.retain(|it| *it != at);
        self.remove(at);
        let time = Thought::Over { took: None };
        let thinking = Content::Thinking { text, open: false, time, in_run: false };
        let at = self.push(Shape::Thinking, thinking);
        self.blocks[at].done = true;
        self.arriving.push(at);
    }

    /// Ends the block to which arriving text was added. If `now_ms` is given, a thought gets its duration.
    pub(super) fn close_live(&mut self, now_ms: Option<u64>) {
        let Some(at) = self.live.take() else { return };
        let block = &mut self.blocks[at];
        block.done = true;
        if let Content::Thinking { time, .. } = &mut block.content {
            if let Thought::Arriving { began } = *time {
                *time = Thought::Over { took: now_ms.map(|now| now.saturating_sub(began)) };
            }
            self.changed(at);
        } else {
            self.dirty.insert(at);
        }
    }

    /// Removes the blocks of a reply that have arrived, because the reply will be requested again.
    pub(super) fn take_back(&mut self) {
        self.live = None;
        for at in self.take_arriving() {
            self.remove(at);
        }
    }
}
