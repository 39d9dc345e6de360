//! Uses files by paths without symbolic links. A path that was resolved and checked is used only as long as it has no
//! link: a process that puts a link into the path after the check gets an error, and never another file.

mod replacing;

pub use replacing::Replacing;

use super::{ODD, check};
use rustix::fs::{
    AtFlags, CWD, FileType, Mode, OFlags, Stat, fstat, mkdirat, openat, renameat, statat, unlinkat,
};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

/// Why a path was not used: the end of a sentence.
pub const LINKED: &str = "a symbolic link was put into its path after the path was checked";

/// Opens a regular file to read it.
pub fn open(path: &Path) -> io::Result<File> {
    opened(path, OFlags::RDONLY)
}

/// Opens the files that a walk has found by listing folders. The listing tells which files are regular, which replaces
/// the check that prevents the opening of devices. The folder of the last file stays open, because the files of one
/// folder come one after the other. If a link or another folder takes that folder's place in the meantime, the new
/// folder is not used.
#[derive(Default)]
pub struct Listed {
    last: Option<(PathBuf, OwnedFd)>,
}

impl Listed {
    /// Opens a file that its folder has listed as a regular one.
    pub fn open(&mut self, path: &Path) -> io::Result<File> {
        let (above, name) = split(path)?;
        let handle = match &mut self.last {
            Some((last, handle)) if last.as_os_str() == above.as_os_str() => handle,
            last => &mut last.insert((above.to_owned(), folder(above)?)).1,
        };
        let flags = OFlags::NOFOLLOW | OFlags::CLOEXEC | EASY;
        let file = openat(handle, name, OFlags::RDONLY | flags, Mode::empty()).map_err(told)?;
        checked(file)
    }
}

/// Opens a regular file to replace its content. Creates the file and its folders if they do not exist.
pub fn create(path: &Path) -> io::Result<File> {
    folders(split(path)?.0)?;
    opened(path, OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC)
}

/// The metadata of a file, or of the link if the last part of the path is one.
pub fn metadata(path: &Path) -> io::Result<Stat> {
    let Ok((above, name)) = split(path) else { return Ok(fstat(folder(path)?)?) };
    Ok(statat(folder(above)?, name, AtFlags::SYMLINK_NOFOLLOW)?)
}

/// Opens a folder, so that its files can be used by their names.
pub fn folder(path: &Path) -> io::Result<OwnedFd> {
    whole(path, FOLDER, Mode::empty()).map_err(told)
}

pub fn remove(path: &Path) -> io::Result<()> {
    let (above, name) = split(path)?;
    Ok(unlinkat(folder(above)?, name, AtFlags::empty())?)
}

/// Renames a file. Creates the folders of the new path if they do not exist.
pub fn rename(from: &Path, to: &Path) -> io::Result<()> {
    let ((above, name), (new_above, new_name)) = (split(from)?, split(to)?);
    Ok(renameat(folder(above)?, name, folders(new_above)?, new_name)?)
}

fn opened(path: &Path, flags: OFlags) -> io::Result<File> {
    // this check prevents the opening of devices
    match std::fs::symlink_metadata(path) {
        Ok(there) if there.is_symlink() => return Err(told(Errno::LOOP)),
        Ok(there) => check(&there)?,
        Err(fault) if fault.kind() == io::ErrorKind::NotFound => (),
        Err(fault) => return Err(fault),
    }
    let mode = if flags.contains(OFlags::CREATE) { Mode::from(0o666) } else { Mode::empty() };
    checked(whole(path, flags | EASY, mode).map_err(told)?)
}

/// The file, if it is a regular one. A device may have got its name after its type was known.
fn checked(file: OwnedFd) -> io::Result<File> {
    match FileType::from_raw_mode(fstat(&file)?.st_mode) {
        FileType::RegularFile => Ok(file.into()),
        FileType::Directory => Err(Errno::ISDIR.into()),
        _ => Err(io::Error::other(ODD)),
    }
}

/// Opens a folder, and creates it and the folders above it if they do not exist.
fn folders(path: &Path) -> io::Result<OwnedFd> {
    match folder(path) {
        Err(fault) if fault.kind() == io::ErrorKind::NotFound => (),
        found => return found,
    }
    let (above, name) = split(path)?;
    match mkdirat(folders(above)?, name, Mode::from(0o777)) {
        Ok(()) | Err(Errno::EXIST) => folder(path),
        Err(fault) => Err(fault.into()),
    }
}

fn split(path: &Path) -> io::Result<(&Path, &OsStr)> {
    path.parent().zip(path.file_name()).ok_or_else(|| Errno::ISDIR.into())
}

fn told(fault: Errno) -> io::Error {
    if fault == Errno::LOOP { io::Error::other(LINKED) } else { fault.into() }
}

/// With these flags, opening a pipe does not wait, and a terminal does not become the terminal of this process.
const EASY: OFlags = OFlags::NONBLOCK.union(OFlags::NOCTTY);

#[cfg(target_os = "linux")]
const FOLDER: OFlags = OFlags::PATH.union(OFlags::DIRECTORY);
#[cfg(not(target_os = "linux"))]
const FOLDER: OFlags = OFlags::DIRECTORY;

/// Opens a path. Fails with `LOOP` if any part of the path is a link.
#[cfg(target_os = "linux")]
fn whole(path: &Path, flags: OFlags, mode: Mode) -> rustix::io::Result<OwnedFd> {
    let flags = flags | OFlags::CLOEXEC;
    match rustix::fs::openat2(CWD, path, flags, mode, rustix::fs::ResolveFlags::NO_SYMLINKS) {
        // Linux before 5.6 has no `openat2`, and some containers forbid it
        Err(Errno::NOSYS | Errno::PERM) => by_parts(path, flags, mode),
        found => found,
    }
}

/// Does the same as `whole` by opening one folder after the other.
#[cfg(target_os = "linux")]
fn by_parts(path: &Path, flags: OFlags, mode: Mode) -> rustix::io::Result<OwnedFd> {
    let mut folder = openat(CWD, ".", FOLDER | OFlags::CLOEXEC, Mode::empty())?;
    let mut parts = path.components().peekable();
    while let Some(part) = parts.next() {
        let name = part.as_os_str();
        if parts.peek().is_none() {
            return openat(&folder, name, flags | OFlags::NOFOLLOW, mode).map_err(|fault| {
                let is_link = |it: Stat| FileType::from_raw_mode(it.st_mode).is_symlink();
                let there = statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW);
                if there.is_ok_and(is_link) { Errno::LOOP } else { fault }
            });
        }
        let next = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        folder = openat(&folder, name, next, Mode::empty())?;
        if FileType::from_raw_mode(fstat(&folder)?.st_mode).is_symlink() {
            return Err(Errno::LOOP);
        }
    }
    Ok(folder)
}

/// Opens a path. Fails with `LOOP` if any part of the path is a link.
#[cfg(not(target_os = "linux"))]
fn whole(path: &Path, flags: OFlags, mode: Mode) -> rustix::io::Result<OwnedFd> {
    // `O_NOFOLLOW_ANY` of macOS, which rustix does not name
    let no_links = OFlags::from_bits_retain(0x2000_0000);
    openat(CWD, path, flags | no_links | OFlags::CLOEXEC, mode)
}

#[cfg(test)]
mod tests;
