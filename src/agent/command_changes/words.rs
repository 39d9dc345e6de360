//! What a command did that no rewind takes back, in words for the user.

use super::CHANGED;
use super::files::FILES;
use crate::store::checkpoints::{Gap, Said};
use crate::view::grouped;

/// A few words for a list of turns.
pub(in crate::agent) fn short(said: &Said) -> &'static str {
    match said {
        Said::Committed { .. } => "commits",
        Said::Moved { .. } => "HEAD moved",
        Said::Unfinished { .. } => "unfinished git operation",
        Said::Gap(_) => "changes may be missing",
    }
}

/// A sentence for the user.
pub(in crate::agent) fn say(said: &Said) -> String {
    match said {
        Said::Committed { from: Some(from), to } => format!(
            "A command of this turn made commits. HEAD is now at {to}. A rewind takes no commit back: `git reset {from}` \
             does, and keeps the files."
        ),
        Said::Committed { from: None, to } => format!(
            "A command of this turn made the first commit: {to}. A rewind takes no commit back."
        ),
        Said::Moved { from, to } => format!(
            "HEAD moved from {from} to {to} in this turn. A rewind neither moves it back nor undoes what git changed \
             in files: use git for that."
        ),
        Said::Unfinished { ends } => format!(
            "A command of this turn began an operation of git that is not finished. A rewind does not undo what git \
             changed in files: `{ends}` does."
        ),
        Said::Gap(gap) => missing(*gap),
    }
}

fn missing(gap: Gap) -> String {
    let (files, changed) = (grouped(FILES as u64), grouped(CHANGED as u64));
    match gap {
        Gap::Large => format!(
            "The diff may lack changes made by commands: the project has more than {files} files and folders, so \
             only files that the conversation had changed before were compared. Name generated folders in \
             .gitignore."
        ),
        Gap::NotListed => format!(
            "The diff may lack files that commands created: after a command git did not list the files, or there \
             were more than {files} files and folders."
        ),
        Gap::Many => format!(
            "The diff may lack changes made by commands: a command changed more than {changed} files, and only \
             {changed} of them were compared."
        ),
        Gap::Name => "The diff lacks the change of a file whose name is not UTF-8.".to_owned(),
        Gap::Job => "The diff may lack what a background job changed after its call was answered."
            .to_owned(),
    }
}
