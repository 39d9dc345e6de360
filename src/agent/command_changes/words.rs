//! What a command did that no rewind takes back, in words for the user.

use super::files::FILES;
use crate::session::title;
use crate::store::checkpoints::{Gap, Said};
use crate::tool::git::head::{Head, short as short_name};
use crate::view::grouped;

/// The most changed files of one command whose content is stored. A command that changes more files is probably a
/// build.
pub(super) const CHANGED: usize = 500;

/// A few words for a list of turns.
pub(in crate::agent) fn short(said: &Said) -> &'static str {
    match said {
        Said::Committed { .. } => "commits",
        Said::Moved { .. } => "HEAD moved",
        Said::Unfinished { .. } => "began a git operation",
        Said::Branch { .. } | Said::Branches(_) => "changed branches",
        Said::Gap(Gap::Beside) => "maybe changes of others",
        Said::Gap(_) | Said::Begun | Said::Over => "changes may be missing",
    }
}

/// Sentences for the user. `head` is what is checked out now. A command of git is named only if git is as the turn left
/// it.
pub(super) fn say(said: &Said, head: Option<&Head>) -> String {
    let is_at = |to: &str| head.is_some_and(|it| title(&it.say()) == to);
    let unfinished = head.and_then(|it| it.unfinished);
    match said {
        Said::Committed { from: Some(from), to } if is_at(to) && unfinished.is_none() => format!(
            "A command of this turn made commits, and HEAD is still at the last one, on branch {to}. A rewind takes \
             no commit back: `git reset {from}` does, and keeps the files."
        ),
        Said::Committed { from: Some(_), to } => format!(
            "A command of this turn made commits. The last one was {to}.{} A rewind takes no commit back.",
            elsewhere(head, to)
        ),
        Said::Committed { from: None, to } => format!(
            "A command of this turn made the first commit: {to}. A rewind takes no commit back."
        ),
        Said::Moved { from, to } => format!(
            "HEAD moved from {from} to {to} in this turn. A rewind neither moves it back nor undoes what git changed \
             in files: use git for that."
        ),
        Said::Unfinished { ends, at } if is_at(at) && unfinished == Some(&**ends) => format!(
            "A command of this turn began an operation of git that is not finished. A rewind does not undo what git \
             changed in files: `{ends}` does."
        ),
        Said::Unfinished { at, .. } => format!(
            "A command of this turn began an operation of git, such as a merge, and left it unfinished.{}{} A rewind \
             does not undo what git changed in files.",
            if head.is_some() && unfinished.is_none() { " None is in progress now." } else { "" },
            if at.is_empty() { String::new() } else { elsewhere(head, at) }
        ),
        Said::Branch { name, from, to } => branch(name, from.as_deref(), to.as_deref()),
        Said::Branches(1) => {
            "A command of this turn changed 1 more branch or tag, which a rewind leaves as it is."
                .to_owned()
        }
        Said::Branches(more) => format!(
            "A command of this turn changed {} more branches and tags, which a rewind leaves as they are.",
            grouped(*more as u64)
        ),
        Said::Gap(gap) => missing(*gap),
        Said::Begun | Said::Over => {
            "A command of this turn may still run, or Neovim or Caliban ended before the command did. So \
             the diff may lack what the command changed."
                .to_owned()
        }
    }
}

/// The present place of HEAD, if it is not the one where the turn left it.
fn elsewhere(head: Option<&Head>, left: &str) -> String {
    match head.map(Head::say) {
        Some(now) if title(&now) != left => format!(" HEAD is at {now} now."),
        _ => String::new(),
    }
}

/// A branch or tag that is not checked out.
fn branch(name: &str, from: Option<&str>, to: Option<&str>) -> String {
    let what = match name.strip_prefix("refs/tags/") {
        Some(tag) => format!("tag {tag}"),
        None => format!("branch {}", short_name(name)),
    };
    match (from, to) {
        (Some(from), Some(to)) => format!(
            "A command of this turn moved the {what}, which is not checked out, from {from} to {to}. A rewind does not \
             move it back: use git for that."
        ),
        (Some(from), None) => format!(
            "A command of this turn deleted the {what}, which was at {from}. A rewind does not bring it back: use git \
             for that."
        ),
        (None, _) => format!(
            "A command of this turn made the {what}, at {}. A rewind does not delete it.",
            to.unwrap_or("no commit")
        ),
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
            "The diff may lack changes made by commands: a command changed more than {changed} files, and at most \
             {changed} of them were compared: first those that it deleted or moved, last those that it made. A \
             rewind leaves the others as they are."
        ),
        Gap::Name => "The diff lacks the change of a file whose name is not UTF-8.".to_owned(),
        Gap::Beside => "Another conversation of this project ran a command at the same time. What that command changed \
            may be among the changes of this turn."
            .to_owned(),
        Gap::Job => "The diff may lack what a background job changed after its call was answered."
            .to_owned(),
    }
}
