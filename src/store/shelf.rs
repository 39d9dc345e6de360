//! Renames a session with all its files, or moves them to the trash.

use super::stamp::Stamp;
use super::{Listed, Project, Store, Unavailable, is_name, outputs};
use crate::event::SessionId;
use crate::session::Session;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// How long a session is kept in the trash, and the most bytes that the trash keeps. If there are more, the oldest
/// files are removed.
const TRASH_AGE: Duration = Duration::from_secs(30 * 24 * 3600);
const TRASH_SIZE: u64 = 200_000_000;

/// The extension of the file that exists while a session's files are being moved. Its content is the name to which the
/// files are moved.
const MOVED: &str = "moved";

impl Project {
    /// The target of an interrupted move of the session `name`: a new name, or `trash/` and a name. `None` if no move
    /// was interrupted, or if the session's own file has not moved yet.
    pub(super) fn moved(&self, name: &str) -> Option<String> {
        let told = self.disk.read(&self.dir.join(format!("{name}.{MOVED}"))).ok()?;
        let to = String::from_utf8(told).ok()?;
        let plain = to.strip_prefix("trash/").unwrap_or(&to);
        let is_plain = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'-';
        let is_name = !plain.is_empty() && plain.bytes().all(is_plain);
        (is_name && !self.dir.join(format!("{name}.json")).exists()).then_some(to)
    }

    /// Finishes an interrupted move of the session `name`. The caller has to have the session locked.
    pub(super) fn finish_move(&self, name: &str) {
        let told = self.dir.join(format!("{name}.{MOVED}"));
        if self.disk.read(&told).is_err() {
            return;
        }
        let moved = self.moved(name).map_or(Ok(()), |to| self.move_rest(name, &to));
        if let Err(error) = moved.and_then(|()| self.end_move(name)) {
            tracing::warn!("files of `{name}` could not be moved: {error}");
        }
    }

    /// Finishes an interrupted renaming of a session that already has its new name `id`. The session's file still
    /// contains the old name `was`.
    pub(super) fn finish_rename(&self, was: &str, id: &SessionId) {
        let is_cut_off = *was != *id.0 && is_name(was) && self.moved(was).as_ref() == Some(&id.0);
        if is_cut_off && let Ok(_lock) = self.lock(&SessionId(was.to_owned())) {
            self.finish_move(was);
        }
    }

    /// Renames all files of a session. The session's own file is renamed first, and its new name is synced to disk
    /// before the other files are renamed. `end_move` completes the move.
    fn move_files(&self, name: &str, to: &str) -> io::Result<()> {
        self.disk.replace_now(&self.dir, &format!("{name}.{MOVED}"), to.as_bytes())?;
        let file = self.dir.join(format!("{name}.json"));
        if file.exists() {
            self.disk.rename(&file, &self.dir.join(format!("{to}.json")))?;
            self.sync_moved(to)?;
        }
        self.move_rest(name, to)
    }

    fn move_rest(&self, name: &str, to: &str) -> io::Result<()> {
        if to.starts_with("trash/") {
            self.disk.create_dir(&self.dir.join("trash"))?;
        }
        for (path, ending) in files(&self.dir, name)? {
            let to = self.dir.join(format!("{to}.{ending}"));
            if ending != MOVED && !to.exists() {
                self.disk.rename(&path, &to)?;
            }
        }
        self.sync_moved(to)
    }

    /// Syncs the folders of a move to disk, the new folder first: after a loss of power a file may be in both folders,
    /// but never in neither.
    fn sync_moved(&self, to: &str) -> io::Result<()> {
        if to.starts_with("trash/") {
            self.disk.sync_dir(&self.dir.join("trash"))?;
        }
        self.disk.sync_dir(&self.dir)
    }

    /// Removes the record of the session's move.
    fn end_move(&self, name: &str) -> io::Result<()> {
        self.disk.remove_if_there(&self.dir.join(format!("{name}.{MOVED}")))?;
        self.disk.sync_dir(&self.dir)
    }

