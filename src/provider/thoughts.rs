//! Thoughts that a model writes into its text, between tags such as `<think>` and `</think>`. A server that does not
//! know the model's tags passes them on as text, in pieces of any size, and often without the first tag.

use super::Sampled;
use super::code::Code;
use crate::event::Delta;
use crate::message::Block;
use std::mem;
use std::ops::Range;

/// The tags around a thought.
const TAGS: [(&str, &str); 10] = [
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<reasoning>", "</reasoning>"),
    ("<seed:think>", "</seed:think>"),
    ("[THINK]", "[/THINK]"),
    ("◁think▷", "◁/think▷"),
    ("<|begin_of_thought|>", "<|end_of_thought|>"),
    ("<|START_THINKING|>", "<|END_THINKING|>"),
    ("<|channel|>analysis<|message|>", "<|end|>"),
];

/// Marks before a text that are no part of it.
const MARKS: [&str; 4] = [
    "<|start|>assistant",
    "<|channel|>final<|message|>",
    "<|begin_of_solution|>",
    "<|START_RESPONSE|>",
];

/// The ends of thoughts whose beginning chat templates write into the prompt, so that it never arrives.
const UNOPENED: [&str; 5] = ["</think>", "</thinking>", "</seed:think>", "[/THINK]", "◁/think▷"];

/// Where the text stands that arrives next. A run is the text between two other values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// At the beginning of a run, or after a thought (`true`).
    Begin(bool),
    /// In the thought that ends with this tag.
    Thought(&'static str),
    /// In text before which no thought was found in its run: all of it may turn out to be a thought.
    Said,
    /// In text after a thought.
    Answer,
}

/// Divides the text of one reply into text and thoughts.
#[derive(Debug)]
pub(super) struct Thoughts {
    place: Place,
    /// The end of what has arrived, as far as it may be the beginning of a tag.
    held: String,
    /// The number of bytes of text before `held`, and the number of those before the run.
    at: usize,
    run: usize,
    /// The parts of the reply's text that are thoughts, and those that are left out. In order, without overlap.
    cuts: Vec<(Range<usize>, Cut)>,
    code: Code,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cut {
    Thought,
    Nothing,
}

impl Default for Thoughts {
    fn default() -> Thoughts {
        let (place, code) = (Place::Begin(false), Code::default());
        Thoughts { place, held: String::new(), at: 0, run: 0, cuts: Vec::new(), code }
    }
}

impl Thoughts {
    /// Passes on values of a decoder to `out`.
    pub(super) fn pass(&mut self, values: &mut Vec<Sampled>, out: &mut Vec<Sampled>) {
        for value in values.drain(..) {
            match value {
                Sampled::Delta(Delta::Text(text)) => self.push(text, out),
                Sampled::Done(mut reply) => {
                    self.end_run(out);
                    reply.blocks = self.divided(reply.blocks);
                    out.push(Sampled::Done(reply));
                }
                other => {
                    self.end_run(out);
                    out.push(other);
                }
            }
        }
    }

    fn push(&mut self, more: String, out: &mut Vec<Sampled>) {
        let is_plain = matches!(self.place, Place::Said | Place::Answer) && self.held.is_empty();
        if is_plain && (self.place == Place::Answer || !more.contains(['<', '[', '◁'])) {
            self.code.add(&more);
            self.at += more.len();
            out.push(Sampled::Delta(Delta::Text(more)));
            return;
        }
        self.held.push_str(&more);
        while self.step(false, out) {}
    }

    /// Ends a run of text: nothing that is held back can become a tag any more.
    fn end_run(&mut self, out: &mut Vec<Sampled>) {
        while self.step(true, out) {}
        let held = self.held.len();
        match self.place {
            Place::Thought(_) => self.think(held, out),
            Place::Begin(true) if self.held.trim().is_empty() => self.leave_out(held),
            _ => self.say(held, out),
        }
        self.place = Place::Begin(false);
        self.code = Code::default();
        self.run = self.at;
    }

    /// Takes one step in the text that is held back. Returns false if it needs more text.
    fn step(&mut self, is_end: bool, out: &mut Vec<Sampled>) -> bool {
        match self.place {
            Place::Begin(follows) => self.begin(follows),
            Place::Thought(end) => self.thought(end, out),
            Place::Said => self.said(is_end, out),
            Place::Answer => {
                self.say(self.held.len(), out);
                false
            }
        }
    }

    fn begin(&mut self, follows: bool) -> bool {
        let text = self.held.trim_start();
        let blank = self.held.len() - text.len();
        let mut tags = TAGS.iter().map(|it| it.0).chain(MARKS);
        if let Some(tag) = tags.find(|it| text.starts_with(it)) {
            let end = TAGS.iter().find(|it| it.0 == tag).map(|it| it.1);
            self.leave_out(blank + tag.len());
            self.place = end.map_or(Place::Begin(true), Place::Thought);
            return true;
        }
        let mut tags = TAGS.iter().map(|it| it.0).chain(MARKS);
        if tags.any(|it| it.starts_with(text)) {
            return false;
        }
        if follows {
            self.leave_out(blank);
        }
        self.place = if follows { Place::Answer } else { Place::Said };
        true
    }

