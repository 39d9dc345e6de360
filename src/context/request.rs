//! Turns a session into a request that every provider accepts.

#[cfg(test)]
mod tests;

use crate::message::{Block, CallId, Excerpt, ExcerptKind, Message, Request, Role, ToolAnswer};
use crate::session::Session;
use std::collections::{HashMap, HashSet};

/// Completes a request with the session: `base` has everything except the system prompt and the messages. Every call
/// is answered by the next message, in order. Left out are answers without a call, empty texts, notes for the user,
/// other models' thoughts, and thoughts at the end of a message. The first message is the user's.
pub fn build(session: &Session, base: Request) -> Request {
    let mut messages: Vec<Message> = Vec::new();
    let mut seen = HashSet::new();
    let mut spoken = session.messages.iter().filter(|it| it.role != Role::Note).peekable();
    let mut system = String::new();
    while let Some(message) = spoken.next() {
        match message.role {
            Role::System => system = text_of(message),
            Role::Note => (),
            Role::User => {
                let blocks: Vec<Block> = message
                    .blocks
                    .iter()
                    .filter(|it| !matches!(it, Block::Answer(_)))
                    .filter_map(spoken_block)
                    .collect();
                push(&mut messages, Role::User, blocks);
            }
            Role::Assistant => {
                let mut message = message.clone();
                if message.by != session.model {
                    strip(&mut message);
                }
                message.blocks.retain(|it| match it {
                    Block::Call(call) => seen.insert(call.id.clone()),
                    Block::Text { text } => !text.trim().is_empty(),
                    Block::Thinking { .. } | Block::Raw { .. } => true,
                    // such a block stands here only after a person has edited the file
                    Block::Excerpt(_) | Block::Answer(_) | Block::Notice { .. } => false,
                });
                drop_last_thoughts(&mut message.blocks);
                let answers = answers(&message, spoken.peek().copied());
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

/// One answer for each call, taken from the next message.
fn answers(message: &Message, next: Option<&Message>) -> Vec<Block> {
    let given: HashMap<&CallId, &ToolAnswer> = next
        .filter(|it| it.role == Role::User)
        .into_iter()
        .flat_map(|it| &it.blocks)
        .filter_map(|it| match it {
            Block::Answer(answer) => Some((&answer.id, answer)),
            _ => None,
        })
        // a file that was edited by hand may hold two answers of one call; the first one counts
        .rev()
        .collect();
    message
        .blocks
        .iter()
        .filter_map(|it| match it {
            Block::Call(call) => Some(&call.id),
            _ => None,
        })
        .map(|id| given.get(id).map_or_else(|| lost(id), |it| filled(it)))
        .map(Block::Answer)
        .collect()
}

fn lost(id: &CallId) -> ToolAnswer {
    let text = "The result of this call was lost. The call may have had effects.".to_owned();
    ToolAnswer::failed(id, text, "")
}

fn filled(answer: &ToolAnswer) -> ToolAnswer {
    let mut answer = answer.clone();
    if answer.text.trim().is_empty() {
        "(no output)".clone_into(&mut answer.text);
    }
    answer
}

fn spoken_block(block: &Block) -> Option<Block> {
    let text = match block {
        Block::Text { text } => text.clone(),
        Block::Excerpt(excerpt) => fenced(excerpt),
        Block::Notice { text } => {
            let mark = mark("notice", text);
            format!("<{mark}>\n{text}\n</{mark}>")
        }
        _ => return None,
    };
    (!text.trim().is_empty()).then_some(Block::Text { text })
}

fn text_of(message: &Message) -> String {
    let texts = message.blocks.iter().filter_map(spoken_block).filter_map(|it| match it {
        Block::Text { text } => Some(text),
        _ => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}

/// The name of a tag whose end cannot be forged in `text`. If the text contains the end tag, the name gets a number
/// that makes it unique.
fn mark(name: &str, text: &str) -> String {
    let numbered = (2..=u32::MAX).map(|n| format!("{name}-{n}"));
    std::iter::once(name.to_owned())
        .chain(numbered)
        .find(|it| !text.contains(&format!("</{it}>")))
        .unwrap_or_default()
}

/// An excerpt as a labelled block of text.
pub fn fenced(excerpt: &Excerpt) -> String {
    let path = format!(" path=\"{}\"", attribute(&excerpt.path));
    let (name, attributes) = match excerpt.kind {
        ExcerptKind::File => ("context", context("file", &path, excerpt)),
        ExcerptKind::Folder => ("context", context("folder", &path, excerpt)),
        ExcerptKind::Selection => ("context", context("selection", &path, excerpt)),
        ExcerptKind::Instructions => {
            let is_users = excerpt.path.starts_with(['/', '~']);
            let of = if is_users { "user" } else { "project" };
            ("instructions", format!(" of=\"{of}\"{path}"))
        }
        ExcerptKind::Changes => ("context", context("changes", &path, excerpt)),
        ExcerptKind::Skills => ("skills", String::new()),
        ExcerptKind::Skill => ("skill", path),
        ExcerptKind::Hunk => ("hunk", context("pending", &path, excerpt)),
    };
    let mark = mark(name, &excerpt.text);
    let text = excerpt.text.trim_end_matches('\n');
    format!("<{mark}{attributes}>\n{text}\n</{mark}>")
}

fn context(kind: &str, path: &str, excerpt: &Excerpt) -> String {
    let lines = excerpt.lines.map(|(a, b)| format!(" lines=\"{a}-{b}\"")).unwrap_or_default();
    let filetype = if excerpt.filetype.is_empty() {
        String::new()
    } else {
        format!(" filetype=\"{}\"", attribute(&excerpt.filetype))
    };
    format!(" kind=\"{kind}\"{path}{lines}{filetype}")
}

fn attribute(text: &str) -> String {
    text.replace('&', "&amp;").replace('"', "&quot;").replace(['\n', '\r'], " ")
}
