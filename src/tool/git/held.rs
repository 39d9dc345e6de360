//! Contents of locked files in git's store that came there after the conversation's first command. A checkout, a stash or
//! a rebase of the user's makes files of them.

use super::baseline::{Baseline, Blob, Store, content};
use super::brought::REPLACED;
use crate::reach::Locks;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The longest time for one question to git. The time grows with the number of new commits.
const WAIT: Duration = Duration::from_secs(20);
/// The most new commits whose files are looked at.
const COMMITS: usize = 10_000;

/// What the store holds for a locked file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::tool) struct Held {
    /// The name by which git shows it.
    pub(in crate::tool) shown: String,
    /// The path below the project's root.
    pub(in crate::tool) path: String,
    /// The id of the content.
    pub(in crate::tool) id: String,
}

/// All that the store holds.
#[derive(Default)]
pub(in crate::tool) struct All {
    /// The contents, the most dangerous first: of each path one before all others.
    pub(in crate::tool) contents: Vec<Held>,
    /// The objects that git reads in place of others, by the names of their references.
    pub(in crate::tool) replaced: Vec<Held>,
    /// Whether git has not told all.
    pub(in crate::tool) is_cut: bool,
}

impl Baseline {
    /// The locked files for which branches, tags, the index and git's notes have a content that the repository did not
    /// hold for the path before the conversation, and that is not on disk. Also the objects that git reads in place of
    /// others since.
    pub(in crate::tool) async fn held(&self, store: &Store, root: &Path, locks: &Locks) -> All {
        let replaced = store.refs.iter().filter(|it| it.0.starts_with(REPLACED));
        let replaced = replaced.filter(|it| self.replaced.get(it.0) != Some(it.1));
        let replaced = replaced.map(|(name, id)| {
            let (shown, path) = (name.clone(), String::new());
            Held { shown, path, id: id.clone() }
        });
        let mut all = All { replaced: replaced.collect(), ..All::default() };
        let mut found: BTreeMap<(PathBuf, Blob), String> = BTreeMap::new();
        for (path, blob, _) in self.entries(&[]).await {
            found.entry((path, blob)).or_default();
        }
        let below = |path: &Path| path.strip_prefix(root).ok()?.to_str().map(str::to_owned);
        let is_locked = |path: &Path| below(path).is_some_and(|it| locks.unit(&it).is_some());
        match self.contents(store, &is_locked).await {
            Some((contents, is_cut)) => {
                all.is_cut = is_cut;
                for (path, blob, name) in contents {
                    found.entry((path, blob)).or_insert(name);
                }
            }
            None => all.is_cut = true,
        }
        found.retain(|it, _| is_locked(&it.0));
        let mut last: Option<(PathBuf, Option<Blob>, BTreeSet<Blob>)> = None;
        for ((path, blob), name) in found {
            let known = last.take().filter(|it| it.0 == path);
            let (_, now, before) = if let Some(it) = known {
                last.insert(it)
            } else {
                let before = self.blobs(&path).await.remove(&path).unwrap_or_default();
                last.insert((path.clone(), self.on_disk(&path).await, before))
            };
            if now.as_ref() == Some(&blob) || before.contains(&blob) {
                continue;
            }
            if let (Some(shown), Some(path)) = (self.name(&path), below(&path)) {
                let shown = format!("{name}:{shown}");
                all.contents.push(Held { shown, path, id: blob.id });
            }
        }
        order(&mut all.contents, locks);
        all
    }

    /// The content of a file on disk, as the store would hold it.
    async fn on_disk(&self, path: &Path) -> Option<Blob> {
        let (is_link, bytes) = content(path)?;
        Some(Blob { is_link, id: self.id(bytes).await? })
    }