    /// The existing session whose name is equal to this one except for upper and lower case, because some file systems
    /// do not distinguish such names.
    pub fn like(&self, name: &str) -> Option<String> {
        let entries = fs::read_dir(self.dir()).into_iter().flatten().flatten();
        let names = entries.filter_map(|it| it.file_name().into_string().ok());
        let mut sessions = names.filter_map(|it| {
            let (stem, ending) = it.split_once('.')?;
            ["json", "journal", "draft"].contains(&ending).then(|| stem.to_owned())
        });
        sessions.find(|it| it.eq_ignore_ascii_case(name))
    }

    /// Moves all files of a session to the trash. Fails if a program has the session open.
    pub fn delete(&self, id: &SessionId) -> Result<(), Unavailable> {
        self.disk.create_dir(self.dir()).map_err(Unavailable::Io)?;
        let lock = self.lock(id)?;
        self.move_to_trash(id).map_err(Unavailable::Io)?;
        let _ = fs::remove_file(self.dir().join(format!("{id}.lock")));
        drop(lock);
        if self.last().as_ref() == Some(id) {
            let next =
                self.list().into_iter().find(|it: &Listed| it.problem.is_none() && !it.locked);
            let noted = match next {
                Some(it) => self.set_last(&SessionId(it.name)),
                None => fs::remove_file(self.dir().join("last")),
            };
            if let Err(error) = noted {
                tracing::warn!("the last session could not be noted: {error}");
            }
        }
        Ok(())
    }

    fn move_to_trash(&self, id: &SessionId) -> io::Result<()> {
        let trash = self.dir().join("trash");
        self.disk.create_dir(&trash)?;
        let to = format!("{id}-{}", free_number(&trash, &id.0));
        self.move_files(&id.0, &format!("trash/{to}"))?;
        self.end_move(&id.0)?;
        for (path, _) in files(&trash, &to)? {
            // The time of modification is set to now, because the age of a file in the trash is measured by it.
            let is_ours = fs::symlink_metadata(&path).is_ok_and(|it| it.is_file() || it.is_dir());
            if is_ours {
                let _ = fs::File::open(&path).and_then(|it| it.set_modified(SystemTime::now()));
            }
        }
        prune(&trash, TRASH_AGE, TRASH_SIZE);
        Ok(())
    }
}

impl Store {
    /// Renames a session in which no turn runs, with all its files, and locks the new name.
    #[expect(clippy::used_underscore_binding, reason = "a lock is kept, never read")]
    pub fn rename(&mut self, session: &Session, to: &SessionId) -> Result<(), Unavailable> {
        let (disk, dir, root) = (self.disk.clone(), self.dir.clone(), self.root.clone());
        let project = Project { disk, dir, root };
        let lock = project.lock(to)?;
        self.move_files(&project, session, to).map_err(Unavailable::Io)?;
        let _ = fs::remove_file(self.dir.join(format!("{}.lock", self.name)));
        self.name.clone_from(&to.0);
        self._lock = lock;
        Ok(())
    }

    fn move_files(
        &mut self,
        project: &Project,
        session: &Session,
        to: &SessionId,
    ) -> io::Result<()> {
        let is_kept = !session.is_blank();
        if is_kept {
            // The save empties the journal, so that the session's file contains everything.
            self.save(session)?;
        }
        project.move_files(&self.name, &to.0)?;
        self.header.name.clone_from(&to.0);
        if is_kept {
            let json = self.render(session)?;
            self.disk.replace_now(&self.dir, &format!("{to}.json"), &json)?;
        }
        self.stamp = Stamp::at(&self.dir.join(format!("{to}.json")));
        project.end_move(&self.name)
    }

    /// Copies the session's content to the project's trash folder. The session itself is not moved.
    pub fn trash(&mut self, session: &Session) -> io::Result<()> {
        let json = self.render(session)?;
        let trash = self.dir.join("trash");
        self.disk.create_dir(&trash)?;
        let n = free_number(&trash, &self.name);
        self.disk.replace_now(&trash, &format!("{}-{n}.json", self.name), &json)?;
        self.cleared = Some(outputs::folder(&trash, &format!("{}-{n}", self.name)));
        prune(&trash, TRASH_AGE, TRASH_SIZE);
        Ok(())
    }

