//! Commands that run at the same time as other calls, of this conversation or of another one of the project. What the
//! others changed is recorded as theirs, so it is taken out of the difference that the command has left.

use super::{
    Blobs, Cause, Change, Checkpoints, Content, ENDING, Gap, Kept, LOG, New, Note, Origin, Said,
    State, now,
};
use crate::edit;
use crate::store::lock;
use crate::text::encoded;
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

/// When a command began: the number of the last change then, and the time in seconds since 1970.
#[derive(Debug, Clone, Copy)]
pub struct Since {
    pub last: u32,
    pub at: u64,
}

impl Since {
    /// Later than every change.
    pub const NEVER: Since = Since { last: u32::MAX, at: u64::MAX };
}

/// What another conversation of the project did since a command began.
struct Beside {
    blobs: Blobs,
    edits: Vec<Change>,
    /// The files that its commands changed. They ran at the same time, so each may have changed files of the other.
    by_commands: Vec<Change>,
    /// Whether a command of it runs.
    runs: bool,
}

impl Checkpoints {
    /// The number of the last change.
    pub fn last_change(&self) -> u32 {
        self.changes.iter().map(|it| it.id).max().unwrap_or(0)
    }

    /// The change with this number is on disk. `after` is the content, if it differs from the proposed one.
    pub fn written(&mut self, id: u32, after: Option<Kept>) -> io::Result<()> {
        self.on_disk.insert(id);
        after.map_or(Ok(()), |after| self.alter(id, |it| it.after = after))
    }

    pub fn since(&self) -> Since {
        Since { last: self.last_change(), at: now() }
    }

    /// Takes out of a command's changes what was recorded while the command ran. If the two cannot be told apart, the
    /// command's change stands for both. Notes it if some of the rest may come from a command of another
    /// conversation.
    pub fn set_apart(
        &mut self,
        origin: &Origin,
        since: Since,
        new: &mut Vec<New>,
    ) -> io::Result<()> {
        let is_meant = |it: &&Change| it.id > since.last && it.counts();
        let meanwhile: Vec<Change> = self.changes.iter().filter(is_meant).cloned().collect();
        let void = self.take_out(&self.blobs(), &meanwhile, new);
        let mut is_shared = false;
        for it in self.beside(since) {
            self.take_out(&it.blobs, &it.edits, new);
            let is_among = |other: &Change| new.iter().any(|it| *it.path == *other.path);
            is_shared |= it.runs || it.by_commands.iter().any(is_among);
        }
        new.retain(|it| it.before != it.after || it.mode != it.new_mode || it.staged.is_some());
        self.write(void)?;
        if is_shared && !new.is_empty() {
            self.note(origin, Said::Gap(Gap::Beside))
        } else {
            Ok(())
        }
    }

    /// What other conversations of the project have recorded since then.
    fn beside(&self, since: Since) -> Vec<Beside> {
        let Some(project) = self.dir.parent() else { return Vec::new() };
        let began = UNIX_EPOCH.checked_add(Duration::from_secs(since.at));
        let of = |it: fs::DirEntry| {
            let name = it.file_name().into_string().ok()?.strip_suffix(ENDING)?.to_owned();
            let changed = it.path().join(LOG).symlink_metadata().ok()?.modified().ok()?;
            let opened = lock::held_since(project, &name);
            if it.path() == self.dir || opened.is_none() && Some(changed) < began {
                return None;
            }
            let other = Checkpoints::read(self.disk.clone(), it.path(), &self.root);
            // the end of an earlier program may have left such a note
            let is_new = |it: &Note| opened.is_some_and(|opened| it.at >= opened);
            let runs = other.notes.iter().any(|it| it.said == Said::Begun && is_new(it));
            let blobs = other.blobs();
            let since = other.changes.into_iter().filter(|it| it.at >= since.at && it.counts());
            let (by_commands, edits) = since.partition(|it| it.cause == Cause::Command);
            Some(Beside { blobs, edits, by_commands, runs })
        };
        fs::read_dir(project).into_iter().flatten().flatten().filter_map(of).collect()
    }

