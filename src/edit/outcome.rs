//! What the user made of a proposal: each of its hunks judged against the text they settled on.

use super::{Decided, Fate, Outcome, Part, merge};
use crate::text::{Hunk, Text, diff, diff_lines, distance};
use std::collections::HashSet;
use std::ops::Range;

/// Lines around a hunk that are compared with it.
const AROUND: u32 = 30;

/// Lines that are quoted of one hunk, and of the changes elsewhere.
const QUOTED: usize = 20;
/// Hunks that are told one by one.
const TOLD: usize = 20;

/// Judges one part's hunks in the settled text (`None`: the file is gone, all is undone). The user's
/// changes elsewhere do not count, wherever they move the lines.
pub fn outcome(part: &Part, settled: Option<&Text>) -> Outcome {
    let hunks = diff(&part.before, &part.after);
    let all = |fate| {
        let one = || Decided { fate, line: 1, lines: Vec::new() };
        let hunks = (0..hunks.len().max(1)).map(|_| one()).collect();
        Outcome { hunks }
    };
    let Some(settled) = settled else { return all(Fate::Undone) };
    if hunks.is_empty() {
        let kept = settled.eol() == part.after.eol();
        return all(if kept { Fate::Kept } else { Fate::Undone });
    }
    let sides = Sides::new(part, settled);
    Outcome { hunks: hunks.iter().map(|hunk| sides.decide(hunk)).collect() }
}

/// As `outcome` of the part at `at`, where the model made several edits to the same text, in this order: what later ones
/// changed again is not the user's doing, and what was rejected with earlier ones reads as it did before those.
pub fn outcome_among(parts: &[&Part], at: usize, settled: Option<&Text>) -> Outcome {
    let part = parts[at];
    let mut outcome = outcome(part, settled);
    if outcome.count(Fate::Reworked) == 0 {
        return outcome;
    }
    for edit in &parts[at + 1..] {
        let before = self::outcome(part, Some(&edit.before));
        let after = self::outcome(part, Some(&edit.after));
        for (at, hunk) in outcome.hunks.iter_mut().enumerate() {
            let stood = before.hunks[at].fate == Fate::Kept;
            if hunk.fate == Fate::Reworked && stood && after.hunks[at].fate != Fate::Kept {
                hunk.fate = Fate::Superseded;
            }
        }
    }
    let whole = Part { before: parts[0].before.clone(), ..part.clone() };
    let judged = self::outcome(&whole, settled).hunks;
    let hunks: Vec<_> = diff(&whole.before, &whole.after).into_iter().zip(judged).collect();
    for (own, hunk) in diff(&part.before, &part.after).iter().zip(&mut outcome.hunks) {
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
    outcome
}

/// Where the settled text differs besides, by the user or a formatter: a small diff for the model, empty where
/// it does not. `part` is the whole of what was proposed; what the model was `told` of since is not told again.
pub fn elsewhere(part: &Part, settled: &Text, told: Option<&Text>) -> String {
    let expected = expected(part, settled);
    let known = match told {
        Some(told) => merge(&self::expected(part, told), &expected, told).text,
        None => expected,
    };
    let (known, now): (Vec<&str>, Vec<&str>) = (known.lines().collect(), settled.lines().collect());
    let mut lines = Vec::new();
    for hunk in diff_lines(known.iter().copied(), now.iter().copied()) {
        lines.push(format!("@@ line {}", hunk.new.start + 1));
        lines.extend(known[span(&hunk.old)].iter().map(|it| format!("-{it}")));
        lines.extend(now[span(&hunk.new)].iter().map(|it| format!("+{it}")));
    }
    if lines.is_empty() {
        return String::new();
    }
    format!("The file changed elsewhere too, by the user or a formatter:\n{}", quoted(&lines))
}

/// The text of which only the part's hunks are as they are in the settled one.
fn expected(part: &Part, settled: &Text) -> Text {
    let sides = Sides::new(part, settled);
    let mut expected: Vec<&str> = Vec::new();
    let mut at = 0;
    for hunk in diff(&part.before, &part.after) {
        let mut window = span(&hunk.new);
        let stands = match sides.judge(&hunk) {
            Fate::Kept => &sides.after[span(&hunk.new)],
            Fate::Undone => &sides.before[span(&hunk.old)],
            Fate::Reworked | Fate::Superseded => {
                let (old, now) = sides.widened(hunk.new);
                window = old;
                &sides.settled[now]
            }
        };
        expected.extend(&sides.after[at..window.start.max(at)]);
        expected.extend(stands);
        at = window.end.max(at);
    }
    expected.extend(&sides.after[at..]);
    Text::new(expected.join("\n") + "\n")
}

/// Those of the user's reasons that are about hunks of this part, each once. A reason comes with the hunk's lines as
/// they were proposed.
pub fn reasons<'a>(
    part: &Part,
    given: impl Iterator<Item = (&'a [String], &'a str)>,
) -> Vec<String> {
    let (before, after): (Vec<&str>, Vec<&str>) =
        (part.before.lines().collect(), part.after.lines().collect());
    let (mut come, mut gone): (HashSet<&str>, HashSet<&str>) = Default::default();
    let mut removes = false;
    for hunk in diff(&part.before, &part.after) {
        if hunk.new.is_empty() {
            removes = true;
            gone.extend(before[span(&hunk.old)].iter().copied());
        } else {
            let lines = after[span(&hunk.new)].iter().copied();
            come.extend(lines.filter(|line| !line.trim().is_empty()));
        }
    }
    let mut told = Vec::new();
    let mut known = HashSet::new();
    for (lines, reason) in given {
        let meant = removes && lines.is_empty()
            || lines.iter().any(|it| come.contains(&**it) || gone.contains(&**it));
        if meant && known.insert(reason) {
            told.push(reason.to_owned());
        }
    }
    told
}

