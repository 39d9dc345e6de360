//! The folder of one conversation's commands for temporary files. It goes when the conversation ends; that of a Caliban
//! which was killed goes when the next conversation begins.

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// The beginning of the name of the folder that has those of all conversations of a user.
const PREFIX: &str = "caliban-";
/// The file that is locked while Caliban uses the folder. Commands cannot reach it.
const LOCK: &str = "lock";

pub(super) struct Temporary {
    /// The folder that has those of all conversations. It is hidden from commands.
    pub(super) all: PathBuf,
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
        let all = of_user(shared)?;
        sweep(&all);
        let mut made = tempfile::Builder::new();
        made.prefix("").permissions(Permissions::from_mode(0o700));
        let made = made.tempdir_in(&all)?;
        // the lock gets its name when it is locked, so that nobody finds it open
        let fresh = made.path().join("new");
        let lock = OpenOptions::new().write(true).create_new(true).open(&fresh)?;
        lock.lock()?;
        fs::rename(fresh, made.path().join(LOCK))?;
        let path = made.path().join("tmp");
        DirBuilder::new().mode(0o700).create(&path)?;
        Ok(Temporary { all, folder: made.keep(), path, _lock: lock })
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        remove(&self.folder);
    }
}

/// The user's own folder in a shared one. If somebody else has made one of this name, the user gets one of another name.
fn of_user(shared: &Path) -> io::Result<PathBuf> {
    let user = rustix::process::geteuid().as_raw();
    let name = format!("{PREFIX}{user}");
    let folder = shared.join(&name);
    let made = DirBuilder::new().mode(0o700).create(&folder);
    if made.is_err_and(|it| it.kind() != io::ErrorKind::AlreadyExists) {
        return Err(io::Error::other(format!("{} cannot be made", folder.display())));
    }
    // this follows no link
    let is_private =
        |it: fs::Metadata| it.is_dir() && it.uid() == user && it.mode() & 0o777 == 0o700;
    if fs::symlink_metadata(&folder).is_ok_and(is_private) {
        return Ok(folder);
    }
    let (mut other, name) = (tempfile::Builder::new(), format!("{name}-"));
    other.prefix(&name).permissions(Permissions::from_mode(0o700));
    Ok(other.tempdir_in(shared)?.keep())
}

/// Removes the folders of which no Caliban holds the lock.
fn sweep(all: &Path) {
    // this follows no link
    let is_folder = |it: &fs::DirEntry| it.file_type().is_ok_and(|it| it.is_dir());
    for entry in fs::read_dir(all).into_iter().flatten().flatten().filter(is_folder) {
        let lock = entry.path().join(LOCK);
        let lock = crate::regular::open_unlinked(OpenOptions::new().write(true), &lock);
        if lock.is_ok_and(|it| it.try_lock().is_ok()) {
            remove(&entry.path());
        }
    }
}

/// Removes a folder, also if a command has taken away the right to look into a part of it.
pub(super) fn remove(folder: &Path) {
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
    use std::os::unix::fs::symlink;

    fn names(folder: &Path) -> usize {
        fs::read_dir(folder).unwrap().count()
    }

    #[test]
    fn a_temporary_folder_is_the_user_s_and_goes_also_if_its_owner_was_killed() {
        let shared = tempfile::tempdir().unwrap();
        let make = || Temporary::new_in(shared.path()).unwrap();
        let (one, two) = (make(), make());
        assert_eq!((one.all.parent(), &one.all), (Some(shared.path()), &two.all));
        for it in [&one.all, &one.folder, &one.path] {
            assert_eq!(fs::metadata(it).unwrap().mode() & 0o777, 0o700);
        }
        let all = one.all.clone();
        drop(one);
        assert_eq!(names(&all), 1);
        // as after a kill: nobody holds the lock, and the folder stays
        let left = all.join("left");
        fs::create_dir(&left).unwrap();
        fs::write(left.join(LOCK), "").unwrap();
        let outside = shared.path().join("outside");
        fs::create_dir(&outside).unwrap();
        fs::write(outside.join(LOCK), "").unwrap();
        fs::create_dir(all.join("other")).unwrap();
        symlink(&outside, all.join("link")).unwrap();
        let three = make();
        assert!(!left.exists() && two.path.exists() && three.path.exists());
        assert!(all.join("other").exists() && all.join("link").exists() && outside.exists());
    }

    #[test]
    fn a_folder_or_link_of_somebody_else_is_not_used() {
        for is_link in [true, false] {
            let (shared, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
            let name = format!("{PREFIX}{}", rustix::process::geteuid().as_raw());
            let taken = shared.path().join(name);
            if is_link {
                symlink(outside.path(), &taken).unwrap();
            } else {
                fs::create_dir(&taken).unwrap();
                fs::set_permissions(&taken, Permissions::from_mode(0o755)).unwrap();
            }
            let made = Temporary::new_in(shared.path()).unwrap();
            assert!(made.path.exists() && !made.path.starts_with(&taken));
            assert_eq!((names(&taken), names(outside.path())), (0, 0));
        }
    }
}
