//! What a command did to the commit that is checked out, and which texts git has brought with it.

use super::branches;
use super::files::{self, After};
use super::found::Found;
use super::objects::{PATIENCE, git, of_git};
use super::seen::Origin;
use crate::agent::checkpoints::Planned;
use crate::edit;
use crate::store::checkpoints::{Content, IndexEntry, Said, Staged};
use crate::tool::git::head::{Head, short};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Entries of git's index, or the files of a commit.
pub(super) type Entries = BTreeMap<PathBuf, IndexEntry>;

/// The most commits of one command that are looked at.
const COMMITS: &str = "100";

/// What a command did to the commit that is checked out.
pub(super) enum Course {
    /// The same commit is checked out, or there is no git.
    Same,
    /// All new commits were made by the command, on top of the earlier one. The last one has these files.
    Committed(Entries),
    /// Git has brought texts that were in commits before.
    Moved(Box<Move>),
}

/// The commits before and after a command, and their files.
pub(super) struct Move {
    from: Head,
    to: Head,
    old: Entries,
    new: Entries,
    was_index: Entries,
    index: Entries,
    /// The files that differ from the index.
    modified: BTreeSet<PathBuf>,
}

/// What the command did, and notes about it for the user. `start` is when the command began, in seconds since 1970, and
/// `index` was git's index then.
pub(super) async fn course(
    root: &Path,
    from: Option<Head>,
    start: i64,
    index: &Entries,
    after: &After,
) -> (Course, Vec<Said>) {
    let to = Head::look(root, PATIENCE).await;
    let (Some(from), Some(to)) = (from, to) else { return (Course::Same, Vec::new()) };
    let begun = to.unfinished.filter(|_| from.unfinished.is_none());
    let is_same = from.commit == to.commit;
    let has_only_own = !is_same && has_only_own(root, &from, &to, start).await;
    let mut said = branches::changed(&from, &to);
    if has_only_own {
        let from = from.commit.as_deref().map(|it| short(it).to_owned());
        said.push(Said::Committed { from, to: to.say() });
    } else if !is_same || from.branch != to.branch {
        said.push(Said::Moved { from: from.say(), to: to.say() });
    }
    if let Some(ends) = begun {
        said.push(Said::Unfinished { ends: ends.to_owned(), at: to.say() });
    } else if is_same {
        return (Course::Same, said);
    } else if has_only_own {
        return (Course::Committed(tree(root, &to).await), said);
    }
    (Course::Moved(Box::new(Move::of(root, from, to, index, after).await)), said)
}

/// Whether the command itself has made all commits between the two, one after the other.
async fn has_only_own(root: &Path, from: &Head, to: &Head, start: i64) -> bool {
    let Some(new) = to.commit.as_deref() else { return false };
    let list = async |without: &[String]| {
        let mut asked = vec!["rev-list", "--format=%H|%P|%ct|%at", "-n", COMMITS, new, "--not"];
        asked.extend(without.iter().map(String::as_str));
        let said = git(root, &asked).await?;
        let lines = String::from_utf8_lossy(&said).into_owned();
        let lines = lines.lines().filter(|it| !it.starts_with("commit "));
        Some(lines.map(str::to_owned).collect::<Vec<_>>())
    };
    let old: Vec<String> = from.commit.iter().cloned().collect();
    let Some(all) = list(&old).await else { return false };
    let known: Vec<String> = old.iter().chain(&from.refs).cloned().collect();
    if list(&known).await.as_ref() != Some(&all) {
        return false;
    }
    let (mut parents, mut names, mut is_written_now) = (Vec::new(), BTreeSet::new(), true);
    for line in &all {
        let words: Vec<&str> = line.split('|').collect();
        let [name, above, committed, written] = words[..] else { return false };
        names.insert(name);
        let is_new = |it: &str| it.parse::<i64>().is_ok_and(|it| it >= start);
        if above.contains(' ') || !is_new(committed) {
            return false;
        }
        is_written_now &= is_new(written);
        parents.push(above.to_owned());
    }
    let first = parents.pop().unwrap_or_default();
    if all.is_empty() || first == from.commit.as_deref().unwrap_or_default() {
        // git cherry-pick, rebase and am keep the time at which a change was first committed; git commit can be given one
        return !all.is_empty() && (is_written_now || are_by_commit(root, names).await);
    }
    // one commit beside the earlier one: that was amended, and has its time
    let Some(old) = from.commit.as_deref().filter(|_| all.len() == 1) else { return false };
    let above = git(root, &["rev-list", "--format=%P", "-n", "1", old]).await;
    let above = above.unwrap_or_default();
    String::from_utf8_lossy(&above).lines().nth(1) == Some(&*first)
}

