//! The repositories of submodules, which lie in git's own folder. Commands work in them as in the project's own, so there
//! only that is locked which is locked in each repository. The folders around them stay locked as a whole.

use super::Places;
use super::repositories::{inside, locked, repositories, words};
use crate::reach::Lock;
use crate::regular;
use crate::tool::git::{bounded, folder_of};
use std::collections::VecDeque;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};
use std::process::Stdio;

/// The most repositories that commands can work in.
const MOST: usize = 200;
impl Places {
    /// The same places, with the repositories of submodules that are there now. Blocks.
    pub(super) fn opening(mut self) -> Places {
        let is_apart = |it: &PathBuf| it.starts_with(&self.root) && !it.starts_with(self.folder());
        let apart = self.nested.trees().iter().filter_map(|it| folder_of(it)).filter(is_apart);
        let mut left: VecDeque<PathBuf> = [self.folder()].into_iter().chain(apart).collect();
        let mut found = Vec::new();
        while let Some(git) = left.pop_front().filter(|_| found.len() < MOST) {
            let inner = repositories(&git);
            left.extend(inner.iter().cloned());
            found.extend(inner);
        }
        self.modules = found;
        self
    }

    /// The innermost repository of a submodule in which a path lies.
    pub(super) fn module(&self, path: &Path) -> Option<&PathBuf> {
        path.ancestors().find_map(|it| self.modules.iter().find(|of| *of == it))
    }

    /// The repositories of submodules in which only some paths are locked.
    pub(in crate::tool) fn open_modules(&self) -> impl Iterator<Item = &PathBuf> {
        self.modules.iter().filter(|it| !self.is_unlocked(it))
    }

    /// Whether the user has agreed to a change of the path, or of a folder around it.
    pub(super) fn is_unlocked(&self, path: &Path) -> bool {
        self.unlocked.iter().any(|it| path.starts_with(it))
    }

    /// The paths in these repositories that are locked in each repository, but to whose change the user has agreed.
    pub(super) fn unlocked_in_modules(&self) -> Vec<PathBuf> {
        let now = self.clone().opening();
        let all = now.modules.iter().filter_map(|it| locked(it).ok()).flatten();
        all.map(|it| it.0).filter(|it| self.is_unlocked(it)).collect()
    }

    /// Why a path is locked. The reason follows the path's name in a sentence.
    pub(super) fn why(&self, path: &Path) -> Option<&'static str> {
        let names = match self.module(path).and_then(|it| path.strip_prefix(it).ok()) {
            Some(below) => inside().into_iter().chain(words(below)).collect(),
            None => self.names(path)?,
        };
        match self.locks.find(&names) {
            Some(Lock::Whole(why)) => Some(why),
            _ => None,
        }
    }
}

/// The folders for hooks that the configurations of submodules name, if they lie below the root. Git runs these hooks in
/// the working trees of the submodules. `git` is the folder of the project's repository. Blocks.
pub(in crate::tool) fn hooks(root: &Path, git: &Path) -> Vec<PathBuf> {
    let mut left: VecDeque<PathBuf> = [git.to_owned()].into();
    let (mut found, mut count) = (Vec::new(), 0);
    while let Some(git) = left.pop_front().filter(|_| count <= MOST) {
        for module in repositories(&git) {
            count += 1;
            let file = module.join("config");
            let text = regular::read_to_string(&file).unwrap_or_default();
            if text.to_ascii_lowercase().contains("hookspath") {
                let tree =
                    value(&file, "core.worktree").map_or(module.clone(), |it| module.join(it));
                let folder = value(&file, "core.hooksPath").map(|it| normal(&tree.join(it)));
                found.extend(folder.filter(|it| it.starts_with(root) && it != root));
            }
            left.push_back(module);
        }
    }
    found
}

/// The same path without `..`.
fn normal(path: &Path) -> PathBuf {
    path.components().fold(PathBuf::new(), |mut all, it| {
        if it == Component::ParentDir {
            all.pop();
        } else {
            all.push(it);
        }
        all
    })
}

/// The value of a setting in a file, as git reads it: `~` stands for the home folder.
fn value(file: &Path, name: &str) -> Option<PathBuf> {
    let mut command = bounded::git();
    command.args(["config", "--no-includes", "--file"]).arg(file).args(["--path", "--get", name]);
    let said = bounded::output(command.current_dir("/").stdin(Stdio::null())).ok()?.stdout;
    let line = said.strip_suffix(b"\n")?;
    Some(PathBuf::from(OsStr::from_bytes(line)))
}
