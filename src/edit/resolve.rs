//! Applies a change to a text. If the change does not match at exactly one place, it is a misfit. Nothing outside of
//! the match changes.

use super::back::{Splice, Step, splice};
use super::chunk;
use super::ladder::{self, Found, Place, Rung};
use super::nearest::nearest;
use super::{Change, Misfit, Replacement};
use crate::text::{Newline, Text};
use memchr::memmem;
use std::borrow::Cow;

/// The most places of an ambiguous `old` that are searched.
const PLACES: usize = 100;
/// If the text lacks `old` but contains `new` at exactly one place, the edit counts as already applied, provided that
/// `new` has at least this many bytes without the white space around it.
const TELLING: usize = 8;

/// Applies a change to `text`, which is `None` if there is no file. Returns a note for the model: which differences
/// were tolerated, and where; empty for an exact match. If the change does not fit, the text stays unchanged.
pub fn resolve(text: &mut Option<Text>, change: &Change) -> Result<String, Misfit> {
    Ok(amend(text, change)?.0)
}

/// Like `resolve`, and also returns the step that undoes the change. The text is changed in place because a reply may
/// have thousands of edits, and copying a long text for each edit would take longer than searching it.
pub(super) fn amend(text: &mut Option<Text>, change: &Change) -> Result<(String, Step), Misfit> {
    let new = match (change, text.as_mut()) {
        (Change::Write { text: given }, Some(now)) if !now.content.is_empty() => {
            overwritten(now, given)?
        }
        (Change::Write { text: given }, now) => fresh(now.as_deref(), given)?,
        (Change::Create { .. }, Some(_)) => return Err(Misfit::Exists),
        (Change::Create { text: given }, None) => fresh(None, given)?,
        (Change::Patch(chunks), Some(now)) => return chunk::patch(now, chunks),
        (Change::Become { from, content }, Some(now)) if now.sha256_hex() == *from => {
            Text { content: content.clone(), ..*now }
        }
        (Change::Become { .. }, _) => {
            let why = "its text changed after the language server read it; call the tool again";
            return Err(Misfit::Refused(why.to_owned()));
        }
        (Change::Whole(_), Some(_)) => return Ok((String::new(), Step::Places(Vec::new()))),
        (Change::Replace(one), None) if one.old.is_empty() => fresh(None, &one.new)?,
        (Change::Replace(_) | Change::Patch(_) | Change::Whole(_), None) => {
            return Err(Misfit::NoFile);
        }
        (Change::Replace(one), Some(now)) if !one.old.is_empty() => return replace(now, one),
        (Change::Replace(one), Some(now)) if now.content.is_empty() => fresh(Some(now), &one.new)?,
        (Change::Replace(_), Some(_)) => return Err(Misfit::EmptyOld),
    };
    Ok((String::new(), Step::Whole(text.replace(new))))
}

/// The text for a new or an empty file. Keeps the newline style and the byte order mark of `given`.
fn fresh(before: Option<&Text>, given: &str) -> Result<Text, Misfit> {
    let mut text = Text::decode(given.as_bytes()).map_err(|_| nul())?;
    refuse_placeholder("", given)?;
    text.bom |= before.is_some_and(|before| before.bom);
    if before == Some(&text) { Err(Misfit::Unchanged) } else { Ok(text) }
}

fn overwritten(before: &Text, given: &str) -> Result<Text, Misfit> {
    let content = fitted(before, given)?.into_owned();
    refuse_placeholder(&before.content, &content)?;
    if content == before.content {
        return Err(Misfit::Unchanged);
    }
    Ok(Text { content, ..*before })
}

fn replace(text: &mut Text, one: &Replacement) -> Result<(String, Step), Misfit> {
    let (old, new) = (fitted(text, &one.old)?, fitted(text, &one.new)?);
    if old == new {
        return Err(Misfit::Unchanged);
    }
    refuse_placeholder(&old, &new)?;
    let most = if one.everywhere { usize::MAX } else { PLACES };
    let content = &text.content;
    let exact = places(content, &old, most).map(|at| Place::of(at..at + old.len()));
    let found = Found::exact(content, &old, &new, exact.collect())
        .or_else(|| ladder::climb(content, &old, &new, most, |places| places))
        .ok_or_else(|| absent(text, &old, &new))?;
    if found.places.len() > 1 && !one.everywhere {
        return Err(ambiguous(content, found));
    }
    let mut splices: Vec<Splice> = Vec::new();
    for place in &found.places {
        if splices.last().is_none_or(|it| it.0.end <= place.bytes.start) {
            let new = found.new_at(place).ok_or_else(|| absent(text, &old, &new))?;
            splices.push((place.bytes.start..place.bytes.end, new.into_owned()));
        }
    }
    let note = tolerated("`old`", content, &found.places, &found.rungs);
    let stood = splice(&mut text.content, &splices).ok_or(Misfit::Unchanged)?;
    Ok((note, Step::Places(stood)))
}

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

fn nul() -> Misfit {
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
