//! The names under which the chat lists the parts of a request.

use crate::context::parts::Source;
use crate::context::trim;
use crate::message::{Excerpt, ExcerptKind, Input, ToolCall};
use serde_json::Value;
use std::fmt;

/// A name shows at most this many characters of a text or an argument.
const LONGEST: usize = 50;

/// The name of a part: `result of read src/a.rs`, `file src/a.rs`.
pub struct Name<'a>(pub Source<'a>);

impl fmt::Display for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Source::System => f.write_str("system prompt"),
            Source::Tools => f.write_str("tools"),
            Source::Handoff => f.write_str("summary of the earlier conversation"),
            Source::Excerpt(it, _) => f.write_str(&excerpt(it)),
            Source::Answer(_, Some(it)) => write!(f, "result of `{}`", call(it)),
            Source::Answer(_, None) => f.write_str("result of a call"),
            Source::Call(it) => write!(f, "call `{}`", call(it)),
            Source::Prompt(text) => write!(f, "your message “{}”", short(text)),
            Source::Reply(text) => write!(f, "reply “{}”", short(text)),
            Source::Thought => f.write_str("thoughts of the model"),
            Source::Notice => f.write_str("notice to the model"),
            Source::Trimmed => f.write_str("trimmed item"),
        }
    }
}

fn excerpt(it: &Excerpt) -> String {
    let kind = match it.kind {
        ExcerptKind::File if it.image.is_some() => "image",
        ExcerptKind::File => "file",
        ExcerptKind::Folder => "folder",
        ExcerptKind::Selection => "selection",
        ExcerptKind::Instructions => "instructions",
        ExcerptKind::Skills => return "list of the skills".to_owned(),
        ExcerptKind::Agents => return "list of the agents".to_owned(),
        ExcerptKind::Skill => "skill",
        ExcerptKind::Command => "command",
        ExcerptKind::Result => "the result of",
        ExcerptKind::Changes => "changes in",
        ExcerptKind::Hunk => "change under review in",
        ExcerptKind::Buffer => "buffer",
        ExcerptKind::List | ExcerptKind::Clipboard => return short(&it.path),
        ExcerptKind::Diagnostics => "diagnostics of",
        ExcerptKind::Diff => "diff of",
        ExcerptKind::Page => "page",
        ExcerptKind::Answers => return "your answers to questions".to_owned(),
        ExcerptKind::Plan => return "plan".to_owned(),
        ExcerptKind::Remark => "comment on",
    };
    let lines = it.lines.map(|(a, b)| format!(":{a}-{b}")).unwrap_or_default();
    format!("{kind} {}{lines}", short(&it.path))
}

/// The name of a call: its tool and its most important argument.
fn call(it: &ToolCall) -> String {
    let Input::Json(Value::Object(given)) = &it.input else { return short(&it.tool) };
    let named = ["path", "command", "url", "pattern", "query", "name", "symbol"];
    let text = named.iter().find_map(|it| given.get(*it).and_then(Value::as_str));
    let text = text.or_else(|| given.values().find_map(Value::as_str));
    let lines = trim::range(it, given).map(|(first, last)| match last {
        Some(last) => format!(" lines {first}-{last}"),
        None => format!(" lines {first}-"),
    });
    let text = text.map(|it| format!(" {}", short(it))).unwrap_or_default();
    format!("{}{text}{}", short(&it.tool), lines.unwrap_or_default())
}

/// A text on one line, without control characters.
fn short(text: &str) -> String {
    let words = text.split(|c: char| c.is_whitespace() || c.is_control());
    let mut line = String::new();
    for word in words.filter(|it| !it.is_empty()) {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
        if line.chars().nth(LONGEST).is_some() {
            let cut: String = line.chars().take(LONGEST).collect();
            return format!("{}…", cut.trim_end());
        }
    }
    line
}
