//! What a command did to the commit that is checked out, and which texts git has brought with it.

use super::files::{self, After};
use super::seen::Origin;
use super::{Found, PATIENCE, git};
use crate::agent::checkpoints::Planned;
use crate::store::checkpoints::{Content, IndexEntry, Said};
use crate::tool::git::head::{Head, short};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The most commits of one command that are looked at.
const COMMITS: &str = "100";

/// What a command did to the commit that is checked out.
pub(super) enum Course {
    /// The same commit is checked out, or there is no git.
    Same,
    /// All new commits were made by the command, on top of the earlier one.
    Committed,
    /// Git has brought texts that were in commits before.
    Moved(Box<Move>),
}

/// The commits before and after a command, and their files.
pub(super) struct Move {
    from: Head,
    to: Head,
    old: BTreeMap<PathBuf, IndexEntry>,
    new: BTreeMap<PathBuf, IndexEntry>,
    index: BTreeMap<PathBuf, IndexEntry>,
    /// The files that differ from the index.
    modified: BTreeSet<PathBuf>,
}

/// What the command did, and a note about it for the user. `start` is when the command began, in seconds since 1970.
pub(super) async fn course(
    root: &Path,
    from: Option<Head>,
    start: i64,
    after: &After,
) -> (Course, Option<Said>) {
    let to = Head::look(root, PATIENCE).await;
    let (Some(from), Some(to)) = (from, to) else { return (Course::Same, None) };
    let begun = to.unfinished.filter(|_| from.unfinished.is_none());
    let moved = Said::Moved { from: from.say(), to: to.say() };
    if let Some(ends) = begun {
        let said = Said::Unfinished { ends: ends.to_owned() };
        return (Course::Moved(Box::new(Move::of(root, from, to, after).await)), Some(said));
    } else if from.commit == to.commit {
        return (Course::Same, (from.branch != to.branch).then_some(moved));
    }
    if has_only_own(root, &from, &to, start).await {
        let from = from.commit.as_deref().map(|it| short(it).to_owned());
        return (Course::Committed, Some(Said::Committed { from, to: to.say() }));
    }
    (Course::Moved(Box::new(Move::of(root, from, to, after).await)), Some(moved))
}

/// Whether the command itself has made all commits between the two, one after the other.
async fn has_only_own(root: &Path, from: &Head, to: &Head, start: i64) -> bool {
    let Some(new) = to.commit.as_deref() else { return false };
    let list = async |without: &[String]| {
        let mut asked = vec!["rev-list", "--format=%P|%ct|%at", "-n", COMMITS, new, "--not"];
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
    let mut parents = Vec::new();
    for line in &all {
        let words: Vec<&str> = line.split('|').collect();
        let [above, committed, written] = words[..] else { return false };
        let is_new = |it: &str| it.parse::<i64>().is_ok_and(|it| it >= start);
        if above.contains(' ') || !is_new(committed) || all.len() > 1 && !is_new(written) {
            return false;
        }
        parents.push(above.to_owned());
    }
    let first = parents.pop().unwrap_or_default();
    if all.is_empty() || first == from.commit.as_deref().unwrap_or_default() {
        return !all.is_empty();
    }
    // one commit beside the earlier one: that was amended
    let Some(old) = from.commit.as_deref().filter(|_| all.len() == 1) else { return false };
    let above = git(root, &["rev-list", "--format=%P", "-n", "1", old]).await;
    let above = above.unwrap_or_default();
    String::from_utf8_lossy(&above).lines().nth(1) == Some(&*first)
}

impl Move {
    async fn of(root: &Path, from: Head, to: Head, after: &After) -> Move {
        let (old, new, modified) =
            tokio::join!(tree(root, &from), tree(root, &to), files::others(root));
        let modified = modified.unwrap_or_default().into_iter().collect();
        Move { from, to, old, new, index: after.index.clone(), modified }
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
        let is_old = match (&found.origin, old) {
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
        if !is_old && let Ok(text) = in_tree(root, path, old).await {
            let part = found.part(before.clone(), Ok(text));
            planned.push(Planned { branch: self.from.branch.clone(), new_mode: None, ..part });
        }
        if !is_new && let Ok(text) = in_tree(root, path, new).await {
            let part = found.part(Ok(text), after.clone());
            planned.push(Planned { branch: self.to.branch.clone(), mode: None, ..part });
        }
        planned.retain(|it| it.before != it.after);
        if planned.is_empty() {
            let why = format!("is in git, in {}", self.from.say());
            planned.push(found.part(Err(why), after.clone()));
        }
        planned
    }
}

/// The files of a commit.
async fn tree(root: &Path, head: &Head) -> BTreeMap<PathBuf, IndexEntry> {
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
async fn in_tree(root: &Path, path: &Path, entry: Option<&IndexEntry>) -> Result<Content, String> {
    let Some(entry) = entry else { return Ok(Content::Absent) };
    if entry.kind() == "120000" {
        let target = git(root, &["cat-file", "blob", entry.name()]).await;
        return target.map(Content::Link).ok_or_else(|| "is missing in git".to_owned());
    }
    super::of_git(root, path, entry.name()).await
}
