//! The stored contents of files, each in a file named by its SHA-256 hash.

use super::{BlobName, Disk, Kept};
use crate::regular;
use crate::text::{Text, cause};
use std::fs;
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The most bytes of a file whose content is stored. A change of a larger file cannot be rewound.
const LARGEST: usize = 16 << 20;

/// What a path holds: a file's content, a symbolic link, a folder or nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// There is no file.
    Absent,
    Text(Text),
    /// The bytes of a file that is not text, or whose text is not UTF-8.
    Bytes(Vec<u8>),
    /// A symbolic link, with the bytes of the path to which it leads.
    Link(Vec<u8>),
    Folder,
}

impl Content {
    pub fn of(bytes: Vec<u8>) -> Content {
        match Text::decode(&bytes) {
            Ok(text) => Content::Text(text),
            Err(_) => Content::Bytes(bytes),
        }
    }

    /// What the path holds now. No link is followed. The error is the end of a sentence about the content, for example
    /// “is a pipe, a socket or a device”. Blocks.
    pub fn at(path: &Path) -> Result<Content, String> {
        let there = match fs::symlink_metadata(path) {
            Ok(there) => there,
            Err(fault)
                if matches!(
                    fault.kind(),
                    io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
                ) =>
            {
                return Ok(Content::Absent);
            }
            Err(fault) => return Err(unreadable(&fault)),
        };
        if there.is_dir() {
            return Ok(Content::Folder);
        } else if there.is_symlink() {
            let target = fs::read_link(path).map_err(|it| unreadable(&it))?;
            return Ok(Content::Link(target.into_os_string().into_vec()));
        } else if !there.is_file() {
            return Err("is a pipe, a socket or a device".to_owned());
        } else if there.len() > LARGEST as u64 {
            return Err(too_large(there.len()));
        }
        regular::read(path).map(Content::of).map_err(|it| unreadable(&it))
    }

    /// The bytes of a regular file; `None` for everything else.
    pub fn bytes(&self) -> Option<Vec<u8>> {
        match self {
            Content::Text(text) => Some(text.encode()),
            Content::Bytes(bytes) => Some(bytes.clone()),
            Content::Absent | Content::Link(_) | Content::Folder => None,
        }
    }

    /// Whether this is a regular file.
    pub fn is_file(&self) -> bool {
        matches!(self, Content::Text(_) | Content::Bytes(_))
    }
}

fn unreadable(fault: &io::Error) -> String {
    format!("could not be read ({})", cause(fault))
}

fn too_large(bytes: u64) -> String {
    format!("was too large to be kept ({} MB)", bytes / 1_000_000)
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
        let bytes = match content {
            Content::Absent => return Ok(Kept::Absent),
            Content::Folder => return Ok(Kept::Folder),
            Content::Link(target) => target.clone(),
            Content::Text(_) | Content::Bytes(_) => content.bytes().unwrap_or_default(),
        };
        if bytes.len() > LARGEST {
            return Ok(Kept::Lost(too_large(bytes.len() as u64)));
        }
        let name = BlobName::of(&bytes);
        let there = fs::symlink_metadata(self.dir.join(&name));
        if !there.is_ok_and(|it| it.is_file() && it.len() == bytes.len() as u64) {
            let disk: &dyn Disk = &*self.disk;
            // subagents that change the same file store the same content, maybe at the same time
            disk.replace_among_others(&self.dir, name.as_ref(), &bytes)?;
            disk.sync_dir(&self.dir)?;
        }
        let is_link = matches!(content, Content::Link(_));
        Ok(if is_link { Kept::Link(name) } else { Kept::Blob(name) })
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
            Kept::Folder => return Ok(Content::Folder),
            Kept::Lost(why) => return Err(why.clone()),
            Kept::Blob(name) | Kept::Link(name) => name,
        };
        match self.disk.read(&self.dir.join(name)) {
            Ok(bytes) if BlobName::of(&bytes) != *name => Err("is damaged".to_owned()),
            Ok(bytes) if matches!(kept, Kept::Link(_)) => Ok(Content::Link(bytes)),
            Ok(bytes) => Ok(Content::of(bytes)),
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(format!("cannot be read ({})", cause(&error)))
            }
            Err(_) => Err("is missing".to_owned()),
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
