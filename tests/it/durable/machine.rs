//! A disk in memory that knows which bytes and names survive a loss of power, records each call, and can be made to
//! fail.

use caliban::store::Disk;
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// A call that changes the disk. Paths are relative to the folder of all sessions.
#[derive(Debug, Clone)]
pub(super) enum Op {
    Write(PathBuf, Vec<u8>),
    Create(PathBuf, Vec<u8>),
    Append(PathBuf, Vec<u8>),
    Truncate(PathBuf, u64),
    Rename(PathBuf, PathBuf),
    Remove(PathBuf),
    Sync(PathBuf),
    SyncDir(PathBuf),
}

impl Op {
    /// What this call may have done if it is interrupted: the same call with fewer bytes, for some numbers of bytes. Empty
    /// for calls that write no bytes.
    pub(super) fn torn(&self) -> Vec<Op> {
        let cuts = |bytes: &[u8]| {
            let mut cuts = vec![0, 1, bytes.len() / 2, bytes.len().saturating_sub(1)];
            cuts.retain(|it| *it < bytes.len());
            cuts.dedup();
            cuts.into_iter().map(|it| bytes[..it].to_vec()).collect::<Vec<_>>()
        };
        match self {
            Op::Write(path, bytes) => {
                cuts(bytes).into_iter().map(|it| Op::Write(path.clone(), it)).collect()
            }
            Op::Create(path, bytes) => {
                cuts(bytes).into_iter().map(|it| Op::Create(path.clone(), it)).collect()
            }
            Op::Append(path, bytes) => {
                cuts(bytes).into_iter().map(|it| Op::Append(path.clone(), it)).collect()
            }
            _ => Vec::new(),
        }
    }
}

#[derive(Debug, Clone, Default)]
struct File {
    bytes: Vec<u8>,
    synced: Vec<u8>,
}

/// The effect of a loss of power on writes that were not synced.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Unsynced {
    Kept,
    Lost,
    /// The file has its new length, but zeros instead of the new bytes.
    Zeroed,
}

/// The files, and for each name the index of its file in `files`: now (`names`) and after a loss of power (`durable`).
#[derive(Debug, Clone, Default)]
pub(super) struct Machine {
    files: Vec<File>,
    names: BTreeMap<PathBuf, usize>,
    durable: BTreeMap<PathBuf, usize>,
}

impl Machine {
    pub(super) fn files(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let content =
            |(name, at): (&PathBuf, &usize)| (name.clone(), self.files[*at].bytes.clone());
        self.names.iter().map(content).collect()
    }

    /// The disk after a loss of power.
    pub(super) fn without_power(&self, data: Unsynced, are_names_kept: bool) -> Machine {
        let mut after = self.clone();
        for file in &mut after.files {
            let same = file.bytes.iter().zip(&file.synced).take_while(|(a, b)| a == b).count();
            match data {
                Unsynced::Kept => (),
                Unsynced::Lost => file.bytes.clone_from(&file.synced),
                Unsynced::Zeroed => file.bytes[same..].fill(0),
            }
            file.synced.clone_from(&file.bytes);
        }
        if are_names_kept {
            after.durable.clone_from(&after.names);
        } else {
            after.names.clone_from(&after.durable);
        }
        after
    }

    pub(super) fn apply(&mut self, op: &Op) -> io::Result<()> {
        match op {
            Op::Write(path, bytes) => self.touch(path).bytes.clone_from(bytes),
            Op::Create(path, _) if self.names.contains_key(path) => {
                return Err(io::ErrorKind::AlreadyExists.into());
            }
            Op::Create(path, bytes) | Op::Append(path, bytes) => {
                self.touch(path).bytes.extend_from_slice(bytes);
            }
            Op::Truncate(path, len) => {
                let len = usize::try_from(*len).unwrap();
                self.touch(path).bytes.truncate(len);
            }
            Op::Rename(from, to) => {
                let at = self.names.remove(from).ok_or(io::ErrorKind::NotFound)?;
                self.names.insert(to.clone(), at);
            }
            Op::Remove(path) => drop(self.names.remove(path).ok_or(io::ErrorKind::NotFound)?),
            Op::Sync(path) => {
                let file = self.file(path)?;
                file.synced.clone_from(&file.bytes);
            }
            Op::SyncDir(dir) => {
                let is_elsewhere = |path: &PathBuf| path.parent() != Some(dir);
                self.durable.retain(|path, _| is_elsewhere(path));
                let here = self.names.iter().filter(|(path, _)| !is_elsewhere(path));
                self.durable.extend(here.map(|(path, at)| (path.clone(), *at)));
            }
        }
        Ok(())
    }

