//! A call in one line: the mark of its fold, the tool's name and the arguments, and the words at the line's right end.

use super::diff;
use super::lines::{ARGUMENT, LINE, MORE, Shown, clean, clip, flat, mark, time};
use super::tool::Tool;
use crate::message::{Builtin, Input, ToolAnswer, ToolCall};
use crate::text::unseen;
use serde::Serialize;
use serde_json::{Map, Value};
use std::ops::Range;

/// The lines under an opened call, below the lines of its diffs.
pub(super) fn opened(tool: &Tool, diff: Vec<String>, limit: usize) -> Vec<String> {
    let mut lines = diff;
    lines.extend(why_outside(tool));
    match &tool.answer {
        Some(ToolAnswer { shown: Some(shown), .. }) => {
            lines.extend(shown.0.iter().map(|it| flat(it)));
        }
        Some(answer) => lines.extend(clean(&answer.text).lines().map(str::to_owned)),
        None => lines.extend(tool.live.lines().map(str::to_owned)),
    }
    if lines.len() > limit {
        let more = lines.len() - limit;
        lines.truncate(limit);
        lines.push(format!("… {more} more lines"));
    }
    lines.iter().map(|it| format!("    {}", clip(it, LINE))).collect()
}

/// The argument of a command that runs outside of the sandbox: the model's reason.
const OUTSIDE: &str = "outside_sandbox";

/// The parts of a call's own line, and the state of the call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[expect(clippy::struct_excessive_bools, reason = "each is a field of the message on its own")]
pub struct CallLine {
    /// The number of bytes up to the end of the tool's name.
    pub name: u32,
    /// The first byte and the end of the argument that is cut first in a narrow window. Equal if there is none.
    pub main: (u32, u32),
    /// Whether that argument is a path, whose end tells more than its beginning.
    pub is_path: bool,
    /// If that argument is a list of names, the first byte of each name but the first. A narrow window leaves out whole
    /// names.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<u32>,
    /// The byte positions of Caliban's own signs. The other signs are part of what the model wrote.
    pub own: Vec<u32>,
    /// Whether the line may take several rows in a narrow window.
    pub is_whole: bool,
    /// Whether the words at the right end say that the call failed.
    pub failed: bool,
    /// Whether these words say that the call waits for the user.
    pub waits: bool,
    /// When the running call began, in milliseconds on the clock of the paint messages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub began: Option<u64>,
}

/// A call's own line.
#[derive(Debug, Clone, Default)]
pub(super) struct Line {
    pub(super) text: String,
    name: usize,
    main: Range<usize>,
    is_path: bool,
    /// Whether `main` is the tool's most important argument. Otherwise it is the longest text so far.
    is_chosen: bool,
    /// The first byte of each name of a list but the first.
    names: Vec<usize>,
    /// The byte positions of Caliban's own signs.
    own: Vec<usize>,
}

impl Line {
    /// A line with the mark of its fold and a tool's name.
    pub(super) fn begin(indent: &str, open: bool, name: &str) -> Line {
        let mut line = Line::default();
        line.push(&format!("{indent}{} ", mark(open)));
        line.push_theirs(&Shown::of(name, ARGUMENT));
        Line { name: line.text.len(), ..line }
    }

    /// Appends words of Caliban's.
    pub(super) fn push(&mut self, part: &str) {
        let wide = part.char_indices().filter(|(_, c)| !c.is_ascii());
        self.own.extend(wide.map(|(at, _)| self.text.len() + at));
        self.text.push_str(part);
    }

    /// Appends a text that somebody else wrote.
    fn push_theirs(&mut self, part: &Shown) {
        self.own.extend(part.own.iter().map(|at| self.text.len() + at));
        self.text.push_str(&part.text);
    }

    /// Appends the part that is cut first.
    fn push_main(&mut self, part: &Shown, is_path: bool) {
        let from = self.text.len();
        self.push_theirs(part);
        (self.main, self.is_path) = (from..self.text.len(), is_path);
        self.is_chosen = true;
    }

    /// Appends a list of names. `starts` has the first byte of each name but the first.
    pub(super) fn push_names(&mut self, names: &Shown, starts: &[usize]) {
        let from = self.text.len();
        self.push_main(names, false);
        self.names = starts.iter().map(|it| from + it).collect();
    }

