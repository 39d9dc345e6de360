//! Applies the edits of a call to one or several files: either all edits or none.

use super::back::{Back, Step};
use super::resolve::amend;
use super::{Change, Edit, Misfit, Whole};
use crate::text::Text;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The texts before a call, by path; `None` for a file that does not exist.
pub type Texts = BTreeMap<PathBuf, Option<Text>>;

/// The changes that a call makes in one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changed {
    pub path: PathBuf,
    /// How to restore the text before the call from the new text.
    pub back: Back,
    pub has_new_text: bool,
    /// A note for the model on the tolerated differences; one line for each edit.
    pub note: String,
    /// Whether the file is also deleted or renamed.
    pub whole: Option<Whole>,
    /// Whether the file did not exist before the call.
    is_new: bool,
}

impl Changed {
    fn goes_on(&mut self, step: Step, note: &str, whole: Option<Whole>) {
        self.back.push(step);
        self.whole = whole;
        if !self.note.is_empty() && !note.is_empty() {
            self.note.push('\n');
        }
        self.note.push_str(note);
    }

    /// Whether another change cannot be combined with what the call already does to this file: for example an edit of a
    /// file that the call deletes.
    fn excludes(&self, path: &Path, change: &Change) -> bool {
        let own = self.whole.as_ref().and_then(Whole::to);
        let Change::Whole(whole) = change else {
            return self.whole.is_some() && self.path == path || own == Some(path);
        };
        let other = whole.to();
        let may_follow = self.whole.is_none() && !self.is_new && other.is_some();
        self.path == path && !may_follow
            || own == Some(path)
            || other.is_some_and(|it| it == self.path || Some(it) == own)
    }
}

/// Why a call was refused: its first edit that does not fit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The edit's index in the call, from 0, and the number of edits.
    pub at: usize,
    pub of: usize,
    pub is_patch: bool,
    /// Whether the edit deletes or renames the file.
    pub is_whole: bool,
    pub path: PathBuf,
    /// The text in which `old` was searched; `None` if there is no such file.
    pub text: Option<Text>,
    pub misfit: Misfit,
}

/// Applies a call's edits in the order of the call: all edits, or none. Before the first edit of each file, `may` is
/// asked whether the file may be changed.
pub fn apply(
    texts: &mut Texts,
    edits: &[Edit],
    may: impl Fn(&Path, Option<&Text>, &Change) -> Result<(), Misfit>,
) -> Result<Vec<Changed>, Box<Refusal>> {
    let mut files: Vec<Changed> = Vec::new();
    let refused = |texts: &Texts, at: usize, misfit| {
        let Edit { path, change } = &edits[at];
        Box::new(Refusal {
            at,
            of: edits.len(),
            is_patch: is_patch(edits),
            is_whole: matches!(change, Change::Whole(_)),
            path: path.clone(),
            text: texts.get(path).cloned().flatten(),
            misfit,
        })
    };
    for at in 0..edits.len() {
        if let Err(misfit) = add(texts, &mut files, edits, at, &may) {
            let refusal = refused(texts, at, misfit);
            take_back(texts, files);
            return Err(refusal);
        }
    }
    for it in &mut files {
        let after = texts.get(&it.path).and_then(Option::as_ref);
        it.has_new_text = after.is_some_and(|after| it.back.is_changed(after));
    }
    files.retain(|it| it.has_new_text || it.whole.is_some());
    if files.is_empty() && !edits.is_empty() {
        let (of, is_patch, is_whole) = (1, false, false);
        let refusal = *refused(texts, 0, Misfit::Unchanged);
        return Err(Box::new(Refusal { of, is_patch, is_whole, ..refusal }));
    }
    Ok(files)
}

/// Applies the edit at `at`.
fn add(
    texts: &mut Texts,
    files: &mut Vec<Changed>,
    edits: &[Edit],
    at: usize,
    may: impl Fn(&Path, Option<&Text>, &Change) -> Result<(), Misfit>,
) -> Result<(), Misfit> {
    let Edit { path, change } = &edits[at];
    if files.iter().any(|it| it.excludes(path, change)) {
        let why = "the same call also deletes or renames this file, or uses its new path";
        return Err(Misfit::Refused(why.to_owned()));
    }
    let known = files.iter().position(|it| it.path == *path);
    let text = texts.entry(path.clone()).or_default();
    if known.is_none() {
        may(path, text.as_ref(), change)?;
    }
    let is_new = text.is_none();
    let (note, step) = amend(text, change)?;
    let is_only = edits.len() == 1 || matches!(change, Change::Patch(_));
    let note = if note.is_empty() || is_only { note } else { format!("$.edits[{at}]: {note}") };
    let whole = match change {
        Change::Whole(whole) => Some(whole.clone()),
        _ => None,
    };
    let at = known.unwrap_or_else(|| {
        files.push(Changed {
            path: path.clone(),
            back: Back::default(),
            has_new_text: false,
            note: String::new(),
            whole: None,
            is_new,
        });
        files.len() - 1
    });
    files[at].goes_on(step, &note, whole);
    Ok(())
}

/// Restores the texts that the files had before the call.
fn take_back(texts: &mut Texts, files: Vec<Changed>) {
    for Changed { path, back, .. } in files {
        if let Some(text) = texts.get_mut(&path) {
            *text = text.take().and_then(|after| back.before(after));
        }
    }
}

fn is_patch(edits: &[Edit]) -> bool {
    edits.iter().any(|it| match it.change {
        Change::Patch(_) | Change::Create { .. } => true,
        // a single deletion or renaming may come from a tool that takes no patches
        Change::Whole(_) => edits.len() > 1,
        _ => false,
    })
}

impl Refusal {
    /// Whether the edit failed because of a mistake of the model. It is no mistake if the file may not be changed.
    pub fn is_mistaken(&self) -> bool {
        !matches!(
            self.misfit,
            Misfit::Refused(_)
                | Misfit::Unread
                | Misfit::Stale
                | Misfit::Unchanged
                | Misfit::AlreadyApplied { .. }
        )
    }

    /// Notes that the edit may not fit because the text has changed since the model saw it.
    pub fn call_stale(&mut self) {
        let misfit = match &mut self.misfit {
            Misfit::Chunk { misfit, .. } => misfit,
            misfit => misfit,
        };
        if let Misfit::Absent { is_stale, .. } = misfit {
            *is_stale = true;
        }
    }

    /// The error text for the model. `path` is as the user would write it.
    pub fn say(&self, path: &str) -> String {
        let advice = if self.is_whole { "" } else { self.misfit.advice(self.is_patch) };
        let said = self.misfit.say(path, self.text.as_ref()) + advice;
        match (self.of, self.is_patch) {
            (_, true) => format!("No part of the patch was applied. {said}"),
            (1, _) => said,
            _ => format!("$.edits[{}] does not fit, so no edit was applied. {said}", self.at),
        }
    }
}
