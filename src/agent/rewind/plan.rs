//! Plans a rewind: undoes the changes of each file, the latest first, each by a three-way merge with the file as it is
//! now.

use crate::edit;
use crate::reach::Writing;
use crate::regular;
use crate::store::checkpoints::{Blobs, Cause, Change, Content, FileMode};
use crate::text::cause;
use crate::tool::{self, Desk, Unreadable};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A file as it is, and as it will be after the rewind.
#[derive(Debug, Clone)]
pub(super) struct File {
    /// The file's path after the rewind.
    pub(super) path: PathBuf,
    /// The file's current path, if it differs from `path`.
    pub(super) from: Option<PathBuf>,
    pub(super) was: Content,
    pub(super) now: Content,
    /// Whether the file keeps changes that were made after the rewound ones.
    pub(super) merged: bool,
    /// The number of places that stay as they are, because the same lines changed later.
    pub(super) conflicts: usize,
    /// Why the rewind does not change the file: a clause that follows the file's name in a sentence.
    pub(super) skipped: Option<String>,
    /// Whether a command changed the file.
    pub(super) by_command: bool,
    pub(super) mode: Option<FileMode>,
    /// Why the file was restored only in its buffer and not on disk.
    pub(super) unsaved: Option<String>,
}

impl File {
    pub(super) fn is_unchanged(&self) -> bool {
        self.from.is_none() && self.was == self.now
    }

    /// Whether the rewind changes the file.
    pub(super) fn is_to_do(&self) -> bool {
        self.skipped.is_none() && !self.is_unchanged()
    }

    /// What the rewind does to the file: a clause that follows the file's name in a sentence.
    pub(super) fn say(&self, root: &Path) -> String {
        let name = |it: &Path| tool::path::show(root, it);
        let mine = match (self.conflicts, self.merged) {
            (1, _) => ", except one place that changed later".to_owned(),
            (n @ 2.., _) => format!(", except {n} places that changed later"),
            (_, true) => ", with the later changes kept".to_owned(),
            _ => String::new(),
        };
        if let Some(why) = &self.unsaved {
            return format!("is restored in its buffer{mine}; it is not saved: {why}");
        }
        match (&self.skipped, &self.from, &self.was, &self.now) {
            (Some(why), ..) => format!("is not changed: {why}"),
            _ if self.is_unchanged() => "is as it was before".to_owned(),
            (_, Some(from), ..) => format!("is renamed back from {}{mine}", name(from)),
            (_, _, _, Content::Absent) => "is deleted".to_owned(),
            (_, _, Content::Absent, _) => "is created again".to_owned(),
            _ => format!("is restored{mine}"),
        }
    }
}

/// The files as they will be when these changes are undone. `changes` has the latest change first.
pub(super) async fn plan(desk: &Desk, blobs: &Blobs, changes: &[Change]) -> Vec<File> {
    let mut files = BTreeMap::new();
    for change in changes {
        for path in [Some(&change.path), change.to.as_ref()].into_iter().flatten() {
            if !files.contains_key(&**path) {
                files.insert(path.to_path_buf(), look(desk, path).await);
            }
        }
        match &change.to {
            Some(to) => move_back(&mut files, &change.path, to),
            None => {
                if let Some(file) = files.get_mut(&*change.path) {
                    take_back(file, blobs, change);
                }
            }
        }
    }
    files.retain(|_, it| {
        it.skipped.is_some() || it.was != Content::Absent || it.now != Content::Absent
    });
    files.into_values().collect()
}

/// Fails if the path is a symbolic link or goes through one to another place. This is checked again right before each
/// change.
pub(in crate::agent) fn check_no_link(desk: &Desk, path: &Path) -> Result<(), String> {
    let is_link = std::fs::symlink_metadata(path).is_ok_and(|it| it.is_symlink());
    let leads = tool::path::resolve(desk, &path.to_string_lossy());
    if is_link || leads.map_or(true, |it| it != *path) {
        Err("a symbolic link is in its place".to_owned())
    } else {
        Ok(())
    }
}

/// The current state of a file.
async fn look(desk: &Desk, path: &Path) -> File {
    let mut file = File {
        path: path.to_owned(),
        from: None,
        was: Content::Absent,
        now: Content::Absent,
        merged: false,
        conflicts: 0,
        skipped: None,
        by_command: false,
        mode: None,
        unsaved: None,
    };
    if let Err(why) = check_no_link(desk, path) {
        file.skipped = Some(why);
        return file;
    }
    if let Writing::Never(why) = desk.reach.writing(path) {
        file.skipped = Some(format!("it {why}"));
        return file;
    }
    match desk.workspace.read(path).await {
        Ok(source) if source.pending > 0 => {
            file.skipped =
                Some("its changes are under review; accept or reject them first".to_owned());
        }
        Ok(source) => file.was = Content::Text(source.text),
        Err(Unreadable::Absent) => (),
        Err(Unreadable::Binary | Unreadable::NotUtf8) => match regular::read_apart(path).await {
            Ok(bytes) => file.was = Content::of(bytes),
            Err(error) => file.skipped = Some(cause(&error)),
        },
        Err(why) => file.skipped = Some(format!("it {}", why.say())),
    }
    file.now = file.was.clone();
    file
}

/// Gives a renamed file its former path back, with its content.
fn move_back(files: &mut BTreeMap<PathBuf, File>, path: &Path, to: &Path) {
    let is_free =
        files.get(path).is_none_or(|it| it.now == Content::Absent && it.skipped.is_none());
    let Some(moved) = files.get_mut(to).filter(|it| it.now != Content::Absent) else { return };
    if !is_free {
        return moved.skipped = Some("another file has its former name".to_owned());
    }
    let [was, now] =
        [&mut moved.was, &mut moved.now].map(|it| std::mem::replace(it, Content::Absent));
    let from = moved.from.take().unwrap_or_else(|| to.to_owned());
    let from = Some(from).filter(|it| it != path);
    let back = File { path: path.to_owned(), from, was, now, ..moved.clone() };
    files.insert(path.to_owned(), back);
}

fn take_back(file: &mut File, blobs: &Blobs, change: &Change) {
    file.by_command |= change.cause == Cause::Command;
    if file.skipped.is_some() {
        return;
    }
    let (before, after) = change.sides();
    let (before, after) = match (blobs.read(before), blobs.read(after)) {
        (Ok(before), Ok(after)) => (before, after),
        (Err(why), _) | (_, Err(why)) => {
            return file.skipped = Some(format!("its earlier text {why}"));
        }
    };
    if file.now == after {
        file.now = before;
        file.mode = change.mode;
    } else if file.now != before {
        match (&before, &after, &file.now) {
            (Content::Text(before), Content::Text(after), Content::Text(now)) => {
                // where both texts changed the same lines, the merge keeps the current text
                let merged = edit::merge(after, before, now);
                if merged.text == *now {
                    file.skipped = Some("the same lines changed later".to_owned());
                    return;
                }
                (file.merged, file.conflicts) = (true, file.conflicts + merged.conflicts);
                file.now = Content::Text(merged.text);
            }
            (_, _, Content::Absent) => file.skipped = Some("it no longer exists".to_owned()),
            (_, Content::Absent, _) => {
                file.skipped = Some("another file has its name now".to_owned());
            }
            _ => file.skipped = Some("it changed later".to_owned()),
        }
    }
}
