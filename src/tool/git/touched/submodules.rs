//! What git changes of submodules.

use super::super::glance::Glance;
use super::super::invocation::Invocation;
use super::{CONFIG, Look};
use std::path::Path;

/// The folder of the submodules' repositories in git's folder.
const MODULES: &str = "modules";
/// The list of submodules at the top of the working tree.
const LIST: &str = ".gitmodules";
/// Subcommands that change the working trees of submodules if an option or the configuration says so.
const RECURSING: [&str; 6] = ["checkout", "pull", "read-tree", "reset", "restore", "switch"];
/// How the index lists a commit of another repository.
const LINK: &str = "160000 ";

/// Whether git would move the repository of a submodule out of the submodule's folder. No command can, because git's
/// folder of the project is a mount of its own.
pub(in crate::tool::git) fn moves_repository(it: &Invocation, git: &Path) -> bool {
    let words = it.plain(&[]);
    let after = it.paths().unwrap_or_default().iter().map(String::as_str);
    let named = match (it.verb.as_str(), words.first()) {
        ("rm", _) if !it.has(&["--cached", "--dry-run", "-n"]) => words.as_slice(),
        ("submodule", Some(&("absorbgitdirs" | "deinit"))) => &words[1..],
        _ => return false,
    };
    let Some(glance) = Glance::new(git, &it.globals) else { return false };
    let named: Vec<&str> = named.iter().copied().chain(after).collect();
    let stage = [&["ls-files", "--stage", "--full-name", "-z", "--"], named.as_slice()].concat();
    glance.paths(&stage).iter().any(|it| {
        let path = it.strip_prefix(LINK).and_then(|it| it.split_once('\t'));
        path.is_some_and(|(_, path)| glance.top.join(path).join(".git").is_dir())
    })
}

impl Look<'_> {
    /// What git changes besides if a submodule is among these paths.
    pub(super) fn modules(&self, paths: &[&str]) -> Vec<String> {
        let stage = [&["ls-files", "--stage", "-z", "--"], paths].concat();
        let has_module = self.glance.paths(&stage).iter().any(|it| it.starts_with(LINK));
        if has_module { self.with_list(&[MODULES]) } else { Vec::new() }
    }

    /// What git changes besides if it also checks out the submodules.
    pub(super) fn recursing(&self) -> Vec<String> {
        let setting = ["config", "--type=bool", "--get", "submodule.recurse"];
        let is_set = || self.glance.line(&setting).is_some_and(|it| it == "true");
        let is_on = || {
            self.it.has(&["--recurse-submodules"])
                || !self.it.has(&["--no-recurse-submodules"]) && is_set()
        };
        let modules = || self.inside(&[MODULES]).into_iter().filter(|it| Path::new(it).is_dir());
        let does = RECURSING.contains(&self.it.verb.as_str()) && is_on();
        if does { modules().collect() } else { Vec::new() }
    }

    pub(super) fn submodule(&self) -> Vec<String> {
        match self.it.plain(&[]).first().copied() {
            Some("add" | "set-url" | "set-branch") => self.with_list(&[CONFIG, MODULES]),
            // an update writes `core.worktree` anew into the configuration of each submodule
            Some("update" | "sync" | "absorbgitdirs") => self.inside(&[CONFIG, MODULES]),
            Some("init" | "deinit") => self.inside(&[CONFIG]),
            _ => Vec::new(),
        }
    }

    /// These paths in git's folder, and the list of submodules.
    fn with_list(&self, names: &[&str]) -> Vec<String> {
        self.inside(names).into_iter().chain([LIST.to_owned()]).collect()
    }
}
