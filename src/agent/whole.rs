//! Deletions and renamings of files: which calls may be proposed, and the answers when they are done.

use super::edits::{Job, Open};
use super::known::Observation;
use crate::edit::{Change, Edit, Whole};
use crate::event::TurnId;
use crate::tool::Unreadable;
use std::path::Path;

/// Refuses a call that deletes or renames a file which another call of the same reply changes: the result would depend
/// on the order of the user's decisions.
pub(super) fn refuse_overlaps(job: &Job, turn: TurnId, open: Vec<Open>) -> Vec<Open> {
    let mut fit: Vec<Open> = Vec::new();
    let (wholes, texts): (Vec<Open>, Vec<Open>) =
        open.into_iter().partition(|it| it.edits.iter().any(|it| as_whole(it).is_some()));
    fit.extend(texts);
    for it in wholes {
        let meets = |other: &Open| {
            let mut paths = other.edits.iter().flat_map(Edit::paths);
            paths.any(|path| it.edits.iter().flat_map(Edit::paths).any(|own| own == path))
        };
        let met = fit.iter().any(meets);
        if met {
            let text = "This call was not carried out, because another call of the same reply changes one of its \
                        files. Send this call again once the user has decided on the other call.";
            job.refuse(turn, &it.call, text.to_owned());
        } else {
            fit.push(it);
        }
    }
    fit
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

impl Job {
    /// Reports a finished deletion or renaming. Returns the sentence for the model and a word for the summary.
    pub(super) fn done(&self, path: &Path, whole: &Whole) -> (String, &'static str) {
        let shown = self.shown(path);
        let (done, word, to) = match whole {
            Whole::Delete => (format!("{shown} is deleted"), "deleted", None),
            Whole::Rename { to } => {
                (format!("{shown} is now {}", self.shown(to)), "renamed", Some(to.clone()))
            }
        };
        let _ = self.observations.send(Observation::Moved { from: path.to_owned(), to });
        let undo = if self.unattended { "" } else { "; the user may still undo it" };
        (format!("{done}{undo}."), word)
    }
}