/// Whether git's log of HEAD says of all these commits that `git commit` has made them.
async fn are_by_commit(root: &Path, mut names: BTreeSet<&str>) -> bool {
    let asked = ["log", "-g", "--format=%H|%gs", "-n", COMMITS, "HEAD", "--"];
    let said = git(root, &asked).await.unwrap_or_default();
    for line in String::from_utf8_lossy(&said).lines() {
        let Some((name, how)) = line.split_once('|') else { continue };
        if how.starts_with("commit: ") || how.starts_with("commit (initial): ") {
            names.remove(name);
        }
    }
    names.is_empty()
}

impl Course {
    /// The changes of entries in git's index that are in no commit.
    pub(super) fn staged(&self, before: &Entries, after: &Entries) -> BTreeMap<PathBuf, Staged> {
        let paths: BTreeSet<&PathBuf> = before.keys().chain(after.keys()).collect();
        let of = |it: &PathBuf| {
            let staged = Staged { before: before.get(it).cloned(), after: after.get(it).cloned() };
            let staged = match self {
                Course::Same => Some(staged),
                Course::Committed(new) => Some(staged).filter(|_| after.get(it) != new.get(it)),
                Course::Moved(moved) => moved.later(it),
            };
            Some((it.clone(), staged.filter(|it| it.before != it.after)?))
        };
        paths.into_iter().filter_map(of).collect()
    }

    /// The paths whose entry in git's index was thrown away with the earlier branch.
    pub(super) fn thrown(&self) -> Vec<PathBuf> {
        let Course::Moved(it) = self else { return Vec::new() };
        let paths: BTreeSet<&PathBuf> = it.was_index.keys().chain(it.old.keys()).collect();
        paths.into_iter().filter(|path| it.earlier(path).is_some()).cloned().collect()
    }
}

impl Move {
    async fn of(root: &Path, from: Head, to: Head, index: &Entries, after: &After) -> Move {
        let (old, new, modified) =
            tokio::join!(tree(root, &from), tree(root, &to), files::others(root));
        let modified = modified.unwrap_or_default().files.into_iter().collect();
        let (was_index, index) = (index.clone(), after.index.clone());
        Move { from, to, old, new, was_index, index, modified }
    }

    /// The change of an entry that the command has staged on the later branch. An entry that was staged before and that
    /// git has carried over is the earlier one.
    fn later(&self, path: &Path) -> Option<Staged> {
        let (was, old) = (self.was_index.get(path), self.old.get(path));
        let (now, new) = (self.index.get(path), self.new.get(path));
        if self.to.unfinished.is_some() || now == was || now == new && old != new {
            return None;
        }
        let before = if was == old { new } else { was };
        Some(Staged { before: before.cloned(), after: now.cloned() })
    }

    /// Whether the same branch is checked out, and no operation of git waits.
    fn stayed(&self) -> bool {
        let ends = self.from.unfinished.or(self.to.unfinished);
        self.from.branch == self.to.branch && ends.is_none()
    }

    /// Whether the file had a conflict before the command. Its text and its entries were written by git.
    fn was_in_conflict(&self, path: &Path) -> bool {
        self.from.unfinished.is_some()
            && self.old.contains_key(path)
            && !self.was_index.contains_key(path)
    }

    /// The entry that was staged on the earlier branch and that git has not carried over.
    fn earlier(&self, path: &Path) -> Option<Staged> {
        let (was, old) = (self.was_index.get(path), self.old.get(path));
        let new = self.new.get(path);
        let is_lost =
            was != old && old != new && self.index.get(path) == new && !self.was_in_conflict(path);
        let staged = Staged { before: was.cloned(), after: old.cloned() };
        Some(staged).filter(|_| is_lost && self.to.unfinished.is_none())
    }

