//! Deletions and renamings of files: which calls may be proposed, and the answers when they are done.

use super::known::Observation;
use crate::edit::{Change, Edit, Whole};
use crate::tool::Unreadable;
use std::path::Path;

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
