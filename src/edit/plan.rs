//! Applies all edits of a call, to one or several files, or none of them.

use super::resolve::amend;
use super::{Change, Edit, Misfit, Whole};
use crate::text::Text;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The texts before a call, by path; `None` for a file that does not exist.
pub type Texts = BTreeMap<PathBuf, Option<Text>>;

/// What a call changes in one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changed {
    pub path: PathBuf,
    pub before: Option<Text>,
    pub after: Text,
    /// Which differences were tolerated, for the model; one line for each edit.
    pub note: String,
    /// Whether the file is also deleted or renamed.
    pub whole: Option<Whole>,
}

impl Changed {
    pub fn has_new_text(&self) -> bool {
        self.before.as_ref() != Some(&self.after)
    }

    fn goes_on(&mut self, text: Text, note: &str, whole: Option<Whole>) {
        self.after = text;
        self.whole = whole;
        if !self.note.is_empty() && !note.is_empty() {
            self.note.push('\n');
        }
        self.note.push_str(note);
    }

    /// Whether a further change contradicts what the call already does to this file.
    fn excludes(&self, path: &Path, change: &Change) -> bool {
        let target = |whole: &Whole| match whole {
            Whole::Rename { to } => Some(to.clone()),
            Whole::Delete => None,
        };
        let own = self.whole.as_ref().and_then(target);
        let Change::Whole(whole) = change else {
            return self.whole.is_some() && self.path == path || own.is_some_and(|it| it == path);
        };
        let other = target(whole);
        let may_follow = self.whole.is_none() && self.before.is_some() && other.is_some();
        self.path == path && !may_follow
            || own.as_deref() == Some(path)
            || other.is_some_and(|it| it == self.path || Some(it) == own)
    }
}

/// The first edit of a call that does not fit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The edit's index in the call, from 0, and the number of edits.
    pub at: usize,
    pub of: usize,
    pub is_patch: bool,
    /// The edit deletes or renames the file.
    pub is_whole: bool,
    pub path: PathBuf,
    /// The text in which the edit was searched; `None` if there is no such file.
    pub text: Option<Text>,
    pub misfit: Misfit,
}

/// Applies a call's edits in order. Before each edit, `may` decides whether that text may be changed.
pub fn apply(
    texts: &Texts,
    edits: &[Edit],
    may: impl Fn(&Path, Option<&Text>, &Change) -> Result<(), Misfit>,
) -> Result<Vec<Changed>, Box<Refusal>> {
    let mut files: Vec<Changed> = Vec::new();
    let is_patch = is_patch(edits);
    for (at, Edit { path, change }) in edits.iter().enumerate() {
        let known = files.iter().position(|it| it.path == *path);
        let before = texts.get(path).and_then(Option::as_ref);
        let now = known.map_or(before, |it| Some(&files[it].after));
        let refuse = |text: Option<Text>, misfit| {
            let is_whole = matches!(change, Change::Whole(_));
            let (path, of) = (path.clone(), edits.len());
            Box::new(Refusal { at, of, is_patch, is_whole, path, text, misfit })
        };
        if files.iter().any(|it| it.excludes(path, change)) {
            let why = "the same call also deletes or renames this file, or uses its new path";
            return Err(refuse(now.cloned(), Misfit::Refused(why.to_owned())));
        }
        if known.is_none() {
            may(path, now, change).map_err(|misfit| refuse(now.cloned(), misfit))?;
        }
        // moved out instead of cloned, because a refusal drops all files
        let mut text = match known {
            Some(known) => Some(std::mem::take(&mut files[known].after)),
            None => before.cloned(),
        };
        let note = match amend(&mut text, change) {
            Ok(note) => note,
            Err(misfit) => return Err(refuse(text, misfit)),
        };
        let text = text.unwrap_or_default();
        let is_only = edits.len() == 1 || matches!(change, Change::Patch(_));
        let note = if note.is_empty() || is_only { note } else { format!("$.edits[{at}]: {note}") };
        let whole = match change {
            Change::Whole(whole) => Some(whole.clone()),
            _ => None,
        };
        if let Some(known) = known {
            files[known].goes_on(text, &note, whole);
        } else {
            let (path, before) = (path.clone(), before.cloned());
            files.push(Changed { path, before, after: text, note, whole });
        }
    }
    files.retain(|it| it.has_new_text() || it.whole.is_some());
    if let (true, Some(Edit { path, .. })) = (files.is_empty(), edits.first()) {
        let (path, text) = (path.clone(), texts.get(path).cloned().flatten());
        let misfit = Misfit::Unchanged;
        let (at, of, is_patch, is_whole) = (0, 1, false, false);
        return Err(Box::new(Refusal { at, of, is_patch, is_whole, path, text, misfit }));
    }
    Ok(files)
}

fn is_patch(edits: &[Edit]) -> bool {
    edits.iter().any(|it| match it.change {
        Change::Patch(_) | Change::Create { .. } => true,
        // another tool also makes a single change of a whole file
        Change::Whole(_) => edits.len() > 1,
        _ => false,
    })
}

impl Refusal {
    /// Whether the model made a mistake in the edit. A file that may not be changed is none.
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

    /// Marks the misfit as caused by a text that the model has not seen.
    pub fn call_stale(&mut self) {
        let misfit = match &mut self.misfit {
            Misfit::Chunk { misfit, .. } => misfit,
            misfit => misfit,
        };
        if let Misfit::Absent { is_stale, .. } = misfit {
            *is_stale = true;
        }
    }

    /// The text for the model. `path` is as the user would write it.
    pub fn say(&self, path: &str) -> String {
        let advice = if self.is_whole { "" } else { self.misfit.advice(self.is_patch) };
        let said = self.misfit.say(path, self.text.as_ref()) + advice;
        match (self.of, self.is_patch) {
            (_, true) => format!("Nothing of the patch was applied. {said}"),
            (1, _) => said,
            _ => format!("$.edits[{}] does not fit, so no edit was applied. {said}", self.at),
        }
    }
}
