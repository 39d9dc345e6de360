//! A change applied to a text: exact and unique, or a misfit. Nothing outside the match changes.

use super::nearest::nearest;
use super::{Change, Misfit, Replacement};
use crate::text::{Newline, Text};
use std::borrow::Cow;

/// How many places of an ambiguous `old` are looked for.
const PLACES: usize = 100;
/// `new` must have this many bytes to be taken for a change that was made before.
const TELLING: usize = 8;

/// What `change` makes of `before` (`None`: there is no file). All replacements apply, or none.
pub fn resolve(before: Option<&Text>, change: &Change) -> Result<Text, Misfit> {
    match (change, before) {
        (Change::Write { text }, Some(before)) if !before.content.is_empty() => {
            overwritten(before, text)
        }
        (Change::Write { text }, _) => fresh(before, text),
        (Change::Replace(list), Some(before)) => replaced(before, list),
        (Change::Replace(list), None) => match list.as_slice() {
            [only] if only.old.is_empty() => fresh(None, &only.new),
            _ => Err(Misfit::NoFile),
        },
    }
}

/// The first text of a new or an empty file: what was given, with its own newlines and mark.
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

fn replaced(before: &Text, list: &[Replacement]) -> Result<Text, Misfit> {
    let mut now = before.clone();
    for (index, one) in list.iter().enumerate() {
        match applied(&now, one) {
            Ok(text) => now = text,
            Err(misfit) if list.len() == 1 => return Err(misfit),
            Err(misfit) => {
                return Err(Misfit::Within { index, text: now, misfit: Box::new(misfit) });
            }
        }
    }
    if now == *before { Err(Misfit::Unchanged) } else { Ok(now) }
}

fn applied(text: &Text, one: &Replacement) -> Result<Text, Misfit> {
    if one.old.is_empty() {
        return if text.content.is_empty() {
            fresh(Some(text), &one.new)
        } else {
            Err(Misfit::EmptyOld)
        };
    }
    let (old, new) = (fitted(text, &one.old)?, fitted(text, &one.new)?);
    if old == new {
        return Err(Misfit::Unchanged);
    }
    refuse_placeholder(&old, &new)?;
    let content = match places(&text.content, &old).as_slice() {
        [] => return Err(absent(text, &old, &new)),
        _ if one.everywhere => text.content.replace(&*old, &new),
        [at] => [&text.content[..*at], &new, &text.content[at + old.len()..]].concat(),
        many => return Err(Misfit::Ambiguous { at: lines_of(&text.content, many) }),
    };
    Ok(Text { content, ..*text })
}

/// What was given, in the text's own terms: a Dos text has `\n` between its lines, a marked one its
/// mark aside.
fn fitted<'a>(text: &Text, given: &'a str) -> Result<Cow<'a, str>, Misfit> {
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
    Misfit::Refused("the text holds a NUL character, which no text file can".to_owned())
}

/// Byte offsets of `old`, overlapping ones too, ascending, at most `PLACES`.
fn places(content: &str, old: &str) -> Vec<usize> {
    let step = old.chars().next().map_or(1, char::len_utf8);
    let mut from = 0;
    let next = || {
        let at = from + content.get(from..)?.find(old)?;
        from = at + step;
        Some(at)
    };
    std::iter::from_fn(next).take(PLACES).collect()
}

/// The lines, from 1, of ascending byte offsets.
fn lines_of(content: &str, offsets: &[usize]) -> Vec<u32> {
    let (mut line, mut from) = (1, 0);
    let mut lines = Vec::with_capacity(offsets.len());
    for &at in offsets {
        line += content[from..at].bytes().filter(|byte| *byte == b'\n').count();
        from = at;
        lines.push(u32::try_from(line).unwrap_or(u32::MAX));
    }
    lines
}

fn absent(text: &Text, old: &str, new: &str) -> Misfit {
    if new.trim().len() >= TELLING
        && let [at] = lines_of(&text.content, &places(&text.content, new))[..]
    {
        return Misfit::AlreadyApplied { at };
    }
    Misfit::Absent { nearest: nearest(&text.content, old), old: old.to_owned() }
}

/// Refuses `// ... rest of the code unchanged ...` and the like, unless the text had that line.
fn refuse_placeholder(had: &str, new: &str) -> Result<(), Misfit> {
    let found = new
        .lines()
        .map(str::trim)
        .find(|line| is_placeholder(line) && !had.lines().any(|known| known.trim() == *line));
    match found {
        None => Ok(()),
        Some(line) => Err(Misfit::Refused(format!(
            "the line `{line}` stands for text that was left out, and would be written as it is. \
             Send the whole text, or a smaller replacement that leaves the rest alone"
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
    let dots = words.starts_with("...") || words.starts_with('…');
    let says = SAYS.iter().any(|phrase| words.contains(phrase));
    let rest = bare.is_some()
        && words.starts_with("rest of")
        && ["unchanged", "same", "here"].iter().any(|word| words.contains(word));
    (dots && says) || rest
}
