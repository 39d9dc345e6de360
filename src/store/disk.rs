//! The store's calls to the disk, one method for each system call, so that a test can make the disk fail between any
//! two calls.

use crate::regular;
use std::fmt::Debug;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

/// How many files this program has begun to replace: a part of the names of their temporary files.
static WRITES: AtomicU64 = AtomicU64::new(0);

/// Whether this is a valid session name: `[A-Za-z0-9_-]{1,64}`.
pub fn is_name(name: &str) -> bool {
    (1..=64).contains(&name.len())
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
}

/// Access to the disk. All files are created so that only the user may read them. A file's content is safe from a loss
/// of power once the file is synced, its name once the folder is synced.
pub trait Disk: Debug + Send + Sync {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>>;
    /// Creates a folder and its parents. Refuses a symbolic link at the folder's path, because the link would lead
    /// elsewhere.
    fn create_dir(&self, dir: &Path) -> io::Result<()>;
    /// Replaces the content of a file.
    fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()>;
    /// Writes a new file. Fails if the file exists.
    fn create(&self, path: &Path, bytes: &[u8]) -> io::Result<()>;
    fn append(&self, path: &Path, bytes: &[u8]) -> io::Result<()>;
    /// Cuts a file to its first `len` bytes. Creates the file if it does not exist.
    fn truncate(&self, path: &Path, len: u64) -> io::Result<()>;
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    fn remove(&self, path: &Path) -> io::Result<()>;
    fn sync(&self, path: &Path) -> io::Result<()>;
    fn sync_dir(&self, dir: &Path) -> io::Result<()>;
}

impl dyn Disk {
    /// Replaces a file's content atomically: readers see either the old or the new content, even after a loss of power.
    /// The new content is safe from a loss of power once the folder is synced. The temporary file always has the same
    /// name, so crashes leave at most one.
    pub(super) fn replace(&self, dir: &Path, name: &str, bytes: &[u8]) -> io::Result<()> {
        self.replace_through(dir, name, &format!(".{name}.tmp"), bytes)
    }

    /// Like `replace`, for a file that several tasks and programs may replace at the same time: each has a temporary file
    /// of its own.
    pub(super) fn replace_among_others(
        &self,
        dir: &Path,
        name: &str,
        bytes: &[u8],
    ) -> io::Result<()> {
        let (program, write) = (std::process::id(), WRITES.fetch_add(1, Ordering::Relaxed));
        let temporary = format!(".{name}.{program}-{write}.tmp");
        let replaced = self.replace_through(dir, name, &temporary, bytes);
        if replaced.is_err() {
            let _ = self.remove(&dir.join(temporary));
        }
        replaced
    }

    fn replace_through(
        &self,
        dir: &Path,
        name: &str,
        temporary: &str,
        bytes: &[u8],
    ) -> io::Result<()> {
        self.create_dir(dir)?;
        let temporary = dir.join(temporary);
        self.write(&temporary, bytes)?;
        self.sync(&temporary)?;
        self.rename(&temporary, &dir.join(name))
    }

    pub(super) fn remove_if_there(&self, path: &Path) -> io::Result<()> {
        match self.remove(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    pub(super) fn replace_now(&self, dir: &Path, name: &str, bytes: &[u8]) -> io::Result<()> {
        self.replace(dir, name, bytes)?;
        self.sync_dir(dir)
    }
}

/// Opens a file of a session's folder for reading.
pub(super) fn open(path: &Path) -> io::Result<File> {
    plain(File::options().read(true), path)
}

/// Opens a file of a session's folder. Refuses a symbolic link, because the link could lead elsewhere.
pub(super) fn plain(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    regular::open_unlinked(options, path)
}

/// The real disk of the machine.
#[derive(Debug)]
pub struct RealDisk;

impl Disk for RealDisk {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        open(path)?.read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    fn create_dir(&self, dir: &Path) -> io::Result<()> {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
        let is_folder = fs::symlink_metadata(dir)?.is_dir();
        if is_folder { Ok(()) } else { Err(io::ErrorKind::NotADirectory.into()) }
    }

    fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let options = &mut File::options();
        // the file is truncated below, after the check that it is a regular file
        let options = options.create(true).write(true).truncate(false).mode(0o600);
        let mut file = plain(options, path)?;
        file.set_len(0)?;
        file.write_all(bytes)
    }

    fn create(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let options = &mut File::options();
        options.create_new(true).write(true).mode(0o600).open(path)?.write_all(bytes)
    }

    fn append(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let options = &mut File::options();
        plain(options.create(true).append(true).mode(0o600), path)?.write_all(bytes)
    }

    fn truncate(&self, path: &Path, len: u64) -> io::Result<()> {
        let options = &mut File::options();
        plain(options.create(true).truncate(false).write(true).mode(0o600), path)?.set_len(len)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn sync(&self, path: &Path) -> io::Result<()> {
        open(path)?.sync_data()
    }

    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        File::open(dir)?.sync_all()
    }
}
