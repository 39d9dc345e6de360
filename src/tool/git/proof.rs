//! Whether a repository held contents before the conversation, as the names of git's objects prove. Git lists commits and
//! trees without comparing them with their names, and a command can write an object under the name of another one.

use super::baseline::{Baseline, Blob};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The longest time for one step. The time grows with the number of commits.
const WAIT: Duration = Duration::from_secs(60);
/// The most commits in which a content is searched for.
const MOST: usize = 20;

/// The files at and below a path in one commit.
struct Tree {
    files: BTreeMap<PathBuf, Blob>,
    /// The names of the objects that say so.
    ids: Vec<String>,
}

impl Baseline {
    /// Whether the commit that is checked out has these files at and below the path, and each is in a commit, or in the
    /// index, that was there before the conversation.
    pub(in crate::tool) async fn proves(
        &self,
        path: &Path,
        files: &BTreeMap<PathBuf, Blob>,
    ) -> bool {
        match self.proof(path, files).await {
            Some(ids) => self.are_genuine(&ids).await.unwrap_or(false),
            None => false,
        }
    }

    /// The names of the objects that say so. `None` if nothing does.
    async fn proof(
        &self,
        path: &Path,
        files: &BTreeMap<PathBuf, Blob>,
    ) -> Option<BTreeSet<String>> {
        let name = self.name(path)?;
        let listed = self.checkout.fed(&["rev-list", "--stdin"], self.tips.clone(), WAIT).await;
        let old: BTreeSet<String> = lines(&listed.ok()?);
        let head = self.head().await?;
        let has = |tree: &Tree, (file, blob): (&PathBuf, &Blob)| tree.files.get(file) == Some(blob);
        let now = self.listed(&head, name).await?;
        if !files.iter().all(|it| has(&now, it)) {
            return None;
        }
        let mut left = files.clone();
        let was_staged =
            |it: (&PathBuf, &Blob)| self.staged.get(it.0).is_some_and(|blobs| blobs.contains(it.1));
        left.retain(|file, blob| !old.contains(&head) && !was_staged((file, blob)));
        let mut ids: BTreeSet<String> = now.ids.into_iter().chain([head]).collect();
        while let Some((file, blob)) = left.first_key_value() {
            let tree = self.holding(self.name(file)?, name, (file, blob)).await?;
            left.retain(|file, blob| !has(&tree, (file, blob)));
            ids.extend(tree.ids);
        }
        ids.extend(old);
        Some(ids)
    }

    /// The tree of a commit of that time that has this file.
    async fn holding(&self, file: &str, name: &str, it: (&PathBuf, &Blob)) -> Option<Tree> {
        let object = format!("--find-object={}", it.1.id);
        let log = [
            "--literal-pathspecs",
            "log",
            "--format=%H",
            "-m",
            "--root",
            "--full-history",
            "--no-renames",
            "--no-show-signature",
            &object,
            "--stdin",
            "--",
            file,
        ];
        let commits = self.checkout.fed(&log, self.tips.clone(), WAIT).await.ok()?;
        // the latest commits come first
        for commit in String::from_utf8_lossy(&commits).lines().take(MOST) {
            let Some(tree) = self.listed(commit, name).await else { continue };
            if tree.files.get(it.0) == Some(it.1) {
                return Some(tree);
            }
        }
        None
    }

    async fn listed(&self, commit: &str, name: &str) -> Option<Tree> {
        let list = ["ls-tree", "-r", "-t", "-z", "--full-tree", commit, "--", name];
        let literal = [&["--literal-pathspecs"], &list[..]].concat();
        let listed = self.checkout.run(literal, WAIT).await.ok()?;
        let root = format!("{commit}^{{tree}}");
        let root = self.checkout.line(["rev-parse", "--verify", "-q", &root], WAIT).await.ok()?;
        let entries = listed.split(|it| *it == 0).map(String::from_utf8_lossy);
        let trees = entries.filter_map(|it| {
            let (about, _) = it.split_once('\t')?;
            about.strip_prefix("040000 tree ").map(str::to_owned)
        });
        let ids = trees.chain([root]).collect();
        Some(Tree { files: self.tree(&listed).into_iter().collect(), ids })
    }

    /// Whether these objects have the contents that their names stand for. Git packs them, and computes the names anew.
    async fn are_genuine(&self, ids: &BTreeSet<String>) -> Option<bool> {
        let wanted = ids.iter().flat_map(|it| [it, "\n"]).collect::<String>().into_bytes();
        let pack = ["pack-objects", "--stdout", "-q", "--window=0"];
        let packed = self.checkout.fed(&pack, wanted, WAIT).await.ok()?;
        let folder = tempfile::tempdir().ok()?;
        let [pack, index] = ["all.pack", "all.idx"].map(|it| folder.path().join(it));
        fs::write(&pack, packed).ok()?;
        let [pack, index_path] = [&pack, &index].map(|it| it.display().to_string());
        self.checkout.run(["index-pack", "-o", &index_path, &pack], WAIT).await.ok()?;
        let shown = self.checkout.fed(&["show-index"], fs::read(index).ok()?, WAIT).await.ok()?;
        let shown = lines(&shown);
        let genuine: BTreeSet<&str> = shown.iter().filter_map(|it| it.split(' ').nth(1)).collect();
        Some(ids.iter().all(|it| genuine.contains(it.as_str())))
    }
}

fn lines(bytes: &[u8]) -> BTreeSet<String> {
    String::from_utf8_lossy(bytes).lines().map(str::to_owned).collect()
}
