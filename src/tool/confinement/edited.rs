//! Edits of files that git's configuration, or a file for the environment of the project, names, and of those to which
//! locked links lead. Programs run these files, so edits of them wait for a review, as those of other locked files do.

use super::Confinement;
use crate::tool::Desk;
use std::collections::BTreeSet;
use std::path::PathBuf;

impl Confinement {
    /// Those of the paths that a configuration names or a locked link leads to; all of them if nobody can tell.
    pub async fn run_by_others(&self, desk: &Desk, paths: BTreeSet<PathBuf>) -> BTreeSet<PathBuf> {
        if paths.is_empty() {
            return paths;
        }
        let Ok(places) = self.places(desk).await else { return paths };
        let locks = places.locks();
        let is_named = |it: &PathBuf| {
            let below = it.strip_prefix(&desk.root).ok().and_then(|it| it.to_str());
            below.is_none_or(|it| locks.unit(it).is_some())
        };
        paths.into_iter().filter(is_named).collect()
    }
}