    /// Appends `key="text"`. The path is cut first, else the longest of these texts.
    fn push_text(&mut self, key: &str, text: &str) {
        let key_shown = flat(key);
        let name = if key == "path" { unseen::name(text) } else { text.into() };
        let text = &*name;
        let is_cut = text.chars().nth(ARGUMENT).is_some();
        let quoted = flat(&Value::String(clip(text, ARGUMENT)).to_string());
        let end = quoted.len() - "\"".len();
        let own = if is_cut { vec![end - MORE.len()] } else { Vec::new() };
        self.text.push_str(&format!("{key_shown}="));
        let from = self.text.len() + "\"".len();
        self.push_theirs(&Shown { text: quoted, own });
        let text = from..self.text.len() - 1;
        if self.is_chosen {
            return;
        }
        if key == "path" || !self.is_path && text.len() > self.main.len() {
            (self.main, self.is_path) = (text, key == "path");
        }
    }

    /// The line's parts for the editor.
    pub(super) fn parts(&self) -> CallLine {
        let byte = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        CallLine {
            name: byte(self.name),
            main: (byte(self.main.start), byte(self.main.end)),
            is_path: self.is_path,
            names: self.names.iter().map(|it| byte(*it)).collect(),
            own: self.own.iter().map(|it| byte(*it)).collect(),
            is_whole: false,
            failed: false,
            waits: false,
            began: None,
        }
    }
}

/// A call in one line. If its arguments are not JSON, they are shown as text with a remark.
pub(super) fn tool(tool: &Tool) -> Line {
    let indent = if tool.run.is_some() { "  " } else { "" };
    let mut line = Line::begin(indent, tool.is_open(), &tool.name);
    match tool.call.as_ref().map(|it| (it, &it.input)) {
        None => line.push(" …"),
        Some((_, Input::Broken { text, why })) => {
            let fault = if why.contains("EOF") { "cut off" } else { "not JSON" };
            line.push("  ");
            line.push_main(&Shown::of(text, ARGUMENT), false);
            line.push(&format!("  (arguments {fault})"));
        }
        Some((call, Input::Json(Value::Object(map)))) => arguments(&mut line, call, map),
        Some((_, Input::Json(other))) => {
            line.push("  ");
            line.push_theirs(&Shown::of(&other.to_string(), ARGUMENT));
        }
    }
    line.push_theirs(&diff::words(tool));
    line
}

fn arguments(line: &mut Line, call: &ToolCall, map: &Map<String, Value>) {
    let main = main_argument(call);
    if let Some(files) = edited_files(call, map) {
        line.push("  ");
        return push_files(line, &files);
    }
    if let Some(value) = main.and_then(|it| map.get(it)).and_then(Value::as_str) {
        line.push("  ");
        let is_path = main == Some("path");
        let value = if is_path { unseen::name(value) } else { value.into() };
        line.push_main(&Shown::of(&value, 2 * ARGUMENT), is_path);
    } else if !map.is_empty() {
        line.push(" ");
    }
    let range = range(call, map);
    let ranged = range.is_some();
    // the other sections of a plan are long, and the plan has a buffer of its own
    let is_plan = call.is_of(Builtin::Plan) && main.is_some_and(|it| map.contains_key(it));
    let is_outside = outside(call).is_some();
    if is_outside {
        line.push("  outside");
    }
    let is_left_out = |key: &str| {
        is_plan || Some(key) == main || is_outside && key == OUTSIDE || ranged && is_of_range(key)
    };
    for (key, value) in map.iter().filter(|(key, _)| !is_left_out(key)) {
        match (argument(key, value), value) {
            (Some(_), Value::String(text)) => {
                line.push(" ");
                line.push_text(key, text);
            }
            (Some(other), _) => {
                line.push(" ");
                line.push_theirs(&other);
            }
            (None, _) => (),
        }
    }
    if let Some(range) = range {
        line.push(&format!(" {range}"));
    }
}

/// The model's reason for a command outside of the sandbox; `None` for all other calls.
fn outside(call: &ToolCall) -> Option<&str> {
    let Input::Json(input) = &call.input else { return None };
    let why = input.get(OUTSIDE).filter(|_| call.is_of(Builtin::Shell))?.as_str()?;
    Some(why).filter(|it| !it.trim().is_empty())
}

/// The line under an opened call that says why the command runs outside of the sandbox.
pub(super) fn why_outside(tool: &Tool) -> Option<String> {
    let why = outside(tool.call.as_ref()?)?;
    Some(format!("outside of the sandbox: {}", flat(why)))
}

