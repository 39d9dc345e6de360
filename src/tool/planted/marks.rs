//! Files `.git` in folders of the project, which lead to the repositories of submodules and worktrees. Git replaces and
//! removes them when it moves such a folder, and it cannot do so if a mount lies on them.

use super::repositories::words;
use super::{Found, Places, fresh};
use crate::regular::direct;
use crate::tool::git::folder_of;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::time::sleep;

/// The time for which a file may be half written.
const MOMENT: Duration = Duration::from_millis(10);

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
    /// Does the same as `leads_home` once git is done. Git writes such a file in two steps, so an answer of no is not the
    /// last one.
    pub(super) async fn leads_home_at_last(&self, path: &Path) -> bool {
        let is_one = || path.ends_with(".git") || path.ends_with("commondir");
        if self.leads_home(path) {
            return true;
        }
        if !is_one() {
            return false;
        }
        sleep(MOMENT).await;
        self.leads_home(path)
    }
}

/// Writes a file anew that was taken back.
pub(super) fn put_back(path: &Path, marks: &Marks) {
    let Some(text) = marks.get(path) else { return };
    let _ = direct::create(path).and_then(|mut it| it.write_all(text.as_bytes()));
}
