//! Turns a session into a request that every provider accepts.

mod excerpt;
mod images;
#[cfg(test)]
mod tests;

pub use excerpt::fenced;
pub use images::images_of;

use super::fence::{self, tagged};
use crate::event::Item;
use crate::message::{Block, CallId, Message, Parameter, Request, Role, ToolAnswer};
use crate::session::Session;
use std::collections::{HashMap, HashSet};

/// Completes a request with the session: `base` has everything except the system prompt and the messages. In the
/// request, each message with tool calls is followed by a message that answers them in order. Answers without a call,
/// empty texts, notes for the user, other models' thoughts, and thoughts at the end of a message are left out. The
/// first message is a user's message; after a compaction it is the hand-off.
pub fn build(session: &Session, base: Request) -> Request {
    let mut messages: Vec<Message> = Vec::new();
    let mut seen = HashSet::new();
    let mut trims = Trims::of(session, base.without.contains(&Parameter::Images));
    let first = session.messages.first().filter(|it| it.role == Role::System);
    let system = first.map(|it| text_of(it, &session.mark)).unwrap_or_default();
    if let Some(text) = session.handoff() {
        push(&mut messages, Role::User, vec![Block::Text { text: text.to_owned() }]);
    }
    let compacted = session.compaction().map_or(0, |it| it.note);
    let numbered = session.messages.iter().enumerate().skip(session.beginning());
    let mut spoken = numbered.filter(|it| it.1.role != Role::Note).peekable();
    while let Some((at, message)) = spoken.next() {
        match message.role {
            Role::System | Role::Note => (),
            Role::User => {
                let blocks: Vec<Block> = message
                    .blocks
                    .iter()
                    .filter(|it| !matches!(it, Block::Answer(_)))
                    .flat_map(|it| trims.apply(it))
                    .collect();
                push(&mut messages, Role::User, blocks);
            }
            Role::Assistant => {
                let mut message = message.clone();
                // thoughts may be valid only after the messages that came before them, which a compaction has replaced
                if message.by != session.model || at < compacted {
                    strip(&mut message);
                }
                message.blocks.retain(|it| match it {
                    Block::Call(call) => seen.insert(call.id.clone()),
                    Block::Text { text } => !text.trim().is_empty(),
                    Block::Thinking { .. } | Block::Raw { .. } => true,
                    // such a block is here only if a person has edited the session's file
                    Block::Excerpt(_)
                    | Block::Answer(_)
                    | Block::Notice { .. }
                    | Block::Image(_)
                    | Block::Searched(_) => false,
                });
                drop_last_thoughts(&mut message.blocks);
                let answers = answers(&message, spoken.peek().map(|it| it.1), &trims);
                if messages.is_empty() {
                    let text = "(The beginning of this conversation is not kept.)".to_owned();
                    push(&mut messages, Role::User, vec![Block::Text { text }]);
                }
                if !message.blocks.is_empty() {
                    messages.push(message);
                }
                push(&mut messages, Role::User, answers);
            }
        }
    }
    images::fit(&mut messages, &base.sight);
    Request { system, messages, ..base }
}

/// Removes the blocks that only the model that made them can read.
fn strip(message: &mut Message) {
    message.blocks.retain(|it| !matches!(it, Block::Raw { .. } | Block::Thinking { .. }));
}

/// Removes thoughts at the end of a message, because providers refuse a message that ends with one.
fn drop_last_thoughts(blocks: &mut Vec<Block>) {
    while blocks.last().is_some_and(Block::is_thought) {
        blocks.pop();
    }
}

fn push(messages: &mut Vec<Message>, role: Role, blocks: Vec<Block>) {
    if !blocks.is_empty() {
        messages.push(Message::new(role, blocks));
    }
}

