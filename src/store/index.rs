//! Caches the facts that a list of sessions shows, so that only changed session files are read again.

use super::file::SCHEMA;
use super::head::Head;
use super::open::Project;
use super::stamp::Stamp;
use super::unavailable::Unavailable;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::Metadata;

/// The name of the index's file, in the folder with the project's sessions. It has no extension, so the file does not
/// look like a session's file.
const FILE: &str = "index";

/// The entries, by the names of the sessions.
#[derive(Debug, Default)]
pub(super) struct Index {
    entries: BTreeMap<String, Entry>,
    is_new: bool,
}

#[derive(Debug, Serialize, Deserialize)]
struct Entry {
    stamp: Stamp,
    head: Head,
}

impl Index {
    /// Removes the entries of all sessions except `names`, which must be sorted.
    pub(super) fn keep(&mut self, names: &[String]) {
        let before = self.entries.len();
        self.entries.retain(|name, _| names.binary_search(name).is_ok());
        self.is_new |= self.entries.len() < before;
    }

    /// The fields at the beginning of a session's file. Calls `read` only if the file has changed since it was indexed.
    pub(super) fn head(
        &mut self,
        name: &str,
        file: &Metadata,
        read: impl FnOnce() -> Result<Head, Unavailable>,
    ) -> Result<Head, Unavailable> {
        let stamp = Stamp::of(file);
        let known = self.entries.get(name).filter(|it| it.stamp == stamp);
        // a newer Caliban may have indexed files whose format this version cannot read
        if let Some(known) = known.filter(|it| it.head.schema <= u64::from(SCHEMA)) {
            return Ok(known.head.clone());
        }
        let head = read()?;
        self.entries.insert(name.to_owned(), Entry { stamp, head: head.clone() });
        self.is_new = true;
        Ok(head)
    }
}

impl Project {
    /// Loads the index that the last list stored. A damaged index counts as empty.
    pub(super) fn index(&self) -> Index {
        let bytes = self.disk.read(&self.dir.join(FILE)).unwrap_or_default();
        Index { entries: serde_json::from_slice(&bytes).unwrap_or_default(), is_new: false }
    }

    pub(super) fn keep_index(&self, index: &Index) {
        if !index.is_new {
            return;
        }
        let json = serde_json::to_vec(&index.entries).unwrap_or_default();
        if let Err(error) = self.disk.replace_among_others(&self.dir, FILE, &json) {
            tracing::warn!("the index of the sessions was not written: {error}");
        }
    }
}