struct Sides<'a> {
    before: Vec<&'a str>,
    after: Vec<&'a str>,
    settled: Vec<&'a str>,
    /// From `after` to `settled`.
    later: Vec<Hunk>,
}

impl<'a> Sides<'a> {
    fn new(part: &'a Part, settled: &'a Text) -> Sides<'a> {
        Sides {
            before: part.before.lines().collect(),
            after: part.after.lines().collect(),
            settled: settled.lines().collect(),
            later: diff(&part.after, settled),
        }
    }

    fn decide(&self, hunk: &Hunk) -> Decided {
        let fate = self.judge(hunk);
        let at = self.now(hunk.new.start, false);
        let lines = match fate {
            Fate::Kept => self.after[span(&hunk.new)].iter().copied().map(str::to_owned).collect(),
            Fate::Undone => {
                self.before[span(&hunk.old)].iter().copied().map(str::to_owned).collect()
            }
            Fate::Reworked | Fate::Superseded => self.standing(&hunk.new),
        };
        Decided { fate, line: u32::try_from(at + 1).unwrap_or(u32::MAX), lines }
    }

    /// The settled text is as far from the proposal as from the proposal without this hunk, or nearer
    /// to one by exactly the hunk's size: that one it has. Unlike positions in a diff this does not
    /// depend on which of several equal lines a diff calls new.
    fn judge(&self, hunk: &Hunk) -> Fate {
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

    /// Lines around `new` in `after`, and those that stand for them now.
    fn window(&self, new: &Range<u32>) -> (Range<usize>, Range<usize>) {
        let total = u32::try_from(self.after.len()).unwrap_or(u32::MAX);
        self.widened(new.start.saturating_sub(AROUND)..(new.end + AROUND).min(total))
    }

    /// Lines of `after`, and those that stand for them now, cut where both texts agree.
    fn widened(&self, mut lines: Range<u32>) -> (Range<usize>, Range<usize>) {
        let from = self.later.partition_point(|hunk| hunk.old.end < lines.start);
        for hunk in &self.later[from..] {
            if hunk.old.start > lines.end {
                break;
            }
            lines.start = lines.start.min(hunk.old.start);
            lines.end = lines.end.max(hunk.old.end);
        }
        let now = self.now(lines.start, false)..self.now(lines.end, true);
        (span(&lines), now)
    }

    /// Where the line `at` of `after` is in the settled text; `past` what was put in right before it, or not.
    fn now(&self, at: u32, past: bool) -> usize {
        let before = |hunk: &Hunk| hunk.old.end < at || (past && hunk.old.end == at);
        let count = self.later.partition_point(before);
        let (from, to) =
            self.later[..count].last().map_or((0, 0), |hunk| (hunk.old.end, hunk.new.end));
        (to + (at - from)) as usize
    }

    /// The lines that stand where the hunk was put.
    fn standing(&self, new: &Range<u32>) -> Vec<String> {
        let now = self.widened(new.clone()).1;
        self.settled[now].iter().copied().map(str::to_owned).collect()
    }
}

