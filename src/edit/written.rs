//! The immediate answer to the model for an edit that is written before the user has decided.

use crate::text::{Text, diff};

/// The most lines that the model is shown of changes by the user's formatters and autocommands.
const QUOTED: usize = 40;

/// The answer for an edit of `path`. `is_saved` says whether the text is on disk, and `is_unattended` that nobody reviews
/// the edit.
pub fn written(path: &str, is_saved: bool, is_unattended: bool) -> String {
    let review = if is_unattended { "" } else { "; the user may still review it" };
    if is_saved {
        format!("Applied and written to {path}{review}.")
    } else {
        format!("Applied in the user's buffer of {path}{review}.")
    }
}

/// Tells the model by a diff how formatters or autocommands changed the proposed text when it was written. Empty if
/// they changed nothing.
pub fn reformatted(proposed: &Text, now: &Text) -> String {
    let (before, after): (Vec<&str>, Vec<&str>) =
        (proposed.lines().collect(), now.lines().collect());
    let mut lines = Vec::new();
    for hunk in diff(proposed, now) {
        lines.push(format!("@@ line {}", hunk.new.start + 1));
        let old = &before[hunk.old.start as usize..hunk.old.end as usize];
        let new = &after[hunk.new.start as usize..hunk.new.end as usize];
        lines.extend(old.iter().map(|it| format!("-{it}")));
        lines.extend(new.iter().map(|it| format!("+{it}")));
    }
    if lines.is_empty() {
        return String::new();
    }
    if lines.len() > QUOTED {
        let more = lines.len() - QUOTED;
        lines.truncate(QUOTED);
        lines.push(format!("… {more} more lines"));
    }
    format!(
        "\nA formatter or an autocommand of the user's changed the file as it was written:\n{}",
        lines.join("\n")
    )
}
