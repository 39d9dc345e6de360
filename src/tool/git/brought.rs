//! The folders that a checkout of the user's would bring as commits: submodules and other repositories in the branches,
//! tags and stashes of a repository. Git looks into such a folder as soon as a checkout has listed it in the index.

use super::{bounded, in_time, plain};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::io::{self, ErrorKind, Seek, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Output;

/// The most references of the user's that are looked at before the first command, the newest first.
const FIRST: usize = 2_000;
/// The beginning of the names of references by which git reads other objects.
pub(in crate::tool) const REPLACED: &str = "refs/replace/";
/// What is known of the commits of a repository.
#[derive(Clone, Default)]
pub(in crate::tool) struct Brought {
    /// What tells whether the references have changed.
    marks: BTreeMap<PathBuf, String>,
    /// The references by which git reads other objects.
    replaced: BTreeSet<String>,
    /// The commits and trees that were looked at.
    seen: BTreeSet<String>,
    /// Those of which git does not have all objects, so that more may be seen in them later.
    partial: BTreeSet<String>,
    /// The tree with which others are compared.
    base: Option<String>,
    /// The folders, relative to the top of a working tree.
    links: BTreeSet<PathBuf>,
}

impl Brought {
    /// The folders that a checkout may bring into the working tree of a repository whose folder is `common`. Git is
    /// asked only if a reference has changed. Blocks. The error says that git did not end in time.
    pub(in crate::tool) fn links(
        &mut self,
        tree: &Path,
        common: &Path,
    ) -> io::Result<&BTreeSet<PathBuf>> {
        let marks = marks(common, !self.partial.is_empty());
        if marks != self.marks {
            self.look(tree, common)?;
            self.marks = marks;
        }
        Ok(&self.links)
    }

    fn look(&mut self, tree: &Path, common: &Path) -> io::Result<()> {
        let is_first = self.marks.is_empty();
        let list = ["for-each-ref", "--sort=-committerdate", "--format=%(objectname) %(refname)"];
        let sorted = asked(tree, &list, "")?;
        // git does not sort references of which it does not have the commit
        let listed = if sorted.status.success() {
            sorted.stdout
        } else {
            output(tree, &[list[0], list[2]], "")?
        };
        let listed = String::from_utf8_lossy(&listed);
        let references = || listed.lines().filter_map(|it| it.split_once(' '));
        let replaced = references().filter(|it| it.1.starts_with(REPLACED));
        let replaced: BTreeSet<String> =
            replaced.map(|(id, name)| format!("{id} {name}")).collect();
        if replaced != self.replaced {
            (self.seen, self.base, self.replaced) = (BTreeSet::new(), None, replaced);
        }
        let most = if is_first { FIRST } else { usize::MAX };
        let mut tips: Vec<String> = references().take(most).map(|it| it.0.to_owned()).collect();
        let stashes = words(&common.join("logs/refs/stash"));
        tips.extend(stashes.iter().flat_map(|it| ["", "^2", "^3"].map(|of| format!("{it}{of}"))));
        let passing = files(common).into_iter().flat_map(|it| words(&it));
        tips.extend(passing);
        let visited = words(&common.join("logs/HEAD"));
        if is_first {
            self.seen.extend(visited);
        } else {
            tips.extend(visited);
        }
        let old: Vec<String> = self.seen.iter().cloned().collect();
        let partial = std::mem::take(&mut self.partial);
        tips.retain(|it| self.seen.insert(it.clone()));
        tips.extend(partial);
        if tips.is_empty() {
            return Ok(());
        }
        self.compare(tree, &tips)?;
        if is_first { Ok(()) } else { self.follow(tree, &tips, &old) }
    }

    /// Adds the folders in the trees of these commits.
    fn compare(&mut self, tree: &Path, tips: &[String]) -> io::Result<()> {
        let wanted: String = tips.iter().flat_map(|it| [it, "^{tree}\n"]).collect();
        let listed = output(tree, &["cat-file", "--batch-check"], &wanted)?;
        let listed = String::from_utf8_lossy(&listed);
        let mut new: BTreeSet<&str> = BTreeSet::new();
        for (tip, it) in tips.iter().zip(listed.lines()) {
            match it.split_once(" tree ") {
                Some((id, _)) => drop(new.insert(id)),
                None if is_whole_id(tip) => drop(self.partial.insert(tip.clone())),
                None => (),
            }
        }
        new.retain(|it| self.seen.insert((*it).to_owned()));
        if self.base.is_none()
            && let Some(first) = new.pop_first()
        {
            let whole = output(tree, &["ls-tree", "-r", "-z", "--full-tree", first], "")?;
            self.links.extend(whole.split(|it| *it == 0).filter_map(link));
            self.base = Some(first.to_owned());
        }
        let Some(base) = &self.base else { return Ok(()) };
        let pairs: Vec<String> = new.iter().map(|it| format!("{base} {it}\n")).collect();
        let compare =
            ["diff-tree", "--stdin", "-r", "-z", "--no-renames", "--ignore-submodules=none"];
        let failed = each(tree, &compare, &pairs, "", &mut self.links)?;
        for it in failed.iter().filter_map(|it| it.split_whitespace().last()) {
            self.seen.remove(it);
            self.partial.insert(it.to_owned());
        }
        Ok(())
    }

    /// Adds the folders in commits between these and those that were looked at before.
    fn follow(&mut self, tree: &Path, tips: &[String], old: &[String]) -> io::Result<()> {
        let log = [
            "log",
            "--format=",
            "--raw",
            "-z",
            "-m",
            "--root",
            "--no-renames",
            "--no-ext-diff",
            "--no-show-signature",
            "--ignore-submodules=none",
            "--ignore-missing",
            "--stdin",
        ];
        let new: Vec<String> = tips.iter().map(|it| format!("{it}\n")).collect();
        let left_out: String = old.iter().flat_map(|it| ["^", it, "\n"]).collect();
        let failed = each(tree, &log, &new, &left_out, &mut self.links)?;
        let failed = failed.iter().map(|it| it.trim()).filter(|it| is_whole_id(it));
        self.partial.extend(failed.map(str::to_owned));
        Ok(())
    }
}

/// Adds the folders that git lists for these lines of its input. If git ends with an error, because a command has broken
/// an object, it gets the lines in smaller parts: the others count nevertheless. Returns the lines with which git failed.
fn each(
    tree: &Path,
    arguments: &[&str],
    lines: &[String],
    rest: &str,
    links: &mut BTreeSet<PathBuf>,
) -> io::Result<Vec<String>> {
    let done = match asked(tree, arguments, &(lines.concat() + rest)) {
        Ok(done) => done,
        Err(fault) if fault.kind() == ErrorKind::TimedOut => return Err(fault),
        Err(_) => return Ok(lines.to_vec()),
    };
    links.extend(changed(&done.stdout));
    if done.status.success() {
        return Ok(Vec::new());
    }
    if lines.len() < 2 {
        return Ok(lines.to_vec());
    }
    let (one, other) = lines.split_at(lines.len() / 2);
    let mut failed = each(tree, arguments, one, rest, links)?;
    failed.extend(each(tree, arguments, other, rest, links)?);
    Ok(failed)
}

/// What git says to this input.
fn asked(tree: &Path, arguments: &[&str], input: &str) -> io::Result<Output> {
    let mut file = tempfile::tempfile()?;
    file.write_all(input.as_bytes())?;
    file.rewind()?;
    bounded::output(plain(tree, arguments).as_std_mut().stdin(file))
}

fn output(tree: &Path, arguments: &[&str], input: &str) -> io::Result<Vec<u8>> {
    in_time(asked(tree, arguments, input))
}

/// The folder of an entry of a tree, if this is a commit of another repository.
fn link(entry: &[u8]) -> Option<PathBuf> {
    let rest = entry.strip_prefix(b"160000 ")?;
    let at = rest.iter().position(|it| *it == b'\t')?;
    Some(PathBuf::from(OsStr::from_bytes(&rest[at + 1..])))
}

/// The folders that a list of changes has as commits of other repositories.
fn changed(listed: &[u8]) -> Vec<PathBuf> {
    let mut all = Vec::new();
    let mut words = listed.split(|it| *it == 0);
    while let Some(word) = words.next() {
        let word = word.trim_ascii_start();
        let Some(about) = word.strip_prefix(b":") else { continue };
        let is_link = about.split(|it| *it == b' ').nth(1) == Some(b"160000");
        if let Some(path) = words.next().filter(|_| is_link) {
            all.push(PathBuf::from(OsStr::from_bytes(path)));
        }
    }
    all
}

/// What tells whether the references of a repository, or what git keeps of work that is not done, have changed; also
/// whether it has new objects if `with_objects`.
fn marks(common: &Path, with_objects: bool) -> BTreeMap<PathBuf, String> {
    let mut marks = BTreeMap::new();
    below(&common.join("refs"), &mut marks);
    if with_objects {
        let objects = common.join("objects");
        let folders = fs::read_dir(&objects).into_iter().flatten().flatten().map(|it| it.path());
        let all = folders.chain([objects.join("info/alternates")]);
        marks.extend(all.map(|it| (stamp(&it), it)).map(|(stamp, it)| (it, stamp)));
    }
    let others = ["packed-refs", "reftable/tables.list", "logs/HEAD", "logs/refs/stash"];
    let others = others.map(|it| common.join(it)).into_iter().chain(files(common));
    marks.extend(others.map(|it| (stamp(&it), it)).map(|(stamp, it)| (it, stamp)));
    marks
}

/// Adds the stamps of all files below a folder.
fn below(folder: &Path, marks: &mut BTreeMap<PathBuf, String>) {
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for it in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = it.path();
            match it.file_type() {
                Ok(kind) if kind.is_dir() => open.push(path),
                Ok(kind) if kind.is_file() => drop(marks.insert(path.clone(), stamp(&path))),
                _ => (),
            }
        }
    }
}

