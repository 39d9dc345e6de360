//! Calls without marks of their own: an object, Python or a code block at the end of a reply.

use super::cursor::{self, Cursor};
use super::tagged::{Written, tagged};
use crate::message::ToolSpec;
use serde_json::Value;

/// The most bytes of text before a code block that is a call. A longer text explains something to the user.
const LEAD: usize = 300;
/// The languages of code blocks that say that the block is a call.
const LANGUAGES: [&str; 6] =
    ["tool_code", "tool_call", "tool_calls", "tool", "function_call", "tool_use"];

/// What the calls begin with, at the beginning of a line.
pub(super) const BEGINS: [&str; 4] = ["```", "{", "[", "Action:"];

/// The calls at the end of a text.
pub(super) fn find(text: &str, tools: &[ToolSpec]) -> Vec<Written> {
    let found = in_block(text, tools).or_else(|| at_end(text, tools));
    found.unwrap_or_default()
}

/// The calls in a code block that ends the text.
fn in_block(text: &str, tools: &[ToolSpec]) -> Option<Vec<Written>> {
    let body = text.trim_end().strip_suffix("```")?;
    let begin = body.rfind("```")?;
    let (language, inner) = body[begin + 3..].split_once('\n')?;
    let (before, language) = (&text[..begin], language.trim());
    // Cohere's models write this before the block
    let begin = before.trim_end().strip_suffix("Action:").map_or(begin, str::len);
    let is_named = LANGUAGES.contains(&language);
    if before.contains("```") || !is_named && before.trim().len() > LEAD {
        return None;
    }
    let inside = tagged(inner, tools);
    let whole = begin..text.len();
    if before.trim().is_empty() && !inside.is_empty() {
        return Some(inside.into_iter().map(|it| Written { range: whole.clone(), ..it }).collect());
    }
    let calls = calls(inner, tools, is_named)?;
    Some(written(calls, begin, text.len()))
}

/// The calls that begin a line and go on to the end of the text.
fn at_end(text: &str, tools: &[ToolSpec]) -> Option<Vec<Written>> {
    let begins = text.match_indices(['{', '[', 'A']).map(|it| it.0);
    let mut begins = begins.filter(|at| {
        let line = &text[..*at];
        line.rsplit('\n').next().is_some_and(|it| it.trim().is_empty())
    });
    begins.find_map(|begin| {
        let calls = calls(&text[begin..], tools, false)?;
        let is_fenced = text[..begin].matches("```").count() % 2 == 1;
        (!is_fenced).then(|| written(calls, begin, text.len()))
    })
}

fn written(calls: Vec<(String, Value)>, begin: usize, end: usize) -> Vec<Written> {
    calls.into_iter().map(|(tool, input)| Written { tool, input, range: begin..end }).collect()
}

/// The calls that are the whole of this text. A single call in Python counts only if the text `is_named` as a call.
fn calls(text: &str, tools: &[ToolSpec], is_named: bool) -> Option<Vec<(String, Value)>> {
    let text = text.trim();
    let mut cursor = Cursor::new(text, tools);
    if text.starts_with(['{', '['])
        && let Some((value, length)) = cursor::json(text)
    {
        let calls = cursor.objects(&value).filter(|_| text[length..].trim().is_empty())?;
        return calls.iter().all(|it| is_complete(it, tools)).then_some(calls);
    }
    if cursor.eat("Action:") {
        cursor.skip();
        let name = cursor.name();
        cursor.eat_after_blanks("Action Input:").then_some(())?;
        return cursor.named(name).filter(|_| cursor.rest.is_empty()).map(|it| vec![it]);
    }
    if !text.starts_with('[') && !is_named {
        return None;
    }
    let inner = text.strip_prefix("print(").and_then(|it| it.strip_suffix(')')).unwrap_or(text);
    cursor.rest = inner;
    cursor.python().filter(|_| cursor.rest.trim().is_empty())
}

/// Whether a call has all arguments that its tool requires.
fn is_complete((name, input): &(String, Value), tools: &[ToolSpec]) -> bool {
    let tool = tools.iter().find(|it| it.name == *name);
    let required = tool.and_then(|it| it.schema["required"].as_array());
    required.into_iter().flatten().filter_map(Value::as_str).all(|it| input.get(it).is_some())
}