    /// Those of the paths in new commits that are meant, each with its content and the name of a commit that has it, and
    /// whether there are more commits. `None` if git does not tell them in time.
    async fn contents(
        &self,
        store: &Store,
        is_meant: &impl Fn(&Path) -> bool,
    ) -> Option<(Vec<(PathBuf, Blob, String)>, bool)> {
        let is_own = |it: &str| {
            !it.starts_with("refs/remotes/") && !it.ends_with("^{}") && !it.starts_with(REPLACED)
        };
        // for a tag, its commit counts
        let commit = |it: (&String, &String)| {
            store.refs.get(&format!("{}^{{}}", it.0)).unwrap_or(it.1).clone()
        };
        let own = store.refs.iter().filter(|it| is_own(it.0));
        let mut names: BTreeMap<String, String> = BTreeMap::new();
        for (name, id) in own.map(|it| (it.0, commit(it))) {
            let name = name.strip_prefix("refs/heads/").unwrap_or(name);
            names.entry(id).or_insert(name.to_owned());
        }
        let (commits, are_all) = self.new_commits(store, &names).await?;
        let is_cut = commits.len() > COMMITS || !are_all;
        // first those that have a name of their own
        let (named, others): (Vec<_>, Vec<_>) =
            commits.into_iter().take(COMMITS).partition(|it| names.contains_key(it));
        let name = |it: String| (names.get(&it).unwrap_or(&it).clone(), it);
        let all: Vec<(String, String)> = named.into_iter().chain(others).map(name).collect();
        let mut contents = Vec::new();
        let is_whole = self.differing(&all, is_meant, &mut contents).await?;
        Some((contents, is_cut || !is_whole))
    }

    /// The commits that references and git's notes name, and those between them and the ones of that time. Also whether git
    /// has all objects of the references, and of the commits between.
    async fn new_commits(
        &self,
        store: &Store,
        names: &BTreeMap<String, String>,
    ) -> Option<(BTreeSet<String>, bool)> {
        let new = store.noted.difference(&self.noted);
        let words: Vec<&String> =
            names.keys().chain(new).chain(store.refs.get("refs/stash")).collect();
        let ends = ["^{commit}\n", "^3^{commit}\n"];
        let asked: String =
            words.iter().flat_map(|it| ends.iter().flat_map(|end| [it.as_str(), *end])).collect();
        let check = ["cat-file", "--batch-check"];
        let listed = self.checkout.fed(&check, asked.into_bytes(), WAIT).await.ok()?;
        let listed = String::from_utf8_lossy(&listed).into_owned();
        let commits: BTreeSet<&str> =
            listed.lines().filter_map(|it| it.split_once(" commit ")).map(|it| it.0).collect();
        let exists: String = names.keys().flat_map(|it| [it.as_str(), "\n"]).collect();
        let exists = self.checkout.fed(&check, exists.into_bytes(), WAIT).await.ok()?;
        let mut are_all = !exists.split(|it| *it == b'\n').any(|it| it.ends_with(b" missing"));
        let tips = String::from_utf8_lossy(&self.tips);
        let old: BTreeSet<&str> = tips.lines().collect();
        if commits.is_subset(&old) {
            return Some((BTreeSet::new(), are_all));
        }
        let left_out = old.iter().map(|it| format!("^{it}\n"));
        let asked: String = commits.iter().map(|it| format!("{it}\n")).chain(left_out).collect();
        let list = ["rev-list", "--ignore-missing", "--stdin"];
        // if an object between them is broken, those that are named count
        let listed = self.checkout.fed(&list, asked.into(), WAIT).await;
        are_all &= listed.is_ok();
        let listed = listed.unwrap_or_default();
        let listed = String::from_utf8_lossy(&listed).into_owned();
        let named = commits.difference(&old).copied();
        let between: BTreeSet<&str> = listed.lines().collect();
        let is_old = |it: &&str| !listed.is_empty() && !between.contains(it);
        let named = named.filter(|it| !is_old(it)).map(str::to_owned);
        Some((named.chain(listed.lines().map(str::to_owned)).collect(), are_all))
    }

