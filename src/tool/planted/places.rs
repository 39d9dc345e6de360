//! The folders of a command in which locked paths may lie, and the locked paths that exist there.

use super::agreed::{Agreed, writing};
use super::nested::{Nested, is_bare};
use super::repositories::{inside, words};
use super::seen::{Found, Search};
use crate::reach::{Leading, Locks};
use crate::tool::git;
use crate::tool::git::remotes::{Added, Origins};
use crate::tool::git::settings;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::NamedTempFile;
use tokio::sync::watch;

/// The folders of a command in which locked paths may lie.
#[derive(Clone)]
pub(in crate::tool) struct Places {
    pub(super) root: PathBuf,
    /// The folder of the repository, if the root is a worktree of it.
    common: Option<PathBuf>,
    /// Locked paths that the command may change with the user's consent.
    pub(super) unlocked: Vec<PathBuf>,
    pub(super) locks: Arc<Locks>,
    /// The names in the locked paths that configurations name.
    pub(super) named: Vec<Vec<String>>,
    /// The links above locked paths.
    pub(super) links: Vec<Leading>,
    /// The repositories in folders of the project, when the command begins.
    pub(super) nested: Nested,
    /// The folders of the repositories of submodules, when the command begins.
    pub(super) modules: Vec<PathBuf>,
    /// The programs in the lists of rebases that wait when the command begins.
    pub(super) listed: BTreeSet<String>,
}

/// What no command writes.
#[derive(Default)]
pub(in crate::tool) struct Fixed {
    pub(in crate::tool) paths: Vec<PathBuf>,
    /// Folders around a link, which no mount protects, and the folders in locked ones in which commands write.
    pub(in crate::tool) pinned: Vec<PathBuf>,
}

impl Places {
    pub(in crate::tool) fn new(root: &Path, common: Option<PathBuf>) -> Places {
        Places {
            root: root.to_owned(),
            common,
            unlocked: Vec::new(),
            locks: Arc::default(),
            named: Vec::new(),
            links: Vec::new(),
            nested: Nested::default(),
            modules: Vec::new(),
            listed: BTreeSet::new(),
        }
    }

    /// The same places. These paths are locked too.
    pub(in crate::tool) fn naming(mut self, paths: &[PathBuf]) -> Places {
        self.named = paths.iter().filter_map(|it| self.names(it)).collect();
        self.relocked()
    }

    /// The same places, with the locks for what is named, and for where links lead.
    pub(super) fn relocked(self) -> Places {
        let locks = Locks::new().naming(&self.named).leading(&self.links);
        Places { locks: Arc::new(locks), ..self }
    }

    /// The names in a path below the root, or below the folder of the repository.
    pub(super) fn names(&self, path: &Path) -> Option<Vec<String>> {
        let common = self.common.as_ref().and_then(|of| path.strip_prefix(of).ok());
        let (first, rest) = match common {
            Some(rest) => (Some(".git"), rest),
            None => (None, path.strip_prefix(&self.root).ok()?),
        };
        Some(first.map(str::to_owned).into_iter().chain(words(rest)).collect())
    }

    pub(in crate::tool) fn named(&self) -> &[Vec<String>] {
        &self.named
    }

    /// The links above locked paths, and where they lead.
    pub(in crate::tool) fn links(&self) -> &[Leading] {
        &self.links
    }

    pub(in crate::tool) fn locks(&self) -> Arc<Locks> {
        self.locks.clone()
    }

    /// The same places, with the repositories in folders of the project that git looks into now, and with what locked
    /// links lead to. Blocks. The error is a clause.
    pub(in crate::tool) fn nesting(mut self, mut nested: Nested) -> Result<Places, String> {
        nested.forget();
        self.renew(&mut nested)?;
        self.nested = nested;
        let mut places = self.opening().leading()?;
        places.listed = places.listing();
        Ok(places)
    }

    /// Looks for these repositories again. The error is a clause.
    pub(super) fn renew(&self, nested: &mut Nested) -> Result<(), String> {
        nested.look(git::top(&self.root), &self.root, &self.folder())
    }