/// The files of a call of `edit` whose edits name them; `None` for any other call.
fn edited_files<'a>(call: &ToolCall, map: &'a Map<String, Value>) -> Option<Vec<&'a str>> {
    let edits = map.get("edits").filter(|_| call.is_of(Builtin::Edit))?.as_array()?;
    let whole = map.get("path").and_then(Value::as_str);
    let mut files = Vec::new();
    for path in edits.iter().filter_map(|it| it["path"].as_str().or(whole)) {
        if !files.contains(&path) {
            files.push(path);
        }
    }
    (whole.is_none() && !files.is_empty() || files.len() > 1).then_some(files)
}

/// Appends the files that an edit changes: a path, or a list of names.
fn push_files(line: &mut Line, files: &[&str]) {
    if let [path] = files {
        return line.push_main(&Shown::of(&unseen::name(path), 2 * ARGUMENT), true);
    }
    let (mut all, mut starts) = (String::new(), Vec::new());
    for path in files {
        if !all.is_empty() {
            all.push_str(", ");
            starts.push(all.len());
        }
        all.push_str(&clip(&unseen::name(path), ARGUMENT));
    }
    line.push_names(&Shown::of(&all, 4 * ARGUMENT), &starts);
}

/// The range of lines that a `read` call asks for, as `lines=10-40`. `None` if the arguments are not numbers.
fn range(call: &ToolCall, map: &Map<String, Value>) -> Option<String> {
    if !call.is_of(Builtin::Read) || !map.keys().any(|it| is_of_range(it)) {
        return None;
    }
    let number = |key: &str| map.get(key).map_or(Some(None), |it| it.as_u64().map(Some));
    let (first, count) = (number("offset")?.unwrap_or(1), number("limit")?);
    Some(match count {
        Some(1) => format!("lines={first}"),
        Some(count) => format!("lines={first}-{}", first.saturating_add(count).saturating_sub(1)),
        None => format!("lines={first}-"),
    })
}

fn is_of_range(key: &str) -> bool {
    matches!(key, "offset" | "limit")
}

/// The name of the most important argument, whose value is shown without its name.
fn main_argument(call: &ToolCall) -> Option<&'static str> {
    match call.builtin()? {
        Builtin::Edit | Builtin::Write | Builtin::Delete | Builtin::Rename => Some("path"),
        Builtin::Shell => Some("command"),
        Builtin::Todo => Some("action"),
        Builtin::Skill => Some("name"),
        Builtin::Task => Some("description"),
        Builtin::Plan => Some("summary"),
        _ => None,
    }
}

/// An argument as the line shows it; `None` if it is left out.
fn argument(key: &str, value: &Value) -> Option<Shown> {
    let is = |it: &str| Shown::of(&format!("{key}={it}"), 2 * ARGUMENT);
    Some(match value {
        Value::Null => return None,
        Value::Array(_) | Value::Object(_) if matches!(key, "edits" | "todos" | "workers") => {
            return None;
        }
        Value::String(_) if matches!(key, "text" | "prompt") => return None,
        Value::Array(items) if key == "questions" => {
            let mut first = Shown::of(items.first()?["question"].as_str()?, 2 * ARGUMENT);
            let more = items.len() - 1;
            if more > 0 {
                first.text.push_str(&format!(" (and {more} more)"));
            }
            first
        }
        Value::Array(items) => is(&items.len().to_string()),
        Value::Object(_) => {
            let mut object = is("{").and(MORE);
            object.text.push('}');
            object
        }
        other => is(&other.to_string()),
    })
}

/// A call that has begun, in one line without the mark of a fold.
pub fn begun(call: &ToolCall) -> String {
    tool(&Tool::new(&call.tool, Some(call))).text
}

/// An answered call in one line.
pub fn called(call: &ToolCall, answer: &ToolAnswer, took_ms: Option<u64>) -> String {
    let shown = Tool::new(&call.tool, Some(call));
    format!("{}   {}", tool(&shown).text, result(answer, took_ms))
}

/// The words at the right end of the line of an answered call.
pub(super) fn result(answer: &ToolAnswer, took_ms: Option<u64>) -> String {
    let mut words = match (answer.summary.as_str(), answer.failed) {
        ("", true) => "failed".to_owned(),
        ("", false) => "done".to_owned(),
        (summary, _) => clip(&flat(summary), ARGUMENT),
    };
    if let Some(ms) = took_ms {
        words.push_str(&format!(" · {}", time(ms)));
    }
    words
}

/// Whether an answer says that the call failed, or that what it ran ended badly.
pub(super) fn is_failure(answer: &ToolAnswer) -> bool {
    answer.failed != answer.reversed || answer.fault
}
