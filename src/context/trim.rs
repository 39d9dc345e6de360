//! Chooses old tool results that requests leave out: texts that a tool read and outputs of commands, which the model
//! can get again.

use super::size::{self, Scale};
use crate::event::{Item, Trim};
use crate::message::{
    Block, Builtin, CallId, Excerpt, ExcerptKind, Input, Message, Role, ToolAnswer, ToolCall,
};
use crate::session::Session;
use crate::tool::clip;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, HashMap};

/// The results of the last turns stay whole: this many turns, including the running one.
const TURNS: usize = 3;
/// A result with fewer bytes stays: the line that replaces it would save nothing.
const LEAST: usize = 600;
/// The most characters of an argument in the line that replaces a result.
const ARGUMENT: usize = 160;

#[derive(Debug, PartialEq, Eq)]
pub struct Plan {
    pub items: Vec<Trim>,
    /// The estimated number of tokens by which each request becomes smaller.
    pub tokens: u64,
    /// The sentence for the user.
    pub told: String,
}

/// The results older than the last `TURNS` turns, or than the newest results that have `whole` tokens together, each with
/// the line that replaces it. `is_raw` says of a tool's name whether the tool's results are only texts that the tool
/// read. `None` if there is nothing to trim.
pub fn plan(session: &Session, whole: u64, is_raw: impl Fn(&str) -> bool) -> Option<Plan> {
    let spoken = &session.messages[session.beginning()..];
    let turns = (0..spoken.len()).rev().filter(|at| is_prompt(&spoken[*at])).nth(TURNS - 1);
    let end = turns.unwrap_or(0).max(last_whole(spoken, Scale::of(session), whole));
    let trimmed = session.trimmed_items();
    let mut calls: HashMap<&CallId, &ToolCall> = HashMap::new();
    let (mut items, mut bytes) = (Vec::new(), 0);
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for block in spoken[..end].iter().flat_map(|it| &it.blocks) {
        let answer = match block {
            Block::Call(call) => {
                calls.entry(&call.id).or_insert(call);
                continue;
            }
            Block::Answer(it) if it.text.len() >= LEAST || !it.images.is_empty() => it,
            _ => continue,
        };
        let item = Item::Call(answer.id.clone());
        let Some(call) = calls.get(&answer.id).filter(|it| is_raw(&it.tool)) else { continue };
        if trimmed.contains(&item) {
            continue;
        }
        let line = line(call, answer);
        // an image counts like a text with the same number of tokens
        let size = usize::try_from(size::of_answer(answer)).unwrap_or(usize::MAX);
        if line.len() * 2 > size {
            continue;
        }
        bytes += size - line.len();
        *counts.entry(&call.tool).or_default() += 1;
        items.push(Trim { item, line });
    }
    if items.is_empty() {
        return None;
    }
    let tokens = Scale::of(session).tokens(bytes as u64);
    let counts: Vec<String> = counts.iter().map(|(tool, n)| format!("{n} {tool}")).collect();
    let told = format!(
        "Trimmed: the model now gets one line {} ({}; {}, about {} tokens less).",
        match items.len() {
            1 => "in place of an old result".to_owned(),
            n => format!("in place of each of {n} old results"),
        },
        counts.join(", "),
        size::bytes(bytes),
        size::rounded(tokens),
    );
    Some(Plan { items, tokens, told })
}

/// The index of the first message whose results are among the newest that have `whole` tokens together. The results that
/// the model has not seen yet always are.
fn last_whole(spoken: &[Message], scale: Scale, whole: u64) -> usize {
    let is_reply = |it: &Message| it.role == Role::Assistant;
    let mut at = spoken.iter().rposition(is_reply).map_or(0, |it| it + 1);
    let mut left = whole.saturating_sub(results(&spoken[at..], scale));
    while at > 0 {
        match left.checked_sub(results(&spoken[at - 1..at], scale)) {
            Some(rest) => left = rest,
            None => return at,
        }
        at -= 1;
    }
    at
}

/// The tokens of the results in these messages.
fn results(messages: &[Message], scale: Scale) -> u64 {
    let answers = messages.iter().flat_map(|it| &it.blocks).filter_map(|it| match it {
        Block::Answer(answer) => Some(size::of_answer(answer)),
        _ => None,
    });
    scale.tokens(answers.sum())
}

