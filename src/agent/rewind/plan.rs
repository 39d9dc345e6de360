//! Plans a rewind: undoes the changes of each file, the latest first, each by a three-way merge with the file as it is
//! now.

use super::index;
use crate::edit;
use crate::reach::Writing;
use crate::store::checkpoints::{
    Blobs, Cause, Change, Content, FileMode, IndexEntry, Kept, Staged,
};
use crate::text::{cause, encoded};
use crate::tool::git::head::{self, short};
use crate::tool::{self, Desk, Stamp, Unreadable};
use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The longest wait for git.
const PATIENCE: Duration = Duration::from_secs(2);
const UNDER_REVIEW: &str = "its changes are under review; accept or reject them first";
pub(super) const UNSAVED: &str = "its buffer has unsaved changes";

/// A file as it is, and as it will be after the rewind.
#[derive(Debug, Clone)]
pub(super) struct File {
    /// The file's path after the rewind.
    pub(super) path: PathBuf,
    /// The file's current path, if it differs from `path`.
    pub(super) from: Option<PathBuf>,
    pub(super) was: Content,
    pub(super) now: Content,
    /// The file's present permissions; `None` if there is no regular file.
    pub(super) was_mode: Option<FileMode>,
    /// The permissions that the rewind restores.
    pub(super) mode: Option<FileMode>,
    /// The present entry in git's index, and the entry that the rewind restores.
    pub(super) staged: Option<Staged>,
    /// What of the file stays as it is, because it changed later: clauses.
    pub(super) stays: Vec<&'static str>,
    /// Whether the file keeps changes that were made after the rewound ones.
    pub(super) merged: bool,
    /// The number of places that stay as they are, because the same lines changed later.
    pub(super) conflicts: usize,
    /// Why the rewind does not change the file: a clause that follows the file's name in a sentence.
    pub(super) skipped: Option<String>,
    /// Why the file stays if nothing of it is taken back but what git has brought: a clause.
    pub(super) brought: Option<String>,
    /// What was in the file's place before a command put a text there that may be the only one.
    pub(super) before_move: Option<Content>,
    /// The content that a command has changed and that does not come back.
    pub(super) wanted: Option<Content>,
    /// What was not restored with the rest of the file, and why: clauses that follow the file's name.
    pub(super) left: Vec<String>,
    /// Whether the rewind has renamed the file back.
    pub(super) is_renamed: bool,
    /// Whether a command changed the file.
    pub(super) by_command: bool,
    /// Why the file was restored only in its buffer and not on disk.
    pub(super) unsaved: Option<String>,
}

impl File {
    pub(super) fn is_unchanged(&self) -> bool {
        self.from.is_none()
            && self.was == self.now
            && self.new_mode().is_none()
            && self.new_entry().is_none()
    }

    /// Whether the rewind changes the file.
    pub(super) fn is_to_do(&self) -> bool {
        self.skipped.is_none() && !self.is_unchanged()
    }

    /// Whether no file is on disk, at most a folder, and none is made.
    pub(super) fn is_lost(&self) -> bool {
        self.skipped.is_some()
            && std::fs::symlink_metadata(&self.path).map_or(true, |it| it.is_dir())
    }

    /// Whether a command made the file, so that the rewind deletes it.
    pub(super) fn is_made_by_command(&self) -> bool {
        self.by_command && self.was.is_file() && self.now == Content::Absent
    }

    /// Whether the rewind would take away this text, which a command has put there.
    pub(super) fn has_text_of(&self, lost: &Content) -> bool {
        self.by_command && self.was == *lost && self.now != *lost
    }

    /// The text of a file that a command changed and that the rewind does not restore.
    pub(super) fn missed(&self) -> Option<&Content> {
        let wanted = Some(self.wanted.as_ref().unwrap_or(&self.now));
        let is_text = |it: &&Content| it.bytes().is_some_and(|it| !it.is_empty());
        wanted
            .filter(|it| self.skipped.is_some() && it.is_file() && **it != self.was)
            .filter(is_text)
    }

    /// The permissions that the file gets, if it does not have them.
    pub(super) fn new_mode(&self) -> Option<FileMode> {
        self.mode.filter(|it| self.now.is_file() && self.was_mode != Some(*it))
    }

    /// The entry in git's index that the file gets, if it does not have it.
    pub(super) fn new_entry(&self) -> Option<&Staged> {
        self.staged.as_ref().filter(|it| it.before != it.after)
    }