/// What tells whether a file has changed.
fn stamp(file: &Path) -> String {
    let of = |it: fs::Metadata| {
        let (mtime, ctime) = ((it.mtime(), it.mtime_nsec()), (it.ctime(), it.ctime_nsec()));
        format!("{} {} {mtime:?} {ctime:?}", it.ino(), it.len())
    };
    fs::metadata(file).map(of).unwrap_or_default()
}

/// The files that name commits of work that is not done: a merge, a rebase, a series of picks.
fn files(common: &Path) -> Vec<PathBuf> {
    let inner = ["rebase-merge", "rebase-apply", "sequencer"];
    let folders = inner.map(|it| common.join(it)).into_iter();
    let within = folders.flat_map(|it| fs::read_dir(it).into_iter().flatten().flatten());
    let heads = fs::read_dir(common).into_iter().flatten().flatten();
    let heads = heads.filter(|it| is_head(it.file_name().as_bytes()));
    let all = within.chain(heads).filter(|it| it.file_type().is_ok_and(|it| it.is_file()));
    all.map(|it| it.path()).collect()
}

/// Whether git keeps names of commits under this name: `ORIG_HEAD`, `BISECT_START`, `MERGE_AUTOSTASH`.
fn is_head(name: &[u8]) -> bool {
    name.contains(&b'_') && name.iter().all(|it| it.is_ascii_uppercase() || *it == b'_')
}

