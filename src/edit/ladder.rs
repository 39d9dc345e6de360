//! Finds the place of an edit whose `old` is not exactly in the text. Tries one tolerance after another, such as
//! ignoring blanks at line ends; the first tolerance with a match gives the result. Never chooses by similarity.

use super::fold::{self, Folded};
use super::lines::{Lines, Shift, bare};
use super::numbers;
use crate::text::diff_lines;
use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

/// The tolerances, in the order in which they are tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rung {
    /// `old` was sent with the line numbers that `read` shows.
    Numbers,
    Blanks,
    Shift,
    Plain,
    FirstBlank,
    LastBlank,
}

impl fmt::Display for Rung {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Rung::Numbers => "without the line numbers",
            Rung::Blanks => "ignoring blanks at line ends",
            Rung::Shift => "with another indentation",
            Rung::Plain => "treating typographic quotes, dashes and spaces as plain ones",
            Rung::FirstBlank => "without the blank line at its beginning",
            Rung::LastBlank => "without the blank line at its end",
        })
    }
}

/// A place where `old` was found: its bytes, and how its indentation differs.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) bytes: Range<usize>,
    shift: Shift,
}

impl Place {
    pub(super) fn of(bytes: Range<usize>) -> Place {
        Place { bytes, shift: Shift::None }
    }

    /// Whether the new text is indented differently at this place.
    pub(super) fn is_shifted(&self) -> bool {
        matches!(self.shift, Shift::Add(_) | Shift::Remove(_))
    }
}

/// The result of a search for an `old` in a text.
pub(super) struct Found<'a> {
    content: &'a str,
    /// `old` and `new` as the model sent them, without line numbers and blank lines that were removed.
    old: String,
    new: String,
    /// The places in ascending order. There is at least one. Places may overlap.
    pub(super) places: Vec<Place>,
    /// The tolerances that were used; empty for an exact match.
    pub(super) rungs: Vec<Rung>,
}

impl<'a> Found<'a> {
    /// The exact matches of `old`; `None` if there is none.
    pub(super) fn exact(
        content: &'a str,
        old: &str,
        new: &str,
        places: Vec<Place>,
    ) -> Option<Found<'a>> {
        let (old, new) = (old.to_owned(), new.to_owned());
        (!places.is_empty()).then(|| Found { content, old, new, places, rungs: Vec::new() })
    }

    /// The new text for a place; `None` if `new` cannot get the indentation of that place.
    pub(super) fn new_at(&self, place: &Place) -> Option<Cow<'_, str>> {
        let file = &self.content[place.bytes.clone()];
        // the file's last line has no newline, and the edit does not add one
        let (old, new) = match self.old.strip_suffix('\n').filter(|_| !file.ends_with('\n')) {
            Some(old) => (old, self.new.strip_suffix('\n').unwrap_or(&self.new)),
            None => (&self.old[..], &self.new[..]),
        };
        if self.rungs.is_empty() {
            return Some(Cow::Borrowed(new));
        }
        merged(file, old, new, &place.shift).map(Cow::Owned)
    }
}

/// Finds the places of an `old` that `content` does not contain exactly. Each tolerance finds at most `most` places;
/// `pick` chooses among them.
pub(super) fn climb<'a>(
    content: &'a str,
    old: &str,
    new: &str,
    most: usize,
    pick: impl Fn(Vec<Place>) -> Vec<Place>,
) -> Option<Found<'a>> {
    let text = Sought { lines: Lines::of(content), content };
    let stripped = numbers::stripped(old, new);
    let numbered = stripped.as_ref().map(|(old, new)| (&[Rung::Numbers][..], &**old, &**new));
    for (taken, old, new) in numbered.into_iter().chain([(&[][..], old, new)]) {
        for (dropped, old, new) in ends(old, new) {
            let mut rungs = [taken, dropped].concat();
            for rung in [Rung::Blanks, Rung::Shift, Rung::Plain] {
                let places = pick(text.places(rung, (old, new), !rungs.is_empty(), most));
                if !places.is_empty() {
                    // if removing line numbers or blank lines made every match exact, this tolerance was not needed
                    let is_exact = |it: &Place| content[it.bytes.clone()] == *old;
                    if rungs.is_empty() || !places.iter().all(is_exact) {
                        rungs.push(rung);
                    }
                    let (old, new) = (old.to_owned(), new.to_owned());
                    return Some(Found { content, old, new, places, rungs });
                }
            }
        }
    }
    None
}

/// Variants of `old` and `new`: unchanged, without a blank first line, without a blank last line, and without both.
/// There are none if `old` is blank.
fn ends<'a>(old: &'a str, new: &'a str) -> Vec<(&'static [Rung], &'a str, &'a str)> {
    if old.trim().is_empty() {
        return Vec::new();
    }
    let mut list: Vec<(&'static [Rung], _, _)> = vec![(&[], old, new)];
    let first = without_first(old).map(|old| (old, without_first(new).unwrap_or(new)));
    let last = |(old, new)| without_last(old).map(|old| (old, without_last(new).unwrap_or(new)));
    list.extend(first.map(|(old, new)| (&[Rung::FirstBlank][..], old, new)));
    list.extend(last((old, new)).map(|(old, new)| (&[Rung::LastBlank][..], old, new)));
    let both = first.and_then(last);
    list.extend(both.map(|(old, new)| (&[Rung::FirstBlank, Rung::LastBlank][..], old, new)));
    list
}

fn without_first(text: &str) -> Option<&str> {
    let (first, rest) = text.split_once('\n')?;
    (bare(first).is_empty() && !rest.trim().is_empty()).then_some(rest)
}

fn without_last(text: &str) -> Option<&str> {
    let body = text.strip_suffix('\n').unwrap_or(text);
    let cut = body.rfind('\n')?;
    let kept = if body.len() < text.len() { &text[..=cut] } else { &text[..cut] };
    (bare(&body[cut + 1..]).is_empty() && !kept.trim().is_empty()).then_some(kept)
}

/// The lines of a block, whether or not it ends in a newline.
pub(super) fn lines_of_block(text: &str) -> Vec<&str> {
    text.strip_suffix('\n').unwrap_or(text).split('\n').collect()
}

struct Sought<'a> {
    lines: Lines<'a>,
    content: &'a str,
}

