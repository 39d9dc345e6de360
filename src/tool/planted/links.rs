//! Symbolic links in the folders of repositories. Git writes through a link: the user's next commit would write the file to
//! which `.git/COMMIT_EDITMSG` leads. A folder is listed only if it has changed.

use super::tracked;
use std::collections::{BTreeMap, VecDeque};
use std::fs::{self, DirEntry};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A folder that was listed so soon after its last change may have changed again at the same time of its file system.
const SOON: Duration = Duration::from_millis(100);

/// Names in the folder of a repository (`gitrepository-layout`), beside those in capital letters.
const FOLDERS: [&str; 13] = [
    "branches",
    "hooks",
    "info",
    "lfs",
    "logs",
    "modules",
    "objects",
    "rebase-apply",
    "rebase-merge",
    "refs",
    "rr-cache",
    "sequencer",
    "worktrees",
];
const FILES: [&str; 8] = [
    "commondir",
    "config",
    "config.worktree",
    "description",
    "gc.log",
    "index",
    "packed-refs",
    "shallow",
];

/// Links, and where each leads.
pub(super) type Targets = BTreeMap<PathBuf, PathBuf>;

#[derive(Clone, Default)]
pub(super) struct Links {
    folders: BTreeMap<PathBuf, Folder>,
}

#[derive(Clone)]
struct Folder {
    /// What tells whether the folder has changed. `None` if this is not known.
    mark: Option<(u64, i64, i64)>,
    folders: Vec<PathBuf>,
    links: Targets,
}

impl Links {
    /// The links in these folders and their subfolders, apart from one that git makes to try whether it can.
    pub(super) fn look(&mut self, roots: &[PathBuf]) -> Targets {
        let (mut found, mut seen) = (Targets::new(), BTreeMap::new());
        let mut left: VecDeque<PathBuf> = roots.iter().cloned().collect();
        while let Some(path) = left.pop_front() {
            let Ok(there) = path.symlink_metadata() else { continue };
            if !there.is_dir() || seen.contains_key(&path) {
                continue;
            }
            let mark = (there.ino(), there.ctime(), there.ctime_nsec());
            let same = self.folders.remove(&path).filter(|it| it.mark == Some(mark));
            let folder = same.unwrap_or_else(|| Folder::list(&path, mark));
            left.extend(folder.folders.iter().filter(|it| !is_refused(it, roots)).cloned());
            found.extend(folder.links.clone());
            seen.insert(path, folder);
        }
        self.folders = seen;
        found
    }
}

impl Folder {
    fn list(path: &Path, mark: (u64, i64, i64)) -> Folder {
        let changed = u64::try_from(mark.1).ok().zip(u32::try_from(mark.2).ok());
        let changed = changed.map(|(seconds, rest)| UNIX_EPOCH + Duration::new(seconds, rest));
        let is_settled = changed.is_some_and(|it| it + SOON < SystemTime::now());
        let mut folder =
            Folder { mark: is_settled.then_some(mark), folders: Vec::new(), links: Targets::new() };
        for entry in fs::read_dir(path).into_iter().flatten().flatten() {
            match entry.file_type() {
                Ok(it) if it.is_dir() => folder.folders.push(entry.path()),
                Ok(it) if it.is_symlink() => folder.links.extend(target(&entry)),
                _ => (),
            }
        }
        folder
    }
}

/// The folders of a repository without a working tree in which git writes, and the links beside them that git would
/// follow.
pub(super) fn of_bare(root: &Path) -> (Vec<PathBuf>, Targets) {
    let (mut folders, mut links) = (Vec::new(), Targets::new());
    for entry in fs::read_dir(root).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let is_gits = name.to_str().is_some_and(|it| {
            FILES.contains(&it) || FOLDERS.contains(&it) || it.bytes().all(is_of_mark)
        });
        match entry.file_type() {
            Ok(it) if is_gits && it.is_dir() => folders.push(entry.path()),
            Ok(it) if is_gits && it.is_symlink() => links.extend(target(&entry)),
            _ => (),
        }
    }
    (folders, links)
}

/// Names such as `FETCH_HEAD` consist of these.
fn is_of_mark(byte: u8) -> bool {
    byte.is_ascii_uppercase() || byte == b'_'
}

/// Whether this is the folder for what was taken back, also links.
fn is_refused(folder: &Path, roots: &[PathBuf]) -> bool {
    let is_root = |it: &Path| roots.iter().any(|root| it == root);
    let mut above = folder.ancestors().skip(1);
    let (Some(own), Some(trees)) = (above.next(), above.next()) else { return false };
    let is_tree = trees.ends_with("worktrees") && trees.parent().is_some_and(is_root);
    folder.ends_with(tracked::FOLDER) && (is_root(own) || is_tree)
}

fn target(entry: &DirEntry) -> Option<(PathBuf, PathBuf)> {
    let target = fs::read_link(entry.path()).ok()?;
    (!is_try(&entry.path(), &target)).then(|| (entry.path(), target))
}

/// Whether this is the link by which a new repository tries whether its file system has links. It leads to no file, and
/// git removes it at once.
fn is_try(path: &Path, target: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().as_encoded_bytes();
    name.len() == 7 && name[0] == b't' && target == Path::new("testing")
}
