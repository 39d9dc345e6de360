//! How a path is written after an `@`: without quotes (`@src/a.rs`) if that form is read back as the same path,
//! otherwise in double quotes (`@"a b.rs"`). Within quotes, a backslash escapes `"`, `\` and `` ` ``, and `\n` and `\r`
//! are line breaks.

use super::named::range;
use super::table::Keyword;

/// Characters that end a path without quotes.
pub(super) const ENDS: &str = "`\"'<>|()[]{},;";
/// Punctuation at the end of a path without quotes. It belongs to the sentence, not to the path.
pub(super) const TRAILING: [char; 4] = ['.', '!', '?', ':'];

/// Writes the mention of a path relative to the project. `super::find` reads it back as the same path, sometimes with
/// `./` before it: without `./`, a leading `~` would mean the home folder, and a keyword would not be a path.
pub fn write(path: &str) -> String {
    let means_home = path == "~" || path.starts_with("~/");
    if means_home || Keyword::of(path).is_some() {
        spell(&format!("./{path}"))
    } else {
        spell(path)
    }
}

/// Writes the mention of a path as the user spells the path. `~/notes.md` is in the home folder.
pub fn spell(path: &str) -> String {
    let is_bare = !path.contains(|c: char| c.is_whitespace() || ENDS.contains(c))
        && !path.ends_with(TRAILING)
        && !path.is_empty()
        && !has_lines(path);
    if is_bare { format!("@{path}") } else { format!("@\"{}\"", escaped(path)) }
}

fn has_lines(path: &str) -> bool {
    path.rsplit_once(':').is_some_and(|(_, lines)| range(lines).is_some())
}

fn escaped(path: &str) -> String {
    let mut text = String::with_capacity(path.len() + 2);
    for c in path.chars() {
        match c {
            '\n' => text.push_str("\\n"),
            '\r' => text.push_str("\\r"),
            '"' | '\\' | '`' => text.extend(['\\', c]),
            c => text.push(c),
        }
    }
    text
}

/// Reads the path in quotes that `rest` begins with, after the opening quote. Returns the path and the number of bytes
/// up to the end of the closing quote; `None` if there is no closing quote.
pub(super) fn read(rest: &str) -> Option<(String, usize)> {
    let mut path = String::new();
    let mut chars = rest.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Some((path, at + 1)),
            '\\' => path.push_str(&unescaped(chars.as_str().chars().next(), &mut chars)),
            c => path.push(c),
        }
    }
    None
}

/// The part of a path in quotes that the user has written so far, before the closing quote.
pub(super) fn read_open(rest: &str) -> Option<String> {
    let closed = format!("{rest}\"");
    let (path, length) = read(&closed)?;
    (length == closed.len() && read(rest).is_none()).then_some(path)
}

/// The text that a backslash and the character after it mean. Before any other character, the backslash is an ordinary
/// character.
fn unescaped(next: Option<char>, chars: &mut std::str::CharIndices<'_>) -> String {
    let meant = match next {
        Some('n') => '\n',
        Some('r') => '\r',
        Some(c @ ('"' | '\\' | '`')) => c,
        _ => return "\\".to_owned(),
    };
    chars.next();
    meant.to_string()
}
