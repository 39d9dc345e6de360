//! Takes back files that a command in the sandbox creates although it may not, because programs outside of the sandbox
//! would run them without being told to. A file that exists is protected by a mount. A mount needs something to lie on,
//! so a file that does not exist yet is taken back as soon as it is there: it is renamed, in a repository into a folder of
//! the repository's own. What the repository held before the conversation stays (`tracked`).

mod agreed;
mod fresh;
mod leads;
mod links;
mod marks;
mod modules;
mod nested;
mod places;
mod rebases;
mod repositories;
mod seen;
mod taken;
mod tracked;

pub(super) use agreed::Agreed;
pub(super) use modules::hooks;
pub(super) use nested::Nested;
pub(super) use places::{Fixed, Places};
pub(super) use taken::{Taken, shown, told};

use crate::chance;
use crate::reach::TAKEN_BACK;
use crate::regular::direct;
use crate::tool::git::baseline::Baseline;
use crate::tool::git::remotes::Origins;
use crate::tool::{Stamp, Workspace, disk};
use agreed::Consent;
use fresh::Fresh;
use links::Targets;
use marks::Marks;
use seen::{Found, Search, open_up};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};
use std::time::Duration;
use taken::What;
use tempfile::NamedTempFile;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinHandle;
use tokio::time::{MissedTickBehavior, interval};
use tracked::Tracked;

/// The time between two looks.
const LOOK: Duration = Duration::from_millis(100);
/// The most files of a new folder for which the editor is asked whether the user has written them.
const MOST: usize = 20;
/// The most numbers behind the name of a file that was taken back.
const NUMBERS: u32 = 100;
type Stamps = BTreeMap<PathBuf, Stamp>;
type Listing = JoinHandle<Result<Found, String>>;

/// Looks for locked paths that a command creates.
pub(super) struct Watch {
    places: Places,
    workspace: Arc<dyn Workspace>,
    before: Found,
    marks: Marks,
    nested: Nested,
    /// The links in the folders of repositories that were there before the command.
    links: Targets,
    /// The files that the user has written in the editor meanwhile, for each locked path.
    written: BTreeMap<PathBuf, Stamps>,
    taken: Vec<Taken>,
    /// The paths of which it was said that they could not be renamed.
    stuck: Vec<PathBuf>,
    /// `None` outside of a repository.
    tracked: Option<Tracked>,
    fresh: Fresh,
    /// What tells the locked files of repositories in folders of the project from those that a command makes. Git moves
    /// such a repository as a whole.
    moved: BTreeSet<String>,
    /// What the user has agreed to for other commands of the conversation.
    agreed: Arc<watch::Sender<Agreed>>,
    /// The user's consent for this command.
    consent: Option<Consent>,
    /// The file by which git asks for a change of the repository's configuration.
    settings: Option<Arc<(NamedTempFile, Origins)>>,
}

/// A watch that looks again and again while the command runs. When this is dropped, it looks once more and ends.
pub(super) struct Watching {
    running: oneshot::Sender<()>,
    taken: mpsc::UnboundedReceiver<Taken>,
    /// `None` once the watch has failed, or has ended.
    failed: Option<oneshot::Receiver<()>>,
}

/// How many watches look in this program.
static WATCHES: LazyLock<watch::Sender<usize>> = LazyLock::new(watch::Sender::default);

/// One of them, until it is dropped.
struct Watches;

impl Watches {
    fn begin() -> Watches {
        WATCHES.send_modify(|it| *it += 1);
        Watches
    }
}

impl Drop for Watches {
    fn drop(&mut self) {
        WATCHES.send_modify(|it| *it -= 1);
    }
}

/// Waits until no watch looks any more. Before this program ends, each command that it ends needs its last look: nobody
/// takes back later what the command has left.
pub async fn last_looks() {
    // the sender is never dropped
    let _ = WATCHES.subscribe().wait_for(|it| *it == 0).await;
}

