//! Tells what later calls of the model changed from what the user changed or rejected.

use super::fate::{Decided, Fate, Outcome, Revision};
use super::formatted::{self, Formatting};
use super::sides::{Sides, outcome as judge, span};
use crate::text::{Hunk, Text, reviewed_hunks};

/// Distinguishes lines that later calls changed, and lines that were rejected with earlier calls, from lines that the
/// user reworked.
pub(super) fn tell_apart(
    outcome: &mut Outcome,
    parts: &[Revision<'_>],
    at: usize,
    (settled, formattings): (Option<&Text>, &[Formatting]),
) {
    let part = parts[at];
    // which hunks of the part a text has, as proposed or formatted
    let had = |text: &Text| {
        let mut outcome = judge(part, Some(text));
        formatted::tell_apart(&mut outcome, part, text, formattings);
        let is_there = |it: &Decided| matches!(it.fate, Fate::Kept | Fate::Formatted);
        outcome.hunks.iter().map(is_there).collect::<Vec<_>>()
    };
    let replaced = replaced(parts, at, settled);
    for edit in &parts[at + 1..] {
        let (before, after) = (had(edit.before), had(edit.after));
        for (at, hunk) in outcome.hunks.iter_mut().enumerate() {
            match hunk.fate {
                _ if !before[at] || after[at] => (),
                Fate::Reworked => hunk.fate = Fate::Superseded,
                // a later edit may leave as little of a hunk as its rejection does
                Fate::Undone => {
                    if let Some(Some(it)) = replaced.get(at) {
                        it.clone_into(hunk);
                    }
                }
                _ => (),
            }
        }
    }
    let whole = Revision { before: parts[0].before, ..part };
    let judged = judge(whole, settled).hunks;
    let hunks: Vec<_> = reviewed_hunks(whole.before, whole.after).into_iter().zip(judged).collect();
    for (own, hunk) in reviewed_hunks(part.before, part.after).iter().zip(&mut outcome.hunks) {
        let meets =
            |it: &&(Hunk, Decided)| it.0.new.start <= own.new.end && own.new.start <= it.0.new.end;
        let mut met = hunks.iter().filter(meets).map(|it| &it.1).peekable();
        if hunk.fate == Fate::Reworked
            && let Some(first) = met.peek().copied()
            && met.all(|it| it.fate == Fate::Undone)
        {
            *hunk = first.clone();
        }
    }
}

/// For each hunk of `parts[at]`, its outcome if the settled text has in the hunk's place what the last edit left there,
/// and that is not what was there before the hunk.
fn replaced(parts: &[Revision<'_>], at: usize, settled: Option<&Text>) -> Vec<Option<Decided>> {
    let (Some(settled), Some(last)) = (settled, parts.last()) else { return Vec::new() };
    let part = parts[at];
    let (sides, left) = (Sides::new(part, settled), Sides::new(part, last.after));
    let one = |hunk: &Hunk| {
        let (now, then) = (sides.widened(hunk.new.clone()).1, left.widened(hunk.new.clone()).1);
        let lines = &sides.settled[now.clone()];
        let is_left = lines == &left.settled[then] && lines != &sides.before[span(&hunk.old)];
        is_left.then(|| sides.changed(Fate::Superseded, now))
    };
    reviewed_hunks(part.before, part.after).iter().map(one).collect()
}
