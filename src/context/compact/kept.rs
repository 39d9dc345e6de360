//! What a hand-off keeps word for word beside the summary.

use super::source::clipped;
use crate::context::request::{fenced, mark};
use crate::context::size;
use crate::event::{Grant, Item, Mode};
use crate::message::{Block, CallId, Excerpt, ExcerptKind, Message, Role, ToolAnswer};
use crate::session::{self, Session};
use std::collections::{HashMap, HashSet};

/// The bytes of a token, by estimate.
const BYTES: u64 = 4;

/// What stands before and after the summary. `budget` limits the user's messages, in tokens; skills and instructions
/// have the same again, verdicts half of it.
pub(super) fn texts(
    session: &Session,
    at: usize,
    budget: u64,
    edits: impl Fn(&str) -> bool,
) -> (String, String) {
    let gone = &session.messages[..at];
    let mut before = vec![
        "The first part of this conversation was compacted: this message stands in its place. The user still sees \
         the whole conversation."
            .to_owned(),
    ];
    let calls = Calls::of(gone);
    before.extend(given(session, gone, &calls, budget));
    let parts = [
        tagged("user_messages", &of_user(gone, budget)),
        tagged("verdicts", &verdicts(gone, &calls, budget / 2, edits)),
        tagged("plan", &clip(plan(gone).unwrap_or_default(), budget / 2)),
        tagged("todo", calls.last_of("todo").map_or("", |it| it.text.as_str())),
        tagged("last_reply", &clip(last_reply(gone).unwrap_or_default(), budget / 10)),
        state(session, gone),
    ];
    let mut after: Vec<String> = parts.into_iter().filter(|it| !it.is_empty()).collect();
    after.push(
        "Go on from here. You no longer have the text of files that you read or were given before, even if a later \
         message says that it was sent: read a file again before you edit it or rely on it."
            .to_owned(),
    );
    (before.join("\n\n") + "\n\n", format!("\n\n{}", after.join("\n\n")))
}

fn tagged(name: &str, text: &str) -> String {
    if text.trim().is_empty() {
        return String::new();
    }
    let mark = mark(name, text);
    format!("<{mark}>\n{}\n</{mark}>", text.trim_end())
}

fn clip(text: &str, tokens: u64) -> String {
    clipped(text, usize::try_from(tokens * BYTES).unwrap_or(usize::MAX))
}

/// The calls of the messages that go, by id, and the answers.
struct Calls<'a> {
    tools: HashMap<&'a CallId, &'a str>,
    answers: Vec<&'a ToolAnswer>,
}

impl<'a> Calls<'a> {
    fn of(messages: &'a [Message]) -> Calls<'a> {
        let (mut tools, mut answers) = (HashMap::new(), Vec::new());
        for block in messages.iter().flat_map(|it| &it.blocks) {
            match block {
                Block::Call(call) => drop(tools.entry(&call.id).or_insert(call.tool.as_str())),
                Block::Answer(answer) => answers.push(answer),
                _ => (),
            }
        }
        Calls { tools, answers }
    }

    fn tool(&self, answer: &ToolAnswer) -> &'a str {
        self.tools.get(&answer.id).copied().unwrap_or_default()
    }

    /// The last answer of a tool that did not fail.
    fn last_of(&self, tool: &str) -> Option<&'a ToolAnswer> {
        self.answers.iter().rev().find(|it| !it.failed && self.tool(it) == tool).copied()
    }
}

/// Instructions of folders and loaded skills, each as it was given last. A trimmed one is left out; what does not fit is
/// named.
fn given(session: &Session, gone: &[Message], calls: &Calls<'_>, budget: u64) -> Vec<String> {
    let trimmed = session.trimmed_items();
    let mut all: Vec<(&str, String)> = Vec::new();
    let mut excerpts = 0;
    for block in gone.iter().filter(|it| it.role == Role::User).flat_map(|it| &it.blocks) {
        match block {
            Block::Excerpt(it) => {
                if is_kept(it) && !trimmed.contains(&Item::Excerpt(excerpts)) {
                    all.push((&it.path, fenced(it)));
                }
                excerpts += 1;
            }
            Block::Answer(it)
                if calls.tool(it) == "skill"
                    && !it.failed
                    && !trimmed.contains(&Item::Call(it.id.clone())) =>
            {
                all.push(("a skill", tagged("skill", &it.text)));
            }
            _ => (),
        }
    }
    let mut seen = HashSet::new();
    let (mut texts, mut left_out, mut room) = (Vec::new(), Vec::new(), budget);
    for (name, text) in all.into_iter().rev() {
        let is_again = !seen.insert(if name == "a skill" { text.clone() } else { name.to_owned() });
        match room.checked_sub(size::of_text(&text)) {
            _ if is_again => (),
            Some(rest) => {
                room = rest;
                texts.push(text);
            }
            None => left_out.push(name),
        }
    }
    texts.reverse();
    if !left_out.is_empty() {
        let names = left_out.join(", ");
        texts.push(format!(
            "Left out for want of room: {names}. Load or read it again if you need it."
        ));
    }
    texts
}

