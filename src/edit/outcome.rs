//! The outcome of a proposal: compares each hunk with the settled text, which the file has when the review is over.

use super::decision::Reason;
use super::fate::{Decided, Fate, Outcome, Revision, Since};
use super::formatted::{self, Formatting};
use super::later;
use super::merge::merge;
use super::sides::{Sides, outcome, span};
use crate::text::{Text, diff_lines, reviewed_hunks};
use std::ops::Range;

/// The most lines that the model is shown of one hunk, and of the changes outside of the hunks.
const QUOTED: usize = 20;
/// The most hunks that the model is told about one by one, and that one reason names.
const TOLD: usize = 20;
const NAMED: usize = 8;

/// Like `outcome`, for `parts[at]` when the model has edited the same text several times; `parts` is in the order of
/// the edits. Lines that a later edit or a formatter changed do not count as changed by the user. Lines that the user
/// rejected together with an earlier edit count as rejected.
pub fn outcome_among(
    parts: &[Revision<'_>],
    at: usize,
    settled: Option<&Text>,
    formattings: &[Formatting],
) -> Outcome {
    let mut outcome = outcome(parts[at], settled);
    if outcome.count(Fate::Reworked) + outcome.count(Fate::Undone) > 0 {
        later::tell_apart(&mut outcome, parts, at, (settled, formattings));
    }
    if let Some(settled) = settled {
        formatted::tell_apart(&mut outcome, parts[at], settled, formattings);
    }
    outcome
}

/// The changes that the user or a formatter made in the settled text outside of the proposal's hunks, as a small diff
/// for the model; empty if there are none. `part` is the whole proposal. Changes that the text `told` already has are
/// left out, because the model knows that text. The lines that were reported with the hunks are left out too: the text
/// alone does not always tell to which hunk they belong.
pub fn elsewhere(
    part: Revision<'_>,
    settled: &Text,
    told: Option<&Text>,
    reported: &Reported,
) -> String {
    let expected = expected(part, settled);
    let known = match told {
        Some(told) => merge(&self::expected(part, told), &expected, told).text,
        None => expected,
    };
    let (known, now): (Vec<&str>, Vec<&str>) = (known.lines().collect(), settled.lines().collect());
    let mut lines = Vec::new();
    for hunk in diff_lines(known.iter().copied(), now.iter().copied()) {
        if reported.has(&span(&hunk.new)) {
            continue;
        }
        lines.push(format!("@@ line {}", hunk.new.start + 1));
        lines.extend(known[span(&hunk.old)].iter().map(|it| format!("-{it}")));
        lines.extend(now[span(&hunk.new)].iter().map(|it| format!("+{it}")));
    }
    if lines.is_empty() {
        return String::new();
    }
    format!("The file changed elsewhere too:\n{}", quoted(&lines))
}

/// The settled text without its changes outside of the hunks: the proposed text, with each hunk as it is in the settled
/// text.
fn expected(part: Revision<'_>, settled: &Text) -> Text {
    let sides = Sides::new(part, settled);
    let mut expected: Vec<&str> = Vec::new();
    // how many lines of `after` and of the settled text have been used
    let (mut at, mut done) = (0, 0);
    // where the last reworked lines end in `after`; all lines before this come from the settled text
    let mut reworked = None;
    for hunk in reviewed_hunks(part.before, part.after) {
        let new = span(&hunk.new);
        let fate = sides.judge(&hunk);
        if !matches!(fate, Fate::Kept | Fate::Undone) {
            let (old, now) = sides.widened(hunk.new);
            expected.extend(&sides.after[at..old.start.max(at)]);
            expected.extend(&sides.settled[now.start.max(done)..now.end.max(done)]);
            (at, done) = (old.end.max(at), now.end.max(done));
            reworked = Some(at);
        } else if reworked.is_none_or(|end| new.start > end || new.start == end && !new.is_empty())
        {
            expected.extend(&sides.after[at..new.start]);
            expected.extend(match fate {
                Fate::Kept => &sides.after[new.clone()],
                _ => &sides.before[span(&hunk.old)],
            });
            at = new.end;
        }
    }
    expected.extend(&sides.after[at..]);
    Text::new(expected.join("\n") + "\n")
}

fn quoted(lines: &[String]) -> String {
    let mut text = lines[..lines.len().min(QUOTED)].join("\n");
    if lines.len() > QUOTED {
        text.push_str(&format!("\n… {} more lines", lines.len() - QUOTED));
    }
    text
}

impl Outcome {
    /// The text for the model: the fate of each hunk of the change to `path`, the lines in the hunk's place if they are
    /// not the proposed lines, and the user's reasons. Lines that `told` has are not repeated.
    pub fn say(&self, path: &str, reasons: &[Reason], told: &mut Reported) -> String {
        let total = self.hunks.len();
        let said = self.alike(path).unwrap_or_else(|| {
            let mut each: Vec<(&str, usize)> = Vec::new();
            for (fate, since) in ORDER {
                let is_it = |it: &&Decided| {
                    it.fate == fate && (it.since == Since::Reversed) == (since == Since::Reversed)
                };
                let count = self.hunks.iter().filter(is_it).count();
                if count > 0 {
                    let is_unclear = fate == Fate::Reworked && self.is_outside;
                    let unclear = "reworked in the editor or on disk";
                    each.push((if is_unclear { unclear } else { counted(fate, since) }, count));
                }
            }
            let each: Vec<String> =
                each.iter().map(|(what, count)| format!("{count} {what}")).collect();
            let each = each.join(", ");
            format!("Of {} in {path}: {each}.{}", changes(total), self.one_by_one(told))
        });
        self.with_reasons(said, reasons)
    }

    /// A verdict, followed by the user's reasons for rejections. If there are several reasons, or a reason is not for
    /// all that was rejected, the lines of the hunks are named.
    pub fn with_reasons(&self, mut said: String, reasons: &[Reason]) -> String {
        let is_agreed = |at: &usize| {
            let fate = self.hunks.get(*at).map(|it| it.fate);
            fate.is_none_or(|it| matches!(it, Fate::Kept | Fate::Formatted))
        };
        let rejected: Vec<usize> = (0..self.hunks.len()).filter(|it| !is_agreed(it)).collect();
        for Reason { hunks, text } in reasons {
            let meant: Vec<usize> = hunks.iter().copied().filter(|it| !is_agreed(it)).collect();
            // after a rejection that was undone, the user has accepted the hunk
            if meant.is_empty() && !hunks.is_empty() {
                continue;
            }
            let is_for_all = meant.is_empty() || meant == rejected && reasons.len() == 1;
            let place = if is_for_all { String::new() } else { self.lines_of(&meant) };
            said.push_str(&format!("\nThe user's reason{place}: {text}"));
        }
        said
    }

    /// The lines of some hunks, such as ` for lines 2 and 8`.
    fn lines_of(&self, hunks: &[usize]) -> String {
        let lines = hunks.iter().map(|it| self.hunks[*it].line.to_string());
        let mut lines: Vec<String> = lines.take(NAMED).collect();
        let more = hunks.len() - lines.len();
        if more > 0 {
            lines.push(format!("{more} more"));
        }
        match lines.split_last() {
            Some((last, [])) => format!(" for line {last}"),
            Some((last, rest)) => format!(" for lines {} and {last}", rest.join(", ")),
            None => String::new(),
        }
    }

    /// The sentence for the model if all hunks have the same fate, and the file has the lines that follow from it.
    fn alike(&self, path: &str) -> Option<String> {
        let first = self.hunks.first()?;
        if !self.hunks.iter().all(|it| (it.fate, it.since) == (first.fate, first.since)) {
            return None;
        }
        let total = self.hunks.len();
        let (all, is, was) = match total {
            1 => ("the change".to_owned(), "it is", "was"),
            _ => (format!("{total} changes"), "they are", "were"),
        };
        let capital = if total == 1 { "The change" } else { all.as_str() };
        match (first.fate, first.since) {
            (Fate::Kept, Since::Same) => Some(format!("The user accepted {all} in {path}.")),
            (Fate::Undone, Since::Same) => {
                Some(format!("The user rejected {all} in {path}: {is} undone."))
            }
            (Fate::Reverted, Since::Same) => Some(format!(
                "A formatter or an autocommand of the user's took back {all} in {path} as the file was written: {is} \
                 not in the file."
            )),
            (Fate::Thrown, Since::Same) => {
                Some(format!("{capital} in {path} {was} undone on disk: {is} not in the file."))
            }
            (Fate::Left, Since::Same) => {
                Some(format!("The user did not decide on {all} in {path}: {is} in the file."))
            }
            (Fate::Left, Since::Reversed) => {
                Some(format!("The user did not decide on {all} in {path}: {is} not in the file."))
            }
            _ => None,
        }
    }

    fn one_by_one(&self, told: &mut Reported) -> String {
        let mut said = String::new();
        for hunk in self.hunks.iter().take(TOLD) {
            let (fate, reads) = fate_words(hunk);
            let reads = match told.rest(hunk) {
                _ if hunk.lines.is_empty() => {
                    format!("{}; no lines are left there.", reads.trim_end_matches(", now reads"))
                }
                [] => ": its current text is quoted above.".to_owned(),
                lines => format!("{reads}:\n{}", quoted(lines)),
            };
            said.push_str(&format!("\nline {}, {fate}{reads}", hunk.line));
        }
        said
    }
}

/// Which lines of a settled text the model has been told.
#[derive(Default)]
pub struct Reported(Vec<Range<usize>>);

impl Reported {
    /// Whether there are such lines, and all of them were reported.
    fn has(&self, lines: &Range<usize>) -> bool {
        let has = |it: &Range<usize>| it.start <= lines.start && lines.end <= it.end;
        !lines.is_empty() && self.0.iter().any(has)
    }

    /// Returns those lines in a hunk's place that the model has not been told yet, and marks them as told. If the hunk
    /// was simply accepted or rejected, returns all its lines and marks none.
    fn rest<'a>(&mut self, hunk: &'a Decided) -> &'a [String] {
        let mut rest = hunk.from..hunk.from + hunk.lines.len();
        let is_plain =
            !matches!(hunk.fate, Fate::Part | Fate::Formatted | Fate::Reworked | Fate::Superseded);
        if is_plain && hunk.since == Since::Same {
            return &hunk.lines;
        }
        for it in &self.0 {
            if it.start <= rest.start && rest.start < it.end {
                rest.start = it.end.min(rest.end);
            }
            if it.start < rest.end && rest.end <= it.end {
                rest.end = it.start.max(rest.start);
            }
        }
        self.0.push(rest.clone());
        &hunk.lines[rest.start - hunk.from..rest.end - hunk.from]
    }
}

