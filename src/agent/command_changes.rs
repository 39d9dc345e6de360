//! Finds the files that a command changes, by comparing them before and after it: files that git tracks or would track,
//! and files that the session has changed. Without git, all files that are not ignored are compared.

mod arrived;
mod branches;
mod course;
mod files;
mod folders;
mod found;
mod modules;
mod objects;
mod seen;
mod words;

pub(super) use words::short;

use super::checkpoints::{ChangedBy, Keeper, Planned};
use crate::event::TurnId;
use crate::reach::Reach;
use crate::store::checkpoints::{Gap, Said};
use crate::tool::git::head::{self, Head};
use crate::tool::{Desk, Moved};
use arrived::Arrivals;
use course::{Course, Entries};
use files::{After, FILES, Listing, Others};
use folders::Folders;
use found::Found;
use modules::Modules;
use objects::PATIENCE;
use seen::{Room, Seen, Stamp};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use words::CHANGED;

/// Without git, the most files that are kept in memory, those of the upper folders first. Of the others it is known
/// that they change, but not how.
const LOADED: usize = 4_000;
/// The most bytes of all files that are kept in memory while a command runs, because git could not restore them.
const ALL: u64 = 64 << 20;

/// The state of the files before a command.
struct Before {
    root: PathBuf,
    files: BTreeMap<PathBuf, Seen>,
    folders: Option<Folders>,
    index: Entries,
    /// The files of which git would give another content than they have.
    filtered: BTreeSet<PathBuf>,
    modules: Modules,
    listing: Listing,
    head: Option<Head>,
    /// When the command began, in seconds since 1970.
    start: i64,
    /// When the files were listed.
    until: SystemTime,
}

/// What commands did that no rewind takes back, in sentences for the user.
pub(super) async fn told(root: &Path, notes: impl ExactSizeIterator<Item = &Said>) -> Vec<String> {
    if notes.len() == 0 {
        return Vec::new();
    }
    let head = Head::look(root, PATIENCE).await;
    notes.map(|it| words::say(it, head.as_ref())).collect()
}

/// Watches a running command until it ends or is stopped.
pub(super) struct Watch {
    end: oneshot::Sender<()>,
    looks: JoinHandle<Ended>,
}

/// What a command has changed.
#[derive(Default)]
pub(super) struct Ended {
    /// The files that it has changed and the session before it.
    pub(super) own: Vec<PathBuf>,
    pub(super) moved: Moved,
}

/// How the project differs from before a command.
struct Changes {
    planned: Vec<Planned>,
    /// The files that were renamed.
    moved: Moved,
    said: Vec<Said>,
    /// The files that have changed in repositories within the project.
    inner: BTreeSet<PathBuf>,
}

impl Watch {
    /// Notes the state of the files. `touched` are the files that the session has changed.
    pub(super) async fn begin(
        desk: &Desk,
        touched: Vec<PathBuf>,
        keeper: Keeper,
        turn: TurnId,
        is_job: bool,
    ) -> Watch {
        let own: BTreeSet<PathBuf> = touched.iter().cloned().collect();
        // what is recorded from now on is not the command's, even if it is on disk before the files are looked at
        let since = keeper.begun(turn).await;
        let before = Before::look(desk.root.clone(), desk.reach.clone(), touched).await;
        let (end, ended) = oneshot::channel::<()>();
        let looks = tokio::spawn(async move {
            // If the call is stopped, the sender is dropped, which ends the wait too.
            let _ = ended.await;
            let Changes { planned, moved, mut said, inner } = before.changed().await;
            let changed = planned.iter().filter(|it| it.changes_content()).map(|it| &it.path);
            let changed = changed.chain(&inner).filter(|it| own.contains(*it));
            let own = changed.cloned().collect();
            if !planned.is_empty() {
                keeper.begin(ChangedBy::Command { turn, since }, planned).await;
            }
            said.extend(is_job.then_some(Said::Gap(Gap::Job)));
            for it in said.into_iter().chain([Said::Over]) {
                keeper.note(turn, it);
            }
            Ended { own, moved }
        });
        Watch { end, looks }
    }

    /// Stores the changes of the command, which has ended.
    pub(super) async fn end(self) -> Ended {
        let _ = self.end.send(());
        self.looks.await.unwrap_or_default()
    }
}