impl Places {
    /// The watch for a command with these limits. The error is a clause.
    pub(in crate::tool) fn watch(
        &self,
        workspace: Arc<dyn Workspace>,
        baseline: Option<Arc<Baseline>>,
        settings: Option<(NamedTempFile, Origins)>,
        agreed: &Arc<watch::Sender<Agreed>>,
    ) -> Result<Watch, String> {
        let mut before = self.found(self.nested.trees(), Search::All)?;
        let loose = self.loose(&before);
        before.retain(|it, _| !loose.contains_key(it));
        let nested =
            before.keys().filter(|it| self.is_nested(it)).filter_map(|it| tracked::marks(it));
        let moved = nested.flat_map(BTreeMap::into_values).collect();
        let unlocked = Some(self.unlocked.clone()).filter(|it| !it.is_empty());
        Ok(Watch {
            places: self.clone(),
            workspace,
            links: self.nested.targets().clone(),
            nested: self.nested.clone(),
            written: BTreeMap::new(),
            taken: Vec::new(),
            stuck: Vec::new(),
            tracked: baseline.map(Tracked::new),
            fresh: Fresh::new(before.keys()),
            before,
            marks: loose,
            moved,
            agreed: agreed.clone(),
            consent: unlocked.map(|it| Consent::new(agreed.clone(), it)),
            settings: settings.map(Arc::new),
        })
    }
}

impl Watching {
    /// The files that were taken back since the last call.
    pub(super) fn taken(&mut self) -> Vec<Taken> {
        std::iter::from_fn(|| self.taken.try_recv().ok()).collect()
    }

    /// Waits until the watch cannot do its work any more, so that the command has to end. Nothing is lost if this future
    /// is dropped.
    pub(super) async fn failed(&mut self) {
        if let Some(failed) = &mut self.failed {
            let is_failed = failed.await.is_ok();
            self.failed = None;
            if is_failed {
                return;
            }
        }
        std::future::pending::<()>().await;
    }

    /// Looks once more, when nothing of the command is left that could create a file. Returns what was taken back since
    /// the last call of `taken`.
    pub(super) async fn end(self) -> Vec<Taken> {
        let Watching { running, mut taken, .. } = self;
        drop(running);
        let mut all = Vec::new();
        while let Some(it) = taken.recv().await {
            all.push(it);
        }
        all
    }
}

impl Watch {
    /// Looks from now on. A look may take longer than its caller waits, so it has a task of its own.
    pub(super) fn start(mut self) -> Watching {
        let (running, mut ended) = oneshot::channel();
        let (sender, taken) = mpsc::unbounded_channel();
        let (failing, failed) = oneshot::channel();
        let mut failing = Some(failing);
        let one = Watches::begin();
        tokio::spawn(async move {
            let _one = one;
            let mut looks = interval(LOOK);
            looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
            let (mut listing, mut is_last) = (None, false);
            while !is_last {
                tokio::select! {
                    _ = looks.tick() => {
                        self.glance().await;
                        listing.get_or_insert_with(|| self.listing());
                    }
                    it = done(&mut listing) => self.judge(it, false).await,
                    _ = &mut ended => is_last = true,
                }
                if is_last {
                    self.look().await;
                    self.end_consent();
                }
                for it in std::mem::take(&mut self.taken) {
                    if it.is_failure() {
                        failing.take().map(|it| it.send(()));
                    }
                    let _ = sender.send(it);
                }
            }
        });
        Watching { running, taken, failed: Some(failed) }
    }

    /// Looks for all locked paths and links, when the command has ended.
    async fn look(&mut self) {
        self.glance().await;
        let listed = done(&mut Some(self.listing())).await;
        self.judge(listed, true).await;
        self.keep().await;
    }

    /// Looks where the time does not depend on how many other files there are: for links in the folders of repositories,
    /// and for locked paths whose names are known.
    async fn glance(&mut self) {
        let (places, settings) = (self.places.clone(), self.settings.clone());
        let agreed = self.agreed.clone();
        let mut nested = std::mem::take(&mut self.nested);
        let looking = move || {
            let added = settings.map(|it| places.answer(&it.0, &it.1, &agreed)).unwrap_or_default();
            let renewed = places.renew(&mut nested);
            let found = renewed.and_then(|()| places.found(nested.trees(), Search::Names));
            (found, nested, added)
        };
        match tokio::task::spawn_blocking(looking).await {
            Ok((found, nested, added)) => {
                self.taken.extend(added.into_iter().map(Taken::remote));
                self.nested = nested;
                self.unlink();
                self.judge(found, false).await;
            }
            Err(fault) => self.fail(fault.to_string()),
        }
        self.keep().await;
    }

    /// Lists the folders in which locked paths may lie, on another thread: one with many files takes long.
    fn listing(&self) -> Listing {
        let (places, trees) = (self.places.clone(), self.nested.trees().to_vec());
        tokio::task::spawn_blocking(move || places.found(&trees, Search::All))
    }

