//! How many changes of a call wait for the user's decision, by kind, and where they are.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::PathBuf;

/// The number of changes of each kind on which the user has not decided yet.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Awaited {
    pub hunks: u32,
    /// Files to be deleted.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub deletions: u32,
    /// Files to be renamed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub renamings: u32,
    /// New files without text.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub empty: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives the field by reference")]
fn is_zero(n: &u32) -> bool {
    *n == 0
}

impl Awaited {
    pub const DELETION: Awaited = Awaited { hunks: 0, deletions: 1, renamings: 0, empty: 0 };
    pub const RENAMING: Awaited = Awaited { hunks: 0, deletions: 0, renamings: 1, empty: 0 };
    pub const EMPTY: Awaited = Awaited { hunks: 0, deletions: 0, renamings: 0, empty: 1 };

    pub fn hunks(hunks: u32) -> Awaited {
        Awaited { hunks, ..Awaited::default() }
    }

    #[must_use]
    pub fn plus(self, other: Awaited) -> Awaited {
        Awaited {
            hunks: self.hunks.saturating_add(other.hunks),
            deletions: self.deletions.saturating_add(other.deletions),
            renamings: self.renamings.saturating_add(other.renamings),
            empty: self.empty.saturating_add(other.empty),
        }
    }

    pub fn is_one(self) -> bool {
        self.changes() == 1
    }

    /// The number of changes of all kinds.
    pub fn changes(self) -> u32 {
        let counts = [self.hunks, self.deletions, self.renamings, self.empty];
        counts.into_iter().fold(0, u32::saturating_add)
    }
}

/// Shows the numbers in words, for example `2 hunks, 1 deletion`.
impl fmt::Display for Awaited {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kinds = [
            (self.hunks, "hunk"),
            (self.deletions, "deletion"),
            (self.renamings, "renaming"),
            (self.empty, "empty file"),
        ];
        let said: Vec<String> = kinds
            .iter()
            .filter(|(n, _)| *n > 0)
            .map(|(n, what)| format!("{n} {what}{}", if *n == 1 { "" } else { "s" }))
            .collect();
        f.write_str(if said.is_empty() { "no change" } else { "" })?;
        f.write_str(&said.join(", "))
    }
}

/// What waits for the user's decision at some moment, of all changes under review.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rest {
    /// Whether the user has decided on some of the changes of these files.
    pub is_partly_decided: bool,
    pub files: Vec<Undecided>,
}

/// The changes of a file that wait for the user's decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Undecided {
    pub path: PathBuf,
    pub changes: u32,
    /// The first line of each hunk.
    pub lines: Vec<u32>,
}

impl Rest {
    pub fn changes(&self) -> u32 {
        self.files.iter().fold(0, |sum, it| sum.saturating_add(it.changes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hunks_deletions_and_renamings_are_counted_separately() {
        let check = |what: Awaited, said: &str| assert_eq!(what.to_string(), said);
        check(Awaited::hunks(1), "1 hunk");
        check(Awaited::hunks(2), "2 hunks");
        check(Awaited::DELETION, "1 deletion");
        check(Awaited::RENAMING.plus(Awaited::RENAMING), "2 renamings");
        check(Awaited::hunks(2).plus(Awaited::DELETION), "2 hunks, 1 deletion");
        check(Awaited::hunks(1).plus(Awaited::EMPTY), "1 hunk, 1 empty file");
        check(Awaited::default(), "no change");
        assert!(Awaited::DELETION.is_one() && !Awaited::DELETION.plus(Awaited::hunks(1)).is_one());
    }

    /// Journals of older versions have only the number of hunks.
    #[test]
    fn counts_of_awaited_changes_are_read_back_as_they_were_stored() {
        let check = |what: Awaited, json: &str| {
            assert_eq!(serde_json::to_string(&what).unwrap(), json);
            assert_eq!(serde_json::from_str::<Awaited>(json).unwrap(), what);
        };
        check(Awaited::hunks(2), r#"{"hunks":2}"#);
        check(Awaited::EMPTY, r#"{"hunks":0,"empty":1}"#);
        check(Awaited::hunks(1).plus(Awaited::RENAMING), r#"{"hunks":1,"renamings":1}"#);
    }
}
