//! Finds the files that a command changes, by comparing them before and after it: files that git tracks or would track,
//! and files that the session has changed. Without git, all files that are not ignored are compared.

use super::checkpoints::{ChangedBy, Keeper, Planned};
use crate::event::TurnId;
use crate::reach::Reach;
use crate::regular;
use crate::store::checkpoints::Content;
use crate::tool::{Desk, Stamp, disk, git, walk};
use crate::view::grouped;
use ignore::DirEntry;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// The most files that are compared: at one or two µs each a command waits 50 ms at most. In larger projects only the
/// files that the session has changed are compared.
const FILES: usize = 20_000;
/// Without git, the most files that are kept in memory, those of the upper folders first. Of the others it is known
/// that they change, but not how.
const LOADED: usize = 4_000;
/// The most bytes of one file, and of all files, that are kept in memory while a command runs, because git could not
/// restore them.
const LARGEST: u64 = 1 << 20;
const ALL: u64 = 64 << 20;
/// The longest wait for git.
const PATIENCE: Duration = Duration::from_secs(2);
/// The most changed files of one command whose content is stored. A command that changes more files is probably a
/// build.
const CHANGED: usize = 500;

/// The state of the files before a command.
struct Before {
    root: PathBuf,
    files: BTreeMap<PathBuf, Seen>,
    listing: Listing,
}

/// How the project's files are listed.
#[derive(Clone)]
enum Listing {
    Git,
    Walk(Reach),
    /// The project has too many files.
    None,
}

/// Why changes of a command may be missing from the record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Gap {
    /// The project has more than `FILES` files.
    Large,
    /// The files could not be listed after the command.
    NotListed,
    /// The command changed more than `CHANGED` files.
    Many,
}

impl Gap {
    /// A sentence for the user.
    pub(super) fn say(self) -> String {
        let (files, changed) = (grouped(FILES as u64), grouped(CHANGED as u64));
        match self {
            Gap::Large => format!(
                "The diff may lack changes made by commands: the project has more than {files} files and folders, so \
                 only files that the conversation had changed before were compared. Name generated folders in \
                 .gitignore."
            ),
            Gap::NotListed => format!(
                "The diff may lack files that commands created: after a command git did not list the files, or there \
                 were more than {files} files and folders."
            ),
            Gap::Many => format!(
                "The diff may lack changes made by commands: a command changed more than {changed} files, and only \
                 {changed} of them were compared."
            ),
        }
    }
}

/// The state of one file.
struct Seen {
    stamp: Stamp,
    origin: Origin,
    /// The file's permissions, if they are known and differ from those of a new file.
    mode: Option<u32>,
}

/// Where the earlier content of a file can be found.
enum Origin {
    InMemory(Content),
    /// In git, under this object name.
    Git(String),
    /// Nowhere: the file is too large, or all files together are.
    None,
}

/// Watches a running command until it ends or is stopped.
pub(super) struct Watch {
    end: oneshot::Sender<()>,
    looks: JoinHandle<()>,
}

impl Watch {
    /// Notes the state of the files. `touched` are the files that the session has changed.
    pub(super) async fn begin(
        desk: &Desk,
        touched: Vec<PathBuf>,
        keeper: Keeper,
        turn: TurnId,
    ) -> Watch {
        let before = Before::look(desk.root.clone(), desk.reach.clone(), touched).await;
        let (end, ended) = oneshot::channel::<()>();
        let looks = tokio::spawn(async move {
            // If the call is stopped, the sender is dropped, which ends the wait too.
            let _ = ended.await;
            let (planned, gaps) = before.changed().await;
            if !planned.is_empty() {
                keeper.begin(ChangedBy::Command(turn), planned).await;
            }
            for gap in gaps {
                keeper.note_gap(turn, gap);
            }
        });
        Watch { end, looks }
    }

    /// Stores the changes of the command, which has ended.
    pub(super) async fn end(self) {
        let _ = self.end.send(());
        let _ = self.looks.await;
    }
}

impl Before {
    async fn look(root: PathBuf, reach: Reach, touched: Vec<PathBuf>) -> Before {
        let (tracked, others) = tokio::join!(
            git(&root, &["ls-files", "-s", "-z"]),
            git(&root, &["ls-files", "-m", "-o", "-z", "--exclude-standard"]),
        );
        let look = move || {
            let (listing, tracked, others) = match (tracked, others) {
                (Some(tracked), Some(others)) => {
                    let others: Vec<PathBuf> = paths(&root, &others).collect();
                    (Listing::Git, tracked, others)
                }
                _ => match walked(&reach, &root) {
                    Some(files) => (Listing::Walk(reach), Vec::new(), files),
                    None => (Listing::None, Vec::new(), Vec::new()),
                },
            };
            let mut files: BTreeMap<PathBuf, Seen> = BTreeMap::new();
            let is_small = tracked.split(|it| *it == 0).count() + others.len() <= FILES;
            for it in tracked.split(|it| *it == 0).filter_map(entry).filter(|_| is_small) {
                let (path, origin) = (root.join(it.path), Origin::Git(it.name));
                let seen = Seen { stamp: disk::stamp(&path), origin, mode: it.mode };
                files.insert(path, seen);
            }
            let most = if matches!(listing, Listing::Git) { FILES } else { LOADED };
            let mut room = Room { files: touched.len() + most, bytes: ALL };
            let others = others.into_iter().filter(|_| is_small);
            for path in touched.into_iter().chain(others) {
                let (origin, mode) = load(&path, &mut room);
                let seen = Seen { stamp: disk::stamp(&path), origin, mode };
                files.insert(path, seen);
            }
            let listing = if is_small { listing } else { Listing::None };
            Before { root, files, listing }
        };
        let none = Before { root: PathBuf::new(), files: BTreeMap::new(), listing: Listing::None };
        tokio::task::spawn_blocking(look).await.unwrap_or(none)
    }

