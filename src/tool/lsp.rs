//! What the tools share that ask the user's language servers: the question, what is found, how it reads.

mod difference;

pub use difference::Difference;

use super::{Desk, Done, clip, path};
use crate::text::{Text, secret};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const LIMITS: clip::Limits = clip::Limits { lines: 500, bytes: 30_000, wide: 500, head: 100 };

/// What is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Aspect {
    Diagnostics,
    Definition,
    References,
    Hover,
    Symbols,
    /// What another name of a symbol changes.
    Rename,
}

/// A question to the language servers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    pub aspect: Aspect,
    /// Absolute; `None`: whatever they know.
    pub path: Option<PathBuf>,
    /// From 0, of the symbol.
    pub line: u32,
    /// As it stands on that line.
    pub symbol: String,
    /// Of symbols of the project: a part of their names.
    pub query: Option<String>,
    /// The name that a symbol is to have.
    pub name: Option<String>,
}

/// What a renaming asks of one file.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Rewrite {
    /// Absolute.
    pub path: PathBuf,
    /// Of the text that it was made from (`Text::sha256_hex`); empty where the text stays.
    pub sha: String,
    /// Ascending, none overlapping the one before.
    pub splices: Vec<Splice>,
    pub deleted: bool,
    /// Its new path.
    pub to: Option<PathBuf>,
}

/// Bytes of a text's joined lines, and what stands there instead.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Splice {
    pub from: u32,
    pub to: u32,
    pub text: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Finding {
    /// Absolute, or a URI where it is no file's.
    pub path: PathBuf,
    /// From 0.
    pub line: u32,
    /// What is said of it; empty where it is the line itself that was looked for.
    #[serde(default)]
    pub text: String,
}

/// What language servers answered.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Findings {
    pub findings: Vec<Finding>,
    /// Findings beyond those.
    pub more: u32,
    /// Sentences on servers that did not answer, and why.
    pub notes: Vec<String>,
    /// Of a renaming.
    pub rewrites: Vec<Rewrite>,
}

/// The schema of the tools that ask about a symbol at a place.
pub(super) fn at_symbol() -> Value {
    json!({
        "type": "object",
        "properties": {
            "path": { "type": "string" },
            "line": { "type": "integer", "minimum": 1 },
            "symbol": { "type": "string", "description": "its name as it stands on that line" }
        },
        "required": ["path", "line", "symbol"]
    })
}

pub(super) fn paths(args: &Value) -> Vec<String> {
    args["path"].as_str().map(str::to_owned).into_iter().collect()
}

/// The question that these arguments put, where they fit the schema.
pub(super) fn question(desk: &Desk, aspect: Aspect, args: &Value) -> Result<Question, String> {
    let path = args["path"].as_str().map(|it| path::resolve(desk, it)).transpose()?;
    if let Some(found) = path.as_deref().filter(|it| !it.is_file()) {
        let what = if found.exists() { "is no file" } else { "is not on disk" };
        return Err(format!("path: `{}` {what}.", path::show(&desk.root, found)));
    }
    let line = u32::try_from(args["line"].as_u64().unwrap_or(1)).unwrap_or(u32::MAX);
    let text = |name: &str| args[name].as_str().map(str::to_owned);
    let symbol = text("symbol").unwrap_or_default();
    let (query, name) = (text("query"), text("name"));
    Ok(Question { aspect, path, line: line.saturating_sub(1), symbol, query, name })
}

/// Asks, and gives what was found as lines; `none` is said where there is nothing.
pub(super) async fn ask(
    desk: &Desk,
    question: Question,
    noun: [&str; 2],
    none: &str,
) -> Result<Done, String> {
    let asked = question.path.clone();
    let answer = desk.workspace.consult(question).await?;
    let count = answer.findings.len() + answer.more as usize;
    let mut lines = Vec::new();
    if count == 0 && answer.notes.is_empty() {
        lines.push(none.to_owned());
    }
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
    Ok(Done { text, summary: format!("{count} {}", noun[usize::from(count != 1)]) })
}

/// `path:line: text`, the text being the line itself where nothing is said of it.
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
        return format!("{place} (line not shown: `read` the file, which asks the user)");
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
