//! Mounts of this process, and paths that are held while another mount covers them.

use nix::mount::{MsFlags, mount};
use nix::sys::statvfs::{FsFlags, statvfs};
use rustix::fs::{Mode, OFlags};
use std::fs;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

pub(super) const NONE: Option<&str> = None;

/// Mounts another folder in the place of one that all programs share. The kept entries of the shared folder stay in
/// place.
pub(super) fn in_place_of(
    place: &Path,
    kept: &[PathBuf],
    mounting: impl FnOnce() -> Result<(), String>,
) -> Result<(), String> {
    let entries = kept.iter().filter(|it| it.parent() == Some(place) && it.exists());
    let all: Vec<_> = entries.cloned().map(held).collect::<Result<_, _>>()?;
    mounting()?;
    all.iter().try_for_each(|(path, open)| reopened(path, open))
}

/// A path with an open descriptor, by which it can be mounted when another mount covers it.
pub(super) fn held(path: PathBuf) -> Result<(PathBuf, OwnedFd), String> {
    let open = rustix::fs::open(&path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty());
    open.map_err(|it| format!("{}: {it}", path.display())).map(|open| (path, open))
}

/// Mounts what a descriptor holds at its path, where nothing else may be.
pub(super) fn reopened(path: &Path, open: &OwnedFd) -> Result<(), String> {
    let source = format!("/proc/self/fd/{}", open.as_raw_fd());
    let is_folder = Path::new(&source).is_dir();
    let parents = path.parent().map_or(Ok(()), fs::create_dir_all);
    let make = || if is_folder { fs::create_dir_all(path) } else { fs::write(path, "") };
    let made = parents.and_then(|()| make());
    made.map_err(|it| format!("{}: {it}", path.display()))?;
    mounted(path, Some(&source), NONE, MsFlags::MS_BIND | MsFlags::MS_REC)
}

pub(super) fn mounted(
    on: impl AsRef<Path>,
    what: Option<&str>,
    kind: Option<&str>,
    flags: MsFlags,
) -> Result<(), String> {
    let on = on.as_ref();
    mount(what, on, kind, flags, NONE).map_err(|it| format!("{}: {it}", on.display()))
}

/// Mounts a path over itself, so that the path can be neither renamed nor replaced.
pub(super) fn over_itself(path: &Path) -> Result<(), String> {
    mount(Some(path), path, NONE, MsFlags::MS_BIND | MsFlags::MS_REC, NONE)
        .map_err(|it| format!("{}: {it}", path.display()))
}

/// Makes a mount read-only. Keeps the mount's other restrictions, because a process inside the namespace may not remove
/// them.
pub(super) fn make_read_only(path: &Path) -> Result<(), String> {
    let failed = |it: &dyn std::fmt::Display| format!("{}: {it}", path.display());
    let kept = statvfs(path).map_err(|it| failed(&it))?.flags();
    let pairs = [
        (FsFlags::ST_NOSUID, MsFlags::MS_NOSUID),
        (FsFlags::ST_NODEV, MsFlags::MS_NODEV),
        (FsFlags::ST_NOEXEC, MsFlags::MS_NOEXEC),
        (FsFlags::ST_NOATIME, MsFlags::MS_NOATIME),
        (FsFlags::ST_NODIRATIME, MsFlags::MS_NODIRATIME),
        (FsFlags::ST_RELATIME, MsFlags::MS_RELATIME),
    ];
    let mut flags = MsFlags::MS_BIND | MsFlags::MS_REMOUNT | MsFlags::MS_RDONLY;
    for (_, flag) in pairs.iter().filter(|it| kept.contains(it.0)) {
        flags |= *flag;
    }
    mounted(path, NONE, NONE, flags)
}