fn is_kept(excerpt: &Excerpt) -> bool {
    use ExcerptKind::{Instructions, Skill, Skills};
    matches!(excerpt.kind, Instructions | Skill | Skills)
}

/// The user's messages, the newest first until the budget is spent, and always the first one, which has the goal.
fn of_user(messages: &[Message], budget: u64) -> String {
    let said: Vec<String> = messages.iter().filter_map(prompt).collect();
    let Some(first) = said.first() else { return String::new() };
    let first = clip(first, budget / 4);
    let mut room = budget.saturating_sub(size::of_text(&first));
    let mut kept = Vec::new();
    for text in said[1..].iter().rev() {
        let Some(rest) = room.checked_sub(size::of_text(text)) else {
            if kept.is_empty() {
                kept.push(clip(text, room));
            }
            break;
        };
        room = rest;
        kept.push(text.clone());
    }
    let gap = said.len() - 1 - kept.len();
    let left_out = (gap > 0).then(|| format!("[{gap} messages left out]"));
    let all = std::iter::once(first).chain(left_out).chain(kept.into_iter().rev());
    all.collect::<Vec<_>>().join("\n---\n")
}

/// The text of a message of the user's, with the names of what they attached.
fn prompt(message: &Message) -> Option<String> {
    let mut text = String::new();
    for block in message.blocks.iter().filter(|_| message.role == Role::User) {
        match block {
            Block::Text { text: said } => text.push_str(&format!("{said}\n")),
            Block::Excerpt(it) if !is_kept(it) && it.kind != ExcerptKind::Changes => {
                let lines = it.lines.map(|(a, b)| format!(":{a}-{b}")).unwrap_or_default();
                text.push_str(&format!("[attached: {}{lines}]\n", it.path));
            }
            _ => (),
        }
    }
    Some(text.trim_end().to_owned()).filter(|it| !it.is_empty())
}

/// The user's decisions on edits, and what the model was told beside its calls: the newest that fit, in order.
fn verdicts(
    messages: &[Message],
    calls: &Calls<'_>,
    budget: u64,
    edits: impl Fn(&str) -> bool,
) -> String {
    let told = messages.iter().filter(|it| it.role == Role::User).flat_map(|it| &it.blocks);
    let told = told.filter_map(|it| match it {
        Block::Answer(answer) if !answer.failed && edits(calls.tool(answer)) => Some(&answer.text),
        Block::Notice { text } if session::is_for_both(text) => Some(text),
        _ => None,
    });
    let told: Vec<&String> = told.filter(|it| !it.trim().is_empty()).collect();
    let mut room = budget;
    let mut kept = Vec::new();
    for text in told.iter().rev() {
        let Some(rest) = room.checked_sub(size::of_text(text) + 1) else { break };
        room = rest;
        kept.push(text.as_str());
    }
    let left_out = (kept.len() < told.len())
        .then(|| format!("[{} earlier ones left out]", told.len() - kept.len()));
    kept.extend(left_out.as_deref());
    kept.reverse();
    kept.join("\n")
}

/// The last reply that the model gave in plan mode.
fn plan(messages: &[Message]) -> Option<&str> {
    let (mut mode, mut plan) = (Mode::default(), None);
    for message in messages {
        for block in &message.blocks {
            match block {
                Block::Notice { text } => mode = session::mode_of(text).unwrap_or(mode),
                Block::Text { text } if message.role == Role::Assistant && mode == Mode::Plan => {
                    plan = Some(text.as_str());
                }
                _ => (),
            }
        }
    }
    plan
}

fn last_reply(messages: &[Message]) -> Option<&str> {
    let last = messages.iter().rfind(|it| it.role == Role::Assistant)?;
    last.blocks.iter().rev().find_map(|it| match it {
        Block::Text { text } if !text.trim().is_empty() => Some(text.as_str()),
        _ => None,
    })
}

/// What holds now: the mode, what the user allowed, the files under review.
fn state(session: &Session, gone: &[Message]) -> String {
    let mut notices = gone.iter().flat_map(|it| &it.blocks).filter_map(|it| match it {
        Block::Notice { text } => session::mode_of(text).map(|_| text.clone()),
        _ => None,
    });
    let mut lines: Vec<String> = notices.next_back().into_iter().collect();
    if !session.granted.is_empty() {
        let granted: Vec<String> = session.granted.iter().map(Grant::label).collect();
        lines
            .push(format!("The user has allowed, until the program ends: {}.", granted.join("; ")));
    }
    let reviewing = session
        .reviewing
        .iter()
        .map(|it| it.strip_prefix(&session.root).unwrap_or(it).display().to_string());
    let reviewing: Vec<String> = reviewing.collect();
    if !reviewing.is_empty() {
        lines.push(format!(
            "Your edits of these files are under the user's review, and the verdict will follow: {}.",
            reviewing.join(", ")
        ));
    }
    tagged("state", &lines.join("\n"))
}
