//! Tests renames and deletions that are interrupted at each call to the disk, by a kill or a loss of power. Afterwards
//! the session is complete and in exactly one place.

use super::*;
use crate::store::disk::{Disk, RealDisk};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A disk that fails after a number of calls, and knows which changes are not synced.
#[derive(Debug)]
struct Stopping {
    calls: AtomicUsize,
    /// The folder of all sessions. `durable` is a copy of its state when a folder was last synced.
    data: PathBuf,
    durable: tempfile::TempDir,
    pending: Mutex<Vec<Pending>>,
}

/// A renamed or removed file whose folder has not been synced.
#[derive(Debug, Clone)]
enum Pending {
    Rename(PathBuf, PathBuf),
    Remove(PathBuf),
}

impl Stopping {
    fn new(calls: usize, data: &Path) -> Stopping {
        let durable = tempfile::tempdir().unwrap();
        copy(data, durable.path());
        let (calls, data) = (AtomicUsize::new(calls), data.to_owned());
        Stopping { calls, data, durable, pending: Mutex::default() }
    }

    fn takes(&self) -> io::Result<()> {
        let left =
            self.calls.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |it| it.checked_sub(1));
        left.map(drop).map_err(|_| io::Error::other("stopped"))
    }

    fn note(&self, pending: Pending) {
        self.pending.lock().unwrap().push(pending);
    }

    /// The possible states of the disk after a loss of power: one for each subset of the unsynced changes that may have
    /// reached the disk.
    fn without_power(&self) -> Vec<Place> {
        let pending = self.pending.lock().unwrap().clone();
        let after = |choice: u32| {
            let dir = tempfile::tempdir().unwrap();
            copy(self.durable.path(), dir.path());
            let there = |path: &Path| dir.path().join(path.strip_prefix(&self.data).unwrap());
            for (n, it) in pending.iter().enumerate().filter(|(n, _)| choice >> n & 1 == 1) {
                let done = match it {
                    Pending::Rename(from, to) if there(from).exists() => {
                        fs::rename(there(from), there(to))
                    }
                    // the renamed file was written after the last sync, so the copy of the synced state does not have
                    // it
                    Pending::Rename(_, to) => fs::copy(to, there(to)).map(drop),
                    Pending::Remove(path) => fs::remove_file(there(path)),
                };
                done.unwrap_or_else(|error| panic!("{n}: {it:?}: {error}"));
            }
            let project = Project::new(dir.path(), Path::new(ROOT));
            Place { _dir: dir, project }
        };
        (0..1 << pending.len()).map(after).collect()
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let to = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), to).unwrap();
        }
    }
}

impl Disk for Stopping {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        RealDisk.read(path)
    }
    fn create_dir(&self, dir: &Path) -> io::Result<()> {
        self.takes().and_then(|()| RealDisk.create_dir(dir))
    }
    fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.takes().and_then(|()| RealDisk.write(path, bytes))
    }
    fn create(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.takes().and_then(|()| RealDisk.create(path, bytes))
    }
    fn append(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.takes().and_then(|()| RealDisk.append(path, bytes))
    }
    fn truncate(&self, path: &Path, len: u64) -> io::Result<()> {
        self.takes().and_then(|()| RealDisk.truncate(path, len))
    }
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.takes().and_then(|()| RealDisk.rename(from, to))?;
        self.note(Pending::Rename(from.to_owned(), to.to_owned()));
        Ok(())
    }
    fn remove(&self, path: &Path) -> io::Result<()> {
        self.takes().and_then(|()| RealDisk.remove(path))?;
        self.note(Pending::Remove(path.to_owned()));
        Ok(())
    }
    fn sync(&self, path: &Path) -> io::Result<()> {
        self.takes().and_then(|()| RealDisk.sync(path))
    }
    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        self.takes().and_then(|()| RealDisk.sync_dir(dir))?;
        fs::remove_dir_all(self.durable.path()).unwrap();
        copy(&self.data, self.durable.path());
        self.pending.lock().unwrap().clear();
        Ok(())
    }
}

/// The extensions of everything that belongs to a session except its own file.
const REST: [&str; 4] = ["draft", "review-0", "outputs", "checkpoints"];

