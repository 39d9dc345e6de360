//! For an `old` that is not in a text, finds the block of the text that is most similar to it: by rare lines that both
//! have, otherwise by words that both have. Both searches take one pass over the text; they do not compare every line
//! with every other line.

use std::collections::{HashMap, HashSet};

/// The most lines of `old` that are compared.
const LINES: usize = 200;
/// The rarest line of `old` may be at several places of the text. At most this many of them are compared with `old`.
const PLACES: usize = 50;
/// For a text with very long lines: the most words of `old` that are searched, and the number of bytes that are shown
/// on each side of the rarest word.
const WORDS: usize = 20;
const AROUND: usize = 150;
/// A line with more bytes is unlikely to be code, and is not compared.
const LONG: usize = 2_000;

/// The first line, from 1, of the block that is most similar to `old`.
pub(super) fn nearest(content: &str, old: &str) -> Option<u32> {
    let lines: Vec<&str> = content.lines().map(short).collect();
    let wanted: Vec<(usize, &str)> = old
        .lines()
        .take(LINES)
        .map(short)
        .enumerate()
        .filter(|(_, line)| !line.is_empty())
        .collect();
    let start = by_line(&lines, &wanted).or_else(|| by_words(&lines, &wanted))?;
    u32::try_from(start + 1).ok()
}

/// For a text whose lines are too long to be compared: the piece around the rarest word of `old`, with its line and
/// column, both from 1.
pub(super) fn around<'a>(content: &'a str, old: &str) -> Option<(usize, usize, &'a str)> {
    let mut sought: Vec<&str> = words(old).collect();
    sought.sort_by_key(|word| (usize::MAX - word.len(), *word));
    sought.dedup();
    let places = |word: &&str| {
        let found = memchr::memmem::find_iter(content.as_bytes(), *word).take(PLACES);
        found.fold((0, 0), |(count, at), it| (count + 1, if count == 0 { it } else { at }))
    };
    let found = sought.iter().take(WORDS).map(places).filter(|(count, _)| *count > 0);
    let (_, at) = found.min_by_key(|(count, _)| *count)?;
    let start = content[..at].rfind('\n').map_or(0, |it| it + 1);
    let end = content[at..].find('\n').map_or(content.len(), |it| at + it);
    if end - start <= LONG {
        return None;
    }
    let line = 1 + memchr::memchr_iter(b'\n', &content.as_bytes()[..start]).count();
    let is_edge = |at: &usize| content.is_char_boundary(*at);
    let from = (start.max(at.saturating_sub(AROUND))..=at).find(is_edge)?;
    let to = ((at + AROUND).min(end)..=end).find(is_edge)?;
    Some((line, 1 + content[start..at].chars().count(), &content[from..to]))
}

fn short(line: &str) -> &str {
    if line.len() > LONG { "" } else { line.trim() }
}

fn by_line(lines: &[&str], wanted: &[(usize, &str)]) -> Option<usize> {
    let mut places: HashMap<&str, Vec<usize>> =
        wanted.iter().map(|(_, line)| (*line, Vec::new())).collect();
    let lengths = Lengths::of(wanted.iter().map(|(_, line)| *line));
    for (at, line) in lines.iter().enumerate().filter(|(_, line)| lengths.has(line)) {
        if let Some(list) = places.get_mut(line) {
            list.push(at);
        }
    }
    let (index, rarest) = wanted
        .iter()
        .filter(|(_, line)| !places[line].is_empty() && line.chars().any(char::is_alphanumeric))
        .min_by_key(|(_, line)| (places[line].len(), usize::MAX - line.len()))?;
    let alike = |start: &usize| {
        wanted.iter().filter(|(offset, line)| lines.get(start + offset) == Some(line)).count()
    };
    let starts = places[rarest].iter().take(PLACES).map(|at| at.saturating_sub(*index));
    starts.rev().max_by_key(alike)
}

fn by_words(lines: &[&str], wanted: &[(usize, &str)]) -> Option<usize> {
    let (index, longest) = wanted.iter().max_by_key(|(_, line)| line.len())?;
    let sought: HashSet<&str> = words(longest).collect();
    let lengths = Lengths::of(sought.iter().copied());
    let is_sought = |word: &&str| lengths.has(word) && sought.contains(word);
    let shared = |line: &str| words(line).filter(is_sought).count();
    let scored = lines.iter().enumerate().map(|(at, line)| (shared(line), at));
    let (score, at) = scored.rev().max_by_key(|(score, _)| *score)?;
    (score > 0 && score * 2 >= sought.len()).then(|| at.saturating_sub(*index))
}

/// The lengths of some texts in bytes, at most `LONG`. Most texts differ from these in length, and need no hash.
struct Lengths(Vec<bool>);

impl Lengths {
    fn of<'a>(texts: impl Iterator<Item = &'a str>) -> Lengths {
        let mut known = vec![false; LONG + 1];
        for text in texts {
            if let Some(it) = known.get_mut(text.len()) {
                *it = true;
            }
        }
        Lengths(known)
    }

    fn has(&self, text: &str) -> bool {
        self.0.get(text.len()).copied().unwrap_or_default()
    }
}

fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| word.len() > 2)
}
