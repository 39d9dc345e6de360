//! Where locked links lead, and the links in locked folders. Programs outside of the sandbox follow them, so what they
//! lead to in the project is locked like the link, whether it exists or not.

use super::Places;
use super::repositories::holds_all;
use super::seen::Search;
use crate::reach::{Leading, Lock};
use crate::tool::named::is_git_s_own;
use crate::tool::path::{normal, trail};
use std::collections::VecDeque;
use std::fs;
use std::path::{Path, PathBuf};

/// The most times that the links in what links lead to are searched for.
const ROUNDS: usize = 20;
/// The most entries of locked folders among which links are searched for.
const MOST: usize = 2_000;

impl Places {
    /// The same places, in which also that is locked to which locked links lead. Blocks. The error is a clause.
    pub(super) fn leading(mut self) -> Result<Places, String> {
        for _ in 0..ROUNDS {
            let before = (self.named.len(), self.links.len());
            self.lead()?;
            if before == (self.named.len(), self.links.len()) {
                break;
            }
            self = self.relocked();
        }
        Ok(self)
    }

    fn lead(&mut self) -> Result<(), String> {
        let mut left = MOST;
        for (path, target) in self.found(self.nested.trees(), Search::All)? {
            if target.is_none() {
                for link in links(&path, &mut left) {
                    self.lock(&link, false);
                }
                continue;
            }
            let names = self.names(&path).unwrap_or_default();
            self.lock(&path, self.locks.find(&names) == Some(Lock::Above));
        }
        Ok(())
    }

    /// Locks what a link leads to. `is_above` says that only paths below the link are locked.
    fn lock(&mut self, link: &Path, is_above: bool) {
        let link_names = self.names(link);
        for to in trail(link).unwrap_or_default().into_iter().map(|it| normal(&it)) {
            let Some(names) = self.names(&to).filter(|it| !it.is_empty() && to != link) else {
                continue;
            };
            if names == [".git"] || is_git_s_own(&self.folder(), &to) {
                continue;
            }
            if let Some(link) = link_names.clone().filter(|_| is_above) {
                let leading = Leading { link, to: names };
                if !self.links.contains(&leading) {
                    self.links.push(leading);
                }
            } else if self.locks.unit(&names.join("/")).is_none() && !self.named.contains(&names) {
                self.named.push(names);
            }
        }
    }
}

/// The links in a folder and its subfolders, those in the upper ones first.
fn links(folder: &Path, left: &mut usize) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = VecDeque::from([folder.to_owned()]);
    // repositories of submodules have no links of the user, but very many files
    while let Some(folder) = folders.pop_front().filter(|it| !holds_all(it)) {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            if *left == 0 {
                return found;
            }
            *left -= 1;
            match entry.file_type() {
                Ok(it) if it.is_symlink() => found.push(entry.path()),
                Ok(it) if it.is_dir() => folders.push_back(entry.path()),
                _ => (),
            }
        }
    }
    found
}