    /// What the rewind does to the file: a clause that follows the file's name in a sentence.
    pub(super) fn say(&self, root: &Path) -> String {
        let mut said = self.say_content(root);
        if self.skipped.is_none() {
            for it in &self.stays {
                said.push_str(&format!("; {it}"));
            }
        }
        for it in &self.left {
            said.push_str(&format!("; {it}"));
        }
        said
    }

    fn say_content(&self, root: &Path) -> String {
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
        let content = match (&self.skipped, &self.from, &self.was, &self.now) {
            (Some(why), Some(from), ..) if self.is_renamed => {
                return format!("is renamed back from {}, but its text stays: {why}", name(from));
            }
            (Some(why), ..) => return format!("is not changed: {why}"),
            _ if self.is_unchanged() => return "has nothing to take back".to_owned(),
            (_, Some(_), was, _) if was.is_file() && self.was_mode.is_none() => {
                "is created again".to_owned()
            }
            (_, Some(from), ..) => format!("is renamed back from {}{mine}", name(from)),
            (_, _, was, now) if was == now => return self.say_rest(),
            (_, _, _, Content::Absent | Content::Folder) => "is deleted".to_owned(),
            (_, _, _, Content::Link(to)) => {
                format!("is a symbolic link to {} again", String::from_utf8_lossy(to))
            }
            (_, _, Content::Folder, _) => "is created again in place of a folder".to_owned(),
            (_, _, Content::Link(_), _) => "is restored in place of a symbolic link".to_owned(),
            (_, _, Content::Absent, _) => "is created again".to_owned(),
            _ => format!("is restored{mine}"),
        };
        let has_mode = self.was_mode.and(self.new_mode()).is_some();
        let mode = if has_mode { ", with its permissions" } else { "" };
        let entry = if self.new_entry().is_some() { ", also in git's index" } else { "" };
        format!("{content}{mode}{entry}")
    }

    /// What the rewind does to a file whose content stays.
    fn say_rest(&self) -> String {
        match (self.new_mode(), self.new_entry()) {
            (Some(mode), None) => format!("gets its permissions back ({:04o})", mode.bits()),
            (Some(mode), Some(_)) => {
                format!(
                    "gets its permissions ({:04o}) and its entry in git's index back",
                    mode.bits()
                )
            }
            (None, _) => "gets its entry in git's index back".to_owned(),
        }
    }
}

/// The project's state in git, as far as a rewind needs it.
struct Git {
    branch: Option<String>,
    index: BTreeMap<PathBuf, IndexEntry>,
}

/// The files without these changes, also where a rewind leaves them, because it would lose a text. `changes` has the latest
/// change first.
pub(super) async fn undone(desk: &Desk, blobs: &Blobs, changes: &[Change]) -> Vec<File> {
    let mut git = Git { branch: head::branch(&desk.root, PATIENCE).await, index: BTreeMap::new() };
    if changes.iter().any(|it| it.staged.is_some()) {
        git.index = index::read(&desk.root).await.unwrap_or_default();
    }
    let mut files = BTreeMap::new();
    for change in changes {
        for path in [Some(&change.path), change.to.as_ref()].into_iter().flatten() {
            if !files.contains_key(&**path) {
                let is_raw = is_raw(blobs, changes, change);
                files.insert(path.to_path_buf(), look(desk, path, changes, is_raw).await);
            }
        }
        match &change.to {
            Some(to) => move_back(&mut files, &change.path, to),
            None => {
                if let Some(file) = files.get_mut(&*change.path) {
                    take_back(file, blobs, change, &git);
                }
            }
        }
    }
    files.retain(|_, it| {
        it.skipped.is_some()
            || it.was != Content::Absent
            || it.now != Content::Absent
            || it.new_entry().is_some()
    });
    let mut files: Vec<File> = files.into_values().collect();
    for it in files.iter_mut().filter(|it| it.skipped.is_none() && it.is_unchanged()) {
        it.skipped = it.brought.take();
    }
    for it in files.iter_mut().filter(|it| it.skipped.is_none() && it.before_move.is_some()) {
        it.stays.push(MOVED);
    }
    files
}

/// Whether the bytes of the file are compared, and not its text in the editor, which decodes other encodings than
/// UTF-8. `last` is the file's last change of `changes`.
fn is_raw(blobs: &Blobs, changes: &[Change], last: &Change) -> bool {
    let is_text = |it: &Change| matches!(blobs.read(it.sides().1), Ok(Content::Text(_)));
    let is_by_command = |it: &&Change| it.path == last.path && it.cause == Cause::Command;
    !is_text(last) || changes.iter().filter(is_by_command).any(|it| !is_text(it))
}

