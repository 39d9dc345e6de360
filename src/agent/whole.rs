//! Deletions and renamings of files: which calls may be proposed, and the answers when they are done.

use super::known::Observation;
use crate::edit::{Change, Edit, Whole};
use crate::tool::Unreadable;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Why such a call is refused.
pub(super) const OVERLAPS: &str = "This call was not carried out, because another call of the same reply changes one of \
    its files. Send this call again once the user has decided on the other call.";

/// Parts the calls from those that delete or rename a file which another call of the same reply changes: their result
/// would depend on the order of the user's decisions.
pub(super) fn without_overlaps<T>(
    calls: Vec<T>,
    edits: impl Fn(&T) -> &[Edit],
) -> (Vec<T>, Vec<T>) {
    let (wholes, mut fit): (Vec<T>, Vec<T>) =
        calls.into_iter().partition(|it| edits(it).iter().any(|it| as_whole(it).is_some()));
    let mut overlapping = Vec::new();
    for it in wholes {
        let own = |path: &Path| edits(&it).iter().flat_map(Edit::paths).any(|own| own == path);
        let meets = |other: &T| edits(other).iter().flat_map(Edit::paths).any(&own);
        let met = fit.iter().any(meets);
        if met { overlapping.push(it) } else { fit.push(it) }
    }
    (fit, overlapping)
}

/// The answer to a call that changes nothing, and its summary.
pub(super) const SAME: (&str, &str) =
    ("The text stays as it is: there is nothing to change.", "no change");

/// The answer to a call whose files are all written by later calls, and its summary.
pub(super) const REWRITTEN: (&str, &str) = (
    "A later call of the same reply writes this file. The two are one change of the file, \
    and the answer to that call says what becomes of it.",
    "one change with the next write",
);

/// Takes out the deletions of files that a later call of the same reply writes: the two are one change of the file, in
/// whatever order the user decides. Returns the calls, those of them that have nothing else to do, and the files.
pub(super) fn without_rewritten<T>(
    calls: Vec<T>,
    edits: impl Fn(&mut T) -> &mut Vec<Edit>,
) -> (Vec<T>, Vec<T>, BTreeSet<PathBuf>) {
    let (mut written, mut rewritten) = (BTreeSet::new(), BTreeSet::new());
    let (mut left, mut over) = (Vec::new(), Vec::new());
    for mut it in calls.into_iter().rev() {
        let own = edits(&mut it);
        let deletes = |it: &Edit| matches!(as_whole(it), Some(Whole::Delete));
        rewritten.extend(
            own.extract_if(.., |it| deletes(it) && written.contains(&it.path)).map(|it| it.path),
        );
        let writes = own.iter().filter(|it| matches!(it.change, Change::Write { .. }));
        written.extend(writes.map(|it| it.path.clone()));
        if own.is_empty() { over.push(it) } else { left.push(it) }
    }
    left.reverse();
    over.reverse();
    (left, over, rewritten)
}

fn as_whole(edit: &Edit) -> Option<&Whole> {
    match &edit.change {
        Change::Whole(whole) => Some(whole),
        _ => None,
    }
}

/// Whether any of these edits changes a text.
pub(super) fn has_text(edits: &[Edit]) -> bool {
    edits.iter().any(|it| as_whole(it).is_none())
}

/// Whether the change can be made although the file's text cannot be read.
pub(super) fn needs_no_text(change: &Change, why: &Unreadable) -> bool {
    matches!(change, Change::Whole(_)) && matches!(why, Unreadable::Binary | Unreadable::NotUtf8)
}

/// A finished deletion or renaming: the sentence for the model, a word for the summary, and where the file is now.
pub(super) fn done(
    path: &Path,
    whole: &Whole,
    shown: impl Fn(&Path) -> String,
    is_unattended: bool,
) -> (String, &'static str, Observation) {
    let name = shown(path);
    let (done, word, to) = match whole {
        Whole::Delete => (format!("{name} is deleted"), "deleted", None),
        Whole::Rename { to } => {
            (format!("{name} is now {}", shown(to)), "renamed", Some(to.clone()))
        }
    };
    let undo = if is_unattended { "" } else { "; the user may still undo it" };
    (format!("{done}{undo}."), word, Observation::Moved { from: path.to_owned(), to })
}
