//! What becomes of a session as a whole: renamed, or put into the trash, with everything that belongs to it.

use super::stamp::Stamp;
use super::{Barred, Listed, Project, Store, outputs};
use crate::event::SessionId;
use crate::session::Session;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// How long the trash keeps what was put there, and how much of it, in bytes; of more the oldest goes.
const TRASH_AGE: Duration = Duration::from_secs(30 * 24 * 3600);
const TRASH_SIZE: u64 = 200_000_000;

impl Project {
    /// The session of this name, or of one that a file system may take for it.
    pub fn like(&self, name: &str) -> Option<String> {
        let entries = fs::read_dir(self.dir()).into_iter().flatten().flatten();
        let names = entries.filter_map(|it| it.file_name().into_string().ok());
        let mut sessions = names.filter_map(|it| {
            let (stem, ending) = it.split_once('.')?;
            ["json", "journal", "draft"].contains(&ending).then(|| stem.to_owned())
        });
        sessions.find(|it| it.eq_ignore_ascii_case(name))
    }

    /// Moves all files of a session, which nobody may have open, into the trash.
    pub fn delete(&self, id: &SessionId) -> Result<(), Barred> {
        self.disk.create_dir(self.dir()).map_err(Barred::Io)?;
        let lock = self.lock(id)?;
        self.move_to_trash(id).map_err(Barred::Io)?;
        let _ = fs::remove_file(self.dir().join(format!("{id}.lock")));
        drop(lock);
        if self.last().as_ref() == Some(id) {
            let next = self.list().into_iter().find(|it: &Listed| it.problem.is_none() && !it.held);
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
        let n = free_number(&trash, &id.0);
        for (path, ending) in files(self.dir(), &id.0)? {
            let to = trash.join(format!("{id}-{n}.{ending}"));
            self.disk.rename(&path, &to)?;
            // Its age in the trash counts from here.
            let _ = File::open(&to).and_then(|it| it.set_modified(SystemTime::now()));
        }
        self.disk.sync_dir(&trash)?;
        self.disk.sync_dir(self.dir())?;
        prune(&trash, TRASH_AGE, TRASH_SIZE);
        Ok(())
    }
}

impl Store {
    /// Gives a session at rest, with all its files, another name, whose lock it takes.
    #[expect(clippy::used_underscore_binding, reason = "a lock is kept, never read")]
    pub fn rename(&mut self, session: &Session, to: &SessionId) -> Result<(), Barred> {
        let (disk, dir) = (self.disk.clone(), self.dir.clone());
        let project = Project { disk, dir, root: PathBuf::new() };
        let lock = project.lock(to)?;
        self.move_files(session, to).map_err(Barred::Io)?;
        let _ = fs::remove_file(self.dir.join(format!("{}.lock", self.name)));
        self.name.clone_from(&to.0);
        self._lock = lock;
        Ok(())
    }

    fn move_files(&mut self, session: &Session, to: &SessionId) -> io::Result<()> {
        let is_kept = !session.is_blank();
        if is_kept {
            // Then the journal is empty, and the file has everything.
            self.save(session)?;
        }
        for (path, ending) in files(&self.dir, &self.name)? {
            self.disk.rename(&path, &self.dir.join(format!("{to}.{ending}")))?;
        }
        self.header.name.clone_from(&to.0);
        if is_kept {
            let json = self.render(session)?;
            self.disk.replace_now(&self.dir, &format!("{to}.json"), &json)?;
        }
        self.stamp = Stamp::at(&self.dir.join(format!("{to}.json")));
        Ok(())
    }

    /// Keeps the session's last state in the project's trash folder; the session goes on under its name.
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

    /// The outputs follow what was cleared: the session that was saved meanwhile names none of them.
    pub(super) fn clear_outputs(&mut self) {
        let Some(to) = self.cleared.take() else { return };
        self.kept.clear();
        match self.disk.rename(&outputs::folder(&self.dir, &self.name), &to) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                tracing::warn!("the outputs of what was cleared stay where they are: {error}");
            }
            _ => (),
        }
    }
}

/// A number under which the trash has nothing of this name.
fn free_number(trash: &Path, name: &str) -> u32 {
    let taken = |n: &u32| files(trash, &format!("{name}-{n}")).is_ok_and(|it| !it.is_empty());
    (1..=u32::MAX).find(|n| !taken(n)).unwrap_or(u32::MAX)
}

/// What belongs to a session, its lock left out: the paths, the file itself first, and what stands behind the name.
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
    found.sort_by_key(|(_, ending)| ending != "json");
    Ok(found)
}

/// Takes from the trash what is too old, and of what is too much the oldest; what cannot be taken stays.
fn prune(trash: &Path, age: Duration, size: u64) {
    let entries = fs::read_dir(trash).into_iter().flatten().flatten();
    let mut kept: Vec<(SystemTime, u64, PathBuf)> = entries
        .filter_map(|it| Some((it.metadata().ok()?.modified().ok()?, bytes(&it.path()), it.path())))
        .collect();
    kept.sort();
    let mut total: u64 = kept.iter().map(|(_, bytes, _)| bytes).sum();
    // What came last stays, however large it is.
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

    #[test]
    fn the_trash_keeps_so_much_and_so_long() {
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