    fn file(&mut self, path: &Path) -> io::Result<&mut File> {
        let at = self.names.get(path).ok_or(io::ErrorKind::NotFound)?;
        Ok(&mut self.files[*at])
    }

    fn touch(&mut self, path: &Path) -> &mut File {
        let next = self.files.len();
        let at = *self.names.entry(path.to_owned()).or_insert(next);
        if at == next {
            self.files.push(File::default());
        }
        &mut self.files[at]
    }
}

/// The disk calls from number `from` up to, but not including, number `until` fail with this error. A failing write
/// still writes all of its bytes except the last.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fault {
    pub from: usize,
    pub until: usize,
    pub kind: io::ErrorKind,
}

#[derive(Debug, Default)]
struct State {
    machine: Machine,
    ops: Vec<Op>,
    fault: Option<Fault>,
}

/// A `Machine` as the `Disk` of a store. The only real files are locks and folders, in `dir`.
#[derive(Debug)]
pub(super) struct FakeDisk {
    state: Mutex<State>,
    dir: PathBuf,
}

impl FakeDisk {
    pub(super) fn new(machine: Machine, dir: &Path, fault: Option<Fault>) -> Arc<FakeDisk> {
        let state = State { machine, fault, ..State::default() };
        Arc::new(FakeDisk { state: Mutex::new(state), dir: dir.to_owned() })
    }

    pub(super) fn machine(&self) -> Machine {
        self.state.lock().unwrap().machine.clone()
    }

    pub(super) fn ops(&self) -> Vec<Op> {
        self.state.lock().unwrap().ops.clone()
    }

    pub(super) fn count(&self) -> usize {
        self.state.lock().unwrap().ops.len()
    }

    fn run(&self, op: Op) -> io::Result<()> {
        let mut state = self.state.lock().unwrap();
        let at = state.ops.len();
        let fault = state.fault.filter(|it| (it.from..it.until).contains(&at));
        let result = match fault {
            Some(fault) => {
                let half = op.torn().into_iter().next_back();
                half.map_or(Ok(()), |it| state.machine.apply(&it)).and(Err(fault.kind.into()))
            }
            None => state.machine.apply(&op),
        };
        state.ops.push(op);
        result
    }

    fn inner(&self, path: &Path) -> PathBuf {
        path.strip_prefix(&self.dir).unwrap().to_owned()
    }
}

impl Disk for FakeDisk {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let state = &mut self.state.lock().unwrap();
        Ok(state.machine.file(&self.inner(path))?.bytes.clone())
    }

    fn create_dir(&self, dir: &Path) -> io::Result<()> {
        fs::create_dir_all(dir)
    }

    fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.run(Op::Write(self.inner(path), bytes.to_owned()))
    }

    fn create(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.run(Op::Create(self.inner(path), bytes.to_owned()))
    }

    fn append(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.run(Op::Append(self.inner(path), bytes.to_owned()))
    }

    fn truncate(&self, path: &Path, len: u64) -> io::Result<()> {
        self.run(Op::Truncate(self.inner(path), len))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.run(Op::Rename(self.inner(from), self.inner(to)))
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.run(Op::Remove(self.inner(path)))
    }

    fn sync(&self, path: &Path) -> io::Result<()> {
        self.run(Op::Sync(self.inner(path)))
    }

    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        self.run(Op::SyncDir(self.inner(dir)))
    }
}