/// Fails if the path is a symbolic link or goes through one to another place. This is checked again right before each
/// change.
pub(in crate::agent) fn check_no_link(desk: &Desk, path: &Path) -> Result<(), String> {
    let is_link = std::fs::symlink_metadata(path).is_ok_and(|it| it.is_symlink());
    if is_link { Err(LINKED.to_owned()) } else { check_way(desk, path) }
}

/// Why a file stays that a command has moved there from a place that is not compared.
const MOVED: &str = "it may have the only copy of a text that a command has moved there";
const LINKED: &str = "a symbolic link is in its place";
const UNLIKE: &str = "it changed later, or its earlier text cannot be written in its encoding";

/// Fails if the path goes through a symbolic link to another place. The path itself may be a link.
pub(super) fn check_way(desk: &Desk, path: &Path) -> Result<(), String> {
    let above = path.parent().unwrap_or(path);
    let leads = tool::path::resolve(desk, &above.to_string_lossy());
    if leads.is_ok_and(|it| it == *above) { Ok(()) } else { Err(LINKED.to_owned()) }
}

/// The current state of a file.
async fn look(desk: &Desk, path: &Path, changes: &[Change], is_raw: bool) -> File {
    let mut file = File {
        path: path.to_owned(),
        from: None,
        was: Content::Absent,
        now: Content::Absent,
        was_mode: None,
        mode: None,
        staged: None,
        stays: Vec::new(),
        merged: false,
        conflicts: 0,
        skipped: None,
        by_command: false,
        unsaved: None,
        left: Vec::new(),
        brought: None,
        before_move: None,
        wanted: None,
        is_renamed: false,
    };
    if let Writing::Never(why) = desk.reach.writing(path) {
        file.skipped = Some(format!("it {why}"));
        return file;
    }
    if let Err(why) = check_way(desk, path) {
        // a link that the rewind removes first is not in the way
        let is_ours = |it: &&Change| {
            let is_link = std::fs::symlink_metadata(&*it.path).is_ok_and(|it| it.is_symlink());
            is_link && path.starts_with(&*it.path) && matches!(it.sides().1, Kept::Link(_))
        };
        file.skipped = changes.iter().find(is_ours).is_none().then_some(why);
        return file;
    }
    let at = path.to_owned();
    let there = tokio::task::spawn_blocking(move || {
        let meta = std::fs::symlink_metadata(&at).ok().filter(std::fs::Metadata::is_file);
        (Content::at(&at), meta.map(|it| FileMode::of(it.permissions().mode())))
    });
    let there = there.await.map_err(|it| cause(&it));
    let (content, mode) = match there {
        Ok((Ok(content), mode)) => (content, mode),
        Ok((Err(why), _)) | Err(why) => {
            file.skipped = Some(format!("it {why}"));
            return file;
        }
    };
    file.was_mode = mode;
    match shown(desk, path, content, is_raw).await {
        Ok(content) => file.was = content,
        Err(why) => file.skipped = Some(why),
    }
    file.now = file.was.clone();
    file
}

/// What a path holds, with the editor's text of a file. The error says why the file cannot be changed.
async fn shown(
    desk: &Desk,
    path: &Path,
    on_disk: Content,
    is_raw: bool,
) -> Result<Content, String> {
    match on_disk {
        Content::Link(_) | Content::Folder => return Ok(on_disk),
        Content::Bytes(_) if is_raw => {
            return unmodified(desk, path).await.map(|()| on_disk);
        }
        Content::Absent | Content::Text(_) | Content::Bytes(_) => (),
    }
    match desk.workspace.read(path).await {
        Ok(source) if source.pending > 0 => Err(UNDER_REVIEW.to_owned()),
        Ok(source) => Ok(Content::Text(source.text)),
        Err(Unreadable::Absent) => Ok(Content::Absent),
        Err(Unreadable::Binary | Unreadable::NotUtf8) => Ok(on_disk),
        Err(why) => Err(format!("it {}", why.say())),
    }
}

/// Fails if the editor has another text of the file than the disk.
pub(super) async fn unmodified(desk: &Desk, path: &Path) -> Result<(), String> {
    match desk.workspace.stamps(vec![path.to_owned()]).await.pop() {
        Some(Stamp::Disk(_) | Stamp::Unknown) | None => Ok(()),
        Some(Stamp::Undecided) => Err(UNDER_REVIEW.to_owned()),
        Some(Stamp::Buffer(_)) => Err(UNSAVED.to_owned()),
    }
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
    // a file that was moved on, and that no buffer shows, is made again in its former place
    let from = Some(from).filter(|it| it != path && was != Content::Absent);
    let back = File { path: path.to_owned(), from, was, now, ..moved.clone() };
    files.insert(path.to_owned(), back);
}

