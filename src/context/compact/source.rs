//! The text of the messages that a model summarises: the role and the shortened text of each message, without thoughts.

use super::super::{fence, trim::arguments};
use crate::message::{Block, Excerpt, Message, Origin, Role};

/// The most bytes of a text and of a tool's result. If the conversation is too long with the first pair of limits, the
/// next pair is tried, and so on.
const LIMITS: [(usize, usize); 4] = [(8_000, 4_000), (4_000, 1_000), (2_000, 300), (600, 100)];

#[derive(Debug, Clone)]
pub(super) struct Source {
    entries: Vec<Entry>,
    /// The session's mark, for the tags around strangers' texts.
    mark: String,
}

#[derive(Debug, Clone)]
struct Entry {
    /// The heading: who speaks, or what kind of text follows.
    head: String,
    text: String,
    is_result: bool,
    /// Where the text comes from, if it is a stranger's.
    from: Option<Origin>,
}

impl Source {
    pub(super) fn of(messages: &[Message], mark: &str) -> Source {
        let spoken = messages.iter().filter(|it| matches!(it.role, Role::User | Role::Assistant));
        let entries = spoken.flat_map(|it| it.blocks.iter().filter_map(|block| entry(it, block)));
        Source { entries: entries.collect(), mark: mark.to_owned() }
    }

    /// The conversation in about `room` bytes or fewer. Tool results are shortened first. If that is not enough, the
    /// middle of the conversation is left out.
    pub(super) fn text(&self, room: usize) -> String {
        let mut text = String::new();
        for limits in LIMITS {
            text = self.clipped(limits);
            if text.len() <= room {
                return text;
            }
        }
        clipped(&text, room)
    }

    fn clipped(&self, (said, result): (usize, usize)) -> String {
        let texts = self.entries.iter().map(|it| {
            let most = if it.is_result { result } else { said };
            let text = clipped(&it.text, most);
            // the text is clipped before it is fenced, so that the end tag is never cut off
            let text = match &it.from {
                Some(from) => fence::fenced(&self.mark, from, &text),
                None => text,
            };
            format!("[{}]\n{text}", it.head)
        });
        texts.collect::<Vec<_>>().join("\n\n")
    }
}

fn entry(message: &Message, block: &Block) -> Option<Entry> {
    let is_user = message.role == Role::User;
    let from = match block {
        Block::Excerpt(it) => it.origin(),
        Block::Answer(it) => it.foreign.as_ref().map(|it| it.from.clone()),
        Block::Searched(it) => Some(Origin::Web(format!("search results for {}", it.query))),
        _ => None,
    };
    let (head, text, is_result) = match block {
        Block::Text { text } => (if is_user { "user" } else { "agent" }.to_owned(), text, false),
        Block::Notice { text, .. } if is_user => ("notice to the agent".to_owned(), text, false),
        Block::Excerpt(it) if is_user => {
            (format!("given to the agent: {}", name(it)), &it.text, true)
        }
        Block::Call(call) => {
            let head = format!("the agent calls {}", call.tool);
            let text = arguments(call).trim_start().to_owned();
            return Some(Entry { head, text, is_result: false, from });
        }
        Block::Answer(answer) => {
            let head = if answer.failed { "result, failed" } else { "result" };
            let head = match &answer.changed {
                Some(command) => format!("{head}; the user ran this command instead: {command}"),
                None => head.to_owned(),
            };
            (head, &answer.text, true)
        }
        Block::Searched(it) => {
            let head = "the agent's provider searches the web".to_owned();
            let text = format!("{}\n{}", it.query, it.text()).trim().to_owned();
            return Some(Entry { head, text, is_result: true, from });
        }
        _ => return None,
    };
    (!text.trim().is_empty()).then(|| Entry { head, text: text.clone(), is_result, from })
}

fn name(excerpt: &Excerpt) -> String {
    match excerpt.lines {
        Some((first, last)) => format!("{}:{first}-{last}", excerpt.path),
        None => excerpt.path.clone(),
    }
}

/// The text, shortened to its beginning and its end if it is longer than `most` bytes.
pub(super) fn clipped(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    let is_boundary = |at: &usize| text.is_char_boundary(*at);
    let head = (0..=most / 3 * 2).rev().find(is_boundary).unwrap_or(0);
    let tail = (text.len() - most / 3..text.len()).find(is_boundary).unwrap_or(text.len());
    format!("{}\n[{} bytes left out]\n{}", &text[..head], tail - head, &text[tail..])
}
