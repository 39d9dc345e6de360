//! What rebases, cherry-picks, reverts and series of patches that wait for the user have noted. If the user goes on with
//! one, git runs the programs that it names, and makes files of its patches.

use super::Places;
use super::repositories::trees;
use crate::reach::Locks;
use crate::regular;
use crate::tool::git::{bounded, folder_of};
use std::collections::BTreeSet;
use std::collections::hash_map::DefaultHasher;
use std::fs::{self, OpenOptions};
use std::hash::{Hash, Hasher};
use std::io::Read;
use std::path::{Path, PathBuf};

/// The list, in the folder of a repository or in what it has for a worktree.
const LIST: &str = "rebase-merge/git-rebase-todo";
/// The strategy of a rebase, and the settings of a cherry-pick or a revert, which may have a strategy. For a strategy with
/// a slash git runs a program of the project: `git-merge-x/y` for `x/y`.
const STRATEGY: &str = "rebase-merge/strategy";
const SETTINGS: &str = "sequencer/opts";
/// The folder of `git am` and of some rebases. The patches in it have numbers for names; the file has options for each.
const PATCHES: &str = "rebase-apply";
const OPTIONS: &str = "rebase-apply/apply-opt";
/// What stands before the hash of a content. It is never shown.
const MARK: char = '\0';
/// The most bytes of a list that are read.
const LARGEST: u64 = 4_000_000;
/// What stands for the rest of a longer list.
const REST: &str = "(the list is too long to be read)";

impl Places {
    /// The lines of these lists that run programs and the patches of locked files that are new since the command began.
    /// Blocks.
    pub(in crate::tool) fn rebased(&self) -> Vec<String> {
        let now = self.listing();
        let shown = |it: &String| it.split(MARK).next().unwrap_or_default().to_owned();
        let new: BTreeSet<String> = now.difference(&self.listed).map(shown).collect();
        new.into_iter().collect()
    }

    /// The lines of these lists that run programs, the strategies that are programs, and the patches of locked files.
    pub(super) fn listing(&self) -> BTreeSet<String> {
        let nested = self.nested.trees().iter().filter_map(|it| folder_of(it));
        let folders: BTreeSet<_> =
            self.modules.iter().cloned().chain(nested).chain([self.folder()]).collect();
        let all = folders.iter().flat_map(|it| trees(it).chain([it.clone()]));
        let programs = |it: PathBuf| {
            let strategies = [strategy(&it.join(STRATEGY)), strategy_of(&it.join(SETTINGS))];
            let strategies = strategies.into_iter().flatten();
            programs(&it.join(LIST)).into_iter().chain(strategies).chain(patches(&it, &self.locks))
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

/// The patches in the folder of a repository that change locked files, and options by which they may change others than
/// they name.
fn patches(git: &Path, locks: &Locks) -> Vec<String> {
    let mut found = Vec::new();
    for it in fs::read_dir(git.join(PATCHES)).into_iter().flatten().flatten() {
        let name = it.file_name().to_string_lossy().into_owned();
        if !name.bytes().all(|it| it.is_ascii_digit()) {
            continue;
        }
        let text = text(&it.path());
        let mut hash = DefaultHasher::new();
        text.hash(&mut hash);
        let hash = hash.finish();
        // the patch may lie below a folder for git, or above one
        let is_locked = |path: &String| {
            let mut parts = path.match_indices('/').map(|it| &path[it.0 + 1..]);
            locks.unit(path).is_some() || parts.any(|it| locks.unit(it).is_some())
        };
        let what = match changed(&text) {
            Some(paths) => paths.into_iter().filter(is_locked).collect::<Vec<_>>().join(", "),
            None => "files that git does not tell".to_owned(),
        };
        if !what.is_empty() {
            found.push(format!("patch {name} of {what}{MARK}{hash}"));
        }
    }
    let options = text(&git.join(OPTIONS));
    let is_leading = ["-p", "--directory", "--include"].iter().any(|it| options.contains(it));
    let shown = options.trim().replace('\'', "");
    found.extend(is_leading.then(|| format!("patches with {shown}")));
    found
}

/// The paths that a patch in a mail changes, as git reads it. `None` if git reads none.
fn changed(mail: &str) -> Option<BTreeSet<String>> {
    let folder = tempfile::tempdir().ok()?;
    let (message, decoded) = (folder.path().join("message"), folder.path().join("patch"));
    let mut reading = bounded::git();
    reading.arg("mailinfo").args([&message, &decoded]).current_dir(folder.path());
    let read = bounded::fed(&mut reading, mail.as_bytes().to_vec()).ok()?;
    let decoded = if read.status.success() { text(&decoded) } else { String::new() };
    let mut paths = BTreeSet::new();
    let mut is_read = false;
    for it in [mail, &decoded] {
        for direction in [&[][..], &["-R"]] {
            let mut counting = bounded::git();
            counting.args(["apply", "--numstat", "-z"]).args(direction).current_dir(folder.path());
            let said = bounded::fed(&mut counting, it.as_bytes().to_vec()).ok()?;
            is_read |= said.status.success();
            let said = String::from_utf8_lossy(&said.stdout).into_owned();
            let entries = said.split('\0').filter_map(|it| it.splitn(3, '\t').nth(2));
            paths.extend(entries.map(str::to_owned));
        }
    }
    is_read.then_some(paths)
}
