//! Finds the repository of a project. A `.git` that leads to the repository of another folder is refused: otherwise a
//! stranger's project could bring another project's files into a worktree.

use super::super::git::checkout::Checkout;
use super::super::git::{self, Failure};
use crate::regular;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The longest wait for git, which may have to write or read all files of the repository.
pub(super) const PATIENCE: Duration = Duration::from_secs(120);

/// The longest wait for git when it looks something up.
pub(super) const BRIEF: Duration = Duration::from_secs(10);

/// The folder of worktrees in the repository's own folder.
pub(super) const FOLDER: &str = "caliban-worktrees";

pub(super) struct Repository {
    /// The user's checkout.
    pub(super) main: Checkout,
    /// The folder that all checkouts of the repository share.
    pub(super) common: PathBuf,
}

/// The folders of a checkout.
pub(super) struct Folders {
    git_dir: PathBuf,
    pub(super) common: PathBuf,
}

impl Repository {
    /// The repository that is checked out at `root`. The error is a sentence.
    pub(super) async fn at(root: &Path) -> Result<Repository, String> {
        let Folders { git_dir, common } = folders(root)?;
        // git itself refuses a repository that belongs to another user
        let found = git::output(root, &["rev-parse", "--absolute-git-dir"], BRIEF).await;
        let found = match found {
            Err(Failure::Refused(why)) => return Err(Failure::Refused(why).say()),
            found => found.map_err(|it| it.say())?,
        };
        let found = PathBuf::from(String::from_utf8_lossy(&found).trim_end_matches('\n'));
        if found.canonicalize().ok() != git_dir.canonicalize().ok() {
            return Err(format!(
                "For {}, git finds a repository other than the one that its `.git` names.",
                root.display()
            ));
        }
        let main = Checkout::new(git_dir, root.to_owned(), BRIEF).await.map_err(|it| it.say())?;
        Ok(Repository { main, common })
    }
}

/// The folders of the checkout at `root`, as its `.git` says. Runs nothing.
pub(super) fn folders(root: &Path) -> Result<Folders, String> {
    let mark = root.join(".git");
    let elsewhere = || {
        Err(format!(
            "{} leads to a repository that does not know this folder, so no worktree can be made.",
            mark.display()
        ))
    };
    match mark.symlink_metadata() {
        Err(_) => Err(format!(
            "{} is not the top folder of a git checkout, so no worktree can be made.",
            root.display()
        )),
        Ok(it) if it.is_symlink() => elsewhere(),
        Ok(it) if it.is_dir() && mark.join("commondir").symlink_metadata().is_ok() => elsewhere(),
        Ok(it) if it.is_dir() => Ok(Folders { git_dir: mark.clone(), common: mark }),
        Ok(_) => {
            let Some(git_dir) = led(&mark) else { return elsewhere() };
            match common(&git_dir, &mark) {
                Some(common) => Ok(Folders { git_dir, common }),
                None if is_submodule(&git_dir, root) => {
                    Ok(Folders { common: git_dir.clone(), git_dir })
                }
                None => elsewhere(),
            }
        }
    }
}

/// Git's own folder for a worktree that has just been made.
pub(super) fn of_worktree(folder: &Path, common_dir: &Path) -> Result<PathBuf, String> {
    let mark = folder.join(".git");
    let git_dir =
        led(&mark).filter(|it| common(it, &mark).is_some_and(|it| is_same(&it, common_dir)));
    git_dir.ok_or_else(|| format!("git made no worktree in {}.", folder.display()))
}

/// Where a file `.git` leads.
fn led(mark: &Path) -> Option<PathBuf> {
    mark.parent()?.join(text(mark)?.strip_prefix("gitdir: ")?.trim_end()).canonicalize().ok()
}

/// The folder that a worktree shares with its repository, if the repository knows the worktree.
fn common(git_dir: &Path, mark: &Path) -> Option<PathBuf> {
    let back = git_dir.join(text(&git_dir.join("gitdir"))?.trim_end());
    let common = git_dir.join(text(&git_dir.join("commondir"))?.trim_end()).canonicalize().ok()?;
    let is_listed = git_dir.parent()? == common.join("worktrees");
    (is_listed && is_same(&back, mark) && common.join("HEAD").is_file()).then_some(common)
}

/// Whether git's folder belongs to a submodule at `root`: its configuration names `root` as the working tree.
fn is_submodule(git_dir: &Path, root: &Path) -> bool {
    let config = text(&git_dir.join("config")).unwrap_or_default();
    let mut lines = config.lines().map(str::trim).filter_map(|it| it.split_once('='));
    let back = lines.find(|it| it.0.trim().eq_ignore_ascii_case("worktree"));
    back.is_some_and(|(_, path)| is_same(&git_dir.join(path.trim()), root))
}

fn is_same(one: &Path, other: &Path) -> bool {
    one.canonicalize().ok().is_some_and(|it| other.canonicalize().ok() == Some(it))
}

fn text(path: &Path) -> Option<String> {
    String::from_utf8(regular::read(path).ok()?).ok()
}
