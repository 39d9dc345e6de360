//! A repository that a command makes, at the root or where git looks from there. It stays as long as git runs no program because of it, and pushes into
//! no folder of this machine, whose hooks would run.

use crate::regular;
use crate::tool::git::settings;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, OpenOptions};
use std::io::Read;
use std::path::{Path, PathBuf};

/// A configuration of this many bytes or more is not read, but counts as one that names programs.
const LARGEST: u64 = 100_000;

pub(super) struct Fresh {
    /// The folders of the repositories that were there before the command.
    old: BTreeSet<PathBuf>,
    /// The last configuration of each repository, and whether it is harmless.
    last: BTreeMap<PathBuf, (String, bool)>,
}

/// The folder of a repository in which a path lies, be it a bare one.
fn folder(path: &Path) -> Option<&Path> {
    let is_one =
        |it: &&Path| it.file_name().is_some_and(|it| it.as_encoded_bytes().ends_with(b".git"));
    path.ancestors().skip(1).find(is_one)
}

impl Fresh {
    /// `before` are the locked paths that were there before the command.
    pub(super) fn new<'a>(before: impl Iterator<Item = &'a PathBuf>) -> Fresh {
        let old = before.filter_map(|it| folder(it)).map(Path::to_owned).collect();
        Fresh { old, last: BTreeMap::new() }
    }

    /// Whether the path belongs to such a repository.
    pub(super) async fn has(&mut self, path: &Path) -> bool {
        let Some(folder) = folder(path).filter(|it| !self.old.contains(*it)) else { return false };
        match path.strip_prefix(folder).ok().and_then(Path::to_str) {
            Some("config") => self.is_harmless(path).await,
            Some("branches" | "hooks" | "remotes") => is_without_hooks(path),
            _ => false,
        }
    }

    /// Whether git runs no program because of this configuration. Git itself reads it.
    async fn is_harmless(&mut self, path: &Path) -> bool {
        let Some(text) = read(path) else { return false };
        if let Some((_, is_harmless)) = self.last.get(path).filter(|it| it.0 == text) {
            return *is_harmless;
        }
        let asked = text.clone();
        let asking = tokio::task::spawn_blocking(move || settings::is_fresh(&asked));
        let is_harmless = asking.await.unwrap_or(false);
        self.last.insert(path.to_owned(), (text, is_harmless));
        is_harmless
    }
}

/// The text of a small file that is no link.
pub(super) fn read(path: &Path) -> Option<String> {
    let mut text = String::new();
    let file = regular::open_unlinked(OpenOptions::new().read(true), path).ok()?;
    file.take(LARGEST).read_to_string(&mut text).ok()?;
    ((text.len() as u64) < LARGEST).then_some(text)
}

/// Whether a folder, which is no link, is empty or has only the samples of hooks that git itself puts there.
fn is_without_hooks(path: &Path) -> bool {
    let is_sample = |it: std::io::Result<fs::DirEntry>| {
        it.is_ok_and(|it| it.file_name().to_string_lossy().ends_with(".sample"))
    };
    path.symlink_metadata().is_ok_and(|it| it.is_dir())
        && fs::read_dir(path).is_ok_and(|mut all| all.all(is_sample))
}
