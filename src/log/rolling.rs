//! A log file of limited size. A full file is renamed to `NAME.1`, which replaces the previous `NAME.1`, and a new file
//! is begun. All instances of the program that the user runs write to the same file.

use crate::regular;
use std::fs::{self, DirBuilder, File, Metadata, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

pub(super) struct Rolling {
    path: PathBuf,
    /// The path to which a full file is renamed.
    full: PathBuf,
    file: File,
    /// The most bytes of each of the two files.
    most: u64,
}

impl Rolling {
    pub(super) fn open(path: PathBuf, most: u64) -> io::Result<Rolling> {
        let mut full = path.clone().into_os_string();
        full.push(".1");
        Ok(Rolling { file: open(&path)?, path, full: full.into(), most })
    }

    /// Appends a whole record or nothing: if the disk becomes full, the bytes of the record that were already written
    /// are removed again.
    fn add(&mut self, record: &[u8]) -> io::Result<()> {
        let had = self.lock_with_room(record.len() as u64)?;
        self.file.write_all(record).inspect_err(|_| drop(self.file.set_len(had)))
    }

    /// Locks the file. Makes sure that `file` is still the file at `path`, and that it has room for `more` bytes.
    /// Another program may have renamed the file, or the user may have deleted it. Returns the file's size.
    fn lock_with_room(&mut self, more: u64) -> io::Result<u64> {
        loop {
            // on a file system without locks, programs that write at the same time may lose a record or exceed the
            // limit by one record
            let _ = self.file.lock();
            let own = self.file.metadata()?;
            if is_named(&own, &self.path) {
                if own.len() + more <= self.most {
                    return Ok(own.len());
                }
                // a file that exceeds the limit because an earlier version wrote it, or that cannot be renamed, is
                // emptied
                if own.len() > self.most || fs::rename(&self.path, &self.full).is_err() {
                    self.file.set_len(0)?;
                    return Ok(0);
                }
            }
            self.file = open(&self.path)?;
        }
    }
}

impl Write for Rolling {
    /// Writes a record. A record that is larger than the limit is written in parts.
    fn write(&mut self, record: &[u8]) -> io::Result<usize> {
        let most = usize::try_from(self.most).unwrap_or(usize::MAX);
        let part = &record[..record.len().min(most)];
        let added = self.add(part);
        let _ = self.file.unlock();
        added.map(|()| part.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Opens the log so that only its owner can read it.
fn open(path: &Path) -> io::Result<File> {
    if let Some(folder) = path.parent() {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    let file = regular::open_with(File::options().create(true).append(true).mode(0o600), path)?;
    file.set_permissions(Permissions::from_mode(0o600))?;
    Ok(file)
}

fn is_named(file: &Metadata, path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|it| (it.dev(), it.ino()) == (file.dev(), file.ino()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn text(path: &Path) -> String {
        fs::read_to_string(path).unwrap_or_default()
    }

    proptest! {
        /// Three writers write in turns. The two files have the last records of all writers, in order.
        #[test]
        fn the_two_log_files_keep_the_last_records_within_their_size_limit(
            records in prop::collection::vec((0..3_usize, 1..30_usize), 1..80)
        ) {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("log");
            let open = || Rolling::open(path.clone(), 50).unwrap();
            let mut programs = [open(), open(), open()];
            let mut all = String::new();
            for (n, (program, size)) in records.into_iter().enumerate() {
                let record = format!("{n:>size$}\n");
                programs[program].write_all(record.as_bytes()).unwrap();
                all += &record;
                let (old, new) = (text(&folder.path().join("log.1")), text(&path));
                prop_assert!(old.len() <= 50 && new.len() <= 50);
                prop_assert!(all.ends_with(&(old.clone() + &new)), "{all:?}: {old:?} {new:?}");
                prop_assert!(new.ends_with(&record));
                prop_assert_eq!(all.len() > 50, !old.is_empty());
            }
        }
    }

    #[test]
    fn a_record_that_is_too_large_is_written_in_parts() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let mut file = Rolling::open(path.clone(), 10).unwrap();
        file.write_all(b"0123456789abcdefghijklmno\n").unwrap();
        assert_eq!(text(&path), "klmno\n");
        assert_eq!(text(&folder.path().join("log.1")), "abcdefghij");
    }

    #[test]
    fn a_file_that_is_too_long_or_cannot_be_renamed_is_emptied() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        fs::write(&path, "x".repeat(100)).unwrap();
        let mut file = Rolling::open(path.clone(), 10).unwrap();
        file.write_all(b"one\n").unwrap();
        assert_eq!(text(&path), "one\n");
        fs::create_dir(folder.path().join("log.1")).unwrap();
        file.write_all(b"another\n").unwrap();
        assert_eq!(text(&path), "another\n");
    }

    #[test]
    fn a_deleted_log_file_is_created_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("caliban/log");
        let mut file = Rolling::open(path.clone(), 100).unwrap();
        file.write_all(b"one\n").unwrap();
        fs::remove_dir_all(folder.path().join("caliban")).unwrap();
        file.write_all(b"two\n").unwrap();
        assert_eq!(text(&path), "two\n");
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(path.parent().unwrap()), mode(&path)), (0o700, 0o600));
    }

    #[test]
    fn a_log_that_is_not_a_regular_file_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
        assert!(Rolling::open(path, 100).is_err());
    }
}
