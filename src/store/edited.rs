//! Another program may change a session's file while the session is open here. Before a save replaces the changed file,
//! the save copies it to another file.

use super::stamp::Stamp;
use super::{Store, journal};
use std::io;
use std::path::PathBuf;

impl Store {
    /// If another program has changed the session's file, copies it to another file.
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

    /// The path of the copy that was made since the last call, if any.
    pub fn edited(&mut self) -> Option<PathBuf> {
        self.edited.take()
    }
}
