//! What the user made of a proposal: each of its hunks judged against the text they settled on.

use super::{Outcome, Part};
use crate::text::{Hunk, Text, diff, distance};
use std::ops::Range;

/// Lines around a hunk that are compared with it.
const AROUND: u32 = 30;

/// Judges one part's hunks in the settled text (`None`: the file is gone, all is undone). The user's
/// changes elsewhere do not count, wherever they move the lines.
pub fn outcome(part: &Part, settled: Option<&Text>) -> Outcome {
    let hunks = diff(&part.before, &part.after);
    let mut outcome = Outcome::default();
    let Some(settled) = settled else {
        outcome.undone = count(&hunks).max(1);
        return outcome;
    };
    if hunks.is_empty() {
        let kept = settled.eol() == part.after.eol();
        return Outcome { kept: kept.into(), undone: (!kept).into(), reworked: Vec::new() };
    }
    if settled.joined() == part.after.joined() {
        outcome.kept = count(&hunks);
        return outcome;
    }
    let sides = Sides {
        before: part.before.lines().collect(),
        after: part.after.lines().collect(),
        settled: settled.lines().collect(),
        later: diff(&part.after, settled),
    };
    for hunk in &hunks {
        match sides.judge(hunk) {
            Verdict::Kept => outcome.kept += 1,
            Verdict::Undone => outcome.undone += 1,
            Verdict::Reworked(lines) => outcome.reworked.push(lines),
        }
    }
    outcome
}

/// Whether `lines` (as they were proposed) are about a hunk of this part.
pub fn concerns(part: &Part, lines: &[String]) -> bool {
    let (before, after): (Vec<&str>, Vec<&str>) =
        (part.before.lines().collect(), part.after.lines().collect());
    diff(&part.before, &part.after).iter().any(|hunk| {
        let new = &after[span(&hunk.new)];
        if new.is_empty() {
            let gone = &before[span(&hunk.old)];
            return lines.is_empty() || lines.iter().any(|line| gone.contains(&line.as_str()));
        }
        lines.iter().any(|line| !line.trim().is_empty() && new.contains(&line.as_str()))
    })
}

enum Verdict {
    Kept,
    Undone,
    Reworked(String),
}

struct Sides<'a> {
    before: Vec<&'a str>,
    after: Vec<&'a str>,
    settled: Vec<&'a str>,
    /// From `after` to `settled`.
    later: Vec<Hunk>,
}

impl Sides<'_> {
    /// The settled text is as far from the proposal as from the proposal without this hunk, or nearer
    /// to one by exactly the hunk's size: that one it has. Unlike positions in a diff this does not
    /// depend on which of several equal lines a diff calls new.
    fn judge(&self, hunk: &Hunk) -> Verdict {
        let (window, now) = self.window(&hunk.new);
        if self.after[window.clone()] == self.settled[now.clone()] {
            return Verdict::Kept;
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
            Verdict::Kept
        } else if far_without + size <= far_with {
            Verdict::Undone
        } else {
            Verdict::Reworked(self.standing(&hunk.new))
        }
    }

    /// Lines around `new` in `after`, and those that stand for them now.
    fn window(&self, new: &Range<u32>) -> (Range<usize>, Range<usize>) {
        let total = u32::try_from(self.after.len()).unwrap_or(u32::MAX);
        self.widened(new.start.saturating_sub(AROUND)..(new.end + AROUND).min(total))
    }

    /// Lines of `after`, and those that stand for them now, cut where both texts agree.
    fn widened(&self, mut lines: Range<u32>) -> (Range<usize>, Range<usize>) {
        for hunk in &self.later {
            if hunk.old.start <= lines.end && lines.start <= hunk.old.end {
                lines.start = lines.start.min(hunk.old.start);
                lines.end = lines.end.max(hunk.old.end);
            }
        }
        let now = self.now(lines.start, false)..self.now(lines.end, true);
        (span(&lines), now)
    }

    /// Where the line `at` of `after` is in the settled text; `past` what was put in right before it, or not.
    fn now(&self, at: u32, past: bool) -> usize {
        let before = |hunk: &&Hunk| hunk.old.end < at || (past && hunk.old.end == at);
        let (from, to) = self
            .later
            .iter()
            .take_while(before)
            .last()
            .map_or((0, 0), |hunk| (hunk.old.end, hunk.new.end));
        (to + (at - from)) as usize
    }

    /// The lines that stand where the hunk was put.
    fn standing(&self, new: &Range<u32>) -> String {
        self.settled[self.widened(new.clone()).1].join("\n")
    }
}

fn span(range: &Range<u32>) -> Range<usize> {
    range.start as usize..range.end as usize
}

fn count(hunks: &[Hunk]) -> u32 {
    u32::try_from(hunks.len()).unwrap_or(u32::MAX)
}

impl Outcome {
    /// For the model: what became of the change to `path`, and the reasons the user gave.
    pub fn say(&self, path: &str, reasons: &[String]) -> String {
        let reworked = self.reworked.len();
        let total = self.kept as usize + self.undone as usize + reworked;
        let mut said = match (self.kept, self.undone, reworked) {
            (_, 0, 0) => format!("The user accepted {} in {path}.", changes(total)),
            (0, _, 0) => format!("The user rejected {} in {path}: it is undone.", changes(total)),
            (kept, undone, _) => {
                let each = [
                    (kept as usize, "accepted"),
                    (undone as usize, "rejected and undone"),
                    (reworked, "reworked by the user"),
                ];
                let each: Vec<String> = each
                    .iter()
                    .filter(|(count, _)| *count > 0)
                    .map(|(count, what)| format!("{count} {what}"))
                    .collect();
                format!("Of {} in {path}: {}.", changes(total), each.join(", "))
            }
        };
        for lines in &self.reworked {
            said.push_str(if lines.is_empty() {
                "\nReworked to nothing: no lines stand there now."
            } else {
                "\nReworked to:\n"
            });
            said.push_str(lines);
        }
        for reason in reasons {
            said.push_str("\nThe user's reason: ");
            said.push_str(reason);
        }
        said
    }
}

fn changes(count: usize) -> String {
    if count == 1 { "the change".to_owned() } else { format!("{count} changes") }
}
