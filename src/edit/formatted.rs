//! After a review, finds the changed hunks that only a formatter changed: the editor has seen a formatter change them,
//! or they differ from the proposal only in blanks.

use super::fate::{Decided, Fate, Outcome, Revision, Since};
use super::merge::merge;
use super::sides::{Sides, span};
use crate::text::{Text, diff_lines, reviewed_hunks};

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

/// Finds the decided hunks whose lines only a formatter has changed since: between the formatter's changes, the user has
/// changed nothing but put back old lines of hunks. `parts` is in the order of the model's edits.
pub fn formatted_since(
    outcome: &mut Outcome,
    parts: &[Revision<'_>],
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
    let is_rejection = |from: &Text, to: &Text| {
        let (from, to): (Vec<&str>, Vec<&str>) = (from.lines().collect(), to.lines().collect());
        let mut changes = diff_lines(from.iter().copied(), to.iter().copied()).into_iter();
        changes.all(|it| olds.contains(&&to[span(&it.new)]))
    };
    let befores = formattings.iter().map(|it| &it.before).chain([settled]);
    let afters = [last.after].into_iter().chain(formattings.iter().map(|it| &it.after));
    if afters.zip(befores).all(|(from, to)| is_rejection(from, to)) {
        for it in outcome.hunks.iter_mut().filter(|it| is_meant(it)) {
            it.since = Since::Formatted;
        }
    }
}

/// Widens a range of lines of the proposal until neither the user's nor the formatter's changes cross the ends of the
/// range.
fn common(
    mut lines: std::ops::Range<u32>,
    one: &Sides<'_>,
    other: &Sides<'_>,
) -> std::ops::Range<u32> {
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
