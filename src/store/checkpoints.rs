//! Checkpoints: how each turn changed the project's files. A log records the changes. Each content of a file is stored
//! once, in a file named by its SHA-256 hash.

mod apart;
mod blobs;
mod change;
mod note;
#[cfg(test)]
mod tests;

pub use apart::Since;
pub use blobs::{Blobs, Content};
pub use change::{BlobName, Cause, Change, FileMode, IndexEntry, Kept, New, Staged, State};
pub use note::{Gap, Note, Said};

use super::{Disk, Project, Store};
use crate::edit;
use crate::event::SessionId;
use crate::text::Text;
use change::Line;
use serde::de::IgnoredAny;
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Changes older than this are removed from the log, so their turns can no longer be rewound. By then the user has
/// committed the changes or wants to keep them.
const AGE: Duration = Duration::from_secs(30 * 24 * 3600);
/// The most bytes of file contents that are stored for one session. This is enough for two thousand edits of large
/// source files. If there are more, the oldest turns are removed.
const ALL: u64 = 500_000_000;
/// The most turns that are kept. Nobody reads a longer list.
const ENTRIES: usize = 200;

/// The end of the names of folders with checkpoints.
const ENDING: &str = ".checkpoints";
const LOG: &str = "changes";

/// The turn or rewind to which changes belong.
#[derive(Debug, Clone)]
pub struct Origin {
    pub turn: u32,
    pub title: String,
    pub cause: Cause,
}

/// The changes of files that one session has made.
#[derive(Debug)]
pub struct Checkpoints {
    disk: Arc<dyn Disk>,
    dir: PathBuf,
    /// The project's root. Only changes of files below it are accepted.
    root: PathBuf,
    changes: Vec<Change>,
    notes: Vec<Note>,
    /// Whether the log may end in the middle of a line.
    is_torn: bool,
    /// Whether the log's folder was synced to disk since the log was created, so that the log survives a loss of power.
    is_named: bool,
    /// The number of log lines that were ignored, because they describe no change of this project's files.
    ignored: usize,
    /// The last entry (see `Change::entry`) before the session was opened or cleared. A new turn never joins this entry
    /// or an earlier one, even if both turns have the same number: after a clear, turns are counted from one again.
    parted: u32,
    /// The numbers of the proposals of this program that the editor has written.
    on_disk: BTreeSet<u32>,
}

impl Store {
    /// The checkpoints of this session.
    pub fn checkpoints(&self) -> Checkpoints {
        let dir = self.dir.join(format!("{}{ENDING}", self.name));
        Checkpoints::open(self.disk.clone(), dir, &self.root)
    }
}

impl Project {
    /// Copies the checkpoints of the turns 1 to `turns` from one session to another.
    pub fn copy_checkpoints(&self, from: &SessionId, to: &SessionId, turns: u32) -> io::Result<()> {
        let [from, to] = [from, to].map(|it| self.dir.join(format!("{it}{ENDING}")));
        let old = Checkpoints::read(self.disk.clone(), from, &self.root);
        let kept: Vec<Change> = old.changes.iter().filter(|it| it.turn <= turns).cloned().collect();
        let mut new = Checkpoints::read(self.disk.clone(), to, &self.root);
        self.disk.create_dir(&new.dir)?;
        for name in used(&kept) {
            // If a content cannot be copied, the changes that need it cannot be rewound in the copy; the others can.
            let _ = self.copy_content(name, &old.dir, &new.dir);
        }
        let notes: Vec<Note> = old.notes.into_iter().filter(|it| it.turn <= turns).collect();
        new.write(kept)?;
        new.write_notes(notes)
    }

    /// Copies a stored content by a hard link. If the link fails, copies the bytes. Skips anything that is not a
    /// regular file.
    fn copy_content(&self, name: &BlobName, from: &Path, to: &Path) -> io::Result<()> {
        let (source, copy) = (from.join(name), to.join(name));
        if !fs::symlink_metadata(&source)?.is_file() {
            return Ok(());
        }
        fs::hard_link(&source, &copy).or_else(|_| {
            let disk: &dyn Disk = &*self.disk;
            disk.replace(to, name.as_ref(), &disk.read(&source)?)
        })
    }
}

impl Checkpoints {
    /// Opens the checkpoints of a session whose lock this program has, and deletes changes that are too old. A new turn
    /// never joins an earlier turn with the same number, because a session that was cleared counts its turns from one
    /// again.
    pub fn open(disk: Arc<dyn Disk>, dir: PathBuf, root: &Path) -> Checkpoints {
        let mut all = Checkpoints::read(disk, dir, root);
        all.prune(now());
        all.part();
        all
    }