    /// Moves the outputs of a cleared conversation to the trash. Called after the session was saved, so that its file
    /// no longer refers to them.
    pub(super) fn clear_outputs(&mut self) {
        let Some(to) = self.cleared.take() else { return };
        self.kept.clear();
        match self.disk.rename(&outputs::folder(&self.dir, &self.name), &to) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                tracing::warn!("the cleared outputs could not be moved: {error}");
            }
            _ => (),
        }
    }
}

/// The lowest number `n` for which the trash has no file `name-n`.
fn free_number(trash: &Path, name: &str) -> u32 {
    let taken = |n: &u32| files(trash, &format!("{name}-{n}")).is_ok_and(|it| !it.is_empty());
    (1..=u32::MAX).find(|n| !taken(n)).unwrap_or(u32::MAX)
}

/// The files of a session except its lock. Each has its path, and the part of its file name after the session's name.
fn files(dir: &Path, name: &str) -> io::Result<Vec<(PathBuf, String)>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let Ok(file) = entry.file_name().into_string() else { continue };
        let ending = file.strip_prefix(name).and_then(|it| it.strip_prefix('.'));
        if let Some(ending) = ending.filter(|it| *it != "lock") {
            found.push((entry.path(), ending.to_owned()));
        }
    }
    Ok(found)
}

/// Removes files from the trash that are older than `age`, then the oldest files until the trash has at most `size`
/// bytes. Files that cannot be removed stay.
fn prune(trash: &Path, age: Duration, size: u64) {
    let entries = fs::read_dir(trash).into_iter().flatten().flatten();
    let mut kept: Vec<(SystemTime, u64, PathBuf)> = entries
        .filter_map(|it| Some((it.metadata().ok()?.modified().ok()?, bytes(&it.path()), it.path())))
        .collect();
    kept.sort();
    let mut total: u64 = kept.iter().map(|(_, bytes, _)| bytes).sum();
    // The newest file stays, whatever its size.
    kept.pop();
    for (put, bytes, path) in kept {
        let is_old = SystemTime::now().duration_since(put).is_ok_and(|it| it > age);
        if is_old || total > size {
            let is_folder = path.is_dir();
            let gone = if is_folder { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
            total -= if gone.is_ok() { bytes } else { 0 };
        }
    }
}

fn bytes(path: &Path) -> u64 {
    match fs::symlink_metadata(path) {
        Ok(it) if it.is_dir() => {
            fs::read_dir(path).into_iter().flatten().flatten().map(|it| bytes(&it.path())).sum()
        }
        Ok(it) => it.len(),
        Err(_) => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;

    #[test]
    fn the_trash_is_limited_in_size_and_age() {
        let dir = tempfile::tempdir().unwrap();
        let now = SystemTime::now();
        for (name, days) in [("old-1.json", 40), ("a-1.json", 3), ("b-1.json", 2), ("c-1.json", 1)]
        {
            let path = dir.path().join(name);
            fs::write(&path, [b'x'; 100]).unwrap();
            let put = now - Duration::from_secs(days * 24 * 3600);
            File::open(&path).unwrap().set_modified(put).unwrap();
        }
        let left = || {
            let names = fs::read_dir(dir.path()).unwrap().map(|it| it.unwrap().file_name());
            let mut names: Vec<String> = names.map(|it| it.into_string().unwrap()).collect();
            names.sort();
            names
        };
        prune(dir.path(), TRASH_AGE, 1000);
        assert_eq!(left(), ["a-1.json", "b-1.json", "c-1.json"]);
        prune(dir.path(), TRASH_AGE, 250);
        assert_eq!(left(), ["b-1.json", "c-1.json"]);
        prune(dir.path(), TRASH_AGE, 0);
        assert_eq!(left(), ["c-1.json"]);
    }
}
