//! Questions that tools ask the user's language servers, the servers' findings, and the text for the model. Also the
//! text about the diagnostics and the syntax errors after an edit.

mod difference;
pub(super) mod question;
mod unparsed;

pub use difference::Difference;
pub use question::{Aspect, Finding, Findings, Question, Rewrite, Splice, Symbol};
pub use unparsed::Unparsed;

use super::desk::Desk;
use super::work::Done;
use super::{clip, path};
use crate::text::{Text, secret};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;

const LIMITS: clip::Limits = clip::Limits { lines: 500, bytes: 30_000, wide: 500, head: 100 };

/// The schema of the arguments of tools that ask about a symbol at a place.
pub(super) fn at_symbol() -> Value {
    json!({
        "type": "object",
        "properties": {
            "path": { "type": "string" },
            "line": { "type": "integer", "minimum": 1 },
            "symbol": { "type": "string", "description": "the symbol's name as written on that line" }
        },
        "required": ["path", "line", "symbol"]
    })
}

/// The arguments of all tools that ask language servers.
#[derive(Clone, Default, Deserialize)]
pub(super) struct Args {
    pub(super) path: Option<String>,
    line: Option<u64>,
    last_line: Option<u64>,
    symbol: Option<String>,
    query: Option<String>,
    pub(super) name: Option<String>,
    kind: Option<String>,
    pub(super) action: Option<String>,
}

impl Args {
    pub(super) fn paths(&self) -> Vec<String> {
        self.path.iter().cloned().collect()
    }
}

/// Makes the question from a call's arguments. `path` is where the path in them leads.
pub(super) fn question(
    desk: &Desk,
    aspect: Aspect,
    args: Args,
    path: Option<&Path>,
) -> Result<Question, String> {
    if let Some(found) = path.filter(|it| !it.is_file()) {
        let what = if found.exists() { "is not a file" } else { "is not on disk" };
        return Err(format!("path: `{}` {what}.", path::show(&desk.root, found)));
    }
    let (first, last) = (args.line, args.last_line.or(args.line));
    let line = u32::try_from(first.unwrap_or(1)).unwrap_or(u32::MAX).saturating_sub(1);
    if args.symbol.as_ref().is_some_and(|it| it.trim().is_empty()) {
        return Err("symbol: it is empty. Give the name as it is written on that line.".to_owned());
    }
    let has_range = matches!(aspect, Aspect::Actions | Aspect::Action | Aspect::Format);
    let last = if has_range { range(first, last)? } else { None };
    let symbol = args.symbol.unwrap_or_default();
    let Args { query, name, kind: only, .. } = args;
    let path = path.map(Path::to_owned);
    Ok(Question { line, last, symbol, query, name, only, ..Question::new(aspect, path) })
}

/// The question of a call that changes files. Its path is judged together with the edits.
pub(super) fn changes(desk: &Desk, aspect: Aspect, args: Args) -> Result<Question, String> {
    let path = args.path.as_deref().map(|it| path::resolve(desk, it)).transpose()?;
    question(desk, aspect, args, path.as_deref())
}

/// The last line of a range, from 0, of lines that count from 1.
fn range(line: Option<u64>, last: Option<u64>) -> Result<Option<u32>, String> {
    match (line, last) {
        (None, Some(_)) => {
            Err("last_line: it needs the first line too. Give `line`, or leave both out."
                .to_owned())
        }
        (Some(line), Some(last)) if last < line => {
            Err(format!("last_line: {last} is above line {line}. Give the first line as `line`."))
        }
        _ => Ok(last.map(|it| u32::try_from(it.saturating_sub(1)).unwrap_or(u32::MAX))),
    }
}

/// Asks the servers and returns the findings as lines. If there are none, returns the text `none`.
pub(super) async fn ask(
    desk: &Desk,
    question: Question,
    noun: [&str; 2],
    none: &str,
) -> Result<Done, String> {
    let (count, text) = findings(desk, question).await?;
    let text = if text.is_empty() { none.to_owned() } else { text };
    Ok(Done::new(text, format!("{count} {}", noun[usize::from(count != 1)])))
}

/// The number of the servers' findings, and the findings and the servers' notes as lines.
pub(super) async fn findings(desk: &Desk, question: Question) -> Result<(usize, String), String> {
    let asked = question.path.clone();
    let answer = desk.workspace.consult(question).await?;
    let count = answer.findings.len() + answer.more as usize;
    let mut lines = Vec::new();
    let mut texts = BTreeMap::new();
    for it in &answer.findings {
        lines.push(told(desk, it, asked.as_deref(), &mut texts).await);
    }
    if answer.more > 0 {
        lines.push(format!("[{} more are left out: narrow the question]", answer.more));
    }
    lines.extend(answer.notes.iter().map(|it| format!("[{it}]")));
    let (found, secrets) = secret::without(&lines.join("\n"), &desk.secrets.known());
    let mut text = clip::clip(&desk.overflow, LIMITS, &found);
    if secrets > 0 {
        text = format!("{text}\n{}", secret::told(secrets));
    }
    Ok((count, text))
}

/// A finding as `path:line: text`. If the server gave no text, the file's line is shown.
async fn told<'a>(
    desk: &Desk,
    found: &'a Finding,
    asked: Option<&Path>,
    texts: &mut BTreeMap<&'a Path, Option<Text>>,
) -> String {
    let shown = path::show(&desk.root, &found.path);
    let place = format!("{shown}:{}", u64::from(found.line) + 1);
    if !found.text.is_empty() {
        return format!("{place}: {}", clip::clean(&found.text).replace('\n', "\n  "));
    }
    if !path::inside(&desk.root, &found.path) {
        return format!("{place} (outside the project)");
    }
    if asked != Some(&*found.path) && !path::is_free(desk, &found.path) {
        return format!(
            "{place} (line not shown: call `read` for this file; the user is asked first)"
        );
    }
    if !texts.contains_key(&*found.path) {
        let source = desk.workspace.read(&found.path).await.ok();
        texts.insert(&found.path, source.map(|it| it.text));
    }
    format!("{place}: {}", line_of(texts, &found.path, found.line))
}

fn line_of<'a>(texts: &'a BTreeMap<&Path, Option<Text>>, path: &Path, line: u32) -> &'a str {
    let text = texts.get(path).and_then(Option::as_ref);
    text.and_then(|it| it.lines().nth(line as usize)).unwrap_or_default().trim()
}
