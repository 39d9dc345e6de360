//! The parts of the next request: what each part is, in which section of the ledger it is counted, and its bytes.

use super::size::{self, MOST, Scale, of_message};
use crate::event::Item;
use crate::message::{
    Block, Builtin, CallId, Excerpt, ExcerptKind, Message, Role, ToolAnswer, ToolCall,
};
use crate::session::Session;
use std::collections::HashMap;

/// A section of the ledger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Section {
    System,
    Tools,
    Instructions,
    Skills,
    Files,
    Conversation,
    Results,
    Images,
}

impl Section {
    pub const ALL: [Section; 8] = [
        Section::System,
        Section::Tools,
        Section::Instructions,
        Section::Skills,
        Section::Files,
        Section::Conversation,
        Section::Results,
        Section::Images,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Section::System => "system prompt",
            Section::Tools => "tools",
            Section::Instructions => "instructions",
            Section::Skills => "skills",
            Section::Files => "files",
            Section::Conversation => "conversation",
            Section::Results => "results",
            Section::Images => "images",
        }
    }

    fn of_excerpt(excerpt: &Excerpt) -> Section {
        match excerpt.kind {
            ExcerptKind::Instructions | ExcerptKind::Agents => Section::Instructions,
            ExcerptKind::Skills | ExcerptKind::Skill => Section::Skills,
            ExcerptKind::Result => Section::Results,
            // these texts say what the user wants, so they count as the user's message
            ExcerptKind::Command
            | ExcerptKind::Answers
            | ExcerptKind::Plan
            | ExcerptKind::Remark => Section::Conversation,
            _ if excerpt.image.is_some() => Section::Images,
            _ => Section::Files,
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Part<'a> {
    /// The index of the message that has the part; `None` for the system prompt, the tools and the hand-off.
    pub at: Option<usize>,
    pub section: Section,
    pub bytes: u64,
    pub source: Source<'a>,
}

/// Where a part comes from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Source<'a> {
    System,
    Tools,
    /// The hand-off of the last compaction.
    Handoff,
    /// An excerpt and its number. Excerpts in the system prompt have no number.
    Excerpt(&'a Excerpt, Option<u32>),
    Answer(&'a ToolAnswer, Option<&'a ToolCall>),
    Call(&'a ToolCall),
    Prompt(&'a str),
    Reply(&'a str),
    Thought,
    Notice,
    /// The line that replaces a trimmed excerpt or result.
    Trimmed,
}

/// All parts, in the order of the request. `tools` is the size of the tools in bytes. Leaves out the same blocks as
/// `request::build`.
pub fn of(session: &Session, tools: u64) -> Vec<Part<'_>> {
    let mut parts =
        vec![Part { at: None, section: Section::Tools, bytes: tools, source: Source::Tools }];
    let first = session.messages.first().filter(|it| it.role == Role::System);
    for block in first.iter().flat_map(|it| &it.blocks) {
        let (section, source) = match block {
            Block::Excerpt(it) => (Section::of_excerpt(it), Source::Excerpt(it, None)),
            _ => (Section::System, Source::System),
        };
        parts.push(Part { at: None, section, bytes: size::of_block(block), source });
    }
    if let Some(text) = session.handoff() {
        let (section, bytes) = (Section::Conversation, text.len() as u64);
        parts.push(Part { at: None, section, bytes, source: Source::Handoff });
    }
    let mut walk = Walk::of(session);
    let from = session.beginning();
    for (at, message) in session.messages.iter().enumerate().skip(from) {
        match message.role {
            Role::User => walk.add_said(at, message, &mut parts),
            Role::Assistant => walk.add_reply(at, message, &mut parts),
            Role::System | Role::Note => (),
        }
    }
    parts
}

struct Walk<'a> {
    session: &'a Session,
    calls: HashMap<&'a CallId, &'a ToolCall>,
    /// The lines that replace trimmed excerpts and results.
    excerpt_lines: HashMap<u32, &'a str>,
    answer_lines: HashMap<&'a CallId, &'a str>,
    /// The number of the next excerpt.
    excerpt: u32,
    /// The index of the note with the hand-off. Thoughts in messages before this note are not sent.
    handoff: usize,
}

impl<'a> Walk<'a> {
    fn of(session: &'a Session) -> Walk<'a> {
        let (mut excerpt_lines, mut answer_lines) = (HashMap::new(), HashMap::new());
        for it in session.trimmed.iter().filter(|it| !it.line.trim().is_empty()) {
            match &it.item {
                Item::Excerpt(at) => drop(excerpt_lines.insert(*at, it.line.as_str())),
                Item::Call(id) => drop(answer_lines.insert(id, it.line.as_str())),
            }
        }
        Walk {
            session,
            calls: HashMap::new(),
            excerpt_lines,
            answer_lines,
            excerpt: u32::try_from(session.compacted_excerpts()).unwrap_or(u32::MAX),
            handoff: session.compaction().map_or(0, |it| it.note),
        }
    }

    fn add_said(&mut self, at: usize, message: &'a Message, parts: &mut Vec<Part<'a>>) {
        for block in &message.blocks {
            let whole = size::of_block(block);
            let (section, source, line) = match block {
                Block::Excerpt(it) => {
                    let number = self.excerpt;
                    self.excerpt = number.saturating_add(1);
                    let line = self.excerpt_lines.get(&number);
                    (Section::of_excerpt(it), Source::Excerpt(it, Some(number)), line)
                }
                Block::Answer(it) => {
                    let call = self.calls.get(&it.id).copied();
                    let is_skill = call.is_some_and(|it| it.is_of(Builtin::Skill));
                    let section = match it.images.is_empty() {
                        false => Section::Images,
                        true if is_skill => Section::Skills,
                        true => Section::Results,
                    };
                    (section, Source::Answer(it, call), self.answer_lines.get(&it.id))
                }
                Block::Text { text } => (Section::Conversation, Source::Prompt(text), None),
                Block::Notice { .. } => (Section::Conversation, Source::Notice, None),
                _ => continue,
            };
            let (bytes, source) = match line {
                Some(line) => (line.len() as u64, Source::Trimmed),
                None => (whole, source),
            };
            parts.push(Part { at: Some(at), section, bytes, source });
        }
    }

    fn add_reply(&mut self, at: usize, message: &'a Message, parts: &mut Vec<Part<'a>>) {
        let is_own = message.by == self.session.model && at >= self.handoff;
        let end = message.blocks.iter().rposition(|it| !it.is_thought()).map_or(0, |it| it + 1);
        for block in &message.blocks[..end] {
            let source = match block {
                Block::Text { text } => Source::Reply(text),
                Block::Call(call) => {
                    self.calls.entry(&call.id).or_insert(call);
                    Source::Call(call)
                }
                Block::Thinking { .. } | Block::Raw { .. } if is_own => Source::Thought,
                _ => continue,
            };
            let bytes = size::of_block(block);
            parts.push(Part { at: Some(at), section: Section::Conversation, bytes, source });
        }
    }
}

/// The tokens of the next request. `tools` is the size of its tools in bytes.
pub fn of_next(session: &Session, tools: u64) -> u64 {
    let scale = Scale::of(session);
    if session.context == 0 {
        let bytes: u64 = of(session, tools).iter().map(|it| it.bytes).sum();
        return scale.tokens(bytes);
    }
    let spoken = session.messages[session.beginning()..].iter().rev();
    let unsent = spoken.take_while(|it| it.role != Role::Assistant);
    session.context.saturating_add(scale.tokens(unsent.map(of_message).sum())).min(MOST)
}
