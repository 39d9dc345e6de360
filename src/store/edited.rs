//! What someone else has made of a session's file while it is open here: it is kept beside it, never written over.

use super::stamp::Stamp;
use super::{Store, journal};
use std::io;
use std::path::PathBuf;

impl Store {
    /// Sets aside the session's file as it is, where it is not as we left it.
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

    /// Where the text is that was set aside since this was asked last.
    pub fn edited(&mut self) -> Option<PathBuf> {
        self.edited.take()
    }
}
