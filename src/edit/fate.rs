//! What has become of a proposal's hunks: the words of a verdict.

use crate::text::Text;

/// A text before a change and after it.
#[derive(Debug, Clone, Copy)]
pub struct Revision<'a> {
    pub before: &'a Text,
    pub after: &'a Text,
}

/// The fate of each hunk of a proposal's part, in the settled text: the text that the file has when the review is over.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outcome {
    pub hunks: Vec<Decided>,
    /// Whether another program may have changed the hunks' lines too.
    pub is_outside: bool,
}

impl Outcome {
    pub fn count(&self, fate: Fate) -> usize {
        self.hunks.iter().filter(|it| it.fate == fate).count()
    }
}

/// The fate of one hunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decided {
    pub fate: Fate,
    pub since: Since,
    /// The hunk's line in the settled text, from 1.
    pub line: u32,
    /// The lines that are now in the hunk's place.
    pub lines: Vec<String>,
    /// The index of the first of `lines` in the settled text, from 0.
    pub from: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    Kept,
    Undone,
    /// Accepted, and then changed by a formatter.
    Formatted,
    /// Only some of the hunk's lines were accepted.
    Part,
    /// The lines in the hunk's place are neither the proposed lines nor the old lines.
    Reworked,
    /// A later edit of the model changed the hunk's lines again.
    Superseded,
    /// A formatter has taken the hunk back as the file was written.
    Reverted,
    /// Another program has thrown the hunk away on disk before the user decided on it.
    Thrown,
    /// The review ended without the user's decision on the hunk.
    Left,
}

/// What happened to a hunk's lines after the hunk's fate was decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Since {
    /// Nothing.
    Same,
    /// They are neither the proposed lines nor the old lines.
    Edited,
    /// A formatter has changed them.
    Formatted,
    /// They are the opposite: the file has the proposed lines of a rejected hunk or of one that a program took away, or
    /// the old lines of an accepted hunk or of one that the user left.
    Reversed,
}

impl Decided {
    /// Whether the file has the old lines in the hunk's place.
    pub fn is_absent(&self) -> bool {
        match self.fate {
            Fate::Undone | Fate::Reverted | Fate::Thrown => self.since == Since::Same,
            Fate::Kept | Fate::Left => self.since == Since::Reversed,
            Fate::Formatted | Fate::Part | Fate::Reworked | Fate::Superseded => false,
        }
    }
}
