//! The answers to calls that delete or rename a file.

use super::super::wire::Reviewed;
use super::answer::Answer;
use crate::edit::Whole;
use crate::event::{Claim, Claimed, Keeps};
use crate::message::CallId;
use crate::tool;
use std::path::Path;

/// A claim about a file on disk.
pub(super) fn claim(call: &CallId, path: &Path, what: Claimed) -> Claim {
    let (call, path) = (call.clone(), path.to_owned());
    Claim { call, path, what, summary: String::new(), failed: false, told: false }
}

/// The answer to a call that deletes or renames a file.
pub(super) fn answer_to_whole(
    call: &CallId,
    whole: &Whole,
    path: &Path,
    reviewed: &Reviewed,
    root: &Path,
) -> Answer {
    let path = tool::path::show(root, path);
    let (change, accepted, done, kept) = match whole {
        Whole::Delete => ("deletion", reviewed.deleted, "is deleted".to_owned(), "is not deleted"),
        Whole::Rename { to } => (
            "renaming",
            reviewed.path == *to,
            format!("is now {}", tool::path::show(root, to)),
            "is not renamed",
        ),
    };
    let (verb, fate) = if accepted { ("accepted", &*done) } else { ("rejected", kept) };
    let verb = if reviewed.whole_left { "did not decide on" } else { verb };
    let is_so =
        accepted && !(whole.to().is_some() && (reviewed.absent || reviewed.is_former_there));
    let mut text = if is_so || !accepted && !reviewed.absent {
        format!("The user {verb} the {change}: {path} {fate}.")
    } else if accepted {
        let now = tool::path::show(root, &reviewed.path);
        let gone = if reviewed.absent { format!(" {}", absent(&now)) } else { String::new() };
        let back =
            if reviewed.is_former_there { format!(" {path} exists again.") } else { String::new() };
        format!(
            "The user accepted the renaming of {path} to {now}, but it is no longer so:{gone}{back}"
        )
    } else {
        format!("The user {verb} the {change}, but {}", absent(&path))
    };
    for it in reviewed.reasons.iter().filter(|it| it.whole) {
        text.push_str(&format!("\nThe user's reason: {}", it.reason));
    }
    let keeps = |it| reviewed.text.is_some().then_some(it);
    let gone = if accepted && reviewed.deleted {
        Some(Claimed::Gone { keeps: keeps(Keeps::Own) })
    } else {
        reviewed.absent.then(|| Claimed::Gone { keeps: keeps(Keeps::Former) })
    };
    let word = match (reviewed.whole_left, accepted) {
        (true, _) => "not decided",
        (false, true) if !is_so => "accepted, but no longer so",
        (false, true) => "accepted",
        (false, false) => "rejected",
    };
    Answer {
        call: call.clone(),
        text,
        failed: !is_so,
        tally: vec![(0, word)],
        unsaved: String::new(),
        files: 1,
        claims: gone.map(|it| claim(call, &reviewed.path, it)).into_iter().collect(),
    }
}

/// The answer to a call that deletes a file which the model has written again since.
pub(super) fn over(call: &CallId, path: &Path, root: &Path) -> Answer {
    let path = tool::path::show(root, path);
    Answer {
        call: call.clone(),
        text: format!(
            "The deletion of {path} does not count any more: the file was written again."
        ),
        failed: false,
        tally: vec![(0, "written again")],
        unsaved: String::new(),
        files: 1,
        claims: Vec::new(),
    }
}

/// Says that the file was taken away during the review.
pub(super) fn absent(shown: &str) -> String {
    format!("there is no file {shown} any more.")
}
