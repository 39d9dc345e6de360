//! Git in a checkout whose folders are given: git does not look for them. No program runs that a configuration names,
//! also none of the user's own: no hook, no filter, no editor and no program that signs.

use super::{Failure, SETTINGS, bounded, common_of, read};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;
use tokio::process::Command;
use tokio::time::timeout;

/// A pattern for the settings that name programs: filters, and hooks in a configuration.
const PROGRAMS: &str = r"^(filter|hook)\.";
const QUIET: [&str; 9] = [
    "commit.gpgSign=false",
    "core.commitGraph=false",
    "core.safecrlf=false",
    "core.splitIndex=false",
    "core.untrackedCache=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "submodule.recurse=false",
    "worktree.guessRemote=false",
];
/// The beginnings of the variables that git keeps, of those in Caliban's environment that begin with `GIT_`. The others
/// may lead git to another repository: an editor that git has started for a message has some of them.
const KEPT: [&str; 4] = ["GIT_AUTHOR_", "GIT_COMMITTER_", "GIT_CONFIG_", "GIT_EXEC_PATH"];
/// The author of a commit if the user has configured none.
const NAME: &str = "Caliban";
const EMAIL: &str = "caliban@localhost";

#[derive(Debug, Clone)]
pub struct Checkout {
    /// The folder that has the index of the checkout.
    pub git_dir: PathBuf,
    /// The folder that has the files.
    pub tree: PathBuf,
    /// Settings under which the programs that are configured do not run.
    off: Vec<(OsString, &'static str)>,
    is_anonymous: bool,
}

impl Checkout {
    pub async fn new(git_dir: PathBuf, tree: PathBuf, wait: Duration) -> Result<Checkout, Failure> {
        let plain = Checkout { git_dir, tree, off: Vec::new(), is_anonymous: false };
        let listed = ["config", "--includes", "--name-only", "-z", "--get-regexp", PROGRAMS];
        // git fails if there is no such setting
        let listed = match plain.run(listed, wait).await {
            Err(Failure::Refused(why)) if why.is_empty() => Vec::new(),
            listed => listed?,
        };
        let is_anonymous = match plain.run(["var", "GIT_COMMITTER_IDENT"], wait).await {
            Err(Failure::Refused(_)) => true,
            known => known.map(|_| false)?,
        };
        let off = listed.split(|it| *it == 0).filter(|it| !it.is_empty()).map(off).collect();
        Ok(Checkout { off, is_anonymous, ..plain })
    }

    /// Another checkout of the same repository.
    #[must_use]
    pub fn at(&self, git_dir: PathBuf, tree: PathBuf) -> Checkout {
        Checkout { git_dir, tree, ..self.clone() }
    }

    /// The whole output of git, which runs in the checkout's folder.
    pub async fn run<I, S>(&self, arguments: I, wait: Duration) -> Result<Vec<u8>, Failure>
    where
        I: IntoIterator<Item = S>,
        S: AsRef<OsStr>,
    {
        self.beginning(arguments, wait, u64::MAX).await.map(|it| it.0)
    }

    /// The first `most` bytes of git's output, and whether there is more.
    pub async fn beginning<I, S>(
        &self,
        arguments: I,
        wait: Duration,
        most: u64,
    ) -> Result<(Vec<u8>, bool), Failure>
    where
        I: IntoIterator<Item = S>,
        S: AsRef<OsStr>,
    {
        self.stalled()?;
        let mut command = self.command();
        command.args(arguments);
        timeout(wait, read(&mut command, most)).await.unwrap_or(Err(Failure::Slow))
    }

    /// The first line of git's output.
    pub async fn line<I, S>(&self, arguments: I, wait: Duration) -> Result<String, Failure>
    where
        I: IntoIterator<Item = S>,
        S: AsRef<OsStr>,
    {
        let output = self.run(arguments, wait).await?;
        Ok(String::from_utf8_lossy(&output).lines().next().unwrap_or_default().trim().to_owned())
    }

    /// The whole output of git, which gets this input.
    pub async fn fed(
        &self,
        arguments: &[&str],
        input: Vec<u8>,
        wait: Duration,
    ) -> Result<Vec<u8>, Failure> {
        self.stalled()?;
        let (theirs, ours) = io::pipe().map_err(|it| Failure::Refused(it.to_string()))?;
        let mut command = self.command();
        command.args(arguments).stdin(theirs);
        // ends when git has read all, or has ended
        let feeding =
            tokio::task::spawn_blocking(move || File::from(OwnedFd::from(ours)).write_all(&input));
        let output =
            timeout(wait, read(&mut command, u64::MAX)).await.unwrap_or(Err(Failure::Slow));
        drop(command);
        let _ = feeding.await;
        output.map(|it| it.0)
    }

    /// The error says that git would wait for ever.
    fn stalled(&self) -> Result<(), Failure> {
        let common = common_of(&self.git_dir);
        let stalled = bounded::stalled([&self.git_dir, &common]);
        stalled.map_or(Ok(()), |why| Err(Failure::Refused(why)))
    }

    fn command(&self) -> Command {
        let mut command = Command::from(bounded::git());
        command.current_dir(existing(&self.tree));
        for (name, _) in std::env::vars_os() {
            let is_gits = name.as_bytes().starts_with(b"GIT_");
            if is_gits && !KEPT.iter().any(|it| name.as_bytes().starts_with(it.as_bytes())) {
                command.env_remove(name);
            }
        }
        for setting in SETTINGS.iter().chain(&QUIET) {
            command.args(["-c", setting]);
        }
        command.env("GIT_DIR", &self.git_dir).env("GIT_WORK_TREE", &self.tree);
        command.env("GIT_CONFIG_COUNT", self.off.len().to_string());
        for (at, (name, value)) in self.off.iter().enumerate() {
            command.env(format!("GIT_CONFIG_KEY_{at}"), name);
            command.env(format!("GIT_CONFIG_VALUE_{at}"), value);
        }
        if self.is_anonymous {
            for who in ["AUTHOR", "COMMITTER"] {
                command.env(format!("GIT_{who}_NAME"), NAME);
                command.env(format!("GIT_{who}_EMAIL"), EMAIL);
            }
        }
        command.env("GIT_TERMINAL_PROMPT", "0").env("GIT_NO_LAZY_FETCH", "1");
        // a command can have git read other objects in place of these: by references, by a file of commits and trees
        command.env("GIT_NO_REPLACE_OBJECTS", "1").env("GIT_GRAFT_FILE", "/dev/null/none");
        command.env("GIT_EDITOR", "true").env("LC_ALL", "C").stdin(Stdio::null());
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        command
    }
}

/// The folder, or the nearest folder above it that exists.
fn existing(folder: &Path) -> &Path {
    folder.ancestors().find(|it| it.is_dir()).unwrap_or(folder)
}

/// The setting that turns off the program which the setting `name` belongs to.
fn off(name: &[u8]) -> (OsString, &'static str) {
    let owned = |it: &[u8]| OsString::from_vec(it.to_vec());
    match name.iter().rposition(|it| *it == b'.') {
        Some(at) if name.starts_with(b"hook.") => {
            (owned(&[&name[..at], b".enabled"].concat()), "false")
        }
        _ if name.ends_with(b".required") => (owned(name), "false"),
        _ => (owned(name), ""),
    }
}