    fn thought(&mut self, end: &'static str, out: &mut Vec<Sampled>) -> bool {
        if let Some(at) = self.held.find(end) {
            self.think(at, out);
            self.leave_out(end.len());
            self.place = Place::Begin(true);
            return true;
        }
        let rest = (0..end.len())
            .rev()
            .find(|n| end.is_char_boundary(*n) && self.held.ends_with(&end[..*n]));
        self.think(self.held.len() - rest.unwrap_or(0), out);
        false
    }

    /// Looks for the end of a thought without a beginning. It stands outside of code, at the beginning or the end of a
    /// line.
    fn said(&mut self, is_end: bool, out: &mut Vec<Sampled>) -> bool {
        let Some(at) = self.held.find(['<', '[', '◁']) else {
            self.say(self.held.len(), out);
            return false;
        };
        self.say(at, out);
        let tag = UNOPENED.iter().find(|it| self.held.starts_with(**it));
        let behind = tag.and_then(|it| self.held.get(it.len()..)).unwrap_or_default();
        let waits = match tag {
            Some(_) => behind.trim_start_matches([' ', '\t']).is_empty(),
            None => UNOPENED.iter().any(|it| it.starts_with(&self.held)),
        };
        if waits && !is_end {
            return false;
        }
        let ends_line = behind.trim_start_matches([' ', '\t', '\r']);
        let ends_line = ends_line.is_empty() || ends_line.starts_with('\n');
        match tag {
            Some(tag) if !self.code.is_code() && (ends_line || self.code.is_at_start()) => {
                let bytes = self.at - self.run;
                if bytes > 0 {
                    out.push(Sampled::Delta(Delta::WasThought { bytes }));
                    self.cuts.push((self.run..self.at, Cut::Thought));
                }
                self.leave_out(tag.len());
                self.place = Place::Begin(true);
            }
            _ => {
                let first = self.held.chars().next().map_or(0, char::len_utf8);
                self.say(first, out);
            }
        }
        true
    }

    fn say(&mut self, bytes: usize, out: &mut Vec<Sampled>) {
        let text = self.taken(bytes);
        if !text.is_empty() {
            self.code.add(&text);
            out.push(Sampled::Delta(Delta::Text(text)));
        }
    }

    fn think(&mut self, bytes: usize, out: &mut Vec<Sampled>) {
        let begin = self.at;
        let text = self.taken(bytes);
        if text.is_empty() {
            return;
        }
        match self.cuts.last_mut() {
            Some((range, Cut::Thought)) if range.end == begin => range.end = self.at,
            _ => self.cuts.push((begin..self.at, Cut::Thought)),
        }
        out.push(Sampled::Delta(Delta::Thinking(text)));
    }

    fn leave_out(&mut self, bytes: usize) {
        if bytes > 0 {
            let begin = self.at;
            self.taken(bytes);
            self.cuts.push((begin..self.at, Cut::Nothing));
        }
    }

    /// Removes the first bytes from the text that is held back.
    fn taken(&mut self, bytes: usize) -> String {
        self.at += bytes;
        let rest = self.held.split_off(bytes);
        mem::replace(&mut self.held, rest)
    }

    /// The blocks of a reply, with thoughts apart. The texts of the blocks are the text that was passed on.
    fn divided(&mut self, blocks: Vec<Block>) -> Vec<Block> {
        let cuts = mem::take(&mut self.cuts);
        let all: usize = blocks.iter().map(|it| text_of(it).len()).sum();
        if cuts.is_empty() || all != self.at {
            return blocks;
        }
        let mut divided = Vec::new();
        let mut begin = 0;
        for block in blocks {
            let Block::Text { text } = block else {
                divided.push(block);
                continue;
            };
            let end = begin + text.len();
            let mut at = begin;
            let here = cuts.iter().filter(|(it, _)| it.start < end && it.end > begin);
            for (range, cut) in here {
                let range = range.start.max(begin)..range.end.min(end);
                divided.extend(part(&text, at - begin..range.start - begin, said));
                if *cut == Cut::Thought {
                    let within = range.start - begin..range.end - begin;
                    divided.extend(part(&text, within, thought));
                }
                at = range.end;
            }
            divided.extend(part(&text, at - begin..end - begin, said));
            begin = end;
        }
        divided
    }
}

fn said(text: String) -> Block {
    Block::Text { text }
}

fn thought(text: String) -> Block {
    Block::Thinking { text, signature: None }
}

fn text_of(block: &Block) -> &str {
    match block {
        Block::Text { text } => text,
        _ => "",
    }
}

/// A part of a text as a block; `None` if it is empty.
fn part(text: &str, range: Range<usize>, block: fn(String) -> Block) -> Option<Block> {
    text.get(range).filter(|it| !it.is_empty()).map(|it| block(it.to_owned()))
}

#[cfg(test)]
mod tests;
