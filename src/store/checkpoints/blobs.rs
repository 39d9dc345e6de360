//! The stored contents of files, each in a file named by its SHA-256 hash.

use super::{BlobName, Disk, Kept};
use crate::text::{Text, cause};
use std::fs;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

/// The most bytes of a file whose content is stored. A change of a larger file cannot be rewound.
const LARGEST: usize = 16 << 20;

/// A file's content, or the fact that there is no file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// There is no file.
    Absent,
    Text(Text),
    /// The bytes of a file that is not text, or whose text is not UTF-8.
    Bytes(Vec<u8>),
}

impl Content {
    pub fn of(bytes: Vec<u8>) -> Content {
        match Text::decode(&bytes) {
            Ok(text) => Content::Text(text),
            Err(_) => Content::Bytes(bytes),
        }
    }

    /// The content's bytes; `None` if there is no file.
    pub fn bytes(&self) -> Option<Vec<u8>> {
        match self {
            Content::Absent => None,
            Content::Text(text) => Some(text.encode()),
            Content::Bytes(bytes) => Some(bytes.clone()),
        }
    }
}

/// The folder with the stored contents of a session's changes.
#[derive(Debug, Clone)]
pub struct Blobs {
    pub(super) disk: Arc<dyn Disk>,
    pub(super) dir: PathBuf,
}

impl Blobs {
    /// Stores a content, unless it is stored already. When this returns, the content is safe on disk.
    pub fn keep(&self, content: &Content) -> io::Result<Kept> {
        let Some(bytes) = content.bytes() else { return Ok(Kept::Absent) };
        if bytes.len() > LARGEST {
            let large = bytes.len() / 1_000_000;
            return Ok(Kept::Lost(format!("was too large to be kept ({large} MB)")));
        }
        let name = BlobName::of(&bytes);
        let there = fs::symlink_metadata(self.dir.join(&name));
        if !there.is_ok_and(|it| it.is_file() && it.len() == bytes.len() as u64) {
            let disk: &dyn Disk = &*self.disk;
            disk.replace_now(&self.dir, name.as_ref(), &bytes)?;
        }
        Ok(Kept::Blob(name))
    }

    /// Like `keep`, but returns `Kept::Lost` if the content cannot be written.
    pub fn keep_if_possible(&self, content: &Content) -> Kept {
        self.keep(content)
            .unwrap_or_else(|error| Kept::Lost(format!("could not be kept ({})", cause(&error))))
    }

    /// Reads a stored content. The error is the end of a sentence about the content, for example “is missing”.
    pub fn read(&self, kept: &Kept) -> Result<Content, String> {
        let name = match kept {
            Kept::Absent => return Ok(Content::Absent),
            Kept::Lost(why) => return Err(why.clone()),
            Kept::Blob(name) => name,
        };
        match self.disk.read(&self.dir.join(name)) {
            Ok(bytes) if BlobName::of(&bytes) == *name => Ok(Content::of(bytes)),
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(format!("cannot be read ({})", cause(&error)))
            }
            Err(_) => Err("is missing".to_owned()),
            Ok(_) => Err("is damaged".to_owned()),
        }
    }

    /// The names of the stored contents and their sizes in bytes. Files whose name is not a hash are skipped.
    pub(super) fn sizes(&self) -> Vec<(BlobName, u64)> {
        let entries = fs::read_dir(&self.dir).into_iter().flatten().flatten();
        let sized = |it: fs::DirEntry| {
            let name = BlobName::try_from(it.file_name().into_string().ok()?).ok()?;
            Some((name, it.metadata().ok()?.len()))
        };
        entries.filter_map(sized).collect()
    }
}
