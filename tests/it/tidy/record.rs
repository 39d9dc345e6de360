//! The record of a review, in Lua, has one writer: the file that declares a field is the only one that sets it. Others
//! read the facts of a review. Its bookkeeping they ask for by functions of that file.

use super::names::without_comments;

/// The classes that the record is made of, each with the file that declares and writes it.
pub(super) const WRITERS: [(&str, &str); 2] = [
    ("caliban.Review", "lua/caliban/review/state.lua"),
    ("caliban.Tracked", "lua/caliban/review/hunks/tracking.lua"),
];

/// The fields that others read: which file and conversation it is, what was proposed, and how the file stands.
pub(super) const FACTS: [&str; 18] = [
    "buf",
    "path",
    "session",
    "create",
    "created",
    "auto",
    "binary",
    "proposals",
    "reasons",
    "whole",
    "deleted",
    "was",
    "whole_rejected",
    "open",
    "own",
    "origin",
    "clash",
    "eol",
];
/// Files that read one field more: the verdict is a chain of decisions, and each names the one before.
const READERS: [(&str, &str); 1] = [("lua/caliban/review/verdict.lua", "decided")];

/// What a record is called where its fields are set.
const NAMES: [&str; 2] = ["r", "review"];
/// Functions that change the list they get.
const CHANGES: [&str; 3] = ["table.insert(", "table.remove(", "vim.list_extend("];

/// The fields of a class in the text of a file.
pub(super) fn fields(class: &str, text: &str) -> Vec<String> {
    let head = format!("---@class {class}");
    let lines = text.lines().skip_while(|line| {
        !line
            .strip_prefix(&head)
            .is_some_and(|rest| rest.starts_with([':', ' ']) || rest.is_empty())
    });
    let fields = lines.skip(1).map_while(|line| line.strip_prefix("---@field "));
    fields.map(|it| it.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()).collect()
}

/// The field of a record that an expression names, as `hunks` of `it.r.hunks[1]`.
fn field(expression: &str) -> Option<&str> {
    let end = expression.find(|c: char| !c.is_alphanumeric() && c != '_' && c != '.');
    let parts: Vec<&str> = expression[..end.unwrap_or(expression.len())].split('.').collect();
    let at = parts.iter().position(|part| NAMES.contains(part))?;
    parts.get(at + 1).copied()
}

/// The fields that a line of code sets.
fn set(line: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let line = line.trim_start();
    if let Some((targets, _)) = line.split_once(" = ")
        && !line.starts_with("local ")
        && !targets.contains('(')
    {
        found.extend(targets.split(", ").filter_map(field));
    }
    for call in CHANGES {
        let calls = line.split(call).skip(1);
        found.extend(calls.filter_map(field));
    }
    found
}

/// A line of code with blanks in place of its strings: a module's name is no field.
fn without_strings(line: &str) -> String {
    let mut quote = None;
    let blank = |c: char| match quote {
        Some(open) if c == open => {
            quote = None;
            c
        }
        Some(_) => ' ',
        None => {
            quote = ['\'', '"'].into_iter().find(|it| *it == c);
            c
        }
    };
    line.chars().map(blank).collect()
}

/// Fields of the record that a file reads, and neither declares nor may read. `of` has all fields with their files.
pub(super) fn reads(path: &str, text: &str, of: &[(String, &str)]) -> Vec<String> {
    let mut found = Vec::new();
    for (number, line) in without_comments(text).lines().enumerate() {
        let line = without_strings(line);
        let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
        for name in line.split(|c| !is_part(c)).filter_map(field) {
            let is_fact = FACTS.contains(&name) || READERS.contains(&(path, name));
            let writer = of.iter().find(|(it, _)| it == name).map(|(_, writer)| *writer);
            if let Some(writer) = writer.filter(|it| *it != path && !is_fact) {
                found.push(format!("{path}:{}: reads `{name}`, which {writer} tells", number + 1));
            }
        }
    }
    found
}

/// Fields of the record that a file sets and does not declare. `of` has them with the file that does.
pub(super) fn writes(path: &str, text: &str, of: &[(String, &str)]) -> Vec<String> {
    let mut found = Vec::new();
    for (number, line) in without_comments(text).lines().enumerate() {
        for name in set(line) {
            let writer = of.iter().find(|(it, _)| it == name).map(|(_, writer)| *writer);
            if let Some(writer) = writer.filter(|it| *it != path) {
                found.push(format!("{path}:{}: sets `{name}`, as {writer} alone may", number + 1));
            }
        }
    }
    found
}
