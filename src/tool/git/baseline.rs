//! What a repository held before the first command of a conversation. A command in the sandbox can make commits and
//! references, so those that came later do not tell whose a file is.

use super::brought::{REPLACED, noted};
use super::checkout::Checkout;
use super::{common_of, top};
use crate::reach::Locks;
use crate::regular::direct;
use crate::tool::{Stamp, disk};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The longest time for one question to git.
const WAIT: Duration = Duration::from_secs(10);
/// The most bytes that are read of a file.
pub(in crate::tool) const LARGEST: u64 = 4_000_000;
/// The most versions of a file with which its beginning is compared.
const VERSIONS: usize = 50;

/// The most new references whose files are looked at.
const REFERENCES: usize = 30;
/// The most new commits without a reference whose files are looked at.
const COMMITS: usize = 100;

/// The content of a file, or the target of a link.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::tool) struct Blob {
    pub(in crate::tool) is_link: bool,
    pub(in crate::tool) id: String,
}

/// The contents that paths had in any commit.
pub(in crate::tool) type Blobs = BTreeMap<PathBuf, BTreeSet<Blob>>;

/// The references of a repository by their names, and a mark of its index.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::tool) struct Store {
    refs: BTreeMap<String, String>,
    /// What may be names of commits in the files of work that is not done, and in those of git's last step.
    noted: BTreeSet<String>,
    index: Stamp,
}

pub(in crate::tool) struct Baseline {
    pub(super) checkout: Checkout,
    /// The commits of all references, one in each line.
    pub(super) tips: Vec<u8>,
    /// The locked files that the index had.
    pub(super) staged: Blobs,
    /// The references by which git reads other objects in place of the repository's.
    replaced: BTreeMap<String, String>,
    /// The commits of work that was not done, and of git's last step.
    noted: BTreeSet<String>,
}

impl Baseline {
    /// `None` if the root is not in a repository that was found safe. `common` is the folder of the repository if the
    /// root is a worktree of it.
    pub(in crate::tool) async fn new(
        root: &Path,
        common: Option<&Path>,
        locks: &Locks,
    ) -> Option<Baseline> {
        let top = top(root).to_owned();
        let mark = top.join(".git");
        let git_dir = match common {
            Some(_) if top == root => {
                let text = crate::regular::read_to_string(&mark).ok()?;
                root.join(text.strip_prefix("gitdir: ")?.trim_end()).canonicalize().ok()?
            }
            _ if mark.symlink_metadata().is_ok_and(|it| it.is_dir()) => mark,
            _ => return None,
        };
        let checkout = Checkout::new(git_dir, top, WAIT).await.ok()?;
        checkout.run(["rev-parse", "--git-dir"], WAIT).await.ok()?;
        let listed = checkout.run(["show-ref", "--head", "--dereference"], WAIT).await;
        let listed = String::from_utf8_lossy(&listed.unwrap_or_default()).into_owned();
        let names: BTreeSet<&str> =
            listed.lines().filter_map(|it| it.split_once(' ')).map(|it| it.1).collect();
        // the commit of a tag follows in a line of its own; a command can change the tag
        let is_commit = |it: &(&str, &str)| !names.contains(format!("{}^{{}}", it.1).as_str());
        let tips = listed.lines().filter_map(|it| it.split_once(' ')).filter(is_commit);
        let tips: BTreeSet<&str> = tips.map(|it| it.0).collect();
        let tips = tips.into_iter().flat_map(|it| [it, "\n"]).collect::<String>().into_bytes();
        let pairs = listed.lines().filter_map(|it| it.split_once(' '));
        let replaced = pairs.filter(|it| it.1.starts_with(REPLACED));
        let replaced = replaced.map(|(id, name)| (name.to_owned(), id.to_owned())).collect();
        let noted = named(&checkout);
        let mut it = Baseline { checkout, tips, staged: Blobs::new(), replaced, noted };
        for (path, blob, _) in it.entries(&[]).await {
            let below = path.strip_prefix(root).ok().and_then(Path::to_str);
            if below.is_some_and(|it| locks.unit(it).is_some()) {
                it.staged.entry(path).or_default().insert(blob);
            }
        }
        Some(it)
    }

    /// The folder of the repository, or what it has for this worktree.
    pub(in crate::tool) fn folder(&self) -> &Path {
        &self.checkout.git_dir
    }

