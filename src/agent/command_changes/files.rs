//! Lists the project's files before and after a command.

use super::objects::{PATIENCE, git};
use crate::reach::Reach;
use crate::store::checkpoints::{Gap, IndexEntry};
use crate::tool::{self, walk};
use ignore::DirEntry;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The most files that are compared: at one or two µs each a command waits 50 ms at most. In larger projects only the
/// files that the session has changed are compared.
pub(super) const FILES: usize = 20_000;

/// How the project's files are listed.
#[derive(Clone)]
pub(super) enum Listing {
    Git(Reach),
    Walk(Reach),
    /// The project has too many files.
    None,
}

/// A file in git's index.
pub(super) struct Tracked {
    pub(super) path: PathBuf,
    /// `None` for a file in conflict.
    pub(super) entry: Option<IndexEntry>,
    /// Whether git notices when the file changes.
    pub(super) is_watched: bool,
}

/// A repository below the project's root.
pub(super) struct Module {
    pub(super) path: PathBuf,
    /// The commit that git's index has of a submodule.
    pub(super) commit: Option<String>,
}

/// The files after a command.
#[derive(Default)]
pub(super) struct After {
    pub(super) paths: Vec<PathBuf>,
    pub(super) index: BTreeMap<PathBuf, IndexEntry>,
    pub(super) modules: Vec<Module>,
}

/// The files that git does not track or that have changed, and repositories that are no submodules.
#[derive(Default)]
pub(super) struct Others {
    pub(super) files: Vec<PathBuf>,
    pub(super) modules: Vec<PathBuf>,
}

impl Others {
    pub(super) fn of(files: Vec<PathBuf>) -> Others {
        Others { files, modules: Vec::new() }
    }
}

/// The files in git's index. `None` without git.
pub(super) async fn tracked(root: &Path) -> Option<Vec<Tracked>> {
    let listed = git(root, &["ls-files", "-s", "-v", "-z"]).await?;
    Some(listed.split(|it| *it == 0).filter_map(|it| entry(root, it)).collect())
}

/// The files that git does not track, and those that have changed since they were staged.
pub(super) async fn others(root: &Path) -> Option<Others> {
    let listed = git(root, &["ls-files", "-m", "-o", "-z", "--exclude-standard"]).await?;
    Some(Others { files: paths(root, &listed).collect(), modules: nested(root, &listed) })
}

/// The submodules, and other repositories.
pub(super) fn modules(tracked: &[Tracked], others: Vec<PathBuf>) -> Vec<Module> {
    let module = |it: &Tracked| {
        let entry = it.entry.as_ref().filter(|it| it.kind() == "160000")?;
        Some(Module { path: it.path.clone(), commit: Some(entry.name().to_owned()) })
    };
    let others = others.into_iter().map(|path| Module { path, commit: None });
    tracked.iter().filter_map(module).chain(others).collect()
}

/// The files with a filter, if the repository itself configures filters. These are not run, so git would give another
/// content than the file has.
pub(super) async fn filtered(root: &Path) -> BTreeSet<PathBuf> {
    if !tool::git::has_own_filters(root, PATIENCE).await {
        return BTreeSet::new();
    }
    let listed = git(root, &["ls-files", "-z", "--", ":(exclude,attr:!filter)"]).await;
    listed.map(|it| paths(root, &it).collect()).unwrap_or_default()
}

/// The entries of the files that are in no conflict. Submodules are left out.
pub(super) fn index(tracked: &[Tracked]) -> BTreeMap<PathBuf, IndexEntry> {
    let files = tracked.iter().filter_map(|it| Some((it.path.clone(), it.entry.clone()?)));
    files.filter(|it| it.1.kind() != "160000").collect()
}

pub(super) async fn after(root: &Path, listing: &Listing) -> Result<After, Gap> {
    match listing.clone() {
        Listing::Git(_) => {
            let untracked = ["ls-files", "-o", "-z", "--exclude-standard"];
            let (tracked, untracked) = tokio::join!(tracked(root), git(root, &untracked));
            let (tracked, untracked) = tracked.zip(untracked).ok_or(Gap::NotListed)?;
            let modules = modules(&tracked, nested(root, &untracked));
            let mut paths: Vec<PathBuf> = paths(root, &untracked).collect();
            let is_file = |it: &&Tracked| it.entry.as_ref().is_none_or(|it| it.kind() != "160000");
            paths.extend(tracked.iter().filter(is_file).map(|it| it.path.clone()));
            let root = root.to_owned();
            let find = move || {
                let special = special(&root, &paths);
                [paths, special].concat()
            };
            let paths = tokio::task::spawn_blocking(find).await.map_err(|_| Gap::NotListed)?;
            Ok(After { paths, index: index(&tracked), modules })
        }
        Listing::Walk(reach) => {
            let root = root.to_owned();
            let walk = tokio::task::spawn_blocking(move || walked(&reach, &root));
            let paths = walk.await.ok().flatten().ok_or(Gap::NotListed)?;
            Ok(After { paths, ..After::default() })
        }
        Listing::None => Err(Gap::Large),
    }
}