    /// Reads the log. Ignores lines that cannot be read, or that do not describe a change of this project's files.
    fn read(disk: Arc<dyn Disk>, dir: PathBuf, root: &Path) -> Checkpoints {
        let log = disk.read(&dir.join(LOG)).unwrap_or_default();
        let mut all = Checkpoints {
            disk,
            dir,
            root: root.to_owned(),
            changes: Vec::new(),
            notes: Vec::new(),
            ignored: 0,
            is_torn: false,
            is_named: false,
            parted: 0,
            on_disk: BTreeSet::new(),
        };
        all.is_torn = !log.is_empty() && !log.ends_with(b"\n");
        for line in log.split(|it| *it == b'\n') {
            let change = serde_json::from_slice::<Line>(line).ok();
            if let Some(change) = change.and_then(|it| it.change(root)) {
                all.put(change);
            } else if let Ok(note) = serde_json::from_slice::<Note>(line) {
                note.checked().into_iter().for_each(|it| all.put_note(it));
            } else if serde_json::from_slice::<IgnoredAny>(line).is_ok() {
                // the line is complete but does not describe a change; a line that a crash has cut off is not counted
                all.ignored += 1;
            }
        }
        all
    }

    /// From now on, turns get new entries, even if they have the numbers of earlier turns.
    fn part(&mut self) {
        self.parted = self.last();
    }

    /// Called when the conversation is cleared. Its turns can still be rewound, although their messages are gone.
    pub fn clear(&mut self) -> io::Result<()> {
        self.part();
        let numbered = self.changes.iter().filter(|it| it.turn > 0);
        self.write(numbered.map(|it| Change { turn: 0, ..it.clone() }).collect())
    }

    fn last(&self) -> u32 {
        let changes = self.changes.iter().map(|it| it.entry);
        changes.chain(self.notes.iter().map(|it| it.entry)).max().unwrap_or(0)
    }

    pub fn changes(&self) -> &[Change] {
        &self.changes
    }

    /// What turns did that no rewind takes back.
    pub fn notes(&self) -> &[Note] {
        &self.notes
    }

    /// The notes of a turn that ran since the session was opened or cleared.
    pub fn notes_of(&self, turn: u32) -> impl Iterator<Item = &Note> {
        self.notes.iter().filter(move |it| it.turn == turn && it.entry > self.parted)
    }

    /// The number of lines in the log that were ignored. Caliban itself does not write such lines.
    pub fn ignored(&self) -> usize {
        self.ignored
    }

    pub fn blobs(&self) -> Blobs {
        Blobs { disk: self.disk.clone(), dir: self.dir.clone() }
    }

    /// Adds changes whose contents are already stored, and returns their numbers. Closes the earlier changes of the
    /// same files on which the user has decided: `settle` does not alter closed changes. A rewind also closes undecided
    /// changes.
    pub fn begin(&mut self, origin: &Origin, new: Vec<New>) -> (Vec<u32>, io::Result<()>) {
        let (last, (entry, title)) = (self.last(), self.entry(origin));
        if entry > last {
            self.prune(now());
        }
        let mut id = self.last_change();
        let mut touched: Vec<Change> = Vec::new();
        for it in &mut self.changes {
            let is_last = origin.cause == Cause::Rewind || it.settled.is_some();
            if it.state == State::Open && is_last && new.iter().any(|new| *new.path == *it.path) {
                it.state = State::Closed;
                touched.push(it.clone());
            }
        }
        let from = id;
        for it in new {
            let New { path, to, before, after, mode, new_mode, .. } = it;
            let New { staged, branch, is_brought, is_moved, folder, .. } = it;
            id += 1;
            let (turn, cause, title) = (origin.turn, origin.cause, title.clone());
            let (at, settled, state) = (now(), None, State::Open);
            let [mode, new_mode] = [mode, new_mode].map(|it| it.map(FileMode::of));
            let line = Line {
                id,
                entry,
                turn,
                at,
                title,
                cause,
                path,
                to,
                before,
                after,
                mode,
                new_mode,
                staged,
                branch,
                is_brought,
                is_moved,
                folder,
                settled,
                state,
            };
            // A change of a file outside the project is not recorded, because a rewind would not restore it.
            touched.extend(line.change(&self.root));
        }
        ((from + 1..=id).collect(), self.write(touched))
    }