    /// The contents that a path, and the paths below it, had in the commits and the index of that time.
    pub(in crate::tool) async fn blobs(&self, path: &Path) -> Blobs {
        let mut blobs: Blobs = self
            .staged
            .iter()
            .filter(|it| it.0.starts_with(path))
            .map(|it| (it.0.clone(), it.1.clone()))
            .collect();
        let Some(name) = self.name(path).filter(|_| !self.tips.is_empty()) else { return blobs };
        let log = [
            "--literal-pathspecs",
            "log",
            "--format=",
            "--raw",
            "--no-abbrev",
            "-z",
            "-m",
            "--root",
            "--full-history",
            "--no-renames",
            "--no-ext-diff",
            "--no-textconv",
            "--no-show-signature",
            "--stdin",
            "--",
            name,
        ];
        let listed = self.checkout.fed(&log, self.tips.clone(), WAIT).await.unwrap_or_default();
        for (path, blob) in changed(&listed) {
            blobs.entry(self.checkout.tree.join(path)).or_default().extend(blob);
        }
        blobs
    }

    /// The references and the index, as far as they tell whether either has changed.
    pub(in crate::tool) async fn store(&self) -> Store {
        let listed = self.checkout.run(["show-ref", "--head", "--dereference"], WAIT).await;
        let text = String::from_utf8_lossy(&listed.unwrap_or_default()).into_owned();
        let pair = |it: &str| it.split_once(' ').map(|(id, name)| (name.to_owned(), id.to_owned()));
        let index = disk::stamp(&self.checkout.git_dir.join("index"));
        let noted = named(&self.checkout);
        Store { refs: text.lines().filter_map(pair).collect(), noted, index }
    }

    /// The locked files for which branches, tags and the index have a content that the repository did not hold for the
    /// path before the conversation, and that is not on disk: for each, the name by which git shows it, and the id of
    /// its content. Also the objects that git reads in place of others since.
    pub(in crate::tool) async fn held(
        &self,
        store: &Store,
        root: &Path,
        locks: &Locks,
    ) -> BTreeSet<(String, String)> {
        let mut all: Vec<(PathBuf, Blob, String)> = Vec::new();
        for (path, blob, _) in self.entries(&[]).await {
            all.push((path, blob, String::new()));
        }
        let is_own = |it: &str| {
            !it.starts_with("refs/remotes/") && !it.ends_with("^{}") && !it.starts_with(REPLACED)
        };
        let is_old = |id: &str| self.tips.split(|it| *it == b'\n').any(|it| it == id.as_bytes());
        // for a tag, its commit counts
        let commit = |it: (&String, &String)| {
            store.refs.get(&format!("{}^{{}}", it.0)).unwrap_or(it.1).clone()
        };
        let new = store.refs.iter().filter(|it| is_own(it.0) && !is_old(&commit(*it)));
        for (name, id) in new.take(REFERENCES) {
            let tree = ["ls-tree", "-r", "-z", "--full-tree", id];
            let listed = self.checkout.run(tree, WAIT).await.unwrap_or_default();
            let name = name.strip_prefix("refs/heads/").unwrap_or(name);
            let tree = self.tree(&listed).into_iter();
            all.extend(tree.map(|(path, blob)| (path, blob, name.to_owned())));
        }
        for id in self.unknown(store).await {
            let tree = ["ls-tree", "-r", "-z", "--full-tree", &id];
            let listed = self.checkout.run(tree, WAIT).await.unwrap_or_default();
            let tree = self.tree(&listed).into_iter();
            all.extend(tree.map(|(path, blob)| (path, blob, id.clone())));
        }
        let is_locked = |path: &Path| {
            let below = path.strip_prefix(root).ok().and_then(Path::to_str);
            below.is_some_and(|it| locks.unit(it).is_some())
        };
        all.retain(|it| is_locked(&it.0));
        let replaced = store.refs.iter().filter(|it| it.0.starts_with(REPLACED));
        let mut held: BTreeSet<(String, String)> = replaced
            .filter(|it| self.replaced.get(it.0) != Some(it.1))
            .map(|it| (it.0.clone(), it.1.clone()))
            .collect();
        for (path, blob, name) in all {
            let is_on_disk = match content(&path) {
                Some((is_link, bytes)) => {
                    is_link == blob.is_link && self.id(bytes).await.as_deref() == Some(&blob.id)
                }
                None => false,
            };
            let is_known =
                async || self.blobs(&path).await.get(&path).is_some_and(|it| it.contains(&blob));
            if !is_on_disk && !is_known().await {
                let shown = self.name(&path).map(|it| format!("{name}:{it}"));
                held.extend(shown.map(|it| (it, blob.id)));
            }
        }
        held
    }

