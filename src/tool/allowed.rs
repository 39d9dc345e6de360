//! Which paths a call may read and which it may edit.

use super::desk::Desk;
use super::path::{self, Led};
use crate::edit::{Change, Edit, Whole};
use crate::event::Guarded;
use crate::reach::{Reading, Writing};
use crate::rules::Verdict;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The consent that a tool needs before it may read a path; `None` if it needs none. A consent for the session applies
/// only to this tool and this path.
pub(super) fn guarded(desk: &Desk, tool: &str, written: &str) -> Result<Option<Guarded>, String> {
    consent(desk, tool, written, &path::lead(desk, written)?)
}

/// A path of a running call: where it leads, for a call that has the consent to read it. No other code makes one.
pub struct Consented(Led);

impl Consented {
    /// The path after all symbolic links are followed.
    pub fn path(&self) -> &Path {
        &self.0.path
    }

    /// Whether the path was read only because the user has agreed.
    pub fn is_asked(&self) -> bool {
        self.0.reading != Reading::Free
    }
}

/// The file to which a path in a running call leads. The call may read only this file. The links of the path may have
/// changed since the call was checked, so the path is checked again.
pub(super) fn readable(desk: &Desk, written: &str) -> Result<Consented, String> {
    let led = path::lead(desk, written)?;
    let needed = consent(desk, "", written, &led)?;
    let is_agreed =
        |path: &str| desk.agreed.as_ref().is_some_and(|it| it.all().any(|it| it.path == path));
    if needed.is_some_and(|it| !is_agreed(&it.path)) {
        return Err(format!(
            "path: `{written}` leads to {}, and this call has no consent to read it. Call the tool again with this \
             path alone.",
            desk.shown(&led.path)
        ));
    }
    Ok(Consented(led))
}

fn consent(desk: &Desk, tool: &str, written: &str, led: &Led) -> Result<Option<Guarded>, String> {
    let Led { path, reading, .. } = led;
    let is_outside = !path::inside(&desk.root, path) && !desk.reach.is_open(path);
    let why = match *reading {
        Reading::Never(why) => return Err(format!("path: `{written}` {why}.")),
        Reading::Free if !is_outside => return Ok(None),
        Reading::Free => None,
        Reading::Asked(why) => Some(why.to_owned()),
    };
    let path = path::unmistakable(&desk.root, path);
    Ok(Some(Guarded { tool: tool.to_owned(), path, is_outside, why, others: Vec::new() }))
}

pub(super) fn editable(desk: &Desk, written: &str) -> Result<Led, String> {
    let led = path::lead(desk, written)?;
    let found = &led.path;
    if !path::inside(&desk.root, found) {
        return Err(format!(
            "path: `{written}` is outside the project ({}). Only files in the project can be edited.",
            desk.root.display()
        ));
    }
    if let Writing::Never(why) = led.writing {
        return Err(format!("path: `{written}` {why}."));
    }
    if found.is_dir() {
        return Err(format!("path: `{written}` is a folder. Name a file."));
    }
    if let Some(file) = found.ancestors().skip(1).find(|it| it.exists()).filter(|it| !it.is_dir()) {
        return Err(format!("path: `{}` is a file, not a folder.", path::show(&desk.root, file)));
    }
    match desk.rules.against_edit(found) {
        Some(rule) if rule.verdict == Verdict::Deny => {
            Err(format!("path: `{written}` {}.", rule.clause()))
        }
        Some(_) if led.writing == Writing::Free => Ok(Led {
            writing: Writing::Reviewed("is reviewed first because of a permission rule"),
            ..led
        }),
        _ => Ok(led),
    }
}

/// The file in which the user saves a text of Caliban, such as a plan. The rules for edits apply; a file that edits may
/// change only after a review is refused, because there is none. The error is a sentence for the user.
pub fn savable(desk: &Desk, written: &str) -> Result<PathBuf, String> {
    let led = editable(desk, written);
    let led = led.map_err(|said| said.trim_start_matches("path: ").to_owned())?;
    match led.writing {
        Writing::Reviewed(why) => Err(format!("`{written}` {why}, so nothing was saved there.")),
        Writing::Free | Writing::Never(_) => Ok(led.path),
    }
}

/// A file or folder of the project that a worker may edit; it need not exist. The error is for the model.
pub(super) fn owned(desk: &Desk, written: &str) -> Result<PathBuf, String> {
    let led = path::lead(desk, written)?;
    if !path::inside(&desk.root, &led.path) {
        return Err(format!("`{written}` is outside the project"));
    }
    match led.writing {
        Writing::Never(why) => Err(format!("`{written}` {why}")),
        Writing::Free | Writing::Reviewed(_) => Ok(led.path),
    }
}

/// The edits of a call, with their real paths (without symbolic links).
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Resolved {
    pub edits: Vec<Edit>,
    /// Files that wait for a review even in auto-edit mode.
    pub reviewed: BTreeSet<PathBuf>,
}

/// Resolves the paths of an edit and adds the edit to `all`.
pub fn resolved(desk: &Desk, edit: Edit, all: &mut Resolved) -> Result<(), String> {
    let written = edit.path.to_string_lossy();
    let Led { path, reading, mut writing } = editable(desk, &written)?;
    let mut change = edit.change;
    if let Change::Whole(whole) = &mut change {
        if path::is_link(desk, &written)? {
            return Err(format!(
                "path: `{written}` is a symbolic link. This tool neither deletes nor renames links."
            ));
        }
        // Under its new name the file could be read without consent, so the renaming is reviewed first.
        if let Reading::Asked(why) = reading {
            writing = writing.max(Writing::Reviewed(why));
        }
        if let Whole::Rename { to } = whole {
            let led = unused_path(desk, &to.to_string_lossy())?;
            writing = writing.max(led.writing);
            *to = led.path;
        }
    }
    if writing != Writing::Free {
        all.reviewed.insert(path.clone());
    }
    all.edits.push(Edit { path, change });
    Ok(())
}

/// Resolves the edits of a call. If one of them is not allowed, the whole call is refused.
pub(super) fn all_resolved(desk: &Desk, edits: Vec<Edit>) -> Result<Resolved, String> {
    let rest = if edits.len() > 1 { " No part of the call was done." } else { "" };
    let mut all = Resolved::default();
    for edit in edits {
        resolved(desk, edit, &mut all).map_err(|said| said + rest)?;
    }
    Ok(all)
}

/// Resolves the path of a file that must not exist yet.
fn unused_path(desk: &Desk, to: &str) -> Result<Led, String> {
    let led = editable(desk, to).map_err(|said| said.replacen("path:", "to:", 1))?;
    if path::is_link(desk, to)? || led.path.exists() {
        return Err(format!("to: `{to}` already exists. Name a path that does not exist."));
    }
    Ok(led)
}
