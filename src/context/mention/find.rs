//! Finds the mentions of a text.

use super::code;
use super::named::{Meant, Mention, SYMBOL, range};
use super::table::Keyword;
use super::{page, quote};
use std::collections::BTreeSet;

/// The mentions of a text. An `@` counts at the beginning of a word and outside of code. A path with blanks is
/// written `@"a b.rs"`.
pub fn find(text: &str) -> Vec<Mention> {
    let mut found = BTreeSet::new();
    let mut mentions = Vec::new();
    // the end of a quoted path, because an `@` within the quotes belongs to the path
    let mut end = 0;
    let lines = code::Lines::of(text);
    let code = code::spans(&lines);
    for (at, _) in text.match_indices('@') {
        if at < end || !begins_word(&text[..at]) {
            continue;
        }
        let span = code.get(code.partition_point(|it| it.end <= at));
        if span.is_some_and(|it| it.start < at) {
            continue;
        }
        let quoted = text[at + 1..].strip_prefix('"').and_then(quote::read);
        end = quoted.as_ref().map_or(end, |(_, length)| at + 2 + length);
        let mention = match quoted {
            Some((path, length)) => {
                in_quotes(path, &text[at + 2 + length..]).map(|(it, more)| (it, 1 + length + more))
            }
            None => bare(&text[at + 1..])
                .map(|(it, length)| (Mention { meant: meant(&lines, at, &it), ..it }, length)),
        };
        let Some((mention, length)) = mention else { continue };
        if found.insert((mention.path.clone(), mention.lines)) {
            let written = text[at..at + 1 + length].to_owned();
            mentions.push(Mention { written, ..mention });
        }
    }
    mentions
}

/// The mention that is still being written at the end of `line`: the byte of its `@`, and its path so far.
pub fn open(line: &str) -> Option<(usize, String)> {
    let at = line.match_indices('@').map(|(at, _)| at).filter(|at| begins_word(&line[..*at]));
    let mut end = 0;
    let mut open = None;
    for at in at {
        if at < end {
            continue;
        }
        let rest = &line[at + 1..];
        open = match rest.strip_prefix('"') {
            Some(quoted) => match quote::read(quoted) {
                Some((_, length)) => {
                    end = at + 2 + length;
                    None
                }
                None => {
                    return Some((at, quote::read_open(quoted)?)).filter(|_| !in_code(line, at));
                }
            },
            None if rest.contains(|c: char| c.is_whitespace() || quote::ENDS.contains(c)) => None,
            None => Some((at, rest.to_owned())),
        };
    }
    open.filter(|(at, _)| !in_code(line, *at))
}

/// Whether this byte is in inline code: an odd number of backticks is before it.
fn in_code(line: &str, at: usize) -> bool {
    line[..at].matches('`').count() % 2 == 1
}

/// Whether an `@` after this text is at the beginning of a word.
fn begins_word(before: &str) -> bool {
    before.chars().next_back().is_none_or(|c| c.is_whitespace() || "([{,;\"'".contains(c))
}

/// A mention whose path is in quotes, and the number of bytes of its range of lines. `rest` is the text after the
/// closing quote.
fn in_quotes(path: String, rest: &str) -> Option<(Mention, usize)> {
    let lines = rest.strip_prefix(':').and_then(|it| {
        let end = it.find(|c: char| !(c.is_ascii_digit() || c == '-'));
        let lines = it.split_at(end.unwrap_or(it.len())).0.trim_end_matches('-');
        Some((range(lines)?, 1 + lines.len()))
    });
    let length = lines.map_or(0, |it| it.1);
    if page::is_address(&path) {
        return Some((Mention { meant: Meant::Page, ..Mention::of(path, None) }, 0));
    }
    (!path.is_empty()).then_some((Mention::of(path, lines.map(|it| it.0)), length))
}

/// A mention whose path is not in quotes, and its number of bytes. `rest` is the text after the `@`.
fn bare(rest: &str) -> Option<(Mention, usize)> {
    if page::is_address(rest) {
        let length = page::length(rest);
        let mention = Mention::of(rest[..length].to_owned(), None);
        return Some((Mention { meant: Meant::Page, ..mention }, length));
    }
    let end = rest.find(|c: char| c.is_whitespace() || quote::ENDS.contains(c));
    let word = rest[..end.unwrap_or(rest.len())].trim_end_matches(quote::TRAILING);
    let (path, lines) = word
        .rsplit_once(':')
        .and_then(|(path, lines)| Some((path, Some(range(lines)?))))
        .unwrap_or((word, None));
    (!path.is_empty()).then_some((Mention::of(path.to_owned(), lines), word.len()))
}

/// The meaning of a word without quotes after the `@` at this byte.
fn meant(lines: &code::Lines<'_>, at: usize, mention: &Mention) -> Meant {
    let word = mention.path.as_str();
    if mention.meant == Meant::Page {
        return Meant::Page;
    }
    let is_address = word.contains('@') && !word.contains('/');
    let begins = |c: char| c.is_alphabetic() || c == '_';
    if is_address || lines.is_decorator(at, word) {
        Meant::Other
    } else if let Some(keyword) = Keyword::of(word).filter(|_| mention.lines.is_none()) {
        Meant::Keyword(keyword)
    } else if word.strip_prefix(SYMBOL).is_some_and(|it| !it.is_empty()) {
        Meant::Symbol
    } else if looks_like_path(word) {
        Meant::Path
    } else if word.trim_start_matches('.').starts_with(begins) {
        Meant::Word
    } else {
        Meant::Other
    }
}

/// Whether a word after an `@` was probably meant as a path, although no such file exists.
pub(in crate::context) fn looks_like_path(path: &str) -> bool {
    path.contains('/') || path.starts_with('~') || (path.contains('.') && !path.starts_with('.'))
}
