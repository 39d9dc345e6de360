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
) -> Result<Vec<Changed>, Refusal> {
    let mut files: Vec<Changed> = Vec::new();
    for (at, Edit { path, change }) in edits.iter().enumerate() {
        let known = files.iter().position(|it| it.path == *path);
        let before = texts.get(path).and_then(Option::as_ref);
        let now = known.map_or(before, |it| Some(&files[it].after));
        let refuse = |misfit| Refusal {
            at,
            of: edits.len(),
            path: path.clone(),
            text: now.cloned(),
            misfit,
        };
        if known.is_none() {
            may(path, now, change).map_err(refuse)?;
        }
        let fit = resolve(now, change).map_err(refuse)?;
        let note = if fit.note.is_empty() || edits.len() == 1 {
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
    match (files.is_empty(), edits.first()) {
        (true, Some(Edit { path, .. })) => Err(Refusal {
            at: 0,
            of: 1,
            path: path.clone(),
            text: texts.get(path).cloned().flatten(),
            misfit: Misfit::Unchanged,
        }),
        _ => Ok(files),
    }
}

impl Refusal {
    /// For the model. `path` as the user would write it.
    pub fn say(&self, path: &str) -> String {
        let said = self.misfit.say(path, self.text.as_ref());
        if self.of == 1 {
            return said;
        }
        format!("edits[{}] does not fit, so none was applied. {said}", self.at)
    }
}
