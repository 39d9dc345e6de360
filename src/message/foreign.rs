//! Text that a stranger may have written: a page of the web, a file outside of the project, the output of a command.

use serde::{Deserialize, Serialize};
use std::fmt;

/// The letters that a session's mark may have, and its length.
const LETTERS: &[u8; 16] = b"bcdfghjkmnpqrstv";
const LENGTH: usize = 16;

/// The mark of a session, a word by which the model recognises the tags around strangers' texts. `seed` is a random
/// number.
pub fn mark_of(seed: u64) -> String {
    // each byte gives two letters
    let letters = seed.to_le_bytes().into_iter().flat_map(|it| [it & 0xf, it >> 4]);
    letters.take(LENGTH).map(|it| char::from(LETTERS[usize::from(it)])).collect()
}

/// Whether a text from a file can be a mark.
pub fn is_mark(text: &str) -> bool {
    text.len() == LENGTH && text.bytes().all(|it| LETTERS.contains(&it))
}

/// Where a stranger's text comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// A page of the web, or results of a search there; holds the address or the query.
    Web(String),
    /// A file or folder outside of the project, as the user would write its path.
    Outside(String),
    /// The output of a command.
    Command,
    /// Something else of this name, such as a server of tools.
    Stranger(String),
    /// The report of a subagent that has read strangers' texts.
    Subagent,
}

/// The origin in words for the model.
impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Web(what) => write!(f, "the web: {what}"),
            Origin::Outside(path) => write!(f, "outside the project: {path}"),
            Origin::Command => f.write_str("a command"),
            Origin::Stranger(name) => f.write_str(name),
            Origin::Subagent => f.write_str("a subagent that has read untrusted text"),
        }
    }
}

/// Says that a stranger may have written the text of an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Foreign {
    pub from: Origin,
    /// The number of lines at the end of the text that are Caliban's own.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub own: usize,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

impl Foreign {
    /// The stranger's part of a text, and Caliban's own lines below it.
    pub fn split<'a>(&self, text: &'a str) -> (&'a str, &'a str) {
        if self.own == 0 {
            return (text, "");
        }
        match text.rmatch_indices('\n').nth(self.own - 1) {
            Some((at, _)) => (&text[..at], &text[at + 1..]),
            None => ("", text),
        }
    }
}