    /// The commits that only the files of work that is not done and of git's last step name, and that are new. Git makes
    /// files of the third parent of a stash too.
    async fn unknown(&self, store: &Store) -> BTreeSet<String> {
        let new = store.noted.difference(&self.noted);
        let words: Vec<&String> = new.chain(store.refs.get("refs/stash")).collect();
        if words.is_empty() {
            return BTreeSet::new();
        }
        let ends = ["^{commit}\n", "^3^{commit}\n"];
        let asked: String =
            words.iter().flat_map(|it| ends.iter().flat_map(|end| [it.as_str(), *end])).collect();
        let check = ["cat-file", "--batch-check"];
        let listed = self.checkout.fed(&check, asked.into_bytes(), WAIT).await.unwrap_or_default();
        let listed = String::from_utf8_lossy(&listed).into_owned();
        let commits = listed.lines().filter_map(|it| it.split_once(" commit ")).map(|it| it.0);
        let is_named = |id: &&str| store.refs.values().any(|it| it == id);
        let mut commits: BTreeSet<String> =
            commits.filter(|it| !is_named(it)).map(str::to_owned).collect();
        // those that the repository held have no contents that are new
        let tips = String::from_utf8_lossy(&self.tips);
        let old = tips.lines().map(|it| format!("^{it}\n"));
        let asked: String = commits.iter().map(|it| format!("{it}\n")).chain(old).collect();
        if let Ok(listed) = self.checkout.fed(&["rev-list", "--stdin"], asked.into(), WAIT).await {
            let listed = String::from_utf8_lossy(&listed).into_owned();
            let new: BTreeSet<&str> = listed.lines().collect();
            commits.retain(|it| new.contains(it.as_str()));
        }
        commits.into_iter().take(COMMITS).collect()
    }

    /// The files of a tree, as git lists it.
    pub(super) fn tree(&self, listed: &[u8]) -> Vec<(PathBuf, Blob)> {
        let entry = |it: &[u8]| {
            let text = String::from_utf8_lossy(it);
            let (about, path) = text.split_once('\t')?;
            let fields: Vec<&str> = about.split(' ').collect();
            let blob = Blob::of(fields.first()?, fields.get(2)?)?;
            Some((self.checkout.tree.join(path), blob))
        };
        listed.split(|it| *it == 0).filter_map(entry).collect()
    }

    /// The commit that is checked out.
    pub(in crate::tool) async fn head(&self) -> Option<String> {
        let said = self.checkout.line(["rev-parse", "-q", "--verify", "HEAD"], WAIT).await;
        said.ok().filter(|it| !it.is_empty())
    }

    /// The files among these paths, and below them, that should have changed since this commit was checked out, because
    /// another one is now, but have not.
    pub(in crate::tool) async fn left(&self, before: &str, paths: &[PathBuf]) -> Vec<PathBuf> {
        let mut left = Vec::new();
        let now = self.head().await.filter(|it| it != before);
        let names: Vec<&str> = paths.iter().filter_map(|it| self.name(it)).collect();
        let Some(now) = now.filter(|_| !names.is_empty()) else { return left };
        let diff =
            ["--literal-pathspecs", "diff-tree", "-r", "-z", "--no-renames", before, &now, "--"];
        let listed = self.checkout.run([&diff, names.as_slice()].concat(), WAIT).await;
        for (path, blob) in changed(&listed.unwrap_or_default()) {
            let path = self.checkout.tree.join(path);
            let is_new = match (blob, content(&path)) {
                (None, found) => found.is_none(),
                (Some(_), None) => false,
                (Some(blob), Some((is_link, bytes))) => {
                    is_link == blob.is_link && self.id(bytes).await.is_none_or(|it| it == blob.id)
                }
            };
            if !is_new {
                left.push(path);
            }
        }
        left
    }

    /// The name of a content in the repository, whether the repository has it or not.
    pub(in crate::tool) async fn id(&self, bytes: Vec<u8>) -> Option<String> {
        let hash = ["hash-object", "-t", "blob", "--stdin"];
        let said = self.checkout.fed(&hash, bytes, WAIT).await.ok()?;
        Some(String::from_utf8_lossy(&said).trim_end().to_owned())
    }