    /// Takes back those of the locked paths that the command has created since the beginning. A path that the user has
    /// written in the editor meanwhile, such as a file whose proposal the user has accepted, stays, and so does what the
    /// repository held. `is_last` says that the command has ended.
    async fn judge(&mut self, found: Result<Found, String>, is_last: bool) {
        let found = match found {
            Ok(found) => found,
            Err(why) => return self.fail(why),
        };
        let is_new = |it: &(PathBuf, Option<PathBuf>)| self.is_new(&it.0, it.1.as_ref());
        let new: Vec<PathBuf> = found.into_iter().filter(is_new).map(|it| it.0).collect();
        for path in new {
            // an earlier look may have taken the path back since
            let is_gone = path.symlink_metadata().is_err_and(|it| it.kind() == ErrorKind::NotFound);
            let is_still = self.is_new(&path, fs::read_link(&path).ok().as_ref());
            if !is_gone
                && is_still
                && !self.fresh.has(&path).await
                && (is_last || !self.places.is_half_written(&path))
                && !self.places.leads_home(&path)
                && !self.agreed.borrow().has(&path)
                && !self.is_moved(&path)
                && !self.is_written_by_user(&path).await
                && !self.is_known(&path, is_last).await
            {
                self.take(&path);
            }
        }
    }

    /// Whether no mount protects the path from the command.
    fn is_new(&self, path: &Path, link: Option<&PathBuf>) -> bool {
        match self.before.get(path) {
            None => true,
            // a link can be replaced, because no mount lies on it
            Some(before) => {
                before.is_some() && before.as_ref() != link || self.agreed.borrow().was_open(path)
            }
        }
    }

    /// Whether the path and all below it were in a repository in a folder of the project before the command.
    fn is_moved(&self, path: &Path) -> bool {
        let is_one = |it: &String| self.moved.contains(it);
        let mut trees = self.nested.trees().iter();
        let is_in = trees.any(|it| path.starts_with(it.join(".git")));
        is_in && tracked::marks(path).is_some_and(|it| it.values().all(is_one))
    }

    /// Ends the user's consent for this command. The other commands then know what this one has left.
    fn end_consent(&mut self) {
        if let Some(mut consent) = self.consent.take() {
            consent.with(self.places.unlocked_in_modules());
        }
    }

    /// The command has to end, because nobody knows what it creates.
    fn fail(&mut self, why: String) {
        let root = self.places.root.clone();
        if !self.stuck.contains(&root) {
            let it = self.refusal(&root, What::Unseen(why));
            self.taken.push(it);
            self.stuck.push(root);
        }
    }

    /// Whether the path is one that the repository held.
    async fn is_known(&mut self, path: &Path, is_last: bool) -> bool {
        match &mut self.tracked {
            Some(it) => it.is_known(path, is_last).await,
            None => false,
        }
    }

    /// Has commits keep the files that were taken back and belong to a branch that was checked out meanwhile.
    async fn keep(&mut self) {
        let Some(tracked) = &mut self.tracked else { return };
        for (path, files) in tracked.keep().await {
            let kept = files.iter().map(|it| self.shown(it)).collect();
            self.taken.push(self.refusal(&path, What::Kept(kept)));
        }
    }

    fn shown(&self, path: &Path) -> String {
        path.strip_prefix(&self.places.root).unwrap_or(path).display().to_string()
    }

    /// Whether the user has written this file in the editor, or each file in this folder, and nobody has changed it
    /// since.
    async fn is_written_by_user(&mut self, path: &Path) -> bool {
        let mut files = Stamps::new();
        if !collect(path, &mut files) || files.is_empty() {
            return false;
        }
        if self.written.get(path) == Some(&files) {
            return true;
        }
        for file in files.keys() {
            if !self.workspace.has_written(file).await {
                return false;
            }
        }
        self.written.insert(path.to_owned(), files);
        true
    }

