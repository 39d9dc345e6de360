//! Edits of files that git's configuration, or a file for the environment of the project, names. Programs run these files,
//! so edits of them wait for a review, as those of other locked files do.

use super::{Confinement, named, of_worktree};
use crate::tool::Desk;
use crate::tool::planted::Places;
use std::collections::BTreeSet;
use std::path::PathBuf;

impl Confinement {
    /// Those of the paths that a configuration names; all of them if git does not tell.
    pub async fn run_by_others(&self, desk: &Desk, paths: BTreeSet<PathBuf>) -> BTreeSet<PathBuf> {
        if paths.is_empty() {
            return paths;
        }
        let common = of_worktree(&desk.root);
        let (git, home) = (common.as_deref(), desk.home.as_deref());
        let Ok(named) = named(&desk.root, git, home, &self.listed, &self.starts).await else {
            return paths;
        };
        let locks = Places::new(&desk.root, common).naming(&named).locks();
        let is_named = |it: &PathBuf| {
            let below = it.strip_prefix(&desk.root).ok().and_then(|it| it.to_str());
            below.is_none_or(|it| locks.unit(it).is_some())
        };
        paths.into_iter().filter(is_named).collect()
    }
}