    /// Takes apart the change of a file: what the command changed on the earlier branch, and what on the later one. What
    /// git has changed in between is in its commits; this is only named.
    pub(super) async fn take_apart(&self, root: &Path, found: Found) -> Vec<Planned> {
        let path = &*found.path;
        let (old, new) = (self.old.get(path), self.new.get(path));
        if old.is_none() && new.is_none() {
            return vec![found.planned()];
        }
        let (before, after) = (&found.before, &found.after);
        let was_in_conflict = self.was_in_conflict(path);
        let is_committed = new.is_some() && in_tree(root, &found, new).await == *before;
        let is_old = was_in_conflict
            || is_committed
            || match (&found.origin, old) {
                (Origin::Git(name), Some(old)) => old.name() == name,
                (_, None) => *before == Ok(Content::Absent),
                (_, Some(_)) => false,
            };
        let is_new = self.to.unfinished.is_some()
            || match new {
                Some(new) => self.index.get(path) == Some(new) && !self.modified.contains(path),
                None => *after == Ok(Content::Absent),
            };
        let mut planned = Vec::new();
        let staged = self.earlier(path);
        let [was, new_text] = [in_tree(root, &found, old).await, in_tree(root, &found, new).await];
        let is_kept = !is_old && staged.is_none() && is_within(&was, before, &new_text);
        if (!is_old && !is_kept || staged.is_some())
            && let Ok(text) = was
        {
            let part = found.part(before.clone(), Ok(text));
            let branch = self.from.branch.clone();
            planned.push(Planned { branch, new_mode: None, staged, ..part });
        }
        if (!is_new || found.staged.is_some())
            && let Ok(text) = new_text
        {
            let part = found.part(Ok(text), after.clone());
            let (branch, staged) = (self.to.branch.clone(), found.staged.clone());
            // a file that is the same in both commits is not written by git
            let mode = found.mode.filter(|_| is_old && old == new);
            planned.push(Planned { mode, staged, branch, ..part });
        }
        planned.retain(|it| it.before != it.after || it.staged.is_some());
        if planned.is_empty() && !is_kept {
            let (why, is_brought) = match (was_in_conflict, is_committed) {
                (true, _) => ("was a conflict of git's, which is over".to_owned(), false),
                (_, true) => (format!("is in git, in {}", self.to.say()), false),
                _ => (format!("is in git, in {}", self.from.say()), self.stayed()),
            };
            planned.push(Planned { is_brought, ..found.part(Err(why), after.clone()) });
        }
        planned
    }
}

/// Whether a later text still has all that was changed from `old` to `own`, although git has brought other changes too.
fn is_within(
    old: &Result<Content, String>,
    own: &Result<Content, String>,
    later: &Result<Content, String>,
) -> bool {
    match (old, own, later) {
        (Ok(Content::Text(old)), Ok(Content::Text(own)), Ok(Content::Text(later))) => {
            let merged = edit::merge(old, own, later);
            merged.conflicts == 0 && merged.text == *later
        }
        (_, Ok(own), Ok(later)) => own == later,
        _ => false,
    }
}

/// The files of a commit.
async fn tree(root: &Path, head: &Head) -> Entries {
    let Some(commit) = head.commit.as_deref() else { return BTreeMap::new() };
    let listed = git(root, &["ls-tree", "-r", "-z", commit]).await.unwrap_or_default();
    let line = |it: &[u8]| {
        let (about, path) = std::str::from_utf8(it).ok()?.split_once('\t')?;
        let words: Vec<&str> = about.split(' ').collect();
        let [kind, _, name] = words[..] else { return None };
        Some((root.join(path), IndexEntry::new(kind, name)?))
    };
    listed.split(|it| *it == 0).filter_map(line).collect()
}

/// The content of a file in a commit, as git would write it into the working tree.
async fn in_tree(
    root: &Path,
    found: &Found,
    entry: Option<&IndexEntry>,
) -> Result<Content, String> {
    let Some(entry) = entry else { return Ok(Content::Absent) };
    if entry.kind() == "120000" {
        let target = git(root, &["cat-file", "blob", entry.name()]).await;
        return target.map(Content::Link).ok_or_else(|| "is missing in git".to_owned());
    }
    if found.is_filtered {
        return Err("was not kept".to_owned());
    }
    of_git(root, &found.path, entry.name()).await
}
