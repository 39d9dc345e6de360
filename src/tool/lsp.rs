//! Questions that tools ask the user's language servers, the servers' findings, and the text for the model. Also the
//! text about the diagnostics and the syntax errors after an edit.

mod difference;
mod unparsed;

pub use difference::Difference;
pub use unparsed::Unparsed;

use super::formatter::Formatter;
use super::{Desk, Done, clip, path};
use crate::text::{Text, secret};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const LIMITS: clip::Limits = clip::Limits { lines: 500, bytes: 30_000, wide: 500, head: 100 };

/// The kind of a question to the language servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Aspect {
    Diagnostics,
    Definition,
    References,
    Hover,
    Symbols,
    /// The changes that renaming a symbol needs.
    Rename,
    /// The code actions on some lines.
    Actions,
    /// The changes of one code action.
    Action,
    /// The changes that formatting needs.
    Format,
}

impl Aspect {
    /// Whether the answer has changes of files.
    pub fn changes(self) -> bool {
        matches!(self, Aspect::Rename | Aspect::Action | Aspect::Format)
    }
}

/// A question to the language servers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    pub aspect: Aspect,
    /// The file's absolute path. `None` for a question about the whole project.
    pub path: Option<PathBuf>,
    /// The symbol's line, or the first line of a range, from 0.
    pub line: u32,
    /// The last line of a range, from 0.
    pub last: Option<u32>,
    /// The symbol as it is written on that line.
    pub symbol: String,
    /// The text to look for in the names of all symbols of the project.
    pub query: Option<String>,
    /// The symbol's new name, or the title or the number of a code action.
    pub name: Option<String>,
    /// The kind of the code actions, such as `quickfix`.
    pub only: Option<String>,
}

impl Question {
    pub fn new(aspect: Aspect, path: Option<PathBuf>) -> Question {
        Question {
            aspect,
            path,
            line: 0,
            last: None,
            symbol: String::new(),
            query: None,
            name: None,
            only: None,
        }
    }
}

/// The changes of one file by a language server.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Rewrite {
    /// The file's absolute path.
    pub path: PathBuf,
    /// The hash of the text for which the changes were computed (`Text::sha256_hex`); empty if the text does not
    /// change.
    pub sha: String,
    /// The changes of the text, in ascending order and without overlaps.
    pub splices: Vec<Splice>,
    /// Whether the file is created. Then `splices` make its text from an empty one.
    pub created: bool,
    pub deleted: bool,
    /// The file's new path, if the file is moved.
    pub to: Option<PathBuf>,
}

/// A range of bytes in a text's joined lines, and its new text.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Splice {
    pub from: u32,
    pub to: u32,
    pub text: String,
}

/// A symbol's name and place in its file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Symbol {
    pub name: String,
    /// The name of the symbol that contains this one; empty if the server gives none.
    pub container: String,
    /// The first and the last line of the symbol, from 0. Some servers give only the line of the name.
    pub first: u32,
    pub last: u32,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Finding {
    /// The absolute path; for a finding outside of files, the URI.
    pub path: PathBuf,
    /// The line, from 0.
    pub line: u32,
    /// The server's text about the line. If it is empty, the line itself is shown.
    pub text: String,
    /// The symbol, if the finding is one.
    #[serde(default)]
    pub symbol: Option<Symbol>,
}

/// The answer of the language servers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Findings {
    pub findings: Vec<Finding>,
    /// The number of findings beyond the listed ones.
    pub more: u32,
    /// Sentences about servers that did not answer.
    pub notes: Vec<String>,
    /// The changes of a renaming, a code action or formatting, file by file.
    pub rewrites: Vec<Rewrite>,
    /// The user's formatters, if no server formats the file.
    pub formatter: Option<Formatter>,
}

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