/// The fates in the order in which they are counted. `Edited` and `Formatted` count as `Same`.
const ORDER: [(Fate, Since); 14] = [
    (Fate::Kept, Since::Same),
    (Fate::Kept, Since::Reversed),
    (Fate::Undone, Since::Same),
    (Fate::Undone, Since::Reversed),
    (Fate::Part, Since::Same),
    (Fate::Formatted, Since::Same),
    (Fate::Reworked, Since::Same),
    (Fate::Superseded, Since::Same),
    (Fate::Reverted, Since::Same),
    (Fate::Reverted, Since::Reversed),
    (Fate::Thrown, Since::Same),
    (Fate::Thrown, Since::Reversed),
    (Fate::Left, Since::Same),
    (Fate::Left, Since::Reversed),
];

/// The words that follow the number of hunks with this fate.
fn counted(fate: Fate, since: Since) -> &'static str {
    let is_reversed = since == Since::Reversed;
    match fate {
        Fate::Kept if is_reversed => "accepted, but not in the file any more",
        Fate::Undone if is_reversed => "rejected, but in the file again",
        Fate::Reverted if is_reversed => "taken back by a formatter, but in the file again",
        Fate::Thrown if is_reversed => "undone on disk, but in the file again",
        Fate::Left if is_reversed => "not decided on and not in the file",
        Fate::Kept => "accepted",
        Fate::Undone => "rejected and undone",
        Fate::Part => "accepted in part",
        Fate::Formatted => "accepted and formatted",
        Fate::Reworked => "reworked by the user",
        Fate::Superseded => "changed again by a later edit",
        Fate::Reverted => "taken back by a formatter or an autocommand",
        Fate::Thrown => "undone on disk",
        Fate::Left => "not decided on",
    }
}

