//! What a repository held before the first command of a conversation. A command in the sandbox can make commits and
//! references, so those that came later do not tell whose a file is.

use super::brought::{REPLACED, noted};
use super::checkout::Checkout;
use super::{Failure, bounded, common_of, top};
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
    pub(super) refs: BTreeMap<String, String>,
    /// What may be names of commits in git's notes (see `noted`).
    pub(super) noted: BTreeSet<String>,
    index: Stamp,
}

pub(in crate::tool) struct Baseline {
    pub(super) checkout: Checkout,
    /// The commits of all references, one in each line.
    pub(super) tips: Vec<u8>,
    /// The locked files that the index had.
    pub(super) staged: Blobs,
    /// The references by which git reads other objects in place of the repository's.
    pub(super) replaced: BTreeMap<String, String>,
    /// What may have been names of commits in git's notes.
    pub(super) noted: BTreeSet<String>,
}

impl Baseline {
    /// `None` if the root is not in a repository that was found safe. `common` is the folder of the repository if the
    /// root is a worktree of it. The error says that git does not end in time: then nobody knows what the repository held.
    pub(in crate::tool) async fn new(
        root: &Path,
        common: Option<&Path>,
        locks: &Locks,
    ) -> Result<Option<Baseline>, Failure> {
        let Some((git_dir, top)) = place(root, common) else { return Ok(None) };
        if let Some(why) = bounded::stalled([&git_dir, &common_of(&git_dir)]) {
            return Err(Failure::Refused(why));
        }
        match Baseline::at(git_dir, top, root, locks).await {
            Ok(it) => Ok(Some(it)),
            Err(Failure::Slow) => Err(Failure::Slow),
            Err(_) => Ok(None),
        }
    }

    async fn at(
        git_dir: PathBuf,
        top: PathBuf,
        root: &Path,
        locks: &Locks,
    ) -> Result<Baseline, Failure> {
        let checkout = Checkout::new(git_dir, top, WAIT).await?;
        checkout.run(["rev-parse", "--git-dir"], WAIT).await?;
        let listed = match checkout.run(["show-ref", "--head", "--dereference"], WAIT).await {
            Err(Failure::Slow) => return Err(Failure::Slow),
            listed => listed.unwrap_or_default(),
        };
        let listed = String::from_utf8_lossy(&listed).into_owned();
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
        Ok(it)
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
    pub(super) async fn entries(&self, names: &[&str]) -> Vec<(PathBuf, Blob, bool)> {
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

/// The folder of the repository, or of its part for this worktree, and the top of the working tree. `None` if that is not
/// as git makes it.
fn place(root: &Path, common: Option<&Path>) -> Option<(PathBuf, PathBuf)> {
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
    Some((git_dir, top))
}

/// What may be names of commits in git's notes.
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
    pub(super) fn of(mode: &str, id: &str) -> Option<Blob> {
        let is_link = mode == "120000";
        (is_link || mode.starts_with("100")).then(|| Blob { is_link, id: id.to_owned() })
    }
}