    /// Whether one of these contents begins with these bytes.
    pub(in crate::tool) async fn begins(&self, blobs: &BTreeSet<Blob>, bytes: &[u8]) -> bool {
        for it in blobs.iter().take(VERSIONS) {
            let whole = self.checkout.run(["cat-file", "blob", &it.id], WAIT).await;
            if whole.is_ok_and(|it| it.starts_with(bytes)) {
                return true;
            }
        }
        false
    }

    /// The files at and below a path that the index has now and git expects on disk. With `is_new` without those that
    /// the index had at that time too: if they are missing, the user may have deleted them.
    pub(in crate::tool) async fn expected(&self, path: &Path, is_new: bool) -> Vec<PathBuf> {
        let Some(name) = self.name(path) else { return Vec::new() };
        let entries = self.entries(&[name]).await.into_iter();
        let is_old =
            |path: &PathBuf, blob: &Blob| self.staged.get(path).is_some_and(|it| it.contains(blob));
        let expected = entries.filter(|it| it.2 && !(is_new && is_old(&it.0, &it.1)));
        expected.map(|it| it.0).collect()
    }

    /// Marks entries of the index as files that are not checked out, so that a commit of everything keeps them. Returns
    /// whether git has done so.
    pub(in crate::tool) async fn keep(&self, paths: &[PathBuf]) -> bool {
        let names = paths.iter().filter_map(|it| self.name(it));
        let input = names.flat_map(|it| [it, "\0"]).collect::<String>().into_bytes();
        let marked = ["update-index", "-z", "--skip-worktree", "--stdin"];
        self.checkout.fed(&marked, input, WAIT).await.is_ok()
    }

    /// The entries of the index, and whether git expects the file of each on disk.
    async fn entries(&self, names: &[&str]) -> Vec<(PathBuf, Blob, bool)> {
        let list = ["--literal-pathspecs", "ls-files", "-z", "-t", "--stage", "--"];
        let listed = self.checkout.run([&list, names].concat(), WAIT).await.unwrap_or_default();
        let entry = |it: &[u8]| {
            let text = String::from_utf8_lossy(it);
            let (about, path) = text.split_once('\t')?;
            let [tag, mode, id, _] = *about.split(' ').collect::<Vec<_>>().first_chunk()?;
            Some((self.checkout.tree.join(path), Blob::of(mode, id)?, tag == "H"))
        };
        listed.split(|it| *it == 0).filter_map(entry).collect()
    }

    /// The name that git has for a path.
    pub(super) fn name<'a>(&self, path: &'a Path) -> Option<&'a str> {
        path.strip_prefix(&self.checkout.tree).ok()?.to_str()
    }
}

/// What may be names of commits in the files of work that is not done, and in those of git's last step.
fn named(checkout: &Checkout) -> BTreeSet<String> {
    let folder = &checkout.git_dir;
    noted(folder).into_iter().chain(noted(&common_of(folder))).collect()
}

/// The paths of a list of changes, and what is at each after the change.
fn changed(listed: &[u8]) -> Vec<(String, Option<Blob>)> {
    let mut all = Vec::new();
    let mut words = listed.split(|it| *it == 0);
    while let Some(word) = words.next() {
        let word = String::from_utf8_lossy(word);
        let Some(it) = word.trim_start_matches('\n').strip_prefix(':') else { continue };
        let fields: Vec<&str> = it.split(' ').collect();
        if let (Some([_, mode, _, id]), Some(path)) = (fields.first_chunk(), words.next()) {
            all.push((String::from_utf8_lossy(path).into_owned(), Blob::of(mode, id)));
        }
    }
    all
}

/// Whether a path is a link, and what is in the file or where the link leads. Follows no link.
pub(in crate::tool) fn content(path: &Path) -> Option<(bool, Vec<u8>)> {
    if let Ok(target) = fs::read_link(path) {
        return Some((true, target.as_os_str().as_bytes().to_vec()));
    }
    let mut bytes = Vec::new();
    direct::open(path).ok()?.take(LARGEST + 1).read_to_end(&mut bytes).ok()?;
    Some((false, bytes))
}

impl Blob {
    /// `None` for what is neither a file nor a link.
    fn of(mode: &str, id: &str) -> Option<Blob> {
        let is_link = mode == "120000";
        (is_link || mode.starts_with("100")).then(|| Blob { is_link, id: id.to_owned() })
    }
}
