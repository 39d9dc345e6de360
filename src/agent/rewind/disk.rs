//! The steps of a rewind that the program makes on disk: files byte for byte, symbolic links, permissions.

use crate::regular::direct;
use crate::store::checkpoints::{Content, FileMode};
use crate::text::cause;
use std::ffi::OsStr;
use std::fs::{self, Permissions};
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use tempfile::{Builder, NamedTempFile};

/// Replaces what a path holds in one step, if it still holds `was`. A reader finds either the old or the new content.
/// A file without `mode` keeps the permissions of the file that it replaces. Blocks.
pub(super) fn replace(
    path: &Path,
    was: &Content,
    now: &Content,
    mode: Option<FileMode>,
) -> Result<(), String> {
    if Content::at(path)? != *was {
        return Err("it has changed meanwhile".to_owned());
    }
    if *was == Content::Folder {
        remove_empty(path).map_err(|_| "a folder with other files is in its place".to_owned())?;
    }
    write(path, was, now, mode).map_err(|it| cause(&it))
}

fn write(path: &Path, was: &Content, now: &Content, mode: Option<FileMode>) -> io::Result<()> {
    let folder = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
    let is_free = matches!(was, Content::Absent | Content::Folder);
    match now {
        Content::Absent | Content::Folder if is_free => Ok(()),
        Content::Absent | Content::Folder => direct::remove(path),
        Content::Link(target) => {
            fs::create_dir_all(folder)?;
            let target = Path::new(OsStr::from_bytes(target));
            put(
                Builder::new().prefix(".caliban-").make_in(folder, |it| symlink(target, it))?,
                path,
                is_free,
            )
        }
        Content::Text(_) | Content::Bytes(_) => {
            fs::create_dir_all(folder)?;
            let there = fs::symlink_metadata(path).ok().filter(|_| was.is_file());
            let mode = mode.map(|it| Permissions::from_mode(it.bits()));
            let mode = mode.or_else(|| there.map(|it| it.permissions()));
            // nobody else may read the new file before it has its permissions
            let first = Permissions::from_mode(if mode.is_some() { 0o600 } else { 0o666 });
            let mut whole =
                Builder::new().prefix(".caliban-").permissions(first).tempfile_in(folder)?;
            whole.write_all(&now.bytes().unwrap_or_default())?;
            mode.map_or(Ok(()), |it| whole.as_file().set_permissions(it))?;
            whole.as_file().sync_all()?;
            put(whole, path, is_free)
        }
    }
}

/// Gives a new file its name. Fails if the name is to be free and is not.
fn put<F>(whole: NamedTempFile<F>, path: &Path, is_free: bool) -> io::Result<()> {
    let put = if is_free { whole.persist_noclobber(path) } else { whole.persist(path) };
    put.map(drop).map_err(|it| it.error)
}

/// Removes a folder that has only empty folders.
fn remove_empty(path: &Path) -> io::Result<()> {
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        if !entry.file_type()?.is_dir() {
            return Err(io::ErrorKind::DirectoryNotEmpty.into());
        }
        remove_empty(&entry.path())?;
    }
    fs::remove_dir(path)
}

/// Gives a regular file these permissions. Blocks.
pub(super) fn set_mode(path: &Path, mode: FileMode) -> Result<(), String> {
    let set = |it: fs::File| it.set_permissions(Permissions::from_mode(mode.bits()));
    direct::open(path).and_then(set).map_err(|it| cause(&it))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::symlink_metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn rewinding_a_file_replaces_it_atomically_and_keeps_its_permissions() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("raw");
        let (old, new) = (Content::of(b"\xff old".to_vec()), Content::of(b"\xff new".to_vec()));
        fs::write(&path, b"\xff old").unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o751)).unwrap();
        let mut reader = fs::File::open(&path).unwrap();
        replace(&path, &old, &new, None).unwrap();
        let mut read = Vec::new();
        io::Read::read_to_end(&mut reader, &mut read).unwrap();
        assert_eq!(read, b"\xff old");
        assert_eq!(fs::read(&path).unwrap(), b"\xff new");
        assert_eq!(mode(&path), 0o751);
        // three refusals: the content differs; the file does not exist; the file exists although it should not
        assert!(replace(&path, &old, &new, None).is_err());
        assert!(replace(&dir.path().join("other"), &old, &new, None).is_err());
        assert!(replace(&path, &Content::Absent, &old, None).is_err());
        assert_eq!(fs::read(&path).unwrap(), b"\xff new");
        let made = dir.path().join("a/b");
        replace(&made, &Content::Absent, &new, Some(FileMode::of(0o640))).unwrap();
        assert_eq!(mode(&made), 0o640);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2);
    }

    #[test]
    fn any_kind_of_path_takes_the_place_of_any_other() {
        let kinds = [
            Content::Absent,
            Content::of(b"text\n".to_vec()),
            Content::of(b"\xe9\n".to_vec()),
            Content::Link(b"nowhere".to_vec()),
            Content::Folder,
        ];
        for was in &kinds {
            for now in kinds.iter().filter(|it| **it != Content::Folder) {
                let dir = tempfile::tempdir().unwrap();
                let path = dir.path().join("x");
                match was {
                    Content::Folder => fs::create_dir_all(path.join("deep/er")).unwrap(),
                    was => write(&path, &Content::Absent, was, None).unwrap(),
                }
                replace(&path, was, now, Some(FileMode::of(0o600))).unwrap();
                assert_eq!(Content::at(&path).as_ref(), Ok(now), "{was:?} -> {now:?}");
                assert!(!now.is_file() || mode(&path) == 0o600);
                assert!(fs::read_dir(dir.path()).unwrap().count() < 2, "{was:?} -> {now:?}");
            }
        }
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("x/y")).unwrap();
        fs::write(dir.path().join("x/mine"), "mine").unwrap();
        let refused = replace(&dir.path().join("x"), &Content::Folder, &kinds[1], None);
        assert_eq!(refused.unwrap_err(), "a folder with other files is in its place");
    }
}
