//! Files `.git` in folders of the project, which lead to the repositories of submodules and worktrees. Git replaces and
//! removes them when it moves such a folder, and it cannot do so if a mount lies on them.

use super::repositories::words;
use super::{Found, Places, fresh};
use crate::regular::direct;
use crate::tool::git::folder_of;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

/// The files without a mount, with their texts when the command began.
pub(super) type Marks = BTreeMap<PathBuf, String>;

/// To whose repository a file `.git` leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Home {
    Submodule,
    Worktree,
}

impl Places {
    /// Whether this file of a worktree or a submodule leads to its own repository, or into that of the project, and
    /// nowhere else.
    pub(super) fn leads_home(&self, path: &Path) -> bool {
        let is_its = path.ends_with("commondir")
            && path.ancestors().nth(2).is_some_and(|it| it.ends_with("worktrees"));
        if is_its {
            return fresh::read(path).is_some_and(|it| it.trim_end() == "../..");
        }
        self.home(path).is_some()
    }

    fn home(&self, path: &Path) -> Option<Home> {
        let is_file = path.symlink_metadata().is_ok_and(|it| it.is_file());
        let tree = path.parent().filter(|it| path.ends_with(".git") && *it != self.root)?;
        let folder = folder_of(tree).filter(|_| is_file)?;
        home(&self.folder(), &folder, path)
    }

    /// The files that have no mount. That of a submodule has one, because git looks into submodules by itself, unless the
    /// user has agreed to a change of the repository.
    pub(super) fn loose(&self, found: &Found) -> Marks {
        let is_loose = |it: &&PathBuf| match self.home(it) {
            Some(Home::Worktree) => true,
            Some(Home::Submodule) => self.is_repository_open(),
            None => false,
        };
        let marks = found.keys().filter(|it| it.ends_with(".git")).filter(is_loose);
        marks.filter_map(|it| Some((it.clone(), fresh::read(it)?))).collect()
    }

    /// Whether the command may change the repository with the user's consent. Then git may also move and remove the
    /// repositories in folders of the project.
    pub(super) fn is_repository_open(&self) -> bool {
        let modules = self.root.join(".gitmodules");
        let git = self.folder();
        self.unlocked.iter().any(|it| it.starts_with(&git) || *it == modules)
    }

    /// Whether a path lies in a repository in a folder of the project.
    pub(super) fn is_nested(&self, path: &Path) -> bool {
        self.nested.trees().iter().any(|it| path.starts_with(it.join(".git")))
    }
}

/// To whose repository in the folder `git` a file `.git` leads that leads to `folder`. Commands write in the repository of
/// a submodule, so a folder in it is no repository, and stays none if they break the one around it. They cannot remove
/// its configuration.
fn home(git: &Path, folder: &Path, path: &Path) -> Option<Home> {
    let names: Vec<String> = words(folder.strip_prefix(git).ok()?).collect();
    let above = match names.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["modules", _, ..] => 1,
        ["worktrees", _, "modules", _, ..] => 3,
        ["worktrees", _] => return is_its(folder, path).then_some(Home::Worktree),
        _ => return None,
    };
    let mut at: PathBuf = git.join(names[..above].iter().collect::<PathBuf>());
    for name in &names[above..] {
        at.push(name);
        if at != folder && at.join("config").symlink_metadata().is_ok() {
            return home(&at, folder, path);
        }
    }
    Some(Home::Submodule)
}

/// Whether the folder of a worktree belongs to this file `.git`.
fn is_its(folder: &Path, mark: &Path) -> bool {
    let text = fresh::read(&folder.join("gitdir")).unwrap_or_default();
    let back = folder.join(text.trim_end()).canonicalize();
    mark.canonicalize().is_ok_and(|it| back.is_ok_and(|back| back == it))
}

impl Places {
    /// Whether git may still be writing this file, or the one that leads back to it: it makes the file first, and writes
    /// its text after, and it moves a worktree before it writes the new place down. Such a file leads nowhere.
    pub(super) fn is_half_written(&self, path: &Path) -> bool {
        let is_empty =
            |it: &Path| it.symlink_metadata().is_ok_and(|it| it.is_file() && it.len() == 0);
        let is_mark = path.ends_with(".git") || path.ends_with("commondir");
        is_mark && is_empty(path) || self.is_on_the_way(path)
    }

    /// Whether this is the file `.git` of a worktree whose folder names a place where nothing is.
    fn is_on_the_way(&self, path: &Path) -> bool {
        let is_file = path.symlink_metadata().is_ok_and(|it| it.is_file());
        let tree = path.parent().filter(|_| is_file && path.ends_with(".git"));
        let Some(own) = tree.and_then(folder_of) else { return false };
        let is_of_worktree = own.parent().is_some_and(|it| it == self.folder().join("worktrees"));
        let named = || fresh::read(&own.join("gitdir")).unwrap_or_default();
        is_of_worktree && own.join(named().trim_end()).symlink_metadata().is_err()
    }
}

/// Writes a file anew that was taken back.
pub(super) fn put_back(path: &Path, marks: &Marks) {
    let Some(text) = marks.get(path) else { return };
    let _ = direct::create(path).and_then(|mut it| it.write_all(text.as_bytes()));
}
