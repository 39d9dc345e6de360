//! One call's edits, over one file or several: all of them, or none.

use super::{Change, Edit, Misfit, resolve};
use crate::text::Text;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Texts as they are before a call, by path; `None`: there is no such file.
pub type Texts = BTreeMap<PathBuf, Option<Text>>;

/// What a call makes of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changed {
    pub path: PathBuf,
    pub before: Option<Text>,
    pub after: Text,
    /// What was tolerated, for the model; a line for each edit.
    pub note: String,
}

/// The first edit that does not fit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// Which of the call's edits, from 0, and how many there are.
    pub at: usize,
    pub of: usize,
    pub is_patch: bool,
    pub path: PathBuf,
    /// What it was matched against, if there is such a file.
    pub text: Option<Text>,
    pub misfit: Misfit,
}

/// Applies a call's edits in order. `may` is asked before each whether that text may be changed so.
pub fn apply(
    texts: &Texts,
    edits: &[Edit],
    may: impl Fn(&Path, Option<&Text>, &Change) -> Result<(), Misfit>,
) -> Result<Vec<Changed>, Box<Refusal>> {
    let mut files: Vec<Changed> = Vec::new();
    for (at, Edit { path, change }) in edits.iter().enumerate() {
        let known = files.iter().position(|it| it.path == *path);
        let before = texts.get(path).and_then(Option::as_ref);
        let now = known.map_or(before, |it| Some(&files[it].after));
        let refuse = |misfit| {
            let is_patch = matches!(change, Change::Patch(_) | Change::Create { .. });
            let (path, text) = (path.clone(), now.cloned());
            Box::new(Refusal { at, of: edits.len(), is_patch, path, text, misfit })
        };
        if known.is_none() {
            may(path, now, change).map_err(refuse)?;
        }
        let fit = resolve(now, change).map_err(refuse)?;
        let is_only = edits.len() == 1 || matches!(change, Change::Patch(_));
        let note = if fit.note.is_empty() || is_only {
            fit.note
        } else {
            format!("edits[{at}]: {}", fit.note)
        };
        if let Some(known) = known {
            let file = &mut files[known];
            file.after = fit.text;
            file.note = [&file.note[..], &note]
                .into_iter()
                .filter(|it| !it.is_empty())
                .collect::<Vec<_>>()
                .join("\n");
        } else {
            let (path, before) = (path.clone(), before.cloned());
            files.push(Changed { path, before, after: fit.text, note });
        }
    }
    files.retain(|it| it.before.as_ref() != Some(&it.after));
    if let (true, Some(Edit { path, .. })) = (files.is_empty(), edits.first()) {
        let (path, text) = (path.clone(), texts.get(path).cloned().flatten());
        let misfit = Misfit::Unchanged;
        return Err(Box::new(Refusal { at: 0, of: 1, is_patch: false, path, text, misfit }));
    }
    Ok(files)
}

impl Refusal {
    /// Whether the edit was written wrong; a file that may not be changed is not the edit's fault.
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

    /// The text is not the one that the model has seen.
    pub fn call_stale(&mut self) {
        let misfit = match &mut self.misfit {
            Misfit::Chunk { misfit, .. } => misfit,
            misfit => misfit,
        };
        if let Misfit::Absent { is_stale, .. } = misfit {
            *is_stale = true;
        }
    }

    /// For the model. `path` as the user would write it.
    pub fn say(&self, path: &str) -> String {
        let said = self.misfit.say(path, self.text.as_ref()) + self.misfit.advice(self.is_patch);
        match (self.of, self.is_patch) {
            (_, true) => format!("Nothing of the patch was applied. {said}"),
            (1, _) => said,
            _ => format!("edits[{}] does not fit, so none was applied. {said}", self.at),
        }
    }
}