    /// The number and the title of the entry to which new changes belong.
    fn entry(&self, origin: &Origin) -> (u32, String) {
        let is_turn = origin.cause != Cause::Rewind;
        let is_same = |turn: u32, entry: u32| is_turn && turn == origin.turn && entry > self.parted;
        let changes = self.changes.iter().filter(|it| it.cause != Cause::Rewind);
        let changes = changes.map(|it| (it.turn, it.entry, &it.title));
        let all = changes.chain(self.notes.iter().map(|it| (it.turn, it.entry, &it.title)));
        let same = all.filter(|it| is_same(it.0, it.1)).max_by_key(|it| it.1);
        match same {
            Some((_, entry, title)) => (entry, title.clone()),
            None => (self.last() + 1, origin.title.clone()),
        }
    }

    /// Notes what a turn did that no rewind takes back.
    pub fn note(&mut self, origin: &Origin, said: Said) -> io::Result<()> {
        let (entry, title) = self.entry(origin);
        let known = self.notes.iter().any(|it| it.entry == entry && it.said == said);
        if known && said != Said::Begun {
            return Ok(());
        }
        let note = Note { entry, turn: origin.turn, at: now(), title, said };
        self.write_notes(note.checked().into_iter().collect())
    }

    /// Alters the change with this number.
    pub fn alter(&mut self, id: u32, how: impl FnOnce(&mut Change)) -> io::Result<()> {
        let Some(found) = self.changes.iter().find(|it| it.id == id) else { return Ok(()) };
        let mut change = found.clone();
        how(&mut change);
        self.write(vec![change])
    }

    /// Records that the user has decided on the open changes of a file. `now` is the file's text; `None` if the file
    /// does not exist. `branch` is the branch that is checked out, if it is known: the changes are written there.
    ///
    /// A command may have changed the file between an edit and the decision. The edit was then decided as it was before
    /// the command, so the command's change is taken out of `now` first.
    pub fn settle(
        &mut self,
        path: &Path,
        now: Option<&Text>,
        branch: Option<&str>,
    ) -> io::Result<()> {
        let blobs = self.blobs();
        let mut now = now.cloned().map_or(Content::Absent, Content::Text);
        let mut touched = Vec::new();
        let is_open = |it: &&Change| *it.path == *path && it.state == State::Open;
        let is_edit = |it: &&Change| is_open(it) && it.cause == Cause::Edit;
        let Some(first) = self.changes.iter().find(is_edit).map(|it| it.id) else { return Ok(()) };
        for change in self.changes.iter().rev().filter(|it| is_open(it) && it.id >= first) {
            let mut change = change.clone();
            if change.cause == Cause::Command {
                let Some(before) = taken_back(&blobs, &change, &now) else { break };
                let sides = (blobs.keep(&before)?, blobs.keep(&now)?);
                let is_as_made = (&sides.0, &sides.1) == (&change.before, &change.after);
                let settled = Some(sides).filter(|_| !is_as_made);
                if settled != change.settled {
                    change.settled = settled;
                    touched.push(change);
                }
                now = before;
                continue;
            }
            if let Some(branch) = branch {
                change.branch = Some(branch.to_owned());
            }
            let is_whole = change.to.is_some() || change.after == Kept::Absent;
            match &now {
                // the user rejected the deletion, renaming or creation of the file
                Content::Text(_) if is_whole => change.state = State::Void,
                Content::Absent if change.before == Kept::Absent => change.state = State::Void,
                Content::Text(text) => {
                    let Ok(before) = without(&blobs, &change, text) else { continue };
                    change.settled = Some((blobs.keep(&before)?, blobs.keep(&now)?));
                    now = before;
                }
                _ => continue,
            }
            touched.push(change);
        }
        self.write(touched)
    }

    fn write(&mut self, changes: Vec<Change>) -> io::Result<()> {
        let mut lines = Vec::new();
        for change in changes {
            serde_json::to_writer(&mut lines, &change)?;
            lines.push(b'\n');
            self.put(change);
        }
        self.append(&lines)
    }

    fn write_notes(&mut self, notes: Vec<Note>) -> io::Result<()> {
        let mut lines = Vec::new();
        for note in notes {
            serde_json::to_writer(&mut lines, &note)?;
            lines.push(b'\n');
            self.put_note(note);
        }
        self.append(&lines)
    }

