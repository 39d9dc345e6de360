//! A session that is renamed or deleted, stopped at every call to the disk: it is whole, in one place.

use super::*;
use crate::store::disk::{Disk, RealDisk};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Takes so many calls, and after that none.
#[derive(Debug)]
struct Stopping(AtomicUsize);

impl Stopping {
    fn takes(&self) -> io::Result<()> {
        let left =
            self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |it| it.checked_sub(1));
        left.map(drop).map_err(|_| io::Error::other("stopped"))
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
        self.takes().and_then(|()| RealDisk.rename(from, to))
    }
    fn remove(&self, path: &Path) -> io::Result<()> {
        self.takes().and_then(|()| RealDisk.remove(path))
    }
    fn sync(&self, path: &Path) -> io::Result<()> {
        self.takes().and_then(|()| RealDisk.sync(path))
    }
    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        self.takes().and_then(|()| RealDisk.sync_dir(dir))
    }
}

/// A session with a draft and a review, and its project on a disk that takes so many calls more.
fn kept(calls: usize) -> (Place, Project) {
    let place = place();
    let mut opened = place.open();
    opened.store.save(&everything()).unwrap();
    let draft = Draft { text: "half a thought".into(), context: Vec::new() };
    opened.store.save_draft(draft).unwrap();
    place.write("main.review-0", "{\"path\": \"/p/a\"}\n");
    drop(opened);
    let data = place.project.dir().parent().unwrap().to_owned();
    let disk = Arc::new(Stopping(AtomicUsize::new(calls)));
    let project = Project::on(disk, &data, place.project.root());
    (place, project)
}

/// Waits for what another test's child may hold for a moment.
fn open(project: &Project, id: &SessionId) -> Result<Opened, Barred> {
    loop {
        match project.open(id) {
            Err(Barred::Held(_)) => std::thread::yield_now(),
            opened => return opened,
        }
    }
}

/// The session under this name, if it is there whole.
fn whole(place: &Place, id: &SessionId) -> bool {
    let session = open(&place.project, id).unwrap().session;
    assert!(session.as_ref().is_none_or(|it| *it == as_saved(&everything())), "{id}: {session:?}");
    session.is_some()
}

/// How many files end so, here and in the trash.
fn count(place: &Place, ending: &str) -> usize {
    let trash = fs::read_dir(place.path("trash")).into_iter().flatten().flatten();
    let names = trash.map(|it| it.file_name().into_string().unwrap());
    names.chain(place.files()).filter(|it| it.ends_with(ending)).count()
}

#[test]
fn stopped_while_it_is_renamed_it_has_one_of_the_names() {
    let other = SessionId("other".into());
    let mut seen = [false, false];
    for calls in 0.. {
        let (place, project) = kept(calls);
        let renamed = open(&project, &main_id()).is_ok_and(|mut opened| {
            let session = opened.session.take().unwrap();
            opened.store.rename(&session, &other).is_ok()
        });
        for ending in [".draft", ".review-0"] {
            assert_eq!(count(&place, ending), 1, "{ending} after {calls} calls");
        }
        let names = [whole(&place, &main_id()), whole(&place, &other)];
        assert!(names[0] != names[1], "{names:?} after {calls} calls");
        seen = [seen[0] || names[0], seen[1] || names[1]];
        if renamed {
            assert_eq!(place.project.under_review(&other), [PathBuf::from("/p/a")]);
            break;
        }
    }
    assert_eq!(seen, [true, true]);
}

#[test]
fn stopped_while_it_is_deleted_it_is_here_or_in_the_trash() {
    for calls in 0.. {
        let (place, project) = kept(calls);
        let deleted = loop {
            match project.delete(&main_id()) {
                Err(Barred::Held(_)) => std::thread::yield_now(),
                deleted => break deleted.is_ok(),
            }
        };
        for ending in [".json", ".draft", ".review-0"] {
            assert_eq!(count(&place, ending), 1, "{ending} after {calls} calls");
        }
        let is_here = whole(&place, &main_id());
        assert!(is_here != place.path("trash/main-1.json").exists(), "after {calls} calls");
        if deleted {
            assert!(!is_here);
            break;
        }
    }
}
