//! The user's decision on each hunk. The editor reports the decision. The hunk's place and lines are read from the text
//! after the review.

use super::fate::{Decided, Fate, Outcome, Revision, Since};
use super::sides::Sides;
use crate::text::{Hunk, Text, reviewed_hunks};
use serde::Deserialize;

/// The user's decision on one proposed change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Decision {
    Accepted,
    /// Accepted, after the user changed it.
    Reworked,
    /// Only some of the change's lines were accepted.
    Part,
    Rejected,
    /// Not decided: a formatter has taken the change back as the file was written.
    Reverted,
    /// Not decided: another program has thrown the change away on disk.
    Thrown,
    /// Not decided: the user has closed the buffer, or has read its text from disk again.
    Left,
}

/// The user's decision on each hunk of one part of a proposal (`parts[at]`), taken from the decisions on the changes of
/// the whole proposal. `None` for a hunk without a decision. Empty if the decisions do not fit the proposal.
pub fn decisions(
    parts: &[Revision<'_>],
    at: usize,
    of_proposal: &[Decision],
) -> Vec<Option<Decision>> {
    let (count, of_hunks) = changes(parts, at);
    if of_proposal.len() != count {
        return Vec::new();
    }
    let of_hunk =
        |met: &Vec<usize>| met.iter().filter_map(|it| of_proposal.get(*it).copied()).reduce(joined);
    of_hunks.iter().map(of_hunk).collect()
}

/// Why the user rejected hunks of one part of a proposal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reason {
    /// The indexes of the hunks; empty if they are not known.
    pub hunks: Vec<usize>,
    pub text: String,
}

/// The reasons for rejections of hunks of one part of a proposal (`parts[at]`), each text once. `given` has each reason
/// with the changes of the whole proposal that it is for.
pub fn reasons<'a>(
    parts: &[Revision<'_>],
    at: usize,
    given: impl Iterator<Item = (&'a [usize], &'a str)>,
) -> Vec<Reason> {
    let (_, of_hunks) = changes(parts, at);
    let mut reasons: Vec<Reason> = Vec::new();
    for (meant, text) in given {
        let is_meant = |it: &&usize| of_hunks[**it].iter().any(|it| meant.contains(it));
        let all: Vec<usize> = (0..of_hunks.len()).collect();
        let hunks: Vec<usize> = all.iter().filter(is_meant).copied().collect();
        if hunks.is_empty() && !meant.is_empty() {
            continue;
        }
        match reasons.iter_mut().find(|it| it.text == text) {
            Some(it) => it.hunks.extend(hunks),
            None => reasons.push(Reason { hunks, text: text.to_owned() }),
        }
    }
    for it in &mut reasons {
        it.hunks.sort_unstable();
        it.hunks.dedup();
    }
    reasons
}

/// The number of changes of the whole proposal, and for each hunk of the part `parts[at]` the indexes of the changes
/// that it belongs to.
fn changes(parts: &[Revision<'_>], at: usize) -> (usize, Vec<Vec<usize>>) {
    let ([first, ..], [.., last]) = (parts, parts) else { return (0, Vec::new()) };
    let whole = reviewed_hunks(first.before, last.after);
    let part = parts[at];
    let own = reviewed_hunks(part.before, part.after);
    // a change of only the final newline changes no line, so it has no hunk
    if whole.is_empty() {
        return (1, if own.is_empty() { vec![vec![0]] } else { Vec::new() });
    }
    let sides = Sides::new(part, last.after);
    let of_hunk = |hunk: &Hunk| {
        let now = sides.widened(hunk.new.clone()).1;
        let meets =
            |it: &Hunk| it.new.start as usize <= now.end && now.start <= it.new.end as usize;
        let met = whole.iter().enumerate().filter(|it| meets(it.1));
        met.map(|it| it.0).collect()
    };
    (whole.len(), own.iter().map(of_hunk).collect())
}

fn joined(one: Decision, other: Decision) -> Decision {
    use Decision::{Accepted, Left, Rejected, Reverted, Reworked, Thrown};
    match (one, other) {
        _ if one == other => one,
        (Left, _) | (_, Left) => Left,
        (Rejected, Thrown | Reverted) | (Thrown | Reverted, Rejected) => Rejected,
        (Reverted, Thrown) | (Thrown, Reverted) => Reverted,
        (Accepted | Reworked, Accepted | Reworked) => Reworked,
        _ => Decision::Part,
    }
}

/// Replaces the fates in `outcome`, which were only guessed from the text after the review, by the user's decisions.
/// What the text shows besides is in `Decided::since`. `settled` is `None` if the file does not exist.
pub fn follow(
    outcome: &mut Outcome,
    part: Revision<'_>,
    settled: Option<&Text>,
    decisions: &[Option<Decision>],
) {
    let hunks = reviewed_hunks(part.before, part.after);
    let sides = settled.map(|it| Sides::new(part, it));
    for (at, (decided, decision)) in outcome.hunks.iter_mut().zip(decisions).enumerate() {
        let Some(decision) = decision else { continue };
        let (is_there, is_absent) =
            (matches!(decided.fate, Fate::Kept | Fate::Formatted), decided.fate == Fate::Undone);
        let since = |is_same, is_reversed| match () {
            () if is_same => Since::Same,
            () if is_reversed => Since::Reversed,
            () => Since::Edited,
        };
        let (fate, since) = match (decision, decided.fate) {
            (Decision::Accepted, Fate::Kept | Fate::Formatted | Fate::Superseded)
            | (Decision::Rejected, Fate::Undone)
            | (Decision::Reworked | Decision::Part | Decision::Left, Fate::Superseded) => continue,
            (Decision::Accepted, _) => (Fate::Kept, since(is_there, is_absent)),
            (Decision::Rejected, _) => (Fate::Undone, since(is_absent, is_there)),
            (Decision::Reverted, _) => (Fate::Reverted, since(is_absent, is_there)),
            (Decision::Thrown, _) => (Fate::Thrown, since(is_absent, is_there)),
            (Decision::Left, _) => (Fate::Left, since(is_there, is_absent)),
            (Decision::Reworked, _) => (Fate::Reworked, Since::Same),
            (Decision::Part, _) => (Fate::Part, Since::Same),
        };
        (decided.fate, decided.since) = (fate, since);
        if let (Some(hunk), Some(sides)) = (hunks.get(at), &sides) {
            sides.read(hunk, decided);
        }
    }
}

impl Sides<'_> {
    /// Reads the lines that are in the hunk's place in the settled text.
    fn read(&self, hunk: &Hunk, decided: &mut Decided) {
        let now = self.widened(hunk.new.clone()).1;
        decided.from = now.start;
        decided.line = u32::try_from(now.start + 1).unwrap_or(u32::MAX);
        decided.lines = self.settled[now].iter().copied().map(str::to_owned).collect();
    }
}
