//! Worktrees that a Caliban left behind when it was killed.

use super::changes::{Change, Content, changes};
use super::repository::{BRIEF, FOLDER, PATIENCE, Repository, folders};
use super::{BRANCH, Checkout, Mark, Worktree, is_object, remove};
use crate::edit::merge;
use crate::regular;
use crate::text::Text;
use crate::tool::disk;
use std::fs::{self, File, TryLockError};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

/// The line in a mark that says that the user knows of the worktree.
const TOLD: &str = "told";
/// The line in a mark that says that the conversation of the subagent's parent knows of the worktree.
const KNOWN: &str = "known";
/// The title of the commit with changes that were not committed.
const CUT_OFF: &str = "Changes of a subagent that was cut off";
/// The most worktrees that are looked at.
const MOST: usize = 100;
/// The most changed files of a branch that are compared with the user's files.
const COMPARED: usize = 50;

/// A worktree that was kept, because it has changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Left {
    pub branch: String,
    pub folder: PathBuf,
    /// Whether the folder has changes that could not be committed on the branch.
    pub is_dirty: bool,
    /// Whether an earlier call has returned the worktree.
    pub is_told: bool,
    name: String,
    mark: PathBuf,
}

impl Left {
    /// Whether a subagent of this session worked there.
    pub fn is_of(&self, session: &str) -> bool {
        let rest =
            self.name.strip_prefix(&*super::slug(session)).and_then(|it| it.strip_prefix('-'));
        let mut words = rest.unwrap_or_default().split('-');
        let is_number = |it: &str| !it.is_empty() && it.bytes().all(|it| it.is_ascii_digit());
        let first = words.next().unwrap_or_default();
        (first == "task" || first.strip_prefix('w').is_some_and(is_number)) && words.all(is_number)
    }

    /// Notes that the conversation knows of the worktree.
    pub fn note_known(&self) {
        let marked = regular::open_unlinked(File::options().append(true), &self.mark);
        // if this fails, the conversation is told once more
        let _ = marked.and_then(|mut it| writeln!(it, "{KNOWN}"));
    }
}

/// Looks for worktrees of the repository at `root` that nobody uses. What is not committed there is committed on their
/// branches. Those without changes, and those whose changes all are in the user's files, are removed with their
/// branches. Returns the others, except those of which a conversation knows.
pub async fn left_over(root: &Path) -> Vec<Left> {
    // most projects have no such folder; for them git is not run
    let there = folders(root).is_ok_and(|it| it.common.join(FOLDER).is_dir());
    let Some(Repository { main, common }) =
        (if there { Repository::at(root).await.ok() } else { None })
    else {
        return Vec::new();
    };
    let entries = fs::read_dir(common.join(FOLDER)).into_iter().flatten().flatten();
    let marks =
        entries.map(|it| it.path()).filter(|it| it.extension().is_some_and(|it| it == "base"));
    let mut left = Vec::new();
    let mut marks: Vec<PathBuf> = marks.take(MOST).collect();
    marks.sort();
    for mark in marks {
        left.extend(look(&main, &common, &mark).await);
    }
    left
}

/// Looks at the worktree of a mark.
async fn look(main: &Checkout, common: &Path, mark: &Path) -> Option<Left> {
    let name = mark.file_stem()?.to_str()?;
    if super::slug(name) != name {
        return None;
    }
    let mut file = regular::open_unlinked(File::options().read(true).append(true), mark).ok()?;
    if let Err(TryLockError::WouldBlock) = file.try_lock() {
        return None;
    }
    let mut text = String::new();
    Read::by_ref(&mut file).take(1_000).read_to_string(&mut text).ok()?;
    let mut lines = text.lines();
    let base = lines.next().filter(|it| is_object(it)).unwrap_or_default();
    let (mut is_told, mut is_known) = (false, false);
    for line in lines {
        (is_told, is_known) = (is_told || line == TOLD, is_known || line == KNOWN);
    }
    let folder = common.join(FOLDER).join(name);
    let branch = format!("{BRANCH}{name}");
    let reference = format!("refs/heads/{branch}");
    let is_there = folder.symlink_metadata().is_ok();
    let mut is_dirty = is_there && is_dirty(main, &folder, common).await;
    if is_dirty && !base.is_empty() {
        let lock = file.try_clone().ok()?;
        is_dirty =
            !commit(main, common, (name, base), Mark { path: mark.to_owned(), _lock: lock }).await;
    }
    let tip =
        main.line(["rev-parse", "--verify", "-q", &reference], BRIEF).await.unwrap_or_default();
    let is_spent = tip.is_empty() || tip == base || is_taken(main, base, &tip).await;
    if !is_dirty && is_spent && remove(main, &folder).await.is_ok() {
        if !tip.is_empty() {
            let _ = main.run(["update-ref", "-d", &reference, &tip], BRIEF).await;
        }
        let _ = fs::remove_file(mark);
        return None;
    }
    if !is_told {
        let _ = writeln!(file, "{TOLD}");
    }
    let (name, mark) = (name.to_owned(), mark.to_owned());
    (!is_known).then_some(Left { branch, folder, is_dirty, is_told, name, mark })
}

/// Commits what is not committed in a worktree. Returns whether this is done.
async fn commit(main: &Checkout, common: &Path, (name, base): (&str, &str), mark: Mark) -> bool {
    let folder = common.join(FOLDER).join(name);
    let Ok(git_dir) = super::repository::of_worktree(&folder, common) else { return false };
    let (main, own) = (main.clone(), main.at(git_dir, folder));
    let tree = Worktree { main, own, name: name.to_owned(), base: base.to_owned(), mark };
    tree.commit(CUT_OFF, &[]).await.is_ok()
}

/// Whether a worktree has changes that are not committed. True if git cannot tell.
async fn is_dirty(main: &Checkout, folder: &Path, common: &Path) -> bool {
    let Ok(git_dir) = super::repository::of_worktree(folder, common) else { return true };
    let own = main.at(git_dir, folder.to_owned());
    let status = ["status", "--porcelain", "-z", "--ignore-submodules=all"];
    own.beginning(status, PATIENCE, 1).await.map_or(true, |it| !it.0.is_empty())
}

/// Whether the user's files have all changes of a branch.
async fn is_taken(main: &Checkout, base: &str, tip: &str) -> bool {
    if base.is_empty() {
        return false;
    }
    let Ok((changes, _)) = changes(main, base, tip).await else { return false };
    if changes.len() > COMPARED {
        return false;
    }
    for it in &changes {
        if !has(main, it).await {
            return false;
        }
    }
    true
}

/// Whether the user's file has a change.
async fn has(main: &Checkout, change: &Change) -> bool {
    let gone = change.from.as_ref().is_none_or(|it| disk::load(&main.tree.join(it)).is_err());
    let path = main.tree.join(&change.path);
    let Some(new) = &change.new else { return path.symlink_metadata().is_err() };
    let text = |it: Result<Content, _>| match it {
        Ok(Content::Text(text)) => Some(text),
        _ => None,
    };
    let old = match &change.old {
        Some(old) if old.mode != new.mode => None,
        Some(old) => text(Content::of(main, old).await),
        None => Some(Text::default()),
    };
    let (Some(old), Some(new)) = (old, text(Content::of(main, new).await)) else { return false };
    let Ok(own) = disk::load(&path) else { return false };
    let merged = merge(&old, &own, &new);
    gone && merged.conflicts == 0 && merged.text.content == own.content
}
