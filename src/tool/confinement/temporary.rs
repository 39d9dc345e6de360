//! The folder of one conversation's commands for temporary files. It goes when the conversation ends; that of a Caliban
//! which was killed goes when the next conversation begins.

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// The beginning of the names of these folders.
const PREFIX: &str = "caliban-";
/// The file that is locked while Caliban uses the folder. Commands cannot reach it.
const LOCK: &str = "lock";

pub(super) struct Temporary {
    /// Only the user can look into this folder, and commands write in none of it but `path`.
    pub(super) folder: PathBuf,
    /// The part of the folder that commands see.
    pub(super) path: PathBuf,
    _lock: File,
}

impl Temporary {
    pub(super) fn new() -> io::Result<Temporary> {
        Temporary::new_in(&std::env::temp_dir())
    }

    fn new_in(shared: &Path) -> io::Result<Temporary> {
        sweep(shared);
        let mut made = tempfile::Builder::new();
        made.prefix(PREFIX).permissions(Permissions::from_mode(0o700));
        let made = made.tempdir_in(shared)?;
        // the lock gets its name when it is locked, so that nobody finds it open
        let fresh = made.path().join("new");
        let lock = OpenOptions::new().write(true).create_new(true).open(&fresh)?;
        lock.lock()?;
        fs::rename(fresh, made.path().join(LOCK))?;
        let path = made.path().join("tmp");
        DirBuilder::new().mode(0o700).create(&path)?;
        Ok(Temporary { folder: made.keep(), path, _lock: lock })
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        remove(&self.folder);
    }
}

/// Removes the user's folders of which no Caliban holds the lock.
fn sweep(shared: &Path) {
    let user = rustix::process::geteuid().as_raw();
    let is_ours = |it: &fs::DirEntry| {
        let is_named = it.file_name().as_encoded_bytes().starts_with(PREFIX.as_bytes());
        // this follows no link
        is_named && it.metadata().is_ok_and(|it| it.is_dir() && it.uid() == user)
    };
    for entry in fs::read_dir(shared).into_iter().flatten().flatten().filter(is_ours) {
        let lock = entry.path().join(LOCK);
        let lock = crate::regular::open_unlinked(OpenOptions::new().write(true), &lock);
        if lock.is_ok_and(|it| it.try_lock().is_ok()) {
            remove(&entry.path());
        }
    }
}

/// Removes a folder, also if a command has taken away the right to look into a part of it.
fn remove(folder: &Path) {
    if fs::remove_dir_all(folder).is_err() {
        #[cfg(target_os = "linux")]
        open_up(folder);
        let _ = fs::remove_dir_all(folder);
    }
}

/// Gives the user all rights on a folder and the folders in it. Follows no links, also if somebody replaces a folder by
/// one meanwhile.
#[cfg(target_os = "linux")]
fn open_up(folder: &Path) {
    use rustix::fs::{Mode, OFlags};
    use std::os::fd::AsRawFd;
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let Ok(open) = rustix::fs::open(folder, flags, Mode::empty()) else { return };
    let same = format!("/proc/self/fd/{}", open.as_raw_fd());
    let _ = fs::set_permissions(&same, Permissions::from_mode(0o700));
    for entry in fs::read_dir(&same).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|it| it.is_dir()) {
            open_up(&entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_temporary_folder_is_the_user_s_and_goes_also_if_its_owner_was_killed() {
        let shared = tempfile::tempdir().unwrap();
        let outside = shared.path().join("outside");
        fs::create_dir(&outside).unwrap();
        fs::set_permissions(&outside, Permissions::from_mode(0o755)).unwrap();
        let make = || Temporary::new_in(shared.path()).unwrap();
        let count = || fs::read_dir(shared.path()).unwrap().count();
        let one = make();
        for it in [&one.folder, &one.path] {
            assert_eq!(fs::metadata(it).unwrap().mode() & 0o777, 0o700);
        }
        // a command has closed a folder
        let closed = one.path.join("a/b");
        fs::create_dir_all(&closed).unwrap();
        std::os::unix::fs::symlink(&outside, closed.join("link")).unwrap();
        for it in [closed.as_path(), &one.path.join("a")] {
            fs::set_permissions(it, Permissions::from_mode(0o0)).unwrap();
        }
        let two = make();
        assert_eq!(count(), 3);
        drop(one);
        assert_eq!(count(), 2);
        assert_eq!(fs::metadata(&outside).unwrap().mode() & 0o777, 0o755);
        // as after a kill: nobody holds the lock, and the folder stays
        let left = shared.path().join("caliban-left");
        fs::create_dir(&left).unwrap();
        fs::write(left.join(LOCK), "").unwrap();
        let others = ["caliban-other", "other", "caliban-link"].map(|it| shared.path().join(it));
        fs::create_dir(&others[0]).unwrap();
        fs::create_dir(&others[1]).unwrap();
        fs::write(others[1].join(LOCK), "").unwrap();
        std::os::unix::fs::symlink(&others[1], &others[2]).unwrap();
        let three = make();
        assert!(!left.exists() && two.path.exists() && three.path.exists());
        assert!(others.iter().all(|it| it.exists()));
    }
}