/// What may be names of commits in git's notes: in the files of work that is not done and of git's last step, in what was
/// checked out before (the reflogs, but for those of remotes), and in what other worktrees have of all that.
pub(super) fn noted(common: &Path) -> BTreeSet<String> {
    let trees = fs::read_dir(common.join("worktrees")).into_iter().flatten().flatten();
    let folders = trees.map(|it| it.path()).chain([common.to_owned()]);
    let mut all = Vec::new();
    for it in folders {
        all.extend(files(&it));
        all.push(it.join("HEAD"));
        let mut logs = BTreeMap::new();
        below(&it.join("logs"), &mut logs);
        let remotes = it.join("logs/refs/remotes");
        all.extend(logs.into_keys().filter(|it| !it.starts_with(&remotes)));
    }
    all.iter().flat_map(|it| words(it)).collect()
}

/// Whether a word is the whole name of an object.
fn is_whole_id(word: &str) -> bool {
    matches!(word.len(), 40 | 64) && word.bytes().all(|it| it.is_ascii_hexdigit())
}

/// The words of a file that may be names of commits.
fn words(file: &Path) -> BTreeSet<String> {
    let is_id =
        |it: &&str| (7..=64).contains(&it.len()) && it.bytes().all(|it| it.is_ascii_hexdigit());
    let text = crate::regular::read_to_string(file).unwrap_or_default();
    text.split_whitespace().filter(is_id).map(str::to_owned).collect()
}
