//! What is locked in the repositories of submodules, and where these repositories lie.

use super::nested::is_bare;
use super::seen::{Found, Search};
use super::tracked::{Marks, marks};
use crate::reach::Locks;
use std::fs::{self, DirEntry};
use std::path::{Path, PathBuf};

/// The folder of these repositories in the folder of another one.
const FOLDER: &str = "modules";

/// The folder of worktrees in the folder of a repository.
const TREES: &str = "worktrees";

/// The most folders between the folder of all and that of one. The name of a submodule may have slashes.
const LEVELS: u32 = 8;

/// The name of git's own folder, to which the locks of a repository apply.
pub(super) fn inside() -> Vec<String> {
    vec![".git".to_owned()]
}

/// The names in a path.
pub(super) fn words(path: &Path) -> impl Iterator<Item = String> {
    path.iter().map(|it| it.to_string_lossy().into_owned())
}

/// The locked paths in the folder of a repository. The error is a clause.
pub(super) fn locked(git: &Path) -> Result<Found, String> {
    let mut found = Found::new();
    Search::All.look(&Locks::of_repository(), git, inside(), &mut found)?;
    Ok(found)
}

/// Whether this is the folder of all these repositories.
pub(super) fn holds_all(folder: &Path) -> bool {
    let mut above = folder.ancestors().skip(1);
    let (own, repository) = (above.next(), above.nth(1));
    folder.ends_with(FOLDER)
        && (own.is_some_and(is_bare)
            || own.and_then(Path::parent).is_some_and(|it| it.ends_with(TREES))
                && repository.is_some_and(is_bare))
}

/// What tells whether a locked path has changed. In the repositories of submodules only the locked paths count, because
/// commands work in these repositories.
pub(super) fn left(path: &Path) -> Option<Marks> {
    if !holds_all(path) {
        return marks(path);
    }
    let (mut all, mut open) = (Marks::new(), Vec::new());
    below(path, LEVELS, &mut open);
    while let Some(git) = open.pop() {
        for path in locked(&git).ok()?.keys().filter(|it| !holds_all(it)) {
            all.extend(marks(path)?);
        }
        open.extend(repositories(&git));
        all.insert(git, String::new());
    }
    Some(all)
}

/// What a repository has for each of its worktrees.
pub(super) fn trees(git: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    entries(&git.join(TREES)).map(|it| it.path())
}

/// The repositories of submodules in the folder of a repository.
pub(super) fn repositories(git: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for it in trees(git).chain([git.to_owned()]) {
        below(&it.join(FOLDER), LEVELS, &mut found);
    }
    found
}

/// The folders in a folder that is no link. Links among them are left out.
fn entries(folder: &Path) -> impl Iterator<Item = DirEntry> + use<> {
    let is_real = folder.symlink_metadata().is_ok_and(|it| it.is_dir());
    let all = is_real.then(|| fs::read_dir(folder).ok()).flatten();
    all.into_iter().flatten().flatten().filter(|it| it.file_type().is_ok_and(|it| it.is_dir()))
}

fn below(folder: &Path, levels: u32, found: &mut Vec<PathBuf>) {
    for it in entries(folder).map(|it| it.path()) {
        if is_bare(&it) {
            found.push(it);
        } else if levels > 0 && it.join("config").symlink_metadata().is_err() {
            // a command can break such a repository, but never remove its configuration
            below(&it, levels - 1, found);
        }
    }
}
