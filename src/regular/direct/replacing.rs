//! Replaces the content of a file, so that nothing is lost if the disk is full or the program is killed meanwhile.

use super::{checked, folders, opened, split, told};
use rustix::fs::{
    AtFlags, FallocateFlags, Mode, OFlags, Stat, fallocate, fchmod, fchown, flistxattr, fstat,
    openat, renameat, unlinkat,
};
use rustix::io::Errno;
use rustix::process::{Gid, geteuid};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};

/// How many files this program has begun to replace: the names of the new files.
static BEGUN: AtomicU64 = AtomicU64::new(0);

/// A replacement of a file that is ready to be made.
pub struct Replacing<'a> {
    folder: OwnedFd,
    name: &'a OsStr,
    bytes: &'a [u8],
    way: Way,
}

enum Way {
    /// The new content is in a file beside the old one, and takes its name. It is removed if it does not.
    Beside(OsString),
    /// The content is written into the old file, which is more than a name: it has other names, another owner, rights
    /// that cannot be copied, or its folder takes no new file.
    Inside(File),
}

impl<'a> Replacing<'a> {
    /// Prepares the new content of a regular file. Creates its folders if they do not exist. A file without the right to
    /// write is an error.
    pub fn begin(path: &'a Path, bytes: &'a [u8]) -> io::Result<Replacing<'a>> {
        let (above, name) = split(path)?;
        let folder = folders(above)?;
        let there = match opened(path, OFlags::RDWR) {
            Ok(file) => Some(file),
            Err(fault) if fault.kind() == io::ErrorKind::NotFound => None,
            Err(fault) => return Err(fault),
        };
        let way = match there {
            None => Way::Beside(beside(&folder, None, bytes)?),
            Some(file) => {
                let stat = fstat(&file)?;
                let copy = if is_only_a_name(&file, &stat) {
                    beside(&folder, Some(&stat), bytes)
                } else {
                    Err(Errno::ACCESS.into())
                };
                match copy {
                    Ok(name) => Way::Beside(name),
                    // a full disk is one for the file itself too
                    Err(fault) if fault.kind() == io::ErrorKind::StorageFull => return Err(fault),
                    Err(_) => Way::Inside(file),
                }
            }
        };
        Ok(Replacing { folder, name, bytes, way })
    }

    /// Replaces the content. After an error the old content is there.
    pub fn finish(mut self) -> io::Result<()> {
        match &mut self.way {
            Way::Beside(new) => {
                renameat(&self.folder, &*new, &self.folder, self.name)?;
                // nothing is left to remove
                new.clear();
                Ok(())
            }
            Way::Inside(file) => inside(file, self.bytes),
        }
    }
}

impl Drop for Replacing<'_> {
    fn drop(&mut self) {
        if let Way::Beside(new) = &self.way
            && !new.is_empty()
        {
            let _ = unlinkat(&self.folder, new, AtFlags::empty());
        }
    }
}

/// Whether a new file with the same permissions is as good as this one.
fn is_only_a_name(file: &File, stat: &Stat) -> bool {
    let has_attributes = flistxattr(file, &mut [0_u8; 0][..]).is_ok_and(|it| it > 0);
    stat.st_nlink == 1 && stat.st_uid == geteuid().as_raw() && !has_attributes
}

/// Writes a new file with the permissions of the old one. Returns its name.
fn beside(folder: &OwnedFd, old: Option<&Stat>, bytes: &[u8]) -> io::Result<OsString> {
    let number = BEGUN.fetch_add(1, Ordering::Relaxed);
    let name = OsString::from(format!(".caliban-{}-{number}.tmp", process::id()));
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    // nobody else may read the new file before it has its permissions
    let mode = Mode::from(if old.is_some() { 0o600 } else { 0o666 });
    let mut file = checked(openat(folder, &name, flags, mode).map_err(told)?)?;
    let written = file.write_all(bytes).and_then(|()| {
        if let Some(old) = old {
            if fstat(&file)?.st_gid != old.st_gid {
                fchown(&file, None, Some(Gid::from_raw(old.st_gid)))?;
            }
            fchmod(&file, Mode::from_raw_mode(old.st_mode))?;
        }
        file.sync_all()
    });
    match written {
        Ok(()) => Ok(name),
        Err(fault) => {
            let _ = unlinkat(folder, &name, AtFlags::empty());
            Err(fault)
        }
    }
}

/// Writes the content into the file itself. The space is reserved first, and a failure puts the old content back.
fn inside(file: &mut File, bytes: &[u8]) -> io::Result<()> {
    let mut old = Vec::new();
    file.read_to_end(&mut old)?;
    let length = |it: &[u8]| u64::try_from(it.len()).unwrap_or(u64::MAX);
    let reserved = if bytes.len() > old.len() {
        match fallocate(&*file, FallocateFlags::empty(), 0, length(bytes)) {
            Err(fault @ (Errno::NOSPC | Errno::DQUOT | Errno::FBIG)) => Err(fault.into()),
            // not every file system can reserve
            _ => Ok(()),
        }
    } else {
        Ok(())
    };
    let put = |content: &[u8]| {
        file.write_all_at(content, 0)?;
        file.set_len(length(content))?;
        file.sync_all()
    };
    reserved.and_then(|()| put(bytes)).inspect_err(|_| {
        let _ = put(&old);
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{MetadataExt, PermissionsExt};

    fn replaced(path: &Path, bytes: &[u8]) -> io::Result<()> {
        Replacing::begin(path, bytes)?.finish()
    }

    fn names(dir: &Path) -> Vec<String> {
        let all = fs::read_dir(dir).unwrap();
        let mut all: Vec<String> =
            all.map(|it| it.unwrap().file_name().into_string().unwrap()).collect();
        all.sort();
        all
    }

    #[test]
    fn a_file_keeps_its_permissions_and_its_other_names() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let (path, other) = (root.join("a"), root.join("b"));
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o750)).unwrap();
        replaced(&path, b"new, longer").unwrap();
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o7777, 0o750);
        fs::hard_link(&path, &other).unwrap();
        replaced(&path, b"shorter").unwrap();
        assert_eq!(fs::read(&other).unwrap(), b"shorter");
        let long = vec![b'x'; 100_000];
        replaced(&path, &long).unwrap();
        assert_eq!(fs::read(&other).unwrap(), long);
        replaced(&root.join("c/d/e"), b"made").unwrap();
        assert_eq!(fs::read(root.join("c/d/e")).unwrap(), b"made");
        assert_eq!(
            (names(&root), names(&root.join("c/d"))),
            (vec!["a".into(), "b".into(), "c".into()], vec!["e".into()])
        );
    }

    #[test]
    fn a_replacement_that_is_not_made_leaves_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let path = root.join("a");
        fs::write(&path, "old").unwrap();
        drop(Replacing::begin(&path, b"new").unwrap());
        assert_eq!(
            (fs::read(&path).unwrap(), names(&root)),
            (b"old".to_vec(), vec!["a".to_owned()])
        );
    }
}