    /// The repositories in folders of the project.
    pub(in crate::tool) fn nested(&self) -> &Nested {
        &self.nested
    }

    /// The same places. The command may change these locked paths.
    pub(in crate::tool) fn unlocking(mut self, paths: &[String]) -> Places {
        let units = paths.iter().filter_map(|it| self.locks.unit(it));
        let git = self.folder();
        let place = |it: String| match Path::new(&it).strip_prefix(".git") {
            Ok(below) => git.join(below),
            Err(_) => self.root.join(it),
        };
        self.unlocked = units.map(place).collect();
        self
    }

    /// The locked paths that exist and that no command writes, and folders that stay in place. The error is a clause.
    pub(in crate::tool) fn locked(&self) -> Result<Fixed, String> {
        let found = self.found(self.nested.trees(), Search::All)?;
        let (loose, is_open) = (self.loose(&found), self.is_repository_open());
        let mut fixed = Fixed::default();
        fixed.pinned.extend(self.open_modules().cloned());
        for (path, target) in found {
            if loose.contains_key(&path) || is_open && self.is_nested(&path) {
                continue;
            }
            let above = path.parent().filter(|it| target.is_some() && *it != self.root);
            fixed.pinned.extend(above.map(Path::to_owned));
            // a mount on a link lies on what the link leads to, of which only some paths may be locked
            let names = self.names(&path);
            let is_above = self.links.iter().any(|it| Some(&it.link) == names.as_ref());
            fixed.paths.extend((!is_above).then_some(path));
        }
        Ok(fixed)
    }

    /// The locked paths that exist. `trees` are the working trees of repositories in folders of the project.
    pub(super) fn found(&self, trees: &[PathBuf], search: Search) -> Result<Found, String> {
        let mut found = Found::new();
        search.look(&self.locks, &self.root, Vec::new(), &mut found)?;
        if let Some(common) = &self.common {
            search.look(&self.locks, common, inside(), &mut found)?;
        }
        let locks = Locks::of_repository();
        for tree in trees {
            search.look(&locks, tree, Vec::new(), &mut found)?;
        }
        if is_bare(&self.root) {
            search.look(&locks, &self.root, inside(), &mut found)?;
        }
        // a file `.git` may lead to any folder of the project
        for tree in trees.iter().chain([&self.root]) {
            let is_apart = |it: &PathBuf| it.starts_with(&self.root) && !it.ends_with(".git");
            let is_apart = |it: &PathBuf| is_apart(it) && !it.starts_with(self.root.join(".git"));
            if let Some(folder) = git::folder_of(tree).filter(is_apart) {
                search.look(&locks, &folder, inside(), &mut found)?;
            }
        }
        for it in &self.modules {
            search.look(&locks, it, inside(), &mut found)?;
        }
        found.retain(|it, _| !self.is_unlocked(it));
        Ok(found)
    }

    /// Answers git, if it asks for a change of a repository's configuration. Returns the remotes that this adds.
    pub(super) fn answer(
        &self,
        settings: &NamedTempFile,
        known: &Origins,
        agreed: &watch::Sender<Agreed>,
    ) -> Vec<Added> {
        let Ok(mut channel) = settings.as_file().try_clone() else { return Vec::new() };
        let Some(wanted) = settings::wanted(&mut channel) else { return Vec::new() };
        let mut own = self.open_modules().map(|it| it.join("config")).chain([self.configuration()]);
        let Some(file) = own.find(|it| wanted.is_for(it)) else {
            return wanted.refuse(&mut channel);
        };
        writing(agreed, &file, || wanted.carry(&mut channel, known))
    }

    /// The configuration of the repository.
    pub(in crate::tool) fn configuration(&self) -> PathBuf {
        self.folder().join("config")
    }

    /// The folder of the repository.
    pub(in crate::tool) fn folder(&self) -> PathBuf {
        self.common.clone().unwrap_or_else(|| self.root.join(".git"))
    }
}
