//! What a turn did that no rewind takes back, as a line of the log: commits, another branch, changes that are not known.

use crate::event::HIGHEST;
use crate::session::title;
use serde::{Deserialize, Serialize};

/// What happened, and in which turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    /// The number of the turn, shared with its changes.
    pub entry: u32,
    pub turn: u32,
    /// The time in seconds since 1970.
    pub at: u64,
    /// The first line of the turn's prompt.
    pub title: String,
    pub said: Said,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Said {
    /// A command made commits. `from` is the commit before them; a new repository has none.
    Committed { from: Option<String>, to: String },
    /// A command checked out another branch, or brought other commits into this one.
    Moved { from: String, to: String },
    /// A command began a merge, a rebase or the like, which waited for somebody to finish it: the words of git that end
    /// it, and what was checked out then. Earlier versions did not note the latter.
    Unfinished {
        ends: String,
        #[serde(default)]
        at: String,
    },
    /// A command made, moved or deleted a branch or a tag that is not checked out, such as `refs/heads/main`: its commits
    /// before and after the command.
    Branch { name: String, from: Option<String>, to: Option<String> },
    /// A command did so with this many more branches and tags.
    Branches(usize),
    /// Changes may be missing.
    Gap(Gap),
    /// A command is about to run. If its end is not noted, its changes are not known.
    Begun,
    /// A command has ended, and its changes are recorded.
    Over,
}

/// Why changes of a command may be missing from the record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Gap {
    /// The project has too many files.
    Large,
    /// The files could not be listed after the command.
    NotListed,
    /// The command changed too many files.
    Many,
    /// The command changed a file whose name is not UTF-8.
    Name,
    /// A command of another conversation ran at the same time, so its changes may be among those of this one.
    Beside,
    /// A background job ran, which may have changed files after its call.
    Job,
}

impl Note {
    /// Shortens the names. `None` if the numbers are too high.
    pub(super) fn checked(self) -> Option<Note> {
        let Note { entry, turn, at, title: said_title, said } = self;
        let said = match said {
            Said::Committed { from, to } => {
                Said::Committed { from: from.map(|it| title(&it)), to: title(&to) }
            }
            Said::Moved { from, to } => Said::Moved { from: title(&from), to: title(&to) },
            Said::Unfinished { ends, at: at_head } => {
                Said::Unfinished { ends: title(&ends), at: title(&at_head) }
            }
            Said::Branch { name, from, to } => {
                let [from, to] = [from, to].map(|it| it.map(|it| title(&it)));
                Said::Branch { name: title(&name), from, to }
            }
            said @ (Said::Branches(_) | Said::Gap(_) | Said::Begun | Said::Over) => said,
        };
        let title = title(&said_title);
        (entry.max(turn) <= HIGHEST).then_some(Note { entry, turn, at, title, said })
    }
}