impl Sought<'_> {
    /// The places that one tolerance finds. If `whole` is set, only whole lines match.
    fn places(&self, rung: Rung, (old, new): (&str, &str), whole: bool, most: usize) -> Vec<Place> {
        let sought = lines_of_block(old);
        let block = |(at, shift)| {
            let bytes = self.lines.bytes(&(at..at + sought.len()), old.ends_with('\n'));
            Place { bytes, shift }
        };
        match rung {
            Rung::Shift => {
                let found = self.lines.shifted(&sought, most).into_iter();
                found.map(|(at, shift)| block((at, shift.of_new(old, new)))).collect()
            }
            Rung::Plain if self.content.is_ascii() && old.is_ascii() => Vec::new(),
            Rung::Plain => {
                let found = Folded::of(self.content).places(old, most).into_iter();
                found.filter(|it| !whole || self.is_whole(it)).map(Place::of).collect()
            }
            _ => {
                let found = self.lines.alike(&sought, most).into_iter();
                found.map(|at| block((at, Shift::None))).collect()
            }
        }
    }

    fn is_whole(&self, bytes: &Range<usize>) -> bool {
        let (before, piece) = self.content.split_at(bytes.start);
        let (piece, behind) = piece.split_at(bytes.len());
        let ends = behind.is_empty() || piece.ends_with('\n') || behind.starts_with('\n');
        (before.is_empty() || before.ends_with('\n')) && ends
    }
}

/// Applies the changes from `old` to `new` to the file's lines. Lines that `old` and `new` share stay as they are in
/// the file.
fn merged(file: &str, old: &str, new: &str, shift: &Shift) -> Option<String> {
    let pieces = |text| -> Vec<&str> { str::split(text, '\n').collect() };
    let (file, old, pieces) = (pieces(file), pieces(old), pieces(new));
    let returns = carriage_returns(&file) && !new.contains('\r');
    let mut out: Vec<Cow<str>> = Vec::new();
    let mut at = 0;
    for hunk in diff_lines(old.iter().copied(), pieces.iter().copied()) {
        let (gone, come) = (hunk.old.start as usize..hunk.old.end as usize, hunk.new);
        out.extend(file[at..gone.start].iter().map(|line| Cow::Borrowed(*line)));
        let paired = gone.len() == come.len() && *shift == Shift::None;
        for index in come.start as usize..come.end as usize {
            let was = gone.start + index - come.start as usize;
            let line = match file.get(was).filter(|_| paired) {
                Some(line) => Cow::Owned(replaced(line, old[was], pieces[index])),
                None => shift.applied(pieces[index])?,
            };
            let is_end = index + 1 == pieces.len() && line.is_empty();
            let bare = returns && !is_end && !line.ends_with('\r');
            out.push(if bare { line + "\r" } else { line });
        }
        at = gone.end;
    }
    out.extend(file[at..].iter().map(|line| Cow::Borrowed(*line)));
    Some(out.join("\n"))
}

/// Applies the change from `sent` to `new` to a line of the file. Blanks at the line's end and typographic characters
/// change only where `sent` and `new` differ.
fn replaced(line: &str, sent: &str, new: &str) -> String {
    let end = |line: &'_ str| line[bare(line).len()..].to_owned();
    let kept = fold::changed(bare(line), bare(sent), bare(new));
    let is_told = end(sent) != end(new) || bare(new).is_empty();
    kept + &if is_told { end(new) } else { end(line) }
}

/// Whether every line ends in a carriage return. The empty text after the last newline does not count as a line.
fn carriage_returns(pieces: &[&str]) -> bool {
    let lines = match pieces {
        [lines @ .., ""] if !lines.is_empty() => lines,
        all => all,
    };
    lines.iter().all(|line| line.ends_with('\r'))
}

impl Shift {
    /// The shift that `new` needs. `new` needs none if only `old` lacks the file's indentation: then the first line of
    /// `new` has exactly the file's indentation, and each other line has at least the part that `old` lacks.
    fn of_new(self, old: &str, new: &str) -> Shift {
        let Shift::Add(more) = &self else { return self };
        let (Some(first), Some(was)) = (first_line(new), first_line(old)) else { return self };
        let is_there = indent(first) == format!("{more}{}", indent(was));
        let mut lines = new.lines().filter(|it| !bare(it).is_empty());
        if is_there && lines.all(|it| it.starts_with(more)) { Shift::Has } else { self }
    }

    /// A line of the new text, shifted to the file's indentation.
    fn applied<'l>(&self, line: &'l str) -> Option<Cow<'l, str>> {
        Some(match self {
            _ if bare(line).is_empty() => Cow::Borrowed(line),
            Shift::None | Shift::Has => Cow::Borrowed(line),
            Shift::Add(more) => Cow::Owned(format!("{more}{line}")),
            Shift::Remove(less) => Cow::Borrowed(line.strip_prefix(&**less)?),
        })
    }
}

/// The first line that is not blank.
fn first_line(text: &str) -> Option<&str> {
    text.lines().find(|it| !bare(it).is_empty())
}

fn indent(line: &str) -> &str {
    &line[..line.len() - line.trim_start().len()]
}
