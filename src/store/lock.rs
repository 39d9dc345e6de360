//! Who has the sessions of a project open. The lock of a session's lock file tells whether the session is open; the file's
//! text names the Neovim.

use super::disk;
use super::unavailable::Holder;
use crate::regular;
use std::fs::{self, TryLockError};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

/// The most bytes of a lock file that are read.
const LONGEST: u64 = 8192;
/// The end of the names of lock files.
const ENDING: &str = ".lock";

/// Whether another program, or this one, has the session open. `project` is the folder with the project's sessions.
pub(super) fn is_held(project: &Path, name: &str) -> bool {
    let lock = disk::open(&path(project, name));
    lock.is_ok_and(|it| matches!(it.try_lock_shared(), Err(TryLockError::WouldBlock)))
}

/// When the session was opened, in seconds since 1970, if it is open.
pub(super) fn held_since(project: &Path, name: &str) -> Option<u64> {
    let opened = path(project, name).symlink_metadata().ok()?.modified().ok()?;
    let opened = opened.duration_since(UNIX_EPOCH).ok()?.as_secs();
    is_held(project, name).then_some(opened)
}

/// The sessions that a Neovim has open, with that Neovim.
pub(super) fn in_neovims(project: &Path) -> Vec<(String, Holder)> {
    let entries = fs::read_dir(project).into_iter().flatten().flatten();
    let open = |it: fs::DirEntry| {
        let name = it.file_name().to_str()?.strip_suffix(ENDING)?.to_owned();
        let text = regular::head(&path(project, &name), LONGEST).ok()?;
        let holder = Some(Holder::parse(&text)).filter(|it| !it.server.is_empty())?;
        (disk::is_name(&name) && is_held(project, &name)).then_some((name, holder))
    };
    let mut open: Vec<(String, Holder)> = entries.filter_map(open).collect();
    open.sort_by(|a, b| a.0.cmp(&b.0));
    open
}

fn path(project: &Path, name: &str) -> PathBuf {
    project.join(format!("{name}{ENDING}"))
}
