//! One line for each turn of a conversation: what the user said, what the agent called, and how it answered.

use super::kept::clip;
use crate::context::size;
use crate::message::{Block, Message, Role};
use std::collections::BTreeMap;

/// The most characters of a text in a line.
const WORDS: usize = 160;

/// A turn, from the user's message to the agent's last text.
#[derive(Default)]
struct Turn<'a> {
    asked: Option<&'a str>,
    calls: BTreeMap<&'a str, usize>,
    said: Option<&'a str>,
}

/// A line for each turn in these messages, the oldest first.
pub(super) fn lines(messages: &[Message]) -> Vec<String> {
    let mut turns = vec![Turn::default()];
    for message in messages {
        let mut texts = message.blocks.iter().filter_map(|it| match it {
            Block::Text { text } if !text.trim().is_empty() => Some(text.as_str()),
            _ => None,
        });
        let text = texts.next_back();
        match message.role {
            Role::User if text.is_some() => turns.push(Turn { asked: text, ..Turn::default() }),
            Role::Assistant => {
                let Some(turn) = turns.last_mut() else { continue };
                turn.said = text.or(turn.said);
                for block in &message.blocks {
                    if let Block::Call(call) = block {
                        *turn.calls.entry(&call.tool).or_default() += 1;
                    }
                }
            }
            _ => (),
        }
    }
    turns.iter().filter_map(Turn::line).collect()
}

impl Turn<'_> {
    fn line(&self) -> Option<String> {
        let calls: Vec<String> = self.calls.iter().map(|(tool, n)| format!("{n} {tool}")).collect();
        let parts = [
            self.asked.map(|it| format!("the user: {}", first(it))),
            (!calls.is_empty()).then(|| format!("calls: {}", calls.join(", "))),
            self.said.map(|it| format!("the agent: {}", first(it))),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        (!parts.is_empty()).then(|| format!("- {}", parts.join(" | ")))
    }
}

/// The beginning of a text, in one line.
fn first(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match text.char_indices().nth(WORDS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// The newest lines that fit into `room` tokens, after the earlier summary, which may take as much.
pub(super) fn text(earlier: Option<&str>, lines: &[String], room: u64) -> String {
    let mut left = room;
    let fitting = lines.iter().rev().take_while(|it| {
        let rest = left.checked_sub(size::of_text(it));
        left = rest.unwrap_or(0);
        rest.is_some()
    });
    let gone = lines.len() - fitting.count();
    let mut said = Vec::new();
    said.extend(earlier.map(|it| clip(it, room)));
    said.push("No model has summarised this part. Each line is a turn, shortened:".to_owned());
    let turns = if gone == 1 { "turn" } else { "turns" };
    said.extend((gone > 0).then(|| format!("[{gone} earlier {turns} left out]")));
    said.extend(lines[gone..].iter().cloned());
    said.join("\n")
}