impl Before {
    async fn look(root: PathBuf, reach: Reach, touched: Vec<PathBuf>) -> Before {
        let (tracked, others, filtered, head) = tokio::join!(
            files::tracked(&root),
            files::others(&root),
            files::filtered(&root),
            Head::look(&root, PATIENCE)
        );
        let start = arrived::now();
        let look = move || {
            let (listing, tracked, others) = match (tracked, others) {
                (Some(tracked), Some(others)) => (Listing::Git(reach.clone()), tracked, others),
                _ => match files::walked(&reach, &root) {
                    Some(files) => (Listing::Walk(reach.clone()), Vec::new(), Others::of(files)),
                    None => (Listing::None, Vec::new(), Others::default()),
                },
            };
            let mut files: BTreeMap<PathBuf, Seen> = BTreeMap::new();
            let is_small = tracked.len() + others.files.len() <= FILES;
            let index = files::index(&tracked);
            let modules = files::modules(&tracked, others.modules);
            let modules = Modules::look(&reach, modules.into_iter().filter(|_| is_small).collect());
            let mut loaded = touched;
            loaded.retain(|it| !modules.hold(it));
            let most = if matches!(listing, Listing::Git(_)) { FILES } else { LOADED };
            let mut room = Room { files: loaded.len() + most, bytes: ALL };
            for it in tracked.into_iter().filter(|_| is_small) {
                match it.entry.filter(|_| it.is_watched && !filtered.contains(&it.path)) {
                    Some(entry) if entry.kind() == "160000" => (),
                    Some(entry) => {
                        let seen = Seen::tracked(&it.path, entry.name().to_owned());
                        files.insert(it.path, seen);
                    }
                    None => loaded.push(it.path),
                }
            }
            for path in loaded.into_iter().chain(others.files.into_iter().filter(|_| is_small)) {
                let seen = Seen::load(&path, &mut room);
                files.insert(path, seen);
            }
            let listing = if is_small { listing } else { Listing::None };
            let until = SystemTime::now();
            let folders = Some(Folders::of(&root, files.keys(), until));
            Before { root, files, folders, index, filtered, modules, listing, head, start, until }
        };
        tokio::task::spawn_blocking(look).await.unwrap_or_else(|_| Before::none())
    }

    fn none() -> Before {
        let (files, index, filtered) = (BTreeMap::new(), BTreeMap::new(), BTreeSet::new());
        let (root, head, listing) = (PathBuf::new(), None, Listing::None);
        let (modules, folders) = (Modules::default(), None);
        let (start, until) = (i64::MAX, SystemTime::now());
        Before { root, files, folders, index, filtered, modules, listing, head, start, until }
    }

    /// What has changed, of files at most `CHANGED`.
    async fn changed(mut self) -> Changes {
        let mut said = Vec::new();
        let mut after = files::after(&self.root, &self.listing).await.unwrap_or_else(|gap| {
            said.push(Said::Gap(gap));
            After::default()
        });
        let (head, filtered) = (self.head.take(), std::mem::take(&mut self.filtered));
        let root = self.root.clone();
        let branch = head::branch(&root, PATIENCE).await;
        let (index, folders) = (std::mem::take(&mut self.index), self.folders.take());
        let (course, moved) = course::course(&root, head, self.start, &index, &after).await;
        said.extend(moved);
        let mut staged = match &self.listing {
            Listing::Git(_) => course.staged(&index, &after.index),
            _ => BTreeMap::new(),
        };
        let paths = staged.keys().cloned().chain(course.thrown()).collect();
        let find = move || {
            let inner = match &self.listing {
                Listing::Git(reach) => {
                    let now = Modules::look(reach, std::mem::take(&mut after.modules));
                    self.modules.differing(&now)
                }
                _ => modules::Differing::default(),
            };
            (self.differing(after.paths, &paths), inner)
        };
        let (differing, inner) = tokio::task::spawn_blocking(find).await.unwrap_or_default();
        let Differing { files, is_cut, moved } = differing;
        said.extend(is_cut.then_some(Said::Gap(Gap::Many)));
        let (mut planned, mut all) = (Vec::new(), Vec::new());
        for (path, seen) in files {
            if path.to_str().is_none() {
                said.push(Said::Gap(Gap::Name));
                continue;
            }
            let staged = staged.remove(&path);
            let is_filtered = filtered.contains(&path);
            all.push(Found::of(&root, path, seen, staged, branch.clone(), is_filtered).await);
        }
        arrived::mark_only_copies(&mut all);
        for found in all {
            match &course {
                _ if found.is_nothing() => (),
                Course::Moved(moved) => planned.extend(moved.take_apart(&root, found).await),
                Course::Same | Course::Committed(_) => planned.push(found.planned()),
            }
        }
        if let Some(folders) = folders {
            planned = folders.named(planned).await;
        }
        planned.extend(inner.modules.into_iter().map(modules::planned));
        Changes { planned, moved, said, inner: inner.files }
    }

    /// The files whose state differs from before, and those of `paths`.
    fn differing(mut self, listed: Vec<PathBuf>, paths: &BTreeSet<PathBuf>) -> Differing {
        let arrivals = Arrivals::of(&self.root, &self.files, self.start, self.until);
        for path in listed {
            if !self.files.contains_key(&path)
                && let Some(seen) = arrivals.before(&path, paths.contains(&path))
            {
                self.files.insert(path, seen);
            }
        }
        let differs =
            |it: &(PathBuf, Seen)| Stamp::of(&it.0) != it.1.stamp || paths.contains(&it.0);
        let files: Vec<_> = self.files.into_iter().filter(differs).collect();
        let moved = seen::moved(&files);
        let is_cut = files.len() > CHANGED;
        let files = if is_cut { arrived::choose(files, CHANGED) } else { files };
        Differing { files, is_cut, moved }
    }
}

/// The files that differ from before a command.
#[derive(Default)]
struct Differing {
    /// At most `CHANGED` of them.
    files: Vec<(PathBuf, Seen)>,
    is_cut: bool,
    /// The files that were renamed, of all.
    moved: Moved,
}