/// One answer for each call of a message, taken from the next message.
fn answers(message: &Message, next: Option<&Message>, trims: &Trims) -> Vec<Block> {
    let given: HashMap<&CallId, &ToolAnswer> = next
        .filter(|it| it.role == Role::User)
        .into_iter()
        .flat_map(|it| &it.blocks)
        .filter_map(|it| match it {
            Block::Answer(answer) => Some((&answer.id, answer)),
            _ => None,
        })
        // a session file that was edited by hand may have two answers to one call; the first one is used
        .rev()
        .collect();
    message
        .blocks
        .iter()
        .filter_map(|it| match it {
            Block::Call(call) => Some(&call.id),
            _ => None,
        })
        .map(|id| given.get(id).map_or_else(|| lost(id), |it| trims.answer(it)))
        .map(Block::Answer)
        .collect()
}

fn lost(id: &CallId) -> ToolAnswer {
    let text = "The result of this call was lost. The call may have had effects.".to_owned();
    ToolAnswer::failed(id, text, "")
}

/// The lines that replace trimmed items.
struct Trims<'a> {
    lines: HashMap<&'a Item, &'a str>,
    /// The number of excerpts in the messages so far.
    excerpts: u32,
    /// Whether the model does not accept images.
    is_blind: bool,
    /// The session's mark, for the tags around strangers' texts.
    mark: &'a str,
}

impl<'a> Trims<'a> {
    fn of(session: &'a Session, is_blind: bool) -> Trims<'a> {
        // a session's file may have an empty line, which providers refuse
        let lines = session.trimmed.iter().filter(|it| !it.line.trim().is_empty());
        Trims {
            lines: lines.map(|it| (&it.item, it.line.as_str())).collect(),
            excerpts: u32::try_from(session.compacted_excerpts()).unwrap_or(u32::MAX),
            is_blind,
            mark: &session.mark,
        }
    }

    fn answer(&self, answer: &ToolAnswer) -> ToolAnswer {
        let (text, seen) = match self.lines.get(&Item::Call(answer.id.clone())) {
            Some(line) => ((*line).to_owned(), Vec::new()),
            None if answer.text.trim().is_empty() => ("(no output)".to_owned(), Vec::new()),
            None => {
                let text = given(answer, self.mark);
                images::apart(&text, &answer.images, self.is_blind)
            }
        };
        ToolAnswer { text, images: seen, ..answer.clone() }
    }

    /// A block of a user's message as the model gets it.
    fn apply(&mut self, block: &Block) -> Vec<Block> {
        let Block::Excerpt(excerpt) = block else {
            return spoken_block(block, self.mark).into_iter().collect();
        };
        let item = Item::Excerpt(self.excerpts);
        self.excerpts += 1;
        match self.lines.get(&item) {
            Some(line) => vec![Block::Text { text: (*line).to_owned() }],
            None => images::with_image(excerpt, self.is_blind, self.mark),
        }
    }
}

/// The text of an answer, in a fence if it is a stranger's. Above it stands the command that the user has put in the
/// place of the call's, if there is one.
pub(super) fn given(answer: &ToolAnswer, mark: &str) -> String {
    let text = fenced_answer(answer, mark);
    match &answer.changed {
        Some(command) => format!(
            "The user changed the command of this call. This command is used instead of yours:\n{command}\n\n{text}"
        ),
        None => text,
    }
}

fn fenced_answer(answer: &ToolAnswer, mark: &str) -> String {
    let Some(foreign) = &answer.foreign else { return answer.text.clone() };
    let (text, own) = foreign.split(&answer.text);
    if text.is_empty() {
        return own.to_owned();
    }
    let fenced = fence::fenced(mark, &foreign.from, text);
    if own.is_empty() { fenced } else { format!("{fenced}\n{own}") }
}

fn spoken_block(block: &Block, mark: &str) -> Option<Block> {
    let text = match block {
        Block::Text { text } => text.clone(),
        Block::Excerpt(excerpt) => fenced(excerpt, mark),
        Block::Notice { text, .. } => tagged("notice", "", text),
        _ => return None,
    };
    (!text.trim().is_empty()).then_some(Block::Text { text })
}

fn text_of(message: &Message, mark: &str) -> String {
    let spoken = message.blocks.iter().filter_map(|it| spoken_block(it, mark));
    let texts = spoken.filter_map(|it| match it {
        Block::Text { text } => Some(text),
        _ => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}
