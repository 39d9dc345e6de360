//! The record of a review in Lua: only the file that declares a field sets it. Other files read only the fields in
//! `FACTS`, and call functions of the declaring file for the rest.

use super::names::without_comments;

/// The classes of the record, each with the file that declares and sets its fields.
pub(super) const WRITERS: [(&str, &str); 2] = [
    ("caliban.Review", "lua/caliban/review/state.lua"),
    ("caliban.Tracked", "lua/caliban/review/hunks/tracking.lua"),
];

/// The fields that other files may read: the review's file and conversation, the proposals, and the state of the file.
pub(super) const FACTS: [&str; 20] = [
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
    "lost",
    "outside",
    "open",
    "own",
    "origin",
    "clash",
    "eol",
];
/// Files that may read one further field. `verdict.lua` follows the chain of decisions, in which each decision names
/// the decision before it.
const READERS: [(&str, &str); 1] = [("lua/caliban/review/verdict.lua", "decided")];

/// The names of variables that hold a record.
const NAMES: [&str; 2] = ["r", "review"];
/// Functions that change the list they are given.
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

/// The field of a record that an expression names: `hunks` for `it.r.hunks[1]`.
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

/// A line of code with blanks in place of its strings, because a module's name in a string is no field.
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

/// Fields of the record that a file reads although it may not. `of` has all fields with the files that declare them.
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

/// Fields of the record that a file sets although another file declares them. `of` has all fields with the files that
/// declare them.
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
