//! Where a text fits, and what the model is told about the places.

use super::ladder::{Found, Place, Rung};
use super::misfit::Misfit;
use super::nearest::nearest;
use crate::text::{Newline, Text};
use memchr::memmem;
use std::borrow::Cow;

/// The most places of an ambiguous `old` that are searched.
pub(super) const PLACES: usize = 100;

/// If the text lacks `old` but contains `new` at exactly one place, the edit counts as already applied, provided that
/// `new` has at least this many bytes without the white space around it.
const TELLING: usize = 8;

pub(super) fn ambiguous(content: &str, found: Found) -> Misfit {
    let at: Vec<usize> = found.places.iter().map(|it| it.bytes.start).collect();
    Misfit::Ambiguous { at: lines_of(content, &at), by: found.rungs }
}

/// The note that tells the model how an inexact match was found; empty for an exact match.
pub(super) fn tolerated(what: &str, content: &str, places: &[Place], rungs: &[Rung]) -> String {
    if rungs.is_empty() {
        return String::new();
    }
    let how: Vec<String> = rungs.iter().map(ToString::to_string).collect();
    let at = match places {
        [only] => {
            let last = only.bytes.end.max(only.bytes.start + 1) - 1;
            match lines_of(content, &[only.bytes.start, last])[..] {
                [from, to] if from < to => format!("at lines {from}-{to}"),
                [from, ..] => format!("at line {from}"),
                [] => String::new(),
            }
        }
        many => format!("at {} places", many.len()),
    };
    let shifted = match (rungs.contains(&Rung::Shift), places.iter().any(Place::is_shifted)) {
        (true, true) => " The new text was indented to match.",
        (true, false) => " The new text already had that indentation.",
        (false, _) => "",
    };
    format!(
        "{what} does not match the file exactly. The edit was applied {at}, {}.{shifted}",
        how.join(", ")
    )
}

/// Converts a text from the model to the form in which `text` is kept in memory: if the file has DOS line ends, CR LF
/// becomes `\n`; if it has a byte order mark, the mark of the given text is removed.
pub(super) fn fitted<'a>(text: &Text, given: &'a str) -> Result<Cow<'a, str>, Misfit> {
    if given.contains('\0') {
        return Err(nul());
    }
    let given = if text.bom { given.strip_prefix('\u{feff}').unwrap_or(given) } else { given };
    Ok(match text.newline {
        Newline::Dos if given.contains('\r') => Cow::Owned(given.replace("\r\n", "\n")),
        _ => Cow::Borrowed(given),
    })
}

pub(super) fn nul() -> Misfit {
    Misfit::Refused(
        "the text contains a NUL character, which a text file cannot contain".to_owned(),
    )
}

/// The byte offsets of at most `most` places of `old`, in ascending order, including places that overlap.
pub(super) fn places<'a>(
    content: &'a str,
    old: &'a str,
    most: usize,
) -> impl Iterator<Item = usize> + 'a {
    let step = old.chars().next().map_or(1, char::len_utf8);
    let finder = memmem::Finder::new(old);
    let mut from = 0;
    let next = move || {
        let at = from + finder.find(content.as_bytes().get(from..)?)?;
        from = at + step;
        Some(at)
    };
    std::iter::from_fn(next).take(most)
}

/// The line numbers, from 1, of these byte offsets, which have to ascend.
pub(super) fn lines_of(content: &str, offsets: &[usize]) -> Vec<u32> {
    let (mut line, mut from) = (1, 0);
    let mut lines = Vec::with_capacity(offsets.len());
    for &at in offsets {
        line += memchr::memchr_iter(b'\n', &content.as_bytes()[from..at]).count();
        from = at;
        lines.push(u32::try_from(line).unwrap_or(u32::MAX));
    }
    lines
}

pub(super) fn absent(text: &Text, old: &str, new: &str) -> Misfit {
    if new.trim().len() >= TELLING
        && let [at] =
            lines_of(&text.content, &places(&text.content, new, 2).collect::<Vec<_>>())[..]
    {
        return Misfit::AlreadyApplied { at };
    }
    Misfit::Absent { nearest: nearest(&text.content, old), old: old.to_owned(), is_stale: false }
}

/// Refuses placeholders such as `// ... rest of the code unchanged ...`, unless the old text has the same line.
pub(super) fn refuse_placeholder(had: &str, new: &str) -> Result<(), Misfit> {
    let found = new
        .lines()
        .map(str::trim)
        .find(|line| is_placeholder(line) && !had.lines().any(|known| known.trim() == *line));
    match found {
        None => Ok(()),
        Some(line) => Err(Misfit::Refused(format!(
            "the line `{line}` is a placeholder for text that you left out, and would be written as it is. Send the \
             whole text, or a smaller replacement"
        ))),
    }
}

fn is_placeholder(line: &str) -> bool {
    const LEADERS: [&str; 9] = ["//", "#", "--", "/*", "<!--", ";", "%", "\"", "{/*"];
    const SAYS: [&str; 9] = [
        "rest of",
        "existing code",
        "unchanged",
        "remains the same",
        "remain the same",
        "same as before",
        "other code",
        "previous code",
        "code omitted",
    ];
    if line.len() > 120 {
        return false;
    }
    let bare = LEADERS.iter().find_map(|leader| line.strip_prefix(leader));
    let words = bare.unwrap_or(line).trim_start_matches(['/', '#', '-', '*', ' ', '(', '[']);
    let words = words.to_lowercase();
    let is_note = line.starts_with(['(', '[', '<', '{']) && line.ends_with([')', ']', '>', '}']);
    let has_dots = words.contains("...") || words.contains('…');
    let dots = words.starts_with("...") || words.starts_with('…') || is_note && has_dots;
    let says = SAYS.iter().any(|phrase| words.contains(phrase));
    let rest = bare.is_some()
        && words.starts_with("rest of")
        && ["unchanged", "same", "here"].iter().any(|word| words.contains(word));
    (dots && says) || rest
}