    /// Adds the paths that are meant in the trees of these commits, each with its content and the name of the commit. Each
    /// tree is compared with the one before it, and the first with an empty one: so whatever is in one of them is
    /// listed. The result says whether all could be read; `None` if git does not tell it in time.
    async fn differing(
        &self,
        commits: &[(String, String)],
        is_meant: &impl Fn(&Path) -> bool,
        found: &mut Vec<(PathBuf, Blob, String)>,
    ) -> Option<bool> {
        let wanted: String = commits.iter().flat_map(|it| [&it.1, "^{tree}\n"]).collect();
        let check = ["cat-file", "--batch-check"];
        let listed = self.checkout.fed(&check, wanted.into_bytes(), WAIT).await.ok()?;
        let listed = String::from_utf8_lossy(&listed).into_owned();
        let trees = listed.lines().map(|it| it.split_once(" tree ").map(|it| it.0.to_owned()));
        // what is missing now may come later
        let mut is_whole = listed.lines().all(|it| it.contains(" tree "));
        let mut names = BTreeMap::new();
        let mut left = Vec::new();
        for (tree, (name, _)) in trees.zip(commits).filter_map(|(tree, it)| Some((tree?, it))) {
            if !names.contains_key(&tree) {
                names.insert(tree.clone(), name.clone());
                left.push(tree);
            }
        }
        let empty = ["hash-object", "-t", "tree", "--stdin"];
        let empty = self.checkout.fed(&empty, Vec::new(), WAIT).await.ok()?;
        let empty = String::from_utf8_lossy(&empty).trim_end().to_owned();
        let mut open = vec![left];
        while let Some(trees) = open.pop().filter(|it| !it.is_empty()) {
            let before = std::iter::once(&empty).chain(&trees);
            let pairs: String = before
                .zip(&trees)
                .flat_map(|(before, it)| [before.as_str(), " ", it, "\n"])
                .collect();
            let compare =
                ["diff-tree", "--stdin", "-r", "-z", "--no-renames", "--ignore-submodules=none"];
            match self.checkout.fed(&compare, pairs.into_bytes(), WAIT).await {
                Ok(listed) => {
                    let each = compared(&listed).filter_map(|(tree, path, blob)| {
                        let path = self.checkout.tree.join(path);
                        let name = names.get(tree)?;
                        is_meant(&path).then(|| (path, blob, name.clone()))
                    });
                    found.extend(each);
                }
                Err(super::Failure::Refused(_)) if trees.len() > 1 => {
                    // a tree is broken: the others count nevertheless
                    let (one, other) = trees.split_at(trees.len() / 2);
                    open.extend([other.to_vec(), one.to_vec()]);
                }
                Err(_) => is_whole = false,
            }
        }
        Some(is_whole)
    }
}

/// Puts the most dangerous contents first, and of each path one before all others: the list that the user sees is short.
fn order(all: &mut Vec<Held>, locks: &Locks) {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let mut keyed: Vec<((usize, usize), Held)> = Vec::new();
    for it in all.drain(..) {
        let count = counts.entry(it.path.clone()).or_default();
        *count += 1;
        keyed.push(((*count, locks.rank(&it.path)), it));
    }
    keyed.sort_by_key(|it| it.0);
    all.extend(keyed.into_iter().map(|it| it.1));
}

/// The entries of compared trees that exist in the second one: that tree, the path and its content.
fn compared(listed: &[u8]) -> impl Iterator<Item = (&str, &str, Blob)> {
    let mut words = listed.split(|it| *it == 0).filter_map(|it| str::from_utf8(it).ok());
    let mut tree = "";
    std::iter::from_fn(move || {
        loop {
            let mut word = words.next()?;
            // the names of both trees stand in a line before their entries
            while let Some((head, rest)) = word.split_once('\n') {
                tree = head.split(' ').nth(1).unwrap_or(tree);
                word = rest;
            }
            let Some(about) = word.strip_prefix(':') else { continue };
            let fields: Vec<&str> = about.split(' ').collect();
            let path = words.next()?;
            if let Some([_, mode, _, id]) = fields.first_chunk()
                && let Some(blob) = Blob::of(mode, id)
            {
                return Some((tree, path, blob));
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_entries_of_compared_trees_are_read() {
        let listed = b"e a\n:000000 100644 0 1 A\0.envrc\0:100644 000000 1 0 D\0x\0a b\nb c\n:000000 120000 0 2 A\0l\n1\0";
        let all: Vec<_> = compared(listed).map(|it| (it.0, it.1, it.2.id)).collect();
        assert_eq!(all, [("a", ".envrc", "1".to_owned()), ("c", "l\n1", "2".to_owned())]);
    }

    #[test]
    fn what_runs_first_is_named_first_and_each_path_before_a_path_again() {
        let held = |path: &str, id: &str| {
            let [shown, path, id] = [&format!("b:{path}"), path, id].map(str::to_owned);
            Held { shown, path, id }
        };
        let mut all = vec![
            held("AGENTS.md", "1"),
            held("AGENTS.md", "2"),
            held(".envrc", "3"),
            held(".vscode/tasks.json", "4"),
        ];
        order(&mut all, &Locks::new());
        let ids: Vec<&str> = all.iter().map(|it| it.id.as_str()).collect();
        assert_eq!(ids, ["3", "4", "1", "2"]);
    }
}
