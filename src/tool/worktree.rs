//! A git worktree in which a subagent works apart from the user's files: a second checkout of the repository's last
//! commit, on a branch of its own. It lies in the repository's own folder, so no search and no list of files shows it.

mod changes;
mod left;
mod repository;
#[cfg(test)]
mod tests;

pub use changes::{Change, Content, Entry, Mode};
pub use left::{Left, left_over};

use super::git::Failure;
use super::git::checkout::Checkout;
use changes::changes;
use repository::{BRIEF, FOLDER, PATIENCE, Repository};
use std::ffi::OsStr;
use std::fs::{self, DirBuilder, File, TryLockError};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// The branches of worktrees begin with this.
pub const BRANCH: &str = "caliban/";
/// The most bytes of a worktree's name, without its number.
const LONGEST: usize = 60;
/// The most characters of a commit's title.
const TITLE: usize = 100;
/// The number of names that are tried for a worktree.
const NAMES: u32 = 200;
/// The most paths that one call of git is given.
const PATHS: usize = 200;

/// A worktree. It is locked until this value is dropped, so that no other Caliban takes it for an abandoned one.
#[derive(Debug)]
pub struct Worktree {
    /// The user's checkout.
    main: Checkout,
    own: Checkout,
    name: String,
    /// The commit with which the worktree began.
    base: String,
    mark: Mark,
}

/// A file beside the worktree that has the commit with which it began. The file is locked while the worktree is in use.
#[derive(Debug)]
struct Mark {
    path: PathBuf,
    _lock: File,
}

/// The changes that were made in a worktree, as its branch has them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Committed {
    pub commit: String,
    pub changes: Vec<Change>,
    /// The number of changed files and lines, in git's words.
    pub stat: String,
}

impl Worktree {
    /// Makes a worktree of the repository at `root`, with the last commit. `stem` is what its name begins with. The error
    /// is a sentence.
    pub async fn create(root: &Path, stem: &str) -> Result<Worktree, String> {
        let Repository { main, common } = Repository::at(root).await?;
        let commit = main.line(["rev-parse", "--verify", "-q", "HEAD^{commit}"], BRIEF).await;
        let base = match commit {
            Ok(base) if is_object(&base) => base,
            Ok(_) | Err(Failure::Refused(_)) => {
                return Err("The repository has no commit yet, so no worktree can be made.".into());
            }
            Err(why) => return Err(why.say()),
        };
        let place = common.join(FOLDER);
        let made = DirBuilder::new().recursive(true).mode(0o700).create(&place);
        made.map_err(|fault| unwritable(&place, &fault))?;
        if place.is_symlink() {
            return Err(format!("{} is a symbolic link.", place.display()));
        }
        let (name, mark) = reserve(&main, &place, stem, &base).await?;
        let folder = place.join(&name);
        let branch = format!("{BRANCH}{name}");
        let add = ["worktree", "add", "--quiet", "--no-track", "-b", &branch, "--"].map(OsStr::new);
        let add = add.into_iter().chain([folder.as_os_str(), OsStr::new(&base)]);
        let added = main.run(add, PATIENCE).await;
        let own =
            added.map_err(|it| it.say()).and_then(|_| repository::of_worktree(&folder, &common));
        let git_dir = own.as_ref().cloned().unwrap_or_default();
        let own_checkout = main.at(git_dir, folder);
        let worktree = Worktree { main, own: own_checkout, name, base, mark };
        match own {
            Ok(_) => Ok(worktree),
            Err(why) => {
                let _ = worktree.remove(None).await;
                Err(why)
            }
        }
    }

    /// The folder with the worktree's files.
    pub fn folder(&self) -> &Path {
        &self.own.tree
    }

    pub fn branch(&self) -> String {
        format!("{BRANCH}{}", self.name)
    }

    /// The abbreviated hash of the commit with which the worktree began.
    pub fn began(&self) -> &str {
        self.base.get(..10).unwrap_or(&self.base)
    }

    /// Commits everything on the branch. `also` are files that are committed even if git ignores them. `None` if nothing
    /// has changed since the beginning.
    pub async fn commit(&self, title: &str, also: &[PathBuf]) -> Result<Option<Committed>, String> {
        let said = |it: Failure| it.say();
        self.own.run(["add", "-A", "--sparse"], PATIENCE).await.map_err(said)?;
        let there: Vec<&PathBuf> = also.iter().filter(|it| it.is_file()).collect();
        for paths in there.chunks(PATHS) {
            let add = ["--literal-pathspecs", "add", "-f", "--sparse", "--"].map(OsStr::new);
            // git refuses a file in a nested repository; the branch then has the rest
            let _ = self
                .own
                .run(add.into_iter().chain(paths.iter().map(|it| it.as_os_str())), PATIENCE)
                .await;
        }
        let tree = self.own.line(["write-tree"], PATIENCE).await.map_err(said)?;
        let head = self
            .own
            .line(["rev-parse", "--verify", "-q", "HEAD^{commit}"], BRIEF)
            .await
            .map_err(said)?;
        let old = self
            .own
            .line(["rev-parse", "--verify", "-q", "HEAD^{tree}"], BRIEF)
            .await
            .map_err(said)?;
        let commit = if tree == old {
            head
        } else {
            let title = plain(title);
            let commit =
                ["commit-tree", &tree, "-p", &head, "-m", &title, "-m", "Made by Caliban."];
            self.own.line(commit, BRIEF).await.map_err(said)?
        };
        let reference = format!("refs/heads/{}", self.branch());
        self.own
            .run(["update-ref", "-m", "caliban", &reference, &commit], BRIEF)
            .await
            .map_err(said)?;
        let (changes, stat) = changes(&self.own, &self.base, &commit).await.map_err(said)?;
        let is_changed = !changes.is_empty();
        Ok(is_changed.then_some(Committed { commit, changes, stat }))
    }

