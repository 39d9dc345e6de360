//! The rules that a project has for other coding agents, such as `.github/copilot-instructions.md` and `.cursor/rules`.
//! Caliban offers these rules if the project has no instruction files for Caliban.

use super::reader::{Found, Places, Reader, in_folder};
use crate::context::agents;
use crate::tool::front;
use serde::Deserialize;
use serde_json::Value;
use std::fs::DirEntry;
use std::path::PathBuf;

/// The files whose whole text is used.
const WHOLE: [&str; 12] = [
    ".claude/CLAUDE.md",
    "CLAUDE.local.md",
    "agents.md",
    "Agents.md",
    "AGENT.md",
    "GEMINI.md",
    "QWEN.md",
    "CRUSH.md",
    "WARP.md",
    ".github/copilot-instructions.md",
    ".cursorrules",
    ".windsurfrules",
];
/// The folder of rules that have front matter.
const FOLDER: &str = ".cursor/rules";
/// The most files of this folder and of the folders in it, and the levels of these folders that are read.
const FILES: usize = 100;
const LEVELS: usize = 5;
/// The most entries that are looked at on one level.
const MOST: usize = 10_000;
/// The most characters of a rule's line in the list: its file, its description and its globs.
const LINE: usize = 200;

/// The front matter of a file of `.cursor/rules`.
#[derive(Default, Deserialize)]
struct Front {
    description: Option<Value>,
    globs: Option<Value>,
    #[serde(rename = "alwaysApply")]
    always: Option<bool>,
}

/// The names of the project's rule files for other coding agents. Empty if the project has instruction files for
/// Caliban.
pub fn offered(places: &Places) -> Vec<&'static str> {
    if in_folder(&places.root, false).is_some() {
        return Vec::new();
    }
    let mut names: Vec<&str> = whole(places).collect();
    if !files(places).is_empty() {
        names.push(FOLDER);
    }
    names
}

/// The rules for the model: the text of each of the `WHOLE` files and of each rule that always applies, and a list of
/// the other rules, whose files the model can read.
pub fn rules(places: &Places) -> Found {
    let mut reader = Reader::new(places);
    let mut listed = String::new();
    let whole: Vec<PathBuf> = whole(places).map(|it| places.root.join(it)).collect();
    for path in whole.into_iter().chain(files(places)) {
        let shown = reader.shown(&path);
        match reader.rule(&shown, &path) {
            Ok(line) => listed.push_str(&line.unwrap_or_default()),
            Err(why) => reader.found.problems.push(format!("`{shown}` {why} It was left out.")),
        }
    }
    if !listed.is_empty() {
        let text =
            format!("Read the file of a rule before you do work that the rule is about:\n{listed}");
        let text = reader.fitted(FOLDER, &text);
        reader.add(FOLDER, text);
    }
    reader.found
}

/// The files whose whole text is used. A file system that ignores upper and lower case finds a file under several names,
/// of which only its own counts.
fn whole(places: &Places) -> impl Iterator<Item = &'static str> {
    let is_there =
        |it: &str| places.root.join(it).is_file() && agents::is_spelt(&places.root.join(it));
    WHOLE.into_iter().filter(move |it| is_there(it))
}

/// The files of the folder and of the folders in it, by path. Links are not followed.
fn files(places: &Places) -> Vec<PathBuf> {
    let is_rule = |it: &DirEntry| it.path().extension().is_some_and(|it| it == "mdc" || it == "md");
    let mut files = Vec::new();
    let mut folders = vec![places.root.join(FOLDER)];
    for _ in 0..LEVELS {
        let entries = folders.iter().flat_map(std::fs::read_dir).flatten().flatten().take(MOST);
        let (inner, found): (Vec<_>, Vec<_>) =
            entries.partition(|it| it.file_type().is_ok_and(|it| it.is_dir()));
        files.extend(found.iter().filter(|it| is_rule(it)).map(DirEntry::path));
        folders = inner.iter().map(DirEntry::path).collect();
    }
    files.sort();
    files.truncate(FILES);
    files
}

impl Reader<'_> {
    /// Adds the text of a rule that always applies. For any other rule, returns a line for the list instead.
    fn rule(&mut self, shown: &str, path: &std::path::Path) -> Result<Option<String>, String> {
        let Some(content) = self.content(path, false)? else { return Ok(None) };
        let (front, body) = match front::split(&content) {
            Some((yaml, body)) => {
                let front = front::parse(yaml).or_else(|why| {
                    front::parse(&with_quoted_globs(yaml))
                        .map_err(|_| format!("has front matter that is not YAML ({why})."))
                });
                (Some(front?), body)
            }
            None => (None, content.as_str()),
        };
        if let Some(front) = front.filter(|it: &Front| it.always != Some(true)) {
            let word = |it: Option<Value>| it.map_or(String::new(), |it| words(&it));
            let (about, globs) = (word(front.description), word(front.globs));
            let globs = if globs.is_empty() { globs } else { format!(" (files: {globs})") };
            let about = if about.is_empty() { about } else { format!(": {about}") };
            return Ok(Some(front::line(&format!("- {shown}{about}{globs}"), LINE).0 + "\n"));
        }
        let text = self.fitted(shown, body.trim_start());
        self.add(shown, text);
        Ok(None)
    }
}

/// Puts quotes around the value of `globs`: Cursor writes `globs: *.rs` without quotes, which is not YAML.
fn with_quoted_globs(yaml: &str) -> String {
    let quoted = |line: &str| {
        let globs = line.strip_prefix("globs:").map(str::trim);
        globs.map_or(line.to_owned(), |it| format!("globs: {}", Value::from(it)))
    };
    yaml.lines().map(quoted).collect::<Vec<_>>().join("\n")
}

/// The value as text: a text itself, or the texts of a list.
fn words(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(all) => all.iter().map(words).collect::<Vec<_>>().join(", "),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}
