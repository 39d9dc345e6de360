//! The lists of rebases that wait for the user. `git rebase --continue` runs the programs that they name.

use super::Places;
use super::repositories::trees;
use crate::regular;
use crate::tool::git::folder_of;
use std::collections::BTreeSet;
use std::fs::OpenOptions;
use std::io::Read;
use std::path::Path;

/// The list, in the folder of a repository or in what it has for a worktree.
const LIST: &str = "rebase-merge/git-rebase-todo";
/// The most bytes of a list that are read.
const LARGEST: u64 = 4_000_000;
/// What stands for the rest of a longer list.
const REST: &str = "(the list is too long to be read)";

impl Places {
    /// The lines of these lists that run programs and that are new since the command began. Blocks.
    pub(in crate::tool) fn rebased(&self) -> Vec<String> {
        self.listing().difference(&self.listed).cloned().collect()
    }

    /// The lines of these lists that run programs.
    pub(super) fn listing(&self) -> BTreeSet<String> {
        let nested = self.nested.trees().iter().filter_map(|it| folder_of(it));
        let folders: BTreeSet<_> =
            self.modules.iter().cloned().chain(nested).chain([self.folder()]).collect();
        let all = folders.iter().flat_map(|it| trees(it).chain([it.clone()]));
        all.flat_map(|it| programs(&it.join(LIST))).collect()
    }
}

fn programs(list: &Path) -> Vec<String> {
    let mut bytes = Vec::new();
    let open = regular::open_unlinked(OpenOptions::new().read(true), list);
    if open.and_then(|it| it.take(LARGEST).read_to_end(&mut bytes)).is_err() {
        return Vec::new();
    }
    let text = String::from_utf8_lossy(&bytes);
    let runs = |it: &&str| matches!(it.split_whitespace().next(), Some("exec" | "x"));
    let found = text.lines().filter(runs).map(|it| it.trim().to_owned());
    let rest = (bytes.len() as u64 >= LARGEST).then(|| REST.to_owned());
    found.chain(rest).collect()
}