/// Undoes a change of a file.
fn take_back(file: &mut File, blobs: &Blobs, change: &Change, git: &Git) {
    file.by_command |= change.cause == Cause::Command;
    if file.skipped.is_none() {
        take_content_back(file, blobs, change, git);
    }
    if file.skipped.is_none() {
        take_mode_back(file, change);
        take_entry_back(file, change, git);
    } else if change.cause == Cause::Command {
        file.wanted = blobs.read(change.sides().0).ok();
    }
}

fn take_content_back(file: &mut File, blobs: &Blobs, change: &Change, git: &Git) {
    let (before, after) = change.sides();
    let is_known = !matches!(before, Kept::Lost(_));
    let has_more = change.staged.is_some() || change.mode != change.new_mode;
    if before == after && (is_known || has_more) {
        return;
    }
    if let (Kept::Lost(why), true) = (before, change.is_brought && change.branch == git.branch) {
        // an earlier change of the turn can still be taken out of the text
        return file.brought = Some(format!("its earlier text {why}"));
    }
    let (before, after) = match (blobs.read(before), blobs.read(after)) {
        (Ok(Content::Folder), Ok(after)) => (Content::Absent, after),
        (Ok(before), Ok(after)) => (before, after),
        (Err(why), _) => return file.skipped = Some(format!("its earlier text {why}")),
        (_, Err(why)) => return file.skipped = Some(format!("its later text {why}")),
    };
    if change.is_moved && file.now != before {
        // a later change of the file can still be taken out of the text
        file.before_move = Some(before);
        return file.brought = Some(MOVED.to_owned());
    }
    if file.now == after {
        file.now = before;
        return;
    } else if file.now == before {
        return;
    }
    let elsewhere = change.branch.as_deref().filter(|it| git.branch.as_deref() != Some(it));
    if let Some(branch) = elsewhere {
        let now = git.branch.as_deref().map_or("another one", short);
        let why = format!("it was changed on {}, and {now} is checked out now", short(branch));
        return file.skipped = Some(why);
    }
    take_out(file, &before, &after);
}

/// Takes a change out of a content that has changed since.
fn take_out(file: &mut File, before: &Content, after: &Content) {
    match (before, after, &file.now) {
        (Content::Text(before), Content::Text(after), Content::Bytes(now)) => {
            match encoded::like(now, after, before) {
                Some(bytes) => file.now = Content::of(bytes),
                None => file.skipped = Some(UNLIKE.to_owned()),
            }
        }
        (Content::Text(before), Content::Text(after), Content::Text(now)) => {
            // where both texts changed the same lines, the merge keeps the current text
            let merged = edit::merge(after, before, now);
            if merged.text == *now && edit::merge(before, after, now).conflicts == 0 {
                // somebody has taken the change back already, and changed other lines
                return;
            } else if merged.text == *now {
                file.skipped = Some("the same lines changed later".to_owned());
                return;
            }
            file.merged |= now.content != after.content;
            file.conflicts += merged.conflicts;
            file.now = Content::Text(merged.text);
        }
        (_, _, Content::Absent) => file.skipped = Some("it no longer exists".to_owned()),
        (_, _, Content::Link(_)) => file.skipped = Some(LINKED.to_owned()),
        (_, _, Content::Folder) => file.skipped = Some("a folder is in its place".to_owned()),
        (_, Content::Absent, _) => {
            file.skipped = Some("another file has its name now".to_owned());
        }
        _ => file.skipped = Some("it changed later".to_owned()),
    }
}

fn take_mode_back(file: &mut File, change: &Change) {
    let Some(mode) = change.mode else { return };
    let now = file.mode.or(file.was_mode);
    match change.new_mode {
        Some(new) if now != Some(new) && now != Some(mode) && file.was.is_file() => {
            file.stays.push("its permissions changed later and stay");
        }
        _ => file.mode = Some(mode),
    }
}

fn take_entry_back(file: &mut File, change: &Change, git: &Git) {
    let Some(Staged { before, after }) = &change.staged else { return };
    let present = git.index.get(&*change.path).cloned();
    let now = file.staged.as_ref().map_or(&present, |it| &it.after);
    if now == after && change.branch == git.branch {
        file.staged = Some(Staged { before: present, after: before.clone() });
    } else if now != before {
        file.stays.push("its entry in git's index changed later and stays");
    }
}
