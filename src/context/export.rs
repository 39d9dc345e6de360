//! Exports a conversation as Markdown or as JSON, for others to read. Everything that looks like a secret key is
//! replaced by a mark.

use crate::message::{Block, CallId, Input, Message, Role, ToolAnswer};
use crate::session::Session;
use crate::text::secret;
use serde_json::{Value, json};

/// The most lines of a tool's answer in Markdown. For a longer answer the number of further lines is given.
const ANSWER_LINES: usize = 40;

/// The conversation as Markdown, and the number of keys that were replaced in it.
pub fn markdown(session: &Session, name: &str, known: &[&str]) -> (String, usize) {
    let mut text = format!("# {}\n", title(session, name));
    for (at, message) in session.messages.iter().enumerate() {
        if message.role == Role::System {
            continue;
        }
        let blocks = message.blocks.iter();
        let parts: Vec<String> = if message.role == Role::Assistant {
            let given = answers(&session.messages[at + 1..]);
            blocks.flat_map(|it| [part(it), answered(it, &given)]).flatten().collect()
        } else {
            let made = calls(&session.messages[..at]);
            blocks.filter(|it| !is_answer(it, &made)).filter_map(part).collect()
        };
        if parts.is_empty() {
            continue;
        }
        if let Some(heading) = heading(message) {
            text.push_str(&format!("\n## {heading}\n"));
        }
        for part in parts {
            text.push_str(&format!("\n{part}\n"));
        }
    }
    secret::marked(&text, known)
}

/// The tool answers before the model's next message.
fn answers(later: &[Message]) -> Vec<&ToolAnswer> {
    let next = later.iter().take_while(|it| it.role != Role::Assistant);
    let blocks = next.flat_map(|it| &it.blocks);
    blocks.filter_map(|it| if let Block::Answer(it) = it { Some(it) } else { None }).collect()
}

/// The calls of the model's last message.
fn calls(earlier: &[Message]) -> Vec<&CallId> {
    let last = earlier.iter().rfind(|it| it.role == Role::Assistant);
    let blocks = last.into_iter().flat_map(|it| &it.blocks);
    blocks.filter_map(|it| if let Block::Call(it) = it { Some(&it.id) } else { None }).collect()
}

/// Whether the block answers one of these calls. Such an answer is shown after its call.
fn is_answer(block: &Block, calls: &[&CallId]) -> bool {
    matches!(block, Block::Answer(it) if calls.contains(&&it.id))
}

/// The text of a call's answer.
fn answered(block: &Block, answers: &[&ToolAnswer]) -> Option<String> {
    let Block::Call(call) = block else { return None };
    answers.iter().find(|it| it.id == call.id).and_then(|it| answer(it))
}

/// The conversation as indented JSON, and the number of keys that were replaced in it.
pub fn json(session: &Session, name: &str, known: &[&str]) -> serde_json::Result<(String, usize)> {
    let spoken = session.messages.iter().filter(|it| it.role != Role::System);
    let messages: Vec<Message> = spoken.cloned().map(whole).collect();
    let mut value = json!({
        "name": name,
        "title": title(session, name),
        "model": session.model,
        "messages": serde_json::to_value(messages)?,
    });
    let mut count = 0;
    mark(&mut value, known, &mut count);
    Ok((serde_json::to_string_pretty(&value)? + "\n", count))
}

/// The message with the full texts of its answers instead of the names of their files. Images are replaced by texts
/// that name them.
fn whole(mut message: Message) -> Message {
    for block in &mut message.blocks {
        match block {
            Block::Answer(answer) => {
                answer.output = None;
                answer.images.clear();
            }
            Block::Excerpt(excerpt) => excerpt.image = None,
            _ => (),
        }
    }
    message
}

/// The session's title, or its name if the title was cut: a cut title may end in a part of a key, which is not
/// recognised.
fn title<'a>(session: &'a Session, name: &'a str) -> &'a str {
    let is_whole = !session.title.is_empty() && !session.title.ends_with('…');
    if is_whole { &session.title } else { name }
}

fn mark(value: &mut Value, known: &[&str], count: &mut usize) {
    match value {
        Value::String(text) => {
            let (marked, found) = secret::marked(text, known);
            *text = marked;
            *count += found;
        }
        Value::Array(items) => items.iter_mut().for_each(|it| mark(it, known, count)),
        Value::Object(map) => map.values_mut().for_each(|it| mark(it, known, count)),
        _ => (),
    }
}

/// The heading of a message. Messages that have only answers or notes get no heading, because they belong to the
/// message above.
fn heading(message: &Message) -> Option<String> {
    let is_said =
        message.blocks.iter().any(|it| matches!(it, Block::Text { .. } | Block::Excerpt(_)));
    match message.role {
        Role::User if is_said => Some("You".to_owned()),
        Role::Assistant if message.by.is_empty() => Some("Model".to_owned()),
        Role::Assistant => Some(message.by.clone()),
        _ => None,
    }
}

fn part(block: &Block) -> Option<String> {
    match block {
        Block::Text { text } => Some(text.trim().to_owned()).filter(|it| !it.is_empty()),
        Block::Excerpt(it) => Some(match (it.lines, &it.image) {
            (Some((first, last)), _) => format!("> {}:{first}-{last}", it.path),
            (None, Some(_)) => format!("> {}: {}", it.path, it.text),
            (None, None) => format!("> {}", it.path),
        }),
        Block::Call(call) => {
            let input = match &call.input {
                Input::Json(value) => value.to_string(),
                Input::Broken { text, .. } => text.clone(),
            };
            Some(format!("**{}**\n\n{}", call.tool, fenced(&input)))
        }
        Block::Searched(it) => {
            let text = it.text();
            let results = if text.is_empty() { it.summary() } else { fenced(&text) };
            Some(format!("**web_search**\n\n{}\n\n{results}", fenced(&it.query)))
        }
        Block::Answer(it) => Some(format!("**Result of an unknown call**\n\n{}", answer(it)?)),
        Block::Image(_) | Block::Notice { .. } | Block::Thinking { .. } | Block::Raw { .. } => None,
    }
}

fn answer(it: &ToolAnswer) -> Option<String> {
    let changed = it.changed.as_ref().map(|command| format!("Changed to\n\n{}", fenced(command)));
    let both: Vec<String> = changed.into_iter().chain(result(it)).collect();
    (!both.is_empty()).then(|| both.join("\n\n"))
}

fn result(it: &ToolAnswer) -> Option<String> {
    if it.text.trim().is_empty() {
        return None;
    }
    let lines: Vec<&str> = it.text.lines().collect();
    let shown = lines[..lines.len().min(ANSWER_LINES)].join("\n");
    let more = match lines.len().saturating_sub(ANSWER_LINES) {
        0 => String::new(),
        more => format!("\n\n… {more} more lines"),
    };
    Some(fenced(&shown) + &more)
}

/// The text between two fences. Each fence has more backticks than the longest row of backticks in the text.
fn fenced(text: &str) -> String {
    let mut longest = 0;
    let mut run = 0;
    for c in text.chars() {
        run = if c == '`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    let fence = "`".repeat(3.max(longest + 1));
    format!("{fence}\n{}\n{fence}", text.trim_end())
}