    /// The content of a file as git has it.
    pub async fn content(&self, entry: &Entry) -> Result<Content, String> {
        Content::of(&self.own, entry).await.map_err(|it| it.say())
    }

    /// Removes the worktree. The branch is removed too if it still ends with `commit`, or with the commit with which the
    /// worktree began. The error says why the files are still there.
    pub async fn remove(self, commit: Option<&str>) -> Result<(), String> {
        let Worktree { main, own, name, base, mark } = self;
        remove(&main, &own.tree).await?;
        let reference = format!("refs/heads/{BRANCH}{name}");
        for it in [commit, Some(&base)].into_iter().flatten() {
            // fails if the branch does not end with this commit
            let _ = main.run(["update-ref", "-d", &reference, it], BRIEF).await;
        }
        // the mark is not needed any more, and a later start removes it if this fails
        let _ = fs::remove_file(&mark.path);
        Ok(())
    }
}

/// Removes the files of a worktree, and makes git forget it.
async fn remove(main: &Checkout, folder: &Path) -> Result<(), String> {
    let remove = ["worktree", "remove", "--force", "--force", "--"].map(OsStr::new);
    let removed = main.run(remove.into_iter().chain([folder.as_os_str()]), PATIENCE).await;
    if removed.is_err() && folder.symlink_metadata().is_ok() {
        let gone = folder.to_owned();
        let gone = tokio::task::spawn_blocking(move || fs::remove_dir_all(gone)).await;
        let gone = gone.map_err(io::Error::other).and_then(|it| it);
        gone.map_err(|fault| unwritable(folder, &fault))?;
    }
    if removed.is_err() {
        let _ = main.run(["worktree", "prune"], BRIEF).await;
    }
    Ok(())
}

/// Finds a name that neither a worktree nor a branch has, and marks it as taken.
async fn reserve(
    main: &Checkout,
    place: &Path,
    stem: &str,
    base: &str,
) -> Result<(String, Mark), String> {
    let stem = slug(stem);
    for n in 1..NAMES {
        let name = if n == 1 { stem.clone() } else { format!("{stem}-{n}") };
        if place.join(&name).symlink_metadata().is_ok() {
            continue;
        }
        let reference = format!("refs/heads/{BRANCH}{name}");
        match main.run(["show-ref", "--verify", "--quiet", &reference], BRIEF).await {
            Ok(_) => continue,
            Err(Failure::Refused(_)) => (),
            Err(why) => return Err(why.say()),
        }
        let path = place.join(format!("{name}.base"));
        match mark(&path, base) {
            Ok(lock) => return Ok((name, Mark { path, _lock: lock })),
            Err(fault) if fault.kind() == io::ErrorKind::AlreadyExists => (),
            Err(fault) => return Err(unwritable(&path, &fault)),
        }
    }
    Err(format!("{} has too many worktrees.", place.display()))
}

/// Writes and locks a new mark.
fn mark(path: &Path, base: &str) -> io::Result<File> {
    let mut file =
        File::options().read(true).write(true).create_new(true).mode(0o600).open(path)?;
    match file.try_lock() {
        // some file systems have no locks
        Ok(()) | Err(TryLockError::Error(_)) => (),
        Err(TryLockError::WouldBlock) => return Err(io::ErrorKind::AlreadyExists.into()),
    }
    writeln!(file, "{base}")?;
    Ok(file)
}

/// A name of letters, digits, `-` and `_`, which no command takes for an option.
fn slug(stem: &str) -> String {
    let plain = |it: char| if it.is_ascii_alphanumeric() || it == '_' { it } else { '-' };
    let slug: String = stem.chars().take(LONGEST).map(plain).collect();
    let slug = slug.trim_matches('-');
    if slug.is_empty() { "worker".to_owned() } else { slug.to_owned() }
}

/// The title of a commit: one line without control characters.
fn plain(title: &str) -> String {
    let plain = |it: char| if it.is_control() { ' ' } else { it };
    let title: String = title.chars().take(TITLE).map(plain).collect();
    if title.trim().is_empty() { "Changes".to_owned() } else { title.trim().to_owned() }
}

/// Whether a text is the name of an object of git.
fn is_object(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|it| it.is_ascii_hexdigit())
}

fn unwritable(path: &Path, fault: &io::Error) -> String {
    format!("{} cannot be written: {}.", path.display(), crate::text::cause(fault))
}
