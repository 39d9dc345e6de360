//! After a review, finds the changed hunks that only a formatter changed: the editor has seen a formatter change them,
//! or they differ from the proposal only in blanks.

use super::fate::{Decided, Fate, Outcome, Revision, Since};
use super::merge::merge;
use super::sides::{Sides, span};
use crate::text::{Hunk, Text, diff_lines, reviewed_hunks};
use std::ops::Range;

/// A formatter's change of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Formatting {
    pub before: Text,
    pub after: Text,
}

/// Distinguishes the hunks of `part` that a formatter changed from those that the user reworked. `formattings` are in
/// the order in which the editor saw them.
pub(super) fn tell_apart(
    outcome: &mut Outcome,
    part: Revision<'_>,
    settled: &Text,
    formattings: &[Formatting],
) {
    if outcome.count(Fate::Reworked) == 0 {
        return;
    }
    let formatted = formattings
        .iter()
        .fold(part.after.clone(), |text, it| merge(&it.before, &it.after, &text).text);
    let (by_user, by_formatter) = (Sides::new(part, settled), Sides::new(part, &formatted));
    for (hunk, decided) in reviewed_hunks(part.before, part.after).iter().zip(&mut outcome.hunks) {
        if decided.fate != Fate::Reworked {
            continue;
        }
        let lines = common(hunk.new.clone(), &by_user, &by_formatter);
        let (now, expected) = (by_user.now_of(&lines), by_formatter.now_of(&lines));
        let proposed = without_blanks(&by_user.after[span(&hunk.new)]);
        // if the proposal itself changed only blanks, different blanks are the user's work
        let is_of_blanks = proposed == without_blanks(&by_user.before[span(&hunk.old)]);
        let only_blanks = !is_of_blanks && without_blanks(now) == without_blanks(expected);
        if now == expected || only_blanks {
            decided.fate = Fate::Formatted;
        }
    }
}

/// Finds the decided hunks of the part at `at` whose lines only a formatter has changed since: between the formatter's
/// changes, the user has changed nothing in these lines but put back old lines of hunks. `parts` is in the order of the
/// model's edits.
pub fn formatted_since(
    outcome: &mut Outcome,
    (parts, at): (&[Revision<'_>], usize),
    settled: &Text,
    formattings: &[Formatting],
) {
    let ([first, ..], [.., last]) = (parts, parts) else { return };
    let is_meant = |it: &Decided| it.since == Since::Edited;
    if formattings.is_empty() || !outcome.hunks.iter().any(is_meant) {
        return;
    }
    let base: Vec<&str> = first.before.lines().collect();
    let hunks = reviewed_hunks(first.before, last.after);
    let olds: Vec<&[&str]> = hunks.iter().map(|it| &base[span(&it.old)]).collect();
    let befores = formattings.iter().map(|it| &it.before).chain([settled]);
    let afters = [last.after].into_iter().chain(formattings.iter().map(|it| &it.after));
    let later = &parts[at + 1..];
    let mut steps: Vec<Step<'_>> =
        later.iter().map(|it| Step::new(it.before, it.after, false)).collect();
    for (at, (from, to)) in afters.zip(befores).enumerate() {
        steps.push(Step::new(from, to, true));
        steps.extend(formattings.get(at).map(|it| Step::new(&it.before, &it.after, false)));
    }
    let settled: Vec<&str> = settled.lines().collect();
    let own = reviewed_hunks(parts[at].before, parts[at].after);
    for (hunk, it) in own.iter().zip(&mut outcome.hunks).filter(|it| is_meant(it.1)) {
        let mut lines = span(&hunk.new);
        if steps.iter().all(|step| step.follows(&mut lines, &olds)) {
            it.since = Since::Formatted;
            it.from = lines.start;
            it.line = u32::try_from(lines.start + 1).unwrap_or(u32::MAX);
            let now = settled.get(lines).unwrap_or_default();
            it.lines = now.iter().copied().map(str::to_owned).collect();
        }
    }
}

/// What the model, the user or a formatter has changed at a time.
struct Step<'a> {
    changes: Vec<Hunk>,
    to: Vec<&'a str>,
    is_users: bool,
}

impl Step<'_> {
    fn new<'a>(from: &'a Text, to: &'a Text, is_users: bool) -> Step<'a> {
        Step { changes: diff_lines(from.lines(), to.lines()), to: to.lines().collect(), is_users }
    }

    /// Follows lines of the text before the step to those after it. Returns false if the user has changed them, other than
    /// by putting back the old lines of a hunk.
    fn follows(&self, lines: &mut Range<usize>, olds: &[&[&str]]) -> bool {
        let is_other = |it: &Hunk| {
            let old = span(&it.old);
            let meets = if lines.start == lines.end {
                old.start <= lines.end && lines.start <= old.end
            } else {
                old.start < lines.end && lines.start < old.end
            };
            meets && !olds.contains(&&self.to[span(&it.new)])
        };
        if self.is_users && self.changes.iter().any(is_other) {
            return false;
        }
        let (start, end) = (self.after(lines.start, false), self.after(lines.end, true));
        *lines = start.min(end)..start.max(end);
        true
    }

    /// The place after the step of a place before it. A formatter that changes each line leaves it at its place; of another
    /// place within a change, this is the beginning or the end of the change.
    fn after(&self, at: usize, is_end: bool) -> usize {
        let (mut was, mut is) = (0, 0);
        for it in &self.changes {
            let (old, new) = (span(&it.old), span(&it.new));
            if old.start < at && at < old.end {
                return match old.len() == new.len() {
                    true => new.start + (at - old.start),
                    false if is_end => new.end,
                    false => new.start,
                };
            } else if old.end > at || is_end && old.start == at {
                break;
            }
            (was, is) = (old.end, new.end);
        }
        is + (at - was)
    }
}

/// Widens a range of lines of the proposal until neither the user's nor the formatter's changes cross the ends of the
/// range.
fn common(mut lines: Range<u32>, one: &Sides<'_>, other: &Sides<'_>) -> Range<u32> {
    loop {
        let wider = other.reach(one.reach(lines.clone()));
        if wider == lines {
            return lines;
        }
        lines = wider;
    }
}

fn without_blanks(lines: &[&str]) -> String {
    lines.iter().flat_map(|it| it.chars()).filter(|it| !it.is_whitespace()).collect()
}
