//! Keeps changes that somebody else makes to a session's file while the session is open here: they are set aside
//! beside the file, never overwritten.

use super::stamp::Stamp;
use super::{Store, journal};
use std::io;
use std::path::PathBuf;

impl Store {
    /// Sets the session's file aside if it is not as this program left it.
    pub(super) fn keep_edit(&mut self) -> io::Result<()> {
        let path = self.path();
        let now = Stamp::at(&path);
        if now.is_none() || now == self.stamp {
            return Ok(());
        }
        let bytes = self.disk.read(&path)?;
        let aside = |n: u32| self.dir.join(format!("{}.edited-{n}.json", self.name));
        self.edited = Some(journal::set_aside(&*self.disk, aside, &bytes)?);
        self.stamp = now;
        Ok(())
    }

    /// The file with the text that was set aside since the last call.
    pub fn edited(&mut self) -> Option<PathBuf> {
        self.edited.take()
    }
}