    /// The files that have changed, at most `CHANGED` of them, and why others may be missing.
    async fn changed(mut self) -> (Vec<Planned>, Vec<Gap>) {
        let mut gaps = Vec::new();
        let listed = self.listed().await.unwrap_or_else(|gap| {
            gaps.push(gap);
            Vec::new()
        });
        for path in listed {
            let (stamp, origin) = (Stamp::Disk(String::new()), Origin::InMemory(Content::Absent));
            self.files.entry(path).or_insert(Seen { stamp, origin, mode: None });
        }
        let root = self.root;
        let find = move || {
            let is_other = |it: &(PathBuf, Seen)| disk::stamp(&it.0) != it.1.stamp;
            self.files.into_iter().filter(is_other).take(CHANGED + 1).collect::<Vec<_>>()
        };
        let mut found = tokio::task::spawn_blocking(find).await.unwrap_or_default();
        if found.len() > CHANGED {
            found.truncate(CHANGED);
            gaps.push(Gap::Many);
        }
        let mut planned = Vec::new();
        for (path, seen) in found {
            let before = match seen.origin {
                Origin::InMemory(content) => Some(content),
                Origin::Git(name) => of_git(&root, &path, &name).await,
                Origin::None => None,
            };
            let after = regular::read_apart(&path).await.map_or(Content::Absent, Content::of);
            if before.as_ref() != Some(&after) {
                planned.push(Planned { path, to: None, before, after, mode: seen.mode });
            }
        }
        (planned, gaps)
    }

    /// The files that may be new.
    async fn listed(&self) -> Result<Vec<PathBuf>, Gap> {
        let root = self.root.clone();
        match self.listing.clone() {
            Listing::Git => {
                let others = git(&root, &["ls-files", "-o", "-z", "--exclude-standard"]).await;
                others.map(|it| paths(&root, &it).collect()).ok_or(Gap::NotListed)
            }
            Listing::Walk(reach) => {
                let walk = tokio::task::spawn_blocking(move || walked(&reach, &root));
                walk.await.ok().flatten().ok_or(Gap::NotListed)
            }
            Listing::None => Err(Gap::Large),
        }
    }
}

/// The files of a folder that is not under git, those of the upper folders first. `None` if there are too many.
fn walked(reach: &Reach, root: &Path) -> Option<Vec<PathBuf>> {
    let walk = walk::walker(reach, root).build().flatten();
    let entries: Vec<DirEntry> = walk.take(FILES + 1).collect();
    if entries.len() > FILES {
        return None;
    }
    let is_file = |it: &DirEntry| it.file_type().is_some_and(|it| it.is_file());
    let files = entries.into_iter().filter(is_file).map(DirEntry::into_path);
    let mut files: Vec<PathBuf> = files.collect();
    files.sort_by_cached_key(|it| it.components().count());
    Some(files)
}

/// How much may still be kept in memory.
struct Room {
    files: usize,
    bytes: u64,
}

/// Loads a file that git could not restore, and its permissions.
fn load(path: &Path, room: &mut Room) -> (Origin, Option<u32>) {
    let (size, mode) = match fs::symlink_metadata(path) {
        Ok(it) if it.is_file() => (it.len(), Some(it.permissions().mode() & 0o7777)),
        Ok(_) => return (Origin::None, None),
        Err(_) => return (Origin::InMemory(Content::Absent), None),
    };
    if size > LARGEST || size > room.bytes || room.files == 0 {
        return (Origin::None, mode);
    }
    *room = Room { files: room.files - 1, bytes: room.bytes - size };
    (regular::read(path).map_or(Origin::None, |it| Origin::InMemory(Content::of(it))), mode)
}

/// A file in git's index.
struct Entry {
    path: String,
    name: String,
    mode: Option<u32>,
}

/// Parses a line of `git ls-files -s`. Symbolic links and submodules are left out.
fn entry(line: &[u8]) -> Option<Entry> {
    let (about, path) = std::str::from_utf8(line).ok()?.split_once('\t')?;
    let mut words = about.split(' ');
    let (mode, name) = (words.next()?, words.next()?);
    let entry = Entry {
        path: path.to_owned(),
        name: name.to_owned(),
        mode: (mode == "100755").then_some(0o755),
    };
    mode.starts_with("100").then_some(entry)
}

fn paths<'a>(root: &'a Path, listed: &'a [u8]) -> impl Iterator<Item = PathBuf> + 'a {
    let names = listed.split(|it| *it == 0).filter(|it| !it.is_empty());
    names.filter_map(|it| Some(root.join(std::str::from_utf8(it).ok()?)))
}

async fn of_git(root: &Path, path: &Path, name: &str) -> Option<Content> {
    let path = path.strip_prefix(root).ok()?.to_str()?;
    let of = format!("--path={path}");
    git(root, &["cat-file", "--filters", &of, name]).await.map(Content::of)
}

async fn git(root: &Path, arguments: &[&str]) -> Option<Vec<u8>> {
    git::output(root, arguments, PATIENCE).await.ok()
}