fn span(range: &Range<u32>) -> Range<usize> {
    range.start as usize..range.end as usize
}

fn quoted(lines: &[String]) -> String {
    let mut text = lines[..lines.len().min(QUOTED)].join("\n");
    if lines.len() > QUOTED {
        text.push_str(&format!("\n… {} more lines", lines.len() - QUOTED));
    }
    text
}

impl Outcome {
    pub fn count(&self, fate: Fate) -> usize {
        self.hunks.iter().filter(|it| it.fate == fate).count()
    }

    /// For the model: what became of each hunk of the change to `path`, the text that stands there where it is not
    /// what was proposed, and the reasons the user gave.
    pub fn say(&self, path: &str, reasons: &[String]) -> String {
        let total = self.hunks.len();
        let each = [
            (self.count(Fate::Kept), "accepted"),
            (self.count(Fate::Undone), "rejected and undone"),
            (self.count(Fate::Reworked), "reworked by the user"),
            (self.count(Fate::Superseded), "changed again by your later edit"),
        ];
        let each: Vec<String> = each
            .iter()
            .filter(|it| it.0 > 0)
            .map(|(count, what)| format!("{count} {what}"))
            .collect();
        let mut said = match (self.count(Fate::Kept), self.count(Fate::Undone)) {
            (kept, 0) if kept == total => {
                format!("The user accepted {} in {path}.", changes(total))
            }
            (0, undone) if undone == total => {
                let undone = if total == 1 { "it is undone" } else { "they are undone" };
                format!("The user rejected {} in {path}: {undone}.", changes(total))
            }
            _ => format!(
                "Of {} in {path}: {}.{}",
                changes(total),
                each.join(", "),
                self.one_by_one()
            ),
        };
        for reason in reasons {
            said.push_str(&format!("\nThe user's reason: {reason}"));
        }
        said
    }

    fn one_by_one(&self) -> String {
        let mut said = String::new();
        for hunk in self.hunks.iter().take(TOLD) {
            let fate = match fate_words(hunk) {
                (fate, true) => format!("{fate}; no lines stand there."),
                (fate, false) => format!("{fate}:\n{}", quoted(&hunk.lines)),
            };
            said.push_str(&format!("\nline {}, {fate}", hunk.line));
        }
        said
    }
}

/// What to say of a hunk, and whether nothing stands in its place.
fn fate_words(hunk: &Decided) -> (&'static str, bool) {
    let words = match hunk.fate {
        Fate::Kept => "accepted",
        Fate::Undone => "rejected, reads as before",
        Fate::Reworked => "reworked, now reads",
        Fate::Superseded => "changed again by your later edit, now reads",
    };
    (words, hunk.lines.is_empty())
}

fn changes(count: usize) -> String {
    if count == 1 { "the change".to_owned() } else { format!("{count} changes") }
}
