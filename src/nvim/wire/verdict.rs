//! The message about the end of a review.

use crate::edit::Decision;
use crate::event::{Rest, SessionId, Undecided};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum WireWhole {
    Delete,
    Rename,
}

/// The review of a file is settled: nothing in the file is pending any more.
#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[expect(clippy::struct_excessive_bools, reason = "the wire has independent flags")]
pub struct Reviewed {
    pub session: SessionId,
    /// The ids of the review's proposals, the oldest first.
    pub proposals: Vec<u32>,
    /// For each proposal, the user's decisions on its changes; empty if the decisions are not known.
    pub decisions: Vec<Vec<Decision>>,
    /// The texts of proposals that were made before the program was restarted.
    pub texts: Vec<ProposedText>,
    /// The absolute path.
    pub path: PathBuf,
    /// If the user accepted the file's renaming, the file's former path.
    pub was: Option<PathBuf>,
    /// If the user has given the buffer the name of another file: that file's path. The text is there.
    pub elsewhere: Option<PathBuf>,
    /// Whether the user accepted the file's deletion.
    pub deleted: bool,
    /// The user rejected a new file, so it does not exist.
    pub gone: bool,
    /// The user closed the buffer before all changes were decided.
    pub closed: bool,
    /// The user closed the buffer before the file's deletion or renaming was decided.
    pub whole_left: bool,
    /// The file is not on disk any more, although nobody has decided that.
    pub absent: bool,
    /// After a renaming: there is a file under the former path again.
    pub is_former_there: bool,
    /// Another program changed lines of the hunks on disk during the review.
    pub outside: bool,
    /// The file's text after the review, if it differs from the text on disk.
    pub text: Option<String>,
    /// The text on disk, if the file's text after the review was not saved.
    pub disk: Option<String>,
    pub eol: bool,
    pub saved: bool,
    /// Why the text was not saved; empty if it was saved.
    pub unsaved: String,
    pub reasons: Vec<Reason>,
    pub formattings: Vec<WireFormatting>,
}

/// Changes are under review again on which the user had decided: they have undone their decision, or another program has
/// brought the changes back.
#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct UnderReviewAgain {
    pub session: SessionId,
    /// The absolute path.
    pub path: PathBuf,
    /// The calls of the model that made the changes.
    pub calls: Vec<String>,
}

/// The changes that wait for the user's decision. Sent before a message of the user.
#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Left {
    pub session: SessionId,
    /// Whether the user has decided on some of the changes of these files.
    pub partly_decided: bool,
    pub files: Vec<LeftFile>,
}

#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LeftFile {
    /// The absolute path.
    pub path: PathBuf,
    /// How many changes wait.
    pub changes: u32,
    /// The first line of each hunk, from 1; at most 20.
    pub lines: Vec<u32>,
}

impl From<Left> for (SessionId, Rest) {
    fn from(it: Left) -> Self {
        let of = |it: LeftFile| Undecided { path: it.path, changes: it.changes, lines: it.lines };
        let files = it.files.into_iter().map(of).collect();
        (it.session, Rest { is_partly_decided: it.partly_decided, files })
    }
}

/// A change that a formatter made to the text.
#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct WireFormatting {
    pub before: String,
    pub after: String,
}

/// A proposal's text before and after the change.
#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ProposedText {
    pub id: u32,
    /// The calls of the model that made the proposal, if the editor knows them.
    #[serde(default)]
    pub calls: Vec<String>,
    pub before: String,
    pub before_eol: bool,
    pub after: String,
    pub after_eol: bool,
    pub whole: Option<WireWhole>,
    /// The file's new path, absolute.
    pub to: Option<PathBuf>,
}

/// Why the user rejected changes.
#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Reason {
    /// For each proposal, the changes that were rejected, counted from 0; all empty if they are not known.
    pub changes: Vec<Vec<usize>>,
    /// Whether the deletion, the renaming or the empty file was rejected, not changes of the text.
    pub whole: bool,
    pub reason: String,
}