/// The words for a hunk's fate, and the words that introduce the lines in its place.
fn fate_words(hunk: &Decided) -> (&'static str, &'static str) {
    match (hunk.fate, hunk.since) {
        (Fate::Kept, Since::Edited) => ("accepted, then edited", ", now reads"),
        (Fate::Undone, Since::Edited) => ("rejected, then edited", ", now reads"),
        (Fate::Undone, Since::Formatted) => ("rejected, then formatted", ", now reads"),
        (Fate::Reverted | Fate::Thrown, Since::Edited | Since::Formatted) => {
            (counted(hunk.fate, hunk.since), ", now reads")
        }
        (Fate::Left, Since::Same | Since::Edited | Since::Formatted) => {
            ("not decided on", ", now reads")
        }
        (Fate::Undone, Since::Same) => ("rejected", ", reads as before"),
        (Fate::Reverted | Fate::Thrown, Since::Same)
        | (Fate::Kept | Fate::Left, Since::Reversed) => {
            (counted(hunk.fate, hunk.since), ", reads as before")
        }
        (Fate::Undone | Fate::Reverted | Fate::Thrown, Since::Reversed) => {
            (counted(hunk.fate, hunk.since), "")
        }
        (Fate::Kept, Since::Same) => ("accepted", ""),
        (Fate::Part, _) => ("accepted in part", ", now reads"),
        (Fate::Kept, Since::Formatted) | (Fate::Formatted, _) => {
            ("accepted and formatted", ", now reads")
        }
        (Fate::Reworked, _) => ("reworked", ", now reads"),
        (Fate::Superseded, _) => ("changed again by a later edit", ", now reads"),
    }
}

fn changes(count: usize) -> String {
    if count == 1 { "the change".to_owned() } else { format!("{count} changes") }
}
