//! Lists the locked paths that exist. A folder that cannot be listed is an error and never counts as an empty one: a
//! command could have taken away the right to list it.

use crate::reach::{Lock, Locks};
use crate::regular::direct;
use crate::text::cause;
use rustix::fs::Access;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, Permissions};
use std::io::{self, ErrorKind};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// The locked paths that exist, with the target of those that are symbolic links.
pub(super) type Found = BTreeMap<PathBuf, Option<PathBuf>>;

/// How locked paths are searched for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Search {
    /// Only those whose names are known: the time does not depend on the number of other files.
    Names,
    /// All, by listing the folders.
    All,
}

impl Search {
    /// Adds the locked paths in a folder, whose own path below the root is `parts`. The error is a clause that names the
    /// folder that cannot be listed.
    pub(super) fn look(
        self,
        locks: &Locks,
        folder: &Path,
        mut parts: Vec<String>,
        found: &mut Found,
    ) -> Result<(), String> {
        // on a file system that ignores case, a name on disk may be written in another way than the one that is known
        glance(locks, folder, &parts, found);
        match self {
            Search::Names => Ok(()),
            Search::All => look(locks, folder, &mut parts, found),
        }
    }
}

fn look(
    locks: &Locks,
    folder: &Path,
    parts: &mut Vec<String>,
    found: &mut Found,
) -> Result<(), String> {
    let unseen = |fault: io::Error| {
        format!(
            "{} cannot be listed ({}), and locked files may be in it. Give yourself all rights on this folder again, \
             for example with chmod u+rwx",
            folder.display(),
            cause(&fault)
        )
    };
    for name in names(folder).map_err(unseen)? {
        let path = folder.join(&name);
        parts.push(name.to_string_lossy().into_owned());
        if let Some(lock) = locks.find(parts) {
            match fs::read_link(&path) {
                Ok(target) => drop(found.insert(path, Some(target))),
                Err(fault) if fault.kind() == ErrorKind::NotFound => (),
                Err(fault) if fault.kind() != ErrorKind::InvalidInput => return Err(unseen(fault)),
                Err(_) if is_mark(&path) => drop(found.insert(path, None)),
                Err(_) if lock == Lock::Above => look(locks, &path, parts, found)?,
                Err(_) => drop(found.insert(path, None)),
            }
        }
        parts.pop();
    }
    Ok(())
}

/// Adds those locked paths in a folder that have no `*`, if they exist. This takes the same time however many other files
/// are in the folder. Paths that cannot be seen are left out.
fn glance(locks: &Locks, folder: &Path, above: &[String], found: &mut Found) {
    for names in locks.names() {
        let mut left = names.iter();
        if !above.iter().all(|it| left.next().is_some_and(|name| it == name)) {
            continue;
        }
        let mut path = folder.to_owned();
        while let Some(name) = left.next() {
            path.push(name);
            let Ok(there) = fs::symlink_metadata(&path) else { break };
            let target = fs::read_link(&path).ok();
            if there.is_symlink() != target.is_some() {
                break;
            }
            if target.is_some() || left.as_slice().is_empty() || is_mark(&path) {
                found.insert(path, target);
                break;
            }
        }
    }
}

/// Whether this is a file `.git` or `.jj/repo`, which names the folder of a repository.
fn is_mark(path: &Path) -> bool {
    (path.ends_with(".git") || path.ends_with(".jj/repo"))
        && path.symlink_metadata().is_ok_and(|it| !it.is_dir())
}

/// The names in a folder; none if it is no folder. If the user has no right to list the user's own folder, the user gets
/// the right again.
fn names(folder: &Path) -> io::Result<Vec<OsString>> {
    let listed = || -> io::Result<Vec<OsString>> {
        // without the right to search, the names can be listed, but nothing below them can be seen
        fs::symlink_metadata(folder.join("."))?;
        fs::read_dir(folder)?.map(|it| it.map(|it| it.file_name())).collect()
    };
    match listed() {
        Err(fault) if matches!(fault.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            Ok(Vec::new())
        }
        Err(fault) if fault.kind() == ErrorKind::PermissionDenied => {
            let owner = fs::symlink_metadata(folder)?.uid();
            if owner == rustix::process::geteuid().as_raw() {
                return open_up(folder).and_then(|()| listed());
            }
            // a command has no more rights than the user, so it creates nothing there
            let can_write = rustix::fs::access(folder, Access::WRITE_OK | Access::EXEC_OK).is_ok();
            if can_write { Err(fault) } else { Ok(Vec::new()) }
        }
        listed => listed,
    }
}

/// Gives the user all rights on a folder. Follows no link.
pub(super) fn open_up(folder: &Path) -> io::Result<()> {
    let open = direct::folder(folder)?;
    let same = format!("/proc/self/fd/{}", open.as_raw_fd());
    let mode = fs::metadata(&same)?.mode() & 0o7777;
    fs::set_permissions(&same, Permissions::from_mode(mode | 0o700))
}
