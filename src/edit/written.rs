//! What a model hears at once of an edit that is written before the user has decided.

use crate::text::{Text, diff};

/// Lines that are quoted of what the user's own tools changed.
const QUOTED: usize = 40;

/// `unsaved`: why it is not on disk after all; empty where it is.
pub fn written(path: &str, unsaved: &str) -> String {
    if unsaved.is_empty() {
        format!("Applied and written to {path}; the user may still review it.")
    } else {
        format!(
            "Applied in the user's buffer of {path}, but not written ({unsaved}): the disk does not have it yet. \
             The user may still review it."
        )
    }
}

/// What became of the proposed text while it was written, a line before it; empty where nothing did.
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
        "\nA formatter or the like of the user's changed it as it was written:\n{}",
        lines.join("\n")
    )
}
