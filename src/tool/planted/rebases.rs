//! What rebases, cherry-picks and reverts that wait for the user have noted. If the user goes on with one, git runs the
//! programs that it names.

use super::Places;
use super::repositories::trees;
use crate::regular;
use crate::tool::git::folder_of;
use std::collections::BTreeSet;
use std::fs::OpenOptions;
use std::io::Read;
use std::path::{Path, PathBuf};

/// The list, in the folder of a repository or in what it has for a worktree.
const LIST: &str = "rebase-merge/git-rebase-todo";
/// The strategy of a rebase, and the settings of a cherry-pick or a revert, which may have a strategy. For a strategy with
/// a slash git runs a program of the project: `git-merge-x/y` for `x/y`.
const STRATEGY: &str = "rebase-merge/strategy";
const SETTINGS: &str = "sequencer/opts";
/// The most bytes of a list that are read.
const LARGEST: u64 = 4_000_000;
/// What stands for the rest of a longer list.
const REST: &str = "(the list is too long to be read)";

impl Places {
    /// The lines of these lists that run programs and that are new since the command began. Blocks.
    pub(in crate::tool) fn rebased(&self) -> Vec<String> {
        self.listing().difference(&self.listed).cloned().collect()
    }

    /// The lines of these lists that run programs, and the strategies that are programs.
    pub(super) fn listing(&self) -> BTreeSet<String> {
        let nested = self.nested.trees().iter().filter_map(|it| folder_of(it));
        let folders: BTreeSet<_> =
            self.modules.iter().cloned().chain(nested).chain([self.folder()]).collect();
        let all = folders.iter().flat_map(|it| trees(it).chain([it.clone()]));
        let programs = |it: PathBuf| {
            let strategies = [strategy(&it.join(STRATEGY)), strategy_of(&it.join(SETTINGS))];
            programs(&it.join(LIST)).into_iter().chain(strategies.into_iter().flatten())
        };
        all.flat_map(programs).collect()
    }
}

fn programs(list: &Path) -> Vec<String> {
    let text = text(list);
    let runs = |it: &&str| matches!(it.split_whitespace().next(), Some("exec" | "x"));
    let found = text.lines().filter(runs).map(|it| it.trim().to_owned());
    let rest = (text.len() as u64 >= LARGEST).then(|| REST.to_owned());
    found.chain(rest).collect()
}

/// The strategy of a rebase, if it is a program of the project.
fn strategy(file: &Path) -> Option<String> {
    let text = text(file);
    text.contains('/').then(|| format!("strategy {}", text.trim()))
}

/// The settings of a cherry-pick or a revert, if a strategy in them may be a program of the project. Git alone reads its
/// own syntax right, so any slash counts.
fn strategy_of(settings: &Path) -> Option<String> {
    let text = text(settings);
    let names = text.to_ascii_lowercase().replace("strategy-option", "");
    let is_one = names.contains("strategy") && names.contains('/');
    is_one.then(|| text.split_whitespace().collect::<Vec<_>>().join(" "))
}

fn text(file: &Path) -> String {
    let mut bytes = Vec::new();
    let open = regular::open_unlinked(OpenOptions::new().read(true), file);
    match open.and_then(|it| it.take(LARGEST).read_to_end(&mut bytes)) {
        Ok(_) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(_) => String::new(),
    }
}
