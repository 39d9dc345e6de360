//! The commit and the branch that are checked out, and whether a merge or the like is under way.

use super::{output, top};
use crate::regular;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The most bytes that are read of a file of git's.
const LONGEST: u64 = 4096;
/// The most names of commits that one git command gets.
const REFS: usize = 500;
/// The files of git that exist while an operation waits for the user, and the command that takes it back. A rebase also
/// has the files of the merge or the cherry-pick at which it has stopped.
const OPERATIONS: [(&str, &str); 6] = [
    ("rebase-merge", "git rebase --abort"),
    ("rebase-apply/applying", "git am --abort"),
    ("rebase-apply", "git rebase --abort"),
    ("MERGE_HEAD", "git merge --abort"),
    ("CHERRY_PICK_HEAD", "git cherry-pick --abort"),
    ("REVERT_HEAD", "git revert --abort"),
];
/// The rest of several cherry-picks or reverts.
const PICKS: &str = "sequencer/todo";

/// What is checked out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Head {
    /// `None` before the first commit.
    pub commit: Option<String>,
    /// The branch, such as `refs/heads/main`, or the commit if none is checked out.
    pub branch: Option<String>,
    /// The commits of all branches and tags, at most `REFS`.
    pub refs: Vec<String>,
    /// The names of all branches and tags, such as `refs/heads/main`, with their commits.
    pub named: BTreeMap<String, String>,
    /// The command that takes back the operation that waits for the user.
    pub unfinished: Option<&'static str>,
}

impl Head {
    /// `None` if the project is not under git.
    pub async fn look(root: &Path, wait: Duration) -> Option<Head> {
        let folder = folder(root)?;
        // git fails if there is no branch yet
        let listed = output(root, &["show-ref", "--head"], wait).await.unwrap_or_default();
        let listed = String::from_utf8_lossy(&listed).into_owned();
        let refs = listed.lines().filter_map(|it| it.split_once(' '));
        let commit = refs.clone().find(|it| it.1 == "HEAD").map(|it| it.0.to_owned());
        let others = refs.clone().filter(|it| it.1 != "HEAD").take(REFS).map(|it| it.0.to_owned());
        let is_local =
            |it: &(&str, &str)| it.1.starts_with("refs/heads/") || it.1.starts_with("refs/tags/");
        let named = refs.filter(is_local).map(|it| (it.1.to_owned(), it.0.to_owned()));
        let is_there = |it: &&(&str, &str)| folder.join(it.0).symlink_metadata().is_ok();
        Some(Head {
            branch: branch(root, wait).await,
            unfinished: OPERATIONS.iter().find(is_there).map(|it| it.1).or_else(|| picks(&folder)),
            refs: others.collect(),
            named: named.collect(),
            commit,
        })
    }

    /// The branch and the commit, for the user.
    pub fn say(&self) -> String {
        let commit = self.commit.as_deref().map(short);
        match (self.branch.as_deref().filter(|it| it.starts_with("refs/")).map(short), commit) {
            (Some(branch), Some(commit)) => format!("{branch} ({commit})"),
            (Some(one), None) | (None, Some(one)) => one.to_owned(),
            (None, None) => "no commit".to_owned(),
        }
    }
}

/// The command that takes several cherry-picks or reverts back, if they wait.
fn picks(folder: &Path) -> Option<&'static str> {
    let todo = regular::head(&folder.join(PICKS), LONGEST).ok()?;
    let is_revert = todo.starts_with("revert ");
    Some(if is_revert { "git revert --abort" } else { "git cherry-pick --abort" })
}

/// A branch or a commit, as the user calls it.
pub fn short(name: &str) -> &str {
    match name.strip_prefix("refs/heads/") {
        Some(branch) => branch,
        None if name.bytes().all(|it| it.is_ascii_hexdigit()) => name.get(..7).unwrap_or(name),
        None => name,
    }
}

/// The branch that is checked out, such as `refs/heads/main`, or the commit if none is. `None` without git.
pub async fn branch(root: &Path, wait: Duration) -> Option<String> {
    let found = branch_in_file(root);
    if found.is_some() || folder(root).is_none() {
        return found;
    }
    let said = output(root, &["symbolic-ref", "-q", "HEAD"], wait).await.ok()?;
    Some(String::from_utf8(said).ok()?.trim_end().to_owned())
}

/// The same without running git. `None` also in a repository that keeps its branches in a table.
pub fn branch_in_file(root: &Path) -> Option<String> {
    let head = regular::head(&folder(root)?.join("HEAD"), LONGEST).ok()?;
    let head = head.trim_end();
    match head.strip_prefix("ref: ") {
        Some("refs/heads/.invalid") => None,
        Some(branch) => Some(branch.to_owned()),
        None => Some(head.to_owned()).filter(|it| it.bytes().all(|it| it.is_ascii_hexdigit())),
    }
}

/// The file in which git notes each change of `HEAD`.
pub fn log(root: &Path) -> Option<PathBuf> {
    Some(folder(root)?.join("logs/HEAD"))
}

/// The folder in which git keeps `HEAD`. In a worktree, the file `.git` names it.
fn folder(root: &Path) -> Option<PathBuf> {
    let at = top(root).join(".git");
    if at.is_dir() {
        return Some(at);
    }
    let named = regular::head(&at, LONGEST).ok()?;
    let named = named.strip_prefix("gitdir: ")?.trim_end();
    Some(top(root).join(named))
}