    /// Takes changes of other calls, whose contents are in `blobs`, out of a command's changes. Returns those that the
    /// command's changes stand for, as void.
    fn take_out(&self, blobs: &Blobs, meanwhile: &[Change], new: &mut [New]) -> Vec<Change> {
        let own = self.blobs();
        let mut joined: BTreeSet<&Path> = BTreeSet::new();
        let whole = new.to_vec();
        for change in meanwhile {
            if !self.is_on_disk(blobs, change, new) {
                continue;
            }
            if let Some(to) = &change.to {
                rename(new, &change.path, to);
            } else if let Some(at) = new.iter().position(|it| *it.path == *change.path)
                && !joined.contains(&*change.path)
            {
                if matches!(new[at].before, Kept::Lost(_)) {
                    // without the earlier text, only the whole difference can be the other call's
                    if new[at].after == *change.sides().1 {
                        let after = new[at].after.clone();
                        add(&mut new[at], change, after);
                    }
                } else if let Some(before) = applied([&own, blobs], change, &new[at].before) {
                    add(&mut new[at], change, before);
                } else {
                    new[at] = whole[at].clone();
                    joined.insert(&change.path);
                }
            }
        }
        let is_joined = |it: &&Change| it.to.is_none() && joined.contains(&*it.path);
        let void = |it: &Change| Change { state: State::Void, ..it.clone() };
        meanwhile.iter().filter(is_joined).map(void).collect()
    }

    /// Whether the change was ever on disk. A proposal that the user has not decided on is only in the editor.
    fn is_on_disk(&self, blobs: &Blobs, change: &Change, new: &[New]) -> bool {
        let is_own = blobs.dir == self.dir;
        let is_known = change.settled.is_some() || is_own && self.on_disk.contains(&change.id);
        if change.cause != Cause::Edit || is_known {
            return true;
        }
        // an editor may have written the file, which the log does not say
        let Some(now) = new.iter().find(|it| *it.path == *change.path) else { return false };
        let (before, after) = change.sides();
        if change.to.is_some() || now.after == *after {
            return now.after == *after;
        }
        match (blobs.read(before), blobs.read(after), self.blobs().read(&now.after)) {
            (Ok(Content::Text(before)), Ok(Content::Text(after)), Ok(Content::Text(now))) => {
                let merged = edit::merge(&before, &after, &now);
                merged.conflicts == 0 && merged.text == now
            }
            _ => false,
        }
    }
}

/// The file had this content, with this change of another call in it, before the rest of what the command changed.
fn add(it: &mut New, change: &Change, before: Kept) {
    let was_there = it.before != Kept::Absent;
    it.before = before;
    if let Some(mode) = change.new_mode {
        it.mode = Some(mode.bits());
    } else if !was_there {
        it.mode = it.new_mode;
    }
    if let (Some(staged), Some(change)) = (&mut it.staged, &change.staged) {
        staged.before.clone_from(&change.after);
    }
    it.staged.take_if(|it| it.before == it.after);
}

fn rename(new: &mut [New], from: &Path, to: &Path) {
    let Some(it) = new.iter_mut().find(|it| it.path == from) else { return };
    let (before, mode) = (std::mem::replace(&mut it.before, Kept::Absent), it.mode.take());
    if let Some(it) = new.iter_mut().find(|it| it.path == to) {
        (it.before, it.mode) = (before, mode);
    }
}

/// A content with a change of another call in it; `None` if it cannot be computed. The contents of the change are in
/// `blobs`.
fn applied([own, blobs]: [&Blobs; 2], change: &Change, now: &Kept) -> Option<Kept> {
    let (before, after) = change.sides();
    if now == before || now == after {
        return kept(own, &blobs.read(after).ok()?);
    }
    let content = match (blobs.read(before).ok()?, blobs.read(after).ok()?, own.read(now).ok()?) {
        (Content::Text(before), Content::Text(after), Content::Text(now)) => {
            Content::Text(edit::merge(&before, &now, &after).text)
        }
        (Content::Text(before), Content::Text(after), Content::Bytes(now)) => {
            Content::of(encoded::like(&now, &before, &after)?)
        }
        _ => return None,
    };
    kept(own, &content)
}

fn kept(own: &Blobs, content: &Content) -> Option<Kept> {
    own.keep(content).ok().filter(|it| !matches!(it, Kept::Lost(_)))
}
