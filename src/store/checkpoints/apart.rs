//! Commands that run at the same time as other calls. What the others changed is recorded as theirs, so it is taken out of
//! the difference that the command has left.

use super::{Blobs, Cause, Change, Checkpoints, Content, Kept, New, State};
use crate::edit;
use crate::text::encoded;
use std::collections::BTreeSet;
use std::io;
use std::path::Path;

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

    /// Takes out of a command's changes what was recorded after the change `since`, while the command ran. If the two
    /// cannot be told apart, the command's change stands for both.
    pub fn set_apart(&mut self, since: u32, new: &mut Vec<New>) -> io::Result<()> {
        let blobs = self.blobs();
        let is_meant = |it: &&Change| it.id > since && it.counts();
        let meanwhile: Vec<Change> = self.changes.iter().filter(is_meant).cloned().collect();
        let mut joined: BTreeSet<&Path> = BTreeSet::new();
        let whole = new.clone();
        for change in &meanwhile {
            if !self.is_on_disk(&blobs, change, new) {
                continue;
            }
            if let Some(to) = &change.to {
                rename(new, &change.path, to);
            } else if let Some(at) = new.iter().position(|it| *it.path == *change.path)
                && !joined.contains(&*change.path)
            {
                if let Some(before) = applied(&blobs, change, &new[at].before) {
                    add(&mut new[at], change, before);
                } else {
                    new[at] = whole[at].clone();
                    joined.insert(&change.path);
                }
            }
        }
        new.retain(|it| it.before != it.after || it.mode != it.new_mode || it.staged.is_some());
        let is_joined = |it: &&Change| it.to.is_none() && joined.contains(&*it.path);
        let void = |it: &Change| Change { state: State::Void, ..it.clone() };
        self.write(meanwhile.iter().filter(is_joined).map(void).collect())
    }

    /// Whether the change was ever on disk. A proposal that the user has not decided on is only in the editor.
    fn is_on_disk(&self, blobs: &Blobs, change: &Change, new: &[New]) -> bool {
        if change.cause != Cause::Edit
            || change.settled.is_some()
            || self.on_disk.contains(&change.id)
        {
            return true;
        }
        // the editor may have written the file, and has not said so yet
        let now = new.iter().find(|it| *it.path == *change.path).map(|it| blobs.read(&it.after));
        let (before, after) = change.sides();
        match (blobs.read(before), blobs.read(after), now) {
            (Ok(Content::Text(before)), Ok(Content::Text(after)), Some(Ok(Content::Text(now)))) => {
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

/// A content with a change of another call in it; `None` if it cannot be computed.
fn applied(blobs: &Blobs, change: &Change, now: &Kept) -> Option<Kept> {
    let (before, after) = change.sides();
    if now == before || now == after || matches!(now, Kept::Lost(_)) {
        return Some(after.clone());
    }
    let content = match (blobs.read(before).ok()?, blobs.read(after).ok()?, blobs.read(now).ok()?) {
        (Content::Text(before), Content::Text(after), Content::Text(now)) => {
            Content::Text(edit::merge(&before, &now, &after).text)
        }
        (Content::Text(before), Content::Text(after), Content::Bytes(now)) => {
            Content::of(encoded::like(&now, &before, &after)?)
        }
        _ => return None,
    };
    blobs.keep(&content).ok()
}