/// A session with every kind of file that a session can have, in a project whose disk fails after this many calls.
fn kept(calls: usize) -> (Place, Project, Arc<Stopping>) {
    let place = place();
    let mut opened = place.open();
    opened.store.save(&everything()).unwrap();
    let draft = Draft { text: "half a thought".into(), context: Vec::new() };
    opened.store.save_draft(draft).unwrap();
    place.project.set_last(&main_id()).unwrap();
    place.write("main.review-0", "{\"path\": \"/p/a\"}\n");
    for folder in ["main.outputs", "main.checkpoints"] {
        fs::create_dir(place.path(folder)).unwrap();
        place.write(&format!("{folder}/0"), "kept");
    }
    drop(opened);
    let data = place.project.dir().parent().unwrap().to_owned();
    let disk = Arc::new(Stopping::new(calls, &data));
    let project = Project::on(disk.clone(), &data, place.project.root());
    (place, project, disk)
}

/// Opens a session. Tries again if it is locked, because a process that another test has started may inherit the lock
/// for a moment.
fn open(project: &Project, id: &SessionId) -> Result<Opened, Unavailable> {
    loop {
        match project.open(id) {
            Err(Unavailable::Locked(_)) => std::thread::yield_now(),
            opened => return opened,
        }
    }
}

/// Whether a session with this name exists. Asserts that an existing session has its whole content and all its files.
fn whole(place: &Place, id: &SessionId) -> bool {
    let opened = open(&place.project, id).unwrap();
    let Some(session) = &opened.session else { return false };
    assert_eq!(*session, as_saved(&everything()), "{id}");
    assert_eq!(opened.draft.text, "half a thought", "{id}");
    for ending in REST {
        let path = place.path(&format!("{id}.{ending}"));
        assert!(path.exists(), "{}: {:?}", path.display(), place.files());
    }
    true
}

/// The number of files with this extension, in the sessions' folder and in the trash.
fn count(place: &Place, ending: &str) -> usize {
    let trash = fs::read_dir(place.path("trash")).into_iter().flatten().flatten();
    let names = trash.map(|it| it.file_name().into_string().unwrap());
    names.chain(place.files()).filter(|it| it.ends_with(ending)).count()
}

/// The state of the disk after a kill, and the possible states after a loss of power.
fn ends(place: Place, disk: &Stopping) -> Vec<Place> {
    let mut ends = disk.without_power();
    ends.push(place);
    ends
}

#[test]
fn an_interrupted_rename_leaves_the_whole_session_under_one_of_the_names() {
    let other = SessionId("other".into());
    let mut seen = [false, false];
    for calls in 0.. {
        let (place, project, disk) = kept(calls);
        let renamed = open(&project, &main_id()).is_ok_and(|mut opened| {
            let session = opened.session.take().unwrap();
            opened.store.rename(&session, &other).is_ok()
        });
        for place in ends(place, &disk) {
            let last = place.project.last().unwrap();
            let ids = if calls % 2 == 0 { [&other, &last] } else { [&last, &other] };
            assert!(ids.iter().any(|it| whole(&place, it)), "{:?}", place.files());
            let names = [whole(&place, &main_id()), whole(&place, &other)];
            assert!(names[0] != names[1], "{names:?} after {calls} calls");
            for ending in REST {
                assert_eq!(count(&place, ending), 1, "{ending} after {calls} calls");
            }
            seen = [seen[0] || names[0], seen[1] || names[1]];
            assert!(!renamed || names[1]);
        }
        if renamed {
            break;
        }
    }
    assert_eq!(seen, [true, true]);
}

#[test]
fn an_interrupted_deletion_leaves_the_whole_session_in_place_or_in_the_trash() {
    let mut seen = [false, false];
    for calls in 0.. {
        let (place, project, disk) = kept(calls);
        let deleted = loop {
            match project.delete(&main_id()) {
                Err(Unavailable::Locked(_)) => std::thread::yield_now(),
                deleted => break deleted.is_ok(),
            }
        };
        for place in ends(place, &disk) {
            let is_here = whole(&place, &main_id());
            let is_there = |it: &&str| place.path(&format!("trash/main-1.{it}")).exists();
            let all = ["json"].iter().chain(&REST).filter(|it| is_there(it)).count();
            assert_eq!(all, if is_here { 0 } else { 5 }, "{calls}: {:?}", place.files());
            for ending in REST {
                assert_eq!(count(&place, ending), 1, "{ending} after {calls} calls");
            }
            assert!(!(deleted && is_here));
            seen[usize::from(is_here)] = true;
        }
        if deleted {
            break;
        }
    }
    assert_eq!(seen, [true, true]);
}
