//! Compares a hunk with the settled text, which the file has when the review is over.

use super::fate::{Decided, Fate, Outcome, Revision, Since};
use crate::text::{Hunk, Text, diff, distance, reviewed_hunks};
use std::ops::Range;

/// How many lines above and below a hunk are compared together with the hunk.
const AROUND: u32 = 30;

/// The fates of one part's hunks in the settled text. If the file does not exist any more (`settled` is `None`), all
/// hunks are undone. The user's changes elsewhere in the file do not count, even if they move lines.
pub fn outcome(part: Revision<'_>, settled: Option<&Text>) -> Outcome {
    let hunks = reviewed_hunks(part.before, part.after);
    let all = |fate| {
        let one = || Decided { fate, since: Since::Same, line: 1, lines: Vec::new(), from: 0 };
        let hunks = (0..hunks.len().max(1)).map(|_| one()).collect();
        Outcome { hunks, is_outside: false }
    };
    let Some(settled) = settled else { return all(Fate::Undone) };
    if hunks.is_empty() {
        let kept = settled.eol() == part.after.eol();
        return all(if kept { Fate::Kept } else { Fate::Undone });
    }
    let sides = Sides::new(part, settled);
    let hunks = hunks.iter().map(|hunk| sides.decide(hunk)).collect();
    Outcome { hunks, is_outside: false }
}

pub(super) struct Sides<'a> {
    pub(super) before: Vec<&'a str>,
    pub(super) after: Vec<&'a str>,
    pub(super) settled: Vec<&'a str>,
    /// The difference from `after` to `settled`.
    later: Vec<Hunk>,
}

impl<'a> Sides<'a> {
    pub(super) fn new(part: Revision<'a>, settled: &'a Text) -> Sides<'a> {
        Sides {
            before: part.before.lines().collect(),
            after: part.after.lines().collect(),
            settled: settled.lines().collect(),
            later: diff(part.after, settled),
        }
    }

    pub(super) fn decide(&self, hunk: &Hunk) -> Decided {
        let fate = self.judge(hunk);
        let at = self.now(hunk.new.start, false);
        let lines = match fate {
            Fate::Kept => &self.after[span(&hunk.new)],
            Fate::Undone => &self.before[span(&hunk.old)],
            _ => {
                let changed = self.changed(fate, self.widened(hunk.new.clone()).1);
                return Decided { line: number(at), ..changed };
            }
        };
        let lines = lines.iter().copied().map(str::to_owned).collect();
        Decided { fate, since: Since::Same, line: number(at), lines, from: at }
    }

    /// The outcome of a hunk in whose place the settled text has these lines, which are neither the proposed lines nor
    /// those before.
    pub(super) fn changed(&self, fate: Fate, now: Range<usize>) -> Decided {
        let (line, from) = (number(now.start), now.start);
        let lines = self.settled[now].iter().copied().map(str::to_owned).collect();
        Decided { fate, since: Since::Same, line, lines, from }
    }

    /// Compares the settled text with the proposal, and with the proposal without this hunk. If the settled text is
    /// nearer to one of these two texts by the size of the hunk, the user chose that text. A comparison of line
    /// positions would depend on which of several equal lines a diff counts as new; this comparison does not.
    pub(super) fn judge(&self, hunk: &Hunk) -> Fate {
        let (window, now) = self.window(&hunk.new);
        if self.after[window.clone()] == self.settled[now.clone()] {
            return Fate::Kept;
        }
        let without: Vec<&str> = [
            &self.after[window.start..hunk.new.start as usize],
            &self.before[span(&hunk.old)],
            &self.after[hunk.new.end as usize..window.end],
        ]
        .concat();
        let far_with = distance(&self.after[window], &self.settled[now.clone()]);
        let far_without = distance(&without, &self.settled[now]);
        let size = distance(&self.before[span(&hunk.old)], &self.after[span(&hunk.new)]);
        if far_with + size <= far_without {
            Fate::Kept
        } else if far_without + size <= far_with {
            Fate::Undone
        } else {
            Fate::Reworked
        }
    }

    /// The lines of `after` around `new`, and the lines of the settled text in their place.
    fn window(&self, new: &Range<u32>) -> (Range<usize>, Range<usize>) {
        let total = u32::try_from(self.after.len()).unwrap_or(u32::MAX);
        self.widened(new.start.saturating_sub(AROUND)..(new.end + AROUND).min(total))
    }

    /// Widens a range of lines of `after` until `after` and the settled text agree at both ends of the range. Returns
    /// the widened range, and the lines of the settled text in its place.
    pub(super) fn widened(&self, lines: Range<u32>) -> (Range<usize>, Range<usize>) {
        let lines = self.reach(lines);
        let now = self.now(lines.start, false)..self.now(lines.end, true);
        (span(&lines), now)
    }

    /// Widens a range of lines of `after` until `after` and the settled text agree at both ends of the range.
    pub(super) fn reach(&self, mut lines: Range<u32>) -> Range<u32> {
        let from = self.later.partition_point(|hunk| hunk.old.end < lines.start);
        for hunk in &self.later[from..] {
            if hunk.old.start > lines.end {
                break;
            }
            lines.start = lines.start.min(hunk.old.start);
            lines.end = lines.end.max(hunk.old.end);
        }
        lines
    }

    /// The lines of the settled text in the place of `lines`. Both texts have to agree at both ends of the range.
    pub(super) fn now_of(&self, lines: &Range<u32>) -> &[&'a str] {
        &self.settled[self.now(lines.start, false)..self.now(lines.end, true)]
    }

    /// The index in the settled text of the line `at` of `after`. With `past`, lines that were inserted directly before
    /// that line are skipped.
    fn now(&self, at: u32, past: bool) -> usize {
        let before = |hunk: &Hunk| hunk.old.end < at || (past && hunk.old.end == at);
        let count = self.later.partition_point(before);
        let (from, to) =
            self.later[..count].last().map_or((0, 0), |hunk| (hunk.old.end, hunk.new.end));
        (to + (at - from)) as usize
    }
}

/// The number of a line, from 1.
fn number(at: usize) -> u32 {
    u32::try_from(at + 1).unwrap_or(u32::MAX)
}

pub(super) fn span(range: &Range<u32>) -> Range<usize> {
    range.start as usize..range.end as usize
}
