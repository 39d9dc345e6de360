//! The answers to edits on which the user has not decided yet.

use super::say::ended;
use crate::event::{Awaited, End, Rest, Undecided};
use crate::message::{CallId, ToolAnswer};
use std::path::Path;

/// The most files, and the most lines of one file, that are named.
const FILES: usize = 5;
const LINES: usize = 8;

/// The summary of an answer to an edit on which the user has not decided.
pub const UNDER_REVIEW: &str = "under review";

/// The summary of an answer to an edit whose review has ended with the editor.
pub(super) const LOST: &str = "review lost";

/// The end of an answer to an edit on which the user has not decided.
const FOLLOWS: &str = "verdict on this edit will follow.";

/// Whether a call was answered before the user had decided on its edit.
pub fn is_before_verdict(answer: &ToolAnswer) -> bool {
    answer.text.ends_with(FOLLOWS)
}

/// What is known of an edit before its verdict. The user may have decided on a part of it.
fn under_review(what: Awaited) -> String {
    if what.is_one() {
        return not_decided(what);
    }
    format!(
        "Not all decided yet: {what} of this edit are under review in the user's buffer. Those that the user has \
         accepted so far may be on disk, the others are not."
    )
}

fn not_decided(what: Awaited) -> String {
    let are = if what.is_one() { "is" } else { "are" };
    format!(
        "Not decided yet: {what} of this edit {are} under review in the user's buffer, not on disk."
    )
}

/// What is known of an edit before its verdict, if it is known which changes wait for the user's decision.
fn still_under_review(what: Awaited, rest: &Rest, root: &Path) -> String {
    if rest.files.is_empty() {
        return under_review(what);
    }
    if !rest.is_partly_decided && rest.changes() >= what.changes() {
        return not_decided(what);
    }
    let wait = if rest.changes() == 1 { "waits" } else { "wait" };
    format!(
        "Not all decided yet: {} {wait} for the user's decision. The user has decided on the other changes; those that \
         they accepted may be on disk.",
        places(rest, root)
    )
}

/// The changes that wait for the user's decision, with their lines.
fn places(rest: &Rest, root: &Path) -> String {
    let of = |it: &Undecided| {
        let name = it.path.strip_prefix(root).unwrap_or(&it.path).display();
        let s = if it.changes == 1 { "" } else { "s" };
        let changes = format!("{} change{s} in {name}", it.changes);
        let lines: Vec<String> = it.lines.iter().take(LINES).map(u32::to_string).collect();
        let more = if it.lines.len() > LINES { " and below" } else { "" };
        match &lines[..] {
            [] => changes,
            [line] => format!("{changes} (line {line})"),
            _ => format!("{changes} (lines {}{more})", lines.join(", ")),
        }
    };
    let files: Vec<String> = rest.files.iter().take(FILES).map(of).collect();
    let more = rest.files.len().saturating_sub(FILES);
    let more = if more > 0 { format!(" and changes in {more} more files") } else { String::new() };
    files.join(", ") + &more
}

/// The answer to an edit when the user sends a message before they have decided on the whole edit.
pub(super) fn undecided(call: &CallId, what: Awaited, rest: &Rest, root: &Path) -> ToolAnswer {
    let text = format!(
        "{} The user sent a message first; the user's {FOLLOWS}",
        still_under_review(what, rest, root)
    );
    ToolAnswer::done(call, text, UNDER_REVIEW)
}

/// As `undecided`, for a subagent, which may have ended before the user decides.
pub(super) fn undecided_in_subagent(call: &CallId, what: Awaited) -> ToolAnswer {
    let text = format!(
        "{} The user wants the work to go on before the review. Make no more edits than your task needs, and say in \
         your report that these edits are not decided.",
        under_review(what)
    );
    ToolAnswer::done(call, text, UNDER_REVIEW)
}

/// The answer to an edit under review when a call of this tool ends the turn.
pub(super) fn undecided_at_end(call: &CallId, what: Awaited, tool: &str) -> ToolAnswer {
    let text = format!(
        "{} Your call of `{tool}` ended the turn first; the user's {FOLLOWS}",
        under_review(what)
    );
    ToolAnswer::done(call, text, UNDER_REVIEW)
}

pub(super) fn left_reviewing(call: &CallId, what: Awaited, why: &End) -> ToolAnswer {
    let text = format!(
        "{what} {} still under the user's review: {}. The user's {FOLLOWS}",
        if what.is_one() { "is" } else { "are" },
        ended(why)
    );
    ToolAnswer::done(call, text, UNDER_REVIEW)
}

/// The note that the verdict on the changes in a file does not count any more.
pub(super) fn again(path: &Path, root: &Path) -> String {
    let name = path.strip_prefix(root).unwrap_or(path).display();
    format!("The changes in {name} are under review again.")
}

/// The note that the proposed changes in a file are lost.
pub(super) fn lost(path: &Path, root: &Path) -> String {
    format!(
        "Changes to {} were under review when the editor or Caliban ended. Read the file before you go on.",
        path.strip_prefix(root).unwrap_or(path).display()
    )
}
