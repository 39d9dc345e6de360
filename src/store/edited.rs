//! What someone else has made of a session's file while it is open here: it is kept beside it, never written over.

use super::{Store, journal};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Tells a file from what it is once somebody has written it again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stamp {
    modified: SystemTime,
    len: u64,
}

impl Stamp {
    /// `None`: there is no such file.
    pub(super) fn of(path: &Path) -> Option<Stamp> {
        let it = fs::metadata(path).ok()?;
        Some(Stamp { modified: it.modified().ok()?, len: it.len() })
    }
}

impl Store {
    /// Sets aside the session's file as it is, where it is not as we left it.
    pub(super) fn keep_edit(&mut self) -> io::Result<()> {
        let path = self.path();
        let now = Stamp::of(&path);
        if now.is_none() || now == self.stamp {
            return Ok(());
        }
        let bytes = self.disk.read(&path)?;
        let aside = |n: u32| self.dir.join(format!("{}.edited-{n}.json", self.name));
        self.edited = Some(journal::set_aside(&*self.disk, aside, &bytes)?);
        self.stamp = now;
        Ok(())
    }

    /// Where the text is that was set aside since this was asked last.
    pub fn edited(&mut self) -> Option<PathBuf> {
        self.edited.take()
    }
}