    /// Appends lines to the log. When this returns, they are safe on disk.
    fn append(&mut self, lines: &[u8]) -> io::Result<()> {
        if lines.is_empty() {
            return Ok(());
        }
        let torn = if self.is_torn { &b"\n"[..] } else { b"" };
        self.is_torn = true;
        self.disk.create_dir(&self.dir)?;
        let log = self.dir.join(LOG);
        self.disk.append(&log, &[torn, lines].concat())?;
        self.is_torn = false;
        self.disk.sync(&log)?;
        if !std::mem::replace(&mut self.is_named, true) {
            self.disk.sync_dir(&self.dir)?;
            self.dir.parent().map_or(Ok(()), |it| self.disk.sync_dir(it))?;
        }
        Ok(())
    }

    fn put(&mut self, change: Change) {
        match self.changes.iter_mut().find(|it| it.id == change.id) {
            Some(it) => *it = change,
            None => self.changes.push(change),
        }
    }

    /// Adds a note. The end of a command removes the note about its beginning.
    fn put_note(&mut self, note: Note) {
        if note.said != Said::Over {
            return self.notes.push(note);
        }
        let is_begun =
            |it: &Note| (it.entry, it.turn, &it.said) == (note.entry, note.turn, &Said::Begun);
        if let Some(at) = self.notes.iter().rposition(is_begun) {
            self.notes.remove(at);
        }
    }

    /// Removes changes that are too old or too many, and their contents. If a content cannot be deleted, a later call
    /// tries again.
    fn prune(&mut self, now: u64) {
        let blobs = self.blobs();
        let sizes = blobs.sizes();
        let count = self.changes.len() + self.notes.len();
        let oldest = now.saturating_sub(AGE.as_secs());
        self.changes.retain(|it| it.at >= oldest);
        self.notes.retain(|it| it.at >= oldest);
        loop {
            let mut entries: BTreeSet<u32> = self.changes.iter().map(|it| it.entry).collect();
            entries.extend(self.notes.iter().map(|it| it.entry));
            let used = used(&self.changes);
            let total: u64 = sizes.iter().filter(|it| used.contains(&it.0)).map(|it| it.1).sum();
            match entries.first() {
                Some(first) if entries.len() > 1 && (total > ALL || entries.len() > ENTRIES) => {
                    let first = *first;
                    self.changes.retain(|it| it.entry != first);
                    self.notes.retain(|it| it.entry != first);
                }
                _ => break,
            }
        }
        if self.changes.len() + self.notes.len() == count {
            return;
        }
        let mut log = Vec::new();
        let changes = self.changes.iter().map(serde_json::to_vec);
        for line in changes.chain(self.notes.iter().map(serde_json::to_vec)).flatten() {
            log.extend(line);
            log.push(b'\n');
        }
        let disk: &dyn Disk = &*self.disk;
        // Contents are deleted only after the log on disk no longer refers to them.
        if disk.replace_now(&self.dir, LOG, &log).is_ok() {
            self.is_torn = false;
            let used = used(&self.changes);
            for (name, _) in sizes.iter().filter(|it| !used.contains(&it.0)) {
                let _ = disk.remove(&self.dir.join(name));
            }
        }
    }
}

/// The names of the contents that these changes need.
fn used(changes: &[Change]) -> BTreeSet<&BlobName> {
    let settled = changes.iter().filter_map(|it| it.settled.as_ref());
    let all = changes.iter().map(|it| (&it.before, &it.after));
    let all = all.chain(settled.map(|(before, after)| (before, after)));
    all.flat_map(|(before, after)| [before, after])
        .filter_map(|it| match it {
            Kept::Blob(name) | Kept::Link(name) => Some(name),
            Kept::Absent | Kept::Folder | Kept::Lost(_) => None,
        })
        .collect()
}

/// The content that the file would have without this change; `now` is its present text. The error says why the content
/// cannot be computed.
fn without(blobs: &Blobs, change: &Change, now: &Text) -> Result<Content, String> {
    match (blobs.read(&change.after)?, blobs.read(&change.before)?) {
        (_, Content::Absent) => Ok(Content::Absent),
        (Content::Text(after), Content::Text(before)) => {
            Ok(Content::Text(edit::merge(&after, now, &before).text))
        }
        _ => Err("is not text".to_owned()),
    }
}

/// A content without a command's change; `None` if it cannot be computed.
fn taken_back(blobs: &Blobs, change: &Change, now: &Content) -> Option<Content> {
    match (blobs.read(&change.before).ok()?, blobs.read(&change.after).ok()?, now) {
        (before, after, now) if after == *now => Some(before),
        (before, _, now) if before == *now => Some(before),
        (Content::Text(before), Content::Text(after), Content::Text(now)) => {
            // where both have changed the same lines, the present text stays
            Some(Content::Text(edit::merge(&after, &before, now).text))
        }
        _ => None,
    }
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}
