//! Repositories within the project: submodules, clones and worktrees. A rewind does not change them, so a change is only
//! named.

use super::files::{self, FILES, Module};
use super::seen::Stamp;
use crate::agent::checkpoints::Planned;
use crate::reach::Reach;
use crate::store::checkpoints::Content;
use crate::tool::git::head;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The state of each repository.
#[derive(Debug, Default)]
pub(super) struct Modules(BTreeMap<PathBuf, State>);

#[derive(Debug, PartialEq, Eq)]
struct State {
    commit: Option<String>,
    /// What is checked out, and when that last changed.
    head: (Option<String>, Option<Stamp>),
    files: BTreeMap<PathBuf, Stamp>,
}

/// What is not the same as before.
#[derive(Debug, Default)]
pub(super) struct Differing {
    pub(super) modules: Vec<PathBuf>,
    /// The files in them that differ.
    pub(super) files: BTreeSet<PathBuf>,
}

impl Modules {
    /// Blocks. At most as many files are compared as in the project; repositories with more are left out.
    pub(super) fn look(reach: &Reach, all: Vec<Module>) -> Modules {
        let mut room = FILES;
        let of = |it: Module| {
            let found = files::walked(reach, &it.path).filter(|it| it.len() <= room)?;
            room -= found.len();
            let files = found.into_iter().map(|it| (it.clone(), Stamp::of(&it))).collect();
            // without this, a submodule that is not checked out would have the state of the project
            let is_there = it.path.join(".git").symlink_metadata().is_ok();
            let at = Some(&it.path).filter(|_| is_there);
            let log = at.and_then(|it| head::log(it)).map(|it| Stamp::of(&it));
            let head = (at.and_then(|it| head::branch_in_file(it)), log);
            Some((it.path, State { commit: it.commit, head, files }))
        };
        Modules(all.into_iter().filter_map(of).collect())
    }

    /// Whether the file lies in one of the repositories.
    pub(super) fn hold(&self, path: &Path) -> bool {
        path.ancestors().skip(1).any(|it| self.0.contains_key(it))
    }

    pub(super) fn differing(&self, now: &Modules) -> Differing {
        let mut differing = Differing::default();
        let none = BTreeMap::new();
        for path in self.0.keys().chain(now.0.keys()).collect::<BTreeSet<_>>() {
            let sides = [self.0.get(path), now.0.get(path)];
            if sides[0] == sides[1] {
                continue;
            }
            differing.modules.push(path.clone());
            let [before, after] = sides.map(|it| it.map_or(&none, |it| &it.files));
            let all = before.keys().chain(after.keys());
            let files = all.filter(|it| before.get(*it) != after.get(*it)).cloned();
            differing.files.extend(files);
        }
        differing
    }
}

/// The change of a repository, which no rewind takes back.
pub(super) fn planned(path: PathBuf) -> Planned {
    let why = "is in a repository of its own, which no rewind changes";
    let after = Content::at(&path);
    Planned {
        before: Err(why.to_owned()),
        after,
        ..Planned::new(path, Content::Absent, Content::Absent)
    }
}