fn is_prompt(message: &Message) -> bool {
    message.role == Role::User && message.blocks.iter().any(|it| matches!(it, Block::Text { .. }))
}

/// The line that replaces a result: the call, the size of the result, and how to get the result again.
pub fn line(call: &ToolCall, answer: &ToolAnswer) -> String {
    let again = match clip::kept_in(&answer.text) {
        Some(path) => format!("the output is in {path}"),
        None => format!("call {} again if needed", call.tool),
    };
    let arguments = arguments(call);
    let failed = if answer.failed { " (failed)" } else { "" };
    let size = size::bytes(answer.text.len());
    format!("{}{arguments}{failed}: {size}, trimmed; {again}", call.tool)
}

/// The line that replaces a result which the user takes out. The model cannot get such a result again by the same call.
pub(super) fn removed_result(call: Option<&ToolCall>, answer: &ToolAnswer) -> String {
    let failed = if answer.failed { " (failed)" } else { "" };
    let size = size::bytes(answer.text.len());
    let called =
        call.map_or_else(|| "a result".to_owned(), |it| format!("{}{}", it.tool, arguments(it)));
    format!("{called}{failed}: {size}, removed by the user")
}

/// The lines that replace the newest message's excerpts of more than `most` tokens, because the message is too long for
/// the model.
pub fn too_long(session: &Session, most: u64) -> Vec<Trim> {
    let newest = session.messages.iter().rposition(|it| it.role == Role::User);
    let is_excerpt = |it: &&Block| matches!(it, Block::Excerpt(_));
    let said = |it: &'_ Message| it.blocks.iter().filter(is_excerpt).count();
    let Some(newest) = newest else { return Vec::new() };
    let before = session.messages[..newest]
        .iter()
        .filter(|it| it.role == Role::User)
        .map(said)
        .sum::<usize>();
    let (scale, trimmed) = (Scale::of(session), session.trimmed_items());
    let excerpts = session.messages[newest].blocks.iter().filter_map(|it| match it {
        Block::Excerpt(it) => Some(it),
        _ => None,
    });
    let items = excerpts.zip(before..).filter_map(|(it, at)| {
        let item = Item::Excerpt(u32::try_from(at).ok()?);
        let is_long = scale.of_text(&it.text) > most && !trimmed.contains(&item);
        let size = size::bytes(it.text.len());
        let line = format!(
            "[{}: {size}, left out because the model's window has no room for it]",
            it.path
        );
        is_long.then_some(Trim { item, line })
    });
    items.collect()
}

/// The line that replaces an excerpt which the user takes out. `name` is the excerpt's name.
pub(super) fn removed_excerpt(name: &str, excerpt: &Excerpt) -> String {
    let again = match excerpt.kind {
        ExcerptKind::File | ExcerptKind::Selection => "; read it again if needed",
        ExcerptKind::Folder => "; list it again if needed",
        _ => "",
    };
    format!("[{name}: {}, removed by the user{again}]", size::bytes(excerpt.text.len()))
}

/// The arguments of a call, each with its name. The two arguments of a range of lines are shown as one range.
pub(super) fn arguments(call: &ToolCall) -> String {
    let Input::Json(Value::Object(given)) = &call.input else { return String::new() };
    let range = range(call, given);
    let mut text = String::new();
    for (name, value) in given {
        let is_range = range.is_some() && matches!(name.as_str(), "offset" | "limit");
        if !value.is_null() && !is_range {
            text.push_str(&format!(" {name}={}", clipped(&value.to_string())));
        }
    }
    if let Some((first, last)) = range {
        text.push_str(
            &last.map_or_else(
                || format!(" lines {first}-"),
                |last| format!(" lines {first}-{last}"),
            ),
        );
    }
    text
}

/// The lines that a `read` call asked for.
pub(super) fn range(call: &ToolCall, given: &Map<String, Value>) -> Option<(u64, Option<u64>)> {
    let number = |name: &str| given.get(name).and_then(Value::as_u64);
    let (first, count) = (number("offset"), number("limit"));
    (call.is_of(Builtin::Read) && (first.is_some() || count.is_some())).then(|| {
        let first = first.unwrap_or(1);
        (first, count.map(|it| first.saturating_add(it).saturating_sub(1)))
    })
}

fn clipped(text: &str) -> String {
    match text.char_indices().nth(ARGUMENT) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests;