/// The files and links of a folder that is not under git, those of the upper folders first. `None` if there are too
/// many.
pub(super) fn walked(reach: &Reach, root: &Path) -> Option<Vec<PathBuf>> {
    let walk = walk::walker(reach, root).build().flatten();
    let entries: Vec<DirEntry> = walk.take(FILES + 1).collect();
    if entries.len() > FILES {
        return None;
    }
    let is_file = |it: &DirEntry| it.file_type().is_some_and(|it| !it.is_dir());
    let files = entries.into_iter().filter(is_file).map(DirEntry::into_path);
    let mut files: Vec<PathBuf> = files.collect();
    files.sort_by_cached_key(|it| it.components().count());
    Some(files)
}

/// The pipes, sockets and devices beside these files and in the root. Git lists none.
fn special(root: &Path, paths: &[PathBuf]) -> Vec<PathBuf> {
    let folders: BTreeSet<&Path> =
        paths.iter().filter_map(|it| it.parent()).chain([root]).collect();
    let entries = folders.into_iter().flat_map(std::fs::read_dir).flatten().flatten();
    let is_special = |it: &std::fs::DirEntry| {
        it.file_type().is_ok_and(|it| !it.is_dir() && !it.is_file() && !it.is_symlink())
    };
    entries.filter(is_special).map(|it| it.path()).collect()
}

/// Parses a line of `git ls-files -s -v`. A lower-case letter at its beginning says that git does not look at the file;
/// `S` says that the file is not in the working tree.
fn entry(root: &Path, line: &[u8]) -> Option<Tracked> {
    let tab = line.iter().position(|it| *it == b'\t')?;
    let about = std::str::from_utf8(&line[..tab]).ok()?;
    let words: Vec<&str> = about.split(' ').collect();
    let [tag, kind, name, stage] = words[..] else { return None };
    let entry = IndexEntry::new(kind, name).filter(|_| stage == "0");
    let path = root.join(OsStr::from_bytes(&line[tab + 1..]));
    Some(Tracked { path, is_watched: tag == "H" && stage == "0", entry })
}

/// The repositories in a list of git's, which lists no file in them.
fn nested(root: &Path, listed: &[u8]) -> Vec<PathBuf> {
    let names = listed.split(|it| *it == 0).filter_map(|it| it.strip_suffix(b"/"));
    let paths = names.map(|it| root.join(OsStr::from_bytes(it)));
    paths.filter(|it| it.join(".git").symlink_metadata().is_ok()).collect()
}

/// The paths of a list of git's. A folder, which is a repository of its own, is left out.
fn paths<'a>(root: &'a Path, listed: &'a [u8]) -> impl Iterator<Item = PathBuf> + 'a {
    let names = listed.split(|it| *it == 0).filter(|it| !it.is_empty() && !it.ends_with(b"/"));
    names.map(|it| root.join(OsStr::from_bytes(it)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_git_ls_files_are_parsed_with_names_that_are_not_utf8() {
        let name = "78981922613b2afb6025042ff6bd878ac1994e85";
        let read = |line: &[u8]| {
            let it = entry(Path::new("/p"), line)?;
            Some((it.path, it.entry.map(|it| it.kind().to_owned()), it.is_watched))
        };
        let line = |it: &str| format!("{it} {name} 0\ta").into_bytes();
        assert_eq!(read(&line("H 100644")), Some(("/p/a".into(), Some("100644".into()), true)));
        assert_eq!(read(&line("h 100755")), Some(("/p/a".into(), Some("100755".into()), false)));
        assert_eq!(read(&line("S 100644")), Some(("/p/a".into(), Some("100644".into()), false)));
        let conflict = format!("M 100644 {name} 2\ta");
        assert_eq!(read(conflict.as_bytes()), Some(("/p/a".into(), None, false)));
        let odd = [format!("H 100644 {name} 0\t").as_bytes(), b"\xff"].concat();
        assert_eq!(
            read(&odd).map(|it| it.0),
            Some(Path::new("/p").join(OsStr::from_bytes(b"\xff")))
        );
        assert!(read(b"").is_none());
        assert!(paths(Path::new("/p"), b"a\0sub/\0").eq([PathBuf::from("/p/a")]));
    }
}
