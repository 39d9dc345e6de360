//! Where an `old` stands that is not in the text exactly: one tolerance after the other, each all or nothing. No
//! similarity decides: a rung either matches or it does not, and the first that does is the answer.

use super::fold::{self, Folded};
use super::lines::{Lines, Shift, bare};
use super::numbers;
use crate::text::diff_lines;
use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

/// What was tolerated, in the order of the ladder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rung {
    /// `old` came with the numbers that `read` shows.
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
            Rung::Shift => "at another indentation",
            Rung::Plain => "taking typographic quotes, dashes and spaces for plain ones",
            Rung::FirstBlank => "without the blank line at its beginning",
            Rung::LastBlank => "without the blank line at its end",
        })
    }
}

/// Bytes of the text, and what is to stand there; absent where `new` cannot be brought to their indentation.
pub(super) struct Site<'a> {
    pub(super) bytes: Range<usize>,
    pub(super) new: Option<Cow<'a, str>>,
}

pub(super) struct Found {
    /// Ascending, never empty; they may overlap.
    pub(super) sites: Vec<Site<'static>>,
    pub(super) rungs: Vec<Rung>,
}

/// The places of an `old` that `content` does not hold, at most `most`.
pub(super) fn climb(content: &str, old: &str, new: &str, most: usize) -> Option<Found> {
    let text = Sought { lines: Lines::of(content), content };
    let stripped = numbers::stripped(old, new);
    let numbered = stripped.as_ref().map(|(old, new)| (&[Rung::Numbers][..], &**old, &**new));
    for (taken, old, new) in numbered.into_iter().chain([(&[][..], old, new)]) {
        for (dropped, old, new) in ends(old, new) {
            let taken = [taken, dropped].concat();
            for rung in [Rung::Blanks, Rung::Shift, Rung::Plain] {
                let sites = text.sites(rung, old, new, !taken.is_empty(), most);
                if !sites.is_empty() {
                    // what is exact once something was taken away says no more than that
                    let is_exact = |it: &Site| content[it.bytes.clone()] == *old;
                    let more = (taken.is_empty() || !sites.iter().all(is_exact)).then_some(rung);
                    return Some(Found { sites, rungs: taken.into_iter().chain(more).collect() });
                }
            }
        }
    }
    None
}

/// `old` and `new` as they are, then without a blank first line, last line, both. None where nothing is left.
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

struct Sought<'a> {
    lines: Lines<'a>,
    content: &'a str,
}

impl Sought<'_> {
    /// The places by one rung, `whole`: of whole lines only.
    fn sites(
        &self,
        rung: Rung,
        old: &str,
        new: &str,
        whole: bool,
        most: usize,
    ) -> Vec<Site<'static>> {
        let sought: Vec<&str> = old.strip_suffix('\n').unwrap_or(old).split('\n').collect();
        let block = |at: usize, shift| self.block(at..at + sought.len(), old, new, shift);
        match rung {
            Rung::Blanks => self
                .lines
                .alike(&sought, most)
                .into_iter()
                .map(|at| block(at, Shift::None))
                .collect(),
            Rung::Shift => {
                let found = self.lines.shifted(&sought, most);
                found.into_iter().map(|(at, shift)| block(at, shift)).collect()
            }
            _ if self.content.is_ascii() && old.is_ascii() => Vec::new(),
            _ => {
                let found = Folded::of(self.content).places(old, most);
                let site = |bytes: Range<usize>| {
                    let new = merged(&self.content[bytes.clone()], old, new, Shift::None);
                    Site { bytes, new: new.map(Cow::Owned) }
                };
                found.into_iter().filter(|it| !whole || self.is_whole(it)).map(site).collect()
            }
        }
    }

    fn is_whole(&self, bytes: &Range<usize>) -> bool {
        let (before, piece) = self.content.split_at(bytes.start);
        let (piece, behind) = piece.split_at(bytes.len());
        let ends = behind.is_empty() || piece.ends_with('\n') || behind.starts_with('\n');
        (before.is_empty() || before.ends_with('\n')) && ends
    }

    fn block(&self, at: Range<usize>, old: &str, new: &str, shift: Shift) -> Site<'static> {
        let is_open = old.ends_with('\n') && !self.lines.is_ended(at.end - 1);
        let (old, new) = if is_open {
            // the file's last line has no end, and gets none by the way
            (&old[..old.len() - 1], new.strip_suffix('\n').unwrap_or(new))
        } else {
            (old, new)
        };
        let bytes = self.lines.bytes(&at, old.ends_with('\n'));
        let new = merged(&self.content[bytes.clone()], old, new, shift);
        Site { bytes, new: new.map(Cow::Owned) }
    }
}

/// The file's lines changed as `old` was to become `new`: lines that both have stay as the file has them.
fn merged(file: &str, old: &str, new: &str, shift: Shift) -> Option<String> {
    let pieces = |text| -> Vec<&str> { str::split(text, '\n').collect() };
    let (file, old, pieces) = (pieces(file), pieces(old), pieces(new));
    let returns = carriage_returns(&file) && !new.contains('\r');
    let mut out: Vec<Cow<str>> = Vec::new();
    let mut at = 0;
    for hunk in diff_lines(old.iter().copied(), pieces.iter().copied()) {
        let (gone, come) = (hunk.old.start as usize..hunk.old.end as usize, hunk.new);
        out.extend(file[at..gone.start].iter().map(|line| Cow::Borrowed(*line)));
        let paired = gone.len() == come.len() && shift == Shift::None;
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

/// A line of the file for which `new` was sent in the place of `sent`: of blanks at its end, and of typographic
/// characters, only what the two differ in is changed.
fn replaced(line: &str, sent: &str, new: &str) -> String {
    let end = |line: &'_ str| line[bare(line).len()..].to_owned();
    let kept = fold::changed(bare(line), bare(sent), bare(new));
    let is_told = end(sent) != end(new) || bare(new).is_empty();
    kept + &if is_told { end(new) } else { end(line) }
}

/// Whether every line ends in one; the piece behind the last newline is none.
fn carriage_returns(pieces: &[&str]) -> bool {
    let lines = match pieces {
        [lines @ .., ""] if !lines.is_empty() => lines,
        all => all,
    };
    lines.iter().all(|line| line.ends_with('\r'))
}

impl Shift<'_> {
    /// A line as it was sent, at the file's indentation.
    fn applied(self, line: &str) -> Option<Cow<'_, str>> {
        Some(match self {
            _ if bare(line).is_empty() => Cow::Borrowed(line),
            Shift::None => Cow::Borrowed(line),
            Shift::Add(more) => Cow::Owned([more, line].concat()),
            Shift::Remove(less) => Cow::Borrowed(line.strip_prefix(less)?),
        })
    }
}