    fn take(&mut self, path: &Path) {
        let beside = path.with_file_name(marked(path));
        let inside = self.tracked.as_mut().map(|it| it.place(path));
        // the repository may be on another disk
        let to = inside.and_then(|it| renamed(path, &it).ok());
        let to = to.map_or_else(|| renamed(path, &beside), Ok);
        if let (Ok(_), Some(Some(target))) = (&to, self.before.get(path)) {
            // puts back the link that the command has replaced
            let _ = symlink(target, path);
        }
        if to.is_ok() {
            marks::put_back(path, &self.marks);
        }
        // git may have removed the file meanwhile
        let is_gone = |fault: io::Error| fault.kind() == ErrorKind::NotFound;
        if to.is_err() && direct::metadata(path).is_err_and(is_gone) {
            return;
        }
        let what = match to {
            Ok(to) => What::Renamed(self.shown(&to)),
            Err(_) if self.stuck.iter().any(|it| it == path) => return,
            Err(fault) => {
                self.stuck.push(path.to_owned());
                What::Stuck(fault)
            }
        };
        let it = self.refusal(path, what);
        self.taken.push(it);
    }

    /// Removes the links that the command has made in the folders of repositories.
    fn unlink(&mut self) {
        let is_new = |it: &(&PathBuf, &PathBuf)| self.links.get(it.0) != Some(it.1);
        let new: Vec<_> = self.nested.targets().iter().filter(is_new).collect();
        let new: Vec<_> = new.into_iter().map(|it| (it.0.clone(), it.1.clone())).collect();
        for (path, target) in new {
            let removed = permitted(path.parent(), || direct::remove(&path));
            // a command may have removed or replaced the link meanwhile
            if removed.is_err() && !path.is_symlink() {
                continue;
            }
            let what = match removed {
                Ok(()) => What::Unlinked(target.display().to_string()),
                Err(_) if self.stuck.contains(&path) => continue,
                Err(fault) => What::Stuck(crate::text::cause(&fault)),
            };
            if matches!(what, What::Stuck(_)) {
                self.stuck.push(path.clone());
            } else if let Some(target) = self.links.get(&path) {
                let _ = symlink(target, &path);
            }
            let it = self.refusal(&path, what);
            self.taken.push(it);
        }
    }

    fn refusal(&self, path: &Path, what: What) -> Taken {
        let (whole, path) = (path, self.shown(path));
        let why = self.places.why(whole).unwrap_or("leads to files that other programs run");
        Taken { path, why, what }
    }
}

/// A look that lists folders. It never ends if there is none.
async fn done(listing: &mut Option<Listing>) -> Result<Found, String> {
    let Some(running) = listing else { return std::future::pending().await };
    let found = running.await;
    *listing = None;
    found.map_err(|it| it.to_string()).flatten()
}

/// Adds the files of a folder and its subfolders, or the file itself. Returns false if there are too many files, or
/// anything other than files and folders.
fn collect(path: &Path, files: &mut Stamps) -> bool {
    let Ok(there) = fs::symlink_metadata(path) else { return false };
    if there.is_dir() {
        let Ok(entries) = fs::read_dir(path) else { return false };
        return entries.flatten().all(|it| collect(&it.path(), files));
    }
    files.insert(path.to_owned(), disk::stamp(path));
    there.is_file() && files.len() <= MOST
}

/// The name under which no program runs a file.
fn marked(path: &Path) -> String {
    format!("{}{TAKEN_BACK}", path.file_name().unwrap_or_default().to_string_lossy())
}

/// Renames a file to `to`, with more behind the name if that name is in use. Follows no links.
fn renamed(path: &Path, to: &Path) -> Result<PathBuf, String> {
    let name = to.file_name().unwrap_or_default().to_string_lossy();
    let names = (1..NUMBERS).map(|n| match n {
        1 => to.to_owned(),
        n => to.with_file_name(format!("{name}{n}")),
    });
    let is_free = |it: &PathBuf| {
        let there = permitted(it.parent(), || direct::metadata(it));
        there.is_err_and(|fault| fault.kind() == ErrorKind::NotFound)
    };
    // a command may have made files of all these names, but of none that it cannot guess
    let other = || chance::word().map(|it| to.with_file_name(format!("{name}-{it}")));
    let failed = |fault| crate::text::cause(&fault);
    let to = names.into_iter().find(is_free).map_or_else(other, Ok).map_err(failed)?;
    let done = permitted(path.parent(), || direct::rename(path, &to));
    done.map(|()| to).map_err(failed)
}

/// Does something in a folder. If the user has no right to do so in the user's own folder, the user gets the right again.
fn permitted<T>(folder: Option<&Path>, act: impl Fn() -> io::Result<T>) -> io::Result<T> {
    act().or_else(|fault| match folder {
        Some(folder) if fault.kind() == ErrorKind::PermissionDenied => {
            open_up(folder).and_then(|()| act())
        }
        _ => Err(fault),
    })
}

#[cfg(test)]
mod tests;
