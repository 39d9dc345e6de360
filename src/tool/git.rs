//! Runs git. The repository is not trusted: commands that the repository's own configuration names are never run (file
//! system monitor, filters, diff drivers, the fetching of missing objects). Filters from the user's configuration (such
//! as LFS) run as usual. Git takes no locks that could block another git command of the user.

pub(super) mod baseline;
pub(super) mod bounded;
pub(super) mod brought;
pub mod checkout;
pub mod gate;
pub mod head;
pub(super) mod held;

mod clone;
mod glance;
mod invocation;
mod look;
mod options;
mod patch;
mod proof;
pub(super) mod remotes;
pub(super) mod settings;
mod signing;
mod touched;

pub(super) use invocation::is_git_alone;
pub(super) use look::looked;

use crate::leash;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::time::Duration;
use tokio::io::AsyncReadExt;
use tokio::process::Command;
use tokio::time::timeout;

/// A pattern for git settings that name commands which convert the content of files.
const FILTERS: &str = r"^filter\.";
/// The most bytes of an error message that are read.
const COMPLAINT: u64 = 4096;
/// Settings of each git that Caliban starts for itself: git runs none of the programs that a repository's configuration
/// names, and leaves the settings of repositories inside of the repository alone. Drivers of diffs have names of the
/// repository's own; `--no-ext-diff` and `--no-textconv` turn these off.
const SETTINGS: [&str; 18] = [
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.alternateRefsCommand=",
    "core.askPass=",
    "core.gitProxy=",
    "core.pager=cat",
    "core.sshCommand=false",
    "credential.helper=",
    "diff.submodule=short",
    "gpg.program=false",
    "gpg.openpgp.program=false",
    "gpg.ssh.program=false",
    "gpg.x509.program=false",
    "log.showSignature=false",
    "protocol.allow=never",
    "safe.bareRepository=explicit",
    // git of the user's may refuse a folder of somebody else's, but that must not hide what is in it
    "safe.directory=*",
    "submodule.recurse=false",
];

/// Why git gave no output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// Git is not installed.
    Missing,
    /// Git did not end in time.
    Slow,
    /// Git failed. The text is the first line of its error message; it may be empty.
    Refused(String),
}

impl Failure {
    /// A clause for the model and the user.
    pub(super) fn clause(&self) -> String {
        let said = self.say();
        said.strip_prefix("git: ").unwrap_or(&said).trim_end_matches('.').to_owned()
    }

    /// A sentence for the model and the user.
    pub fn say(&self) -> String {
        match self {
            Failure::Missing => "git is not installed.".to_owned(),
            Failure::Slow => "git did not finish in time.".to_owned(),
            Failure::Refused(why) if why.is_empty() => "git failed without a message.".to_owned(),
            Failure::Refused(why) => format!("git: {}.", why.trim_end_matches('.')),
        }
    }
}

/// Whether the repository itself configures filters, which are not run.
pub async fn has_own_filters(root: &Path, wait: Duration) -> bool {
    let listed = timeout(wait, configured(root)).await.unwrap_or(Err(Failure::Slow));
    listed.is_ok_and(|it| !filters(&it).is_empty())
}

/// The names of all settings of filters, each after its scope.
async fn configured(root: &Path) -> Result<Vec<u8>, Failure> {
    let listed =
        ["config", "--includes", "--show-scope", "--name-only", "-z", "--get-regexp", FILTERS];
    // git fails if there is no such setting
    match read(&mut plain(root, &listed), u64::MAX).await {
        Ok((listed, _)) => Ok(listed),
        Err(Failure::Refused(why)) if why.is_empty() => Ok(Vec::new()),
        Err(why) => Err(why),
    }
}

/// The whole output of git.
pub async fn output(root: &Path, arguments: &[&str], wait: Duration) -> Result<Vec<u8>, Failure> {
    Ok(beginning(root, arguments, wait, u64::MAX).await?.0)
}

/// The first `most` bytes of git's output, and whether there is more.
pub async fn beginning(
    root: &Path,
    arguments: &[&str],
    wait: Duration,
    most: u64,
) -> Result<(Vec<u8>, bool), Failure> {
    let stalled = |git: PathBuf| bounded::stalled([&git, &common_of(&git)]);
    if let Some(why) = folder_of(top(root)).and_then(stalled) {
        return Err(Failure::Refused(why));
    }
    let run = async {
        let listed = configured(root).await?;
        let mut command = plain(root, arguments);
        let named = filters(&listed);
        command.env("GIT_CONFIG_COUNT", named.len().to_string());
        for (at, name) in named.iter().enumerate() {
            let value = if name.ends_with(b".required") { "false" } else { "" };
            command.env(format!("GIT_CONFIG_KEY_{at}"), OsStr::from_bytes(name));
            command.env(format!("GIT_CONFIG_VALUE_{at}"), value);
        }
        read(&mut command, most).await
    };
    timeout(wait, run).await.unwrap_or(Err(Failure::Slow))
}

/// The folders that the index of a working tree has as commits: submodules and other repositories. `None` if git could not
/// read the index: it may be able to later. Blocks. The error says that git did not end in time.
pub(super) fn linked(tree: &Path) -> io::Result<Option<Vec<PathBuf>>> {
    let mut command = plain(tree, &["ls-files", "--stage", "-z"]);
    let output = match bounded::output(command.as_std_mut()) {
        Ok(it) if it.status.success() => it.stdout,
        Ok(it) if it.status.code() == Some(leash::MISSING) => return Ok(Some(Vec::new())),
        Err(fault) if fault.kind() == io::ErrorKind::NotFound => return Ok(Some(Vec::new())),
        Err(fault) if fault.kind() == io::ErrorKind::TimedOut => return Err(fault),
        _ => return Ok(None),
    };
    let link = |it: &[u8]| {
        let at = it.iter().position(|it| *it == b'\t')?;
        it.starts_with(b"160000 ").then(|| tree.join(OsStr::from_bytes(&it[at + 1..])))
    };
    Ok(Some(output.split(|it| *it == 0).filter_map(link).collect()))
}

/// What git has printed, nothing if git failed. The error says that git did not end in time.
fn in_time(output: io::Result<Output>) -> io::Result<Vec<u8>> {
    match output {
        Ok(it) => Ok(it.stdout),
        Err(fault) if fault.kind() == io::ErrorKind::TimedOut => Err(fault),
        Err(_) => Ok(Vec::new()),
    }
}

/// The names of the local branches of a repository, given by its folder, a line for each. `None` if git does not tell them.
/// Blocks.
fn branches(git: &Path) -> Option<Vec<u8>> {
    let heads = ["for-each-ref", "--format=%(refname:lstrip=2)", "refs/heads"];
    let mut command = plain(git, &heads);
    let output = bounded::output(command.as_std_mut().env("GIT_DIR", git)).ok()?;
    output.status.success().then_some(output.stdout)
}

fn plain(root: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::from(bounded::git());
    command.current_dir(root).env("GIT_WORK_TREE", top(root));
    for setting in SETTINGS {
        command.args(["-c", setting]);
    }
    command.args(arguments).env("GIT_OPTIONAL_LOCKS", "0").env("GIT_TERMINAL_PROMPT", "0");
    command.env("GIT_NO_LAZY_FETCH", "1").env("LC_ALL", "C").stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    command
}

/// The working tree of the repository that contains `root`: the folder with `.git`. Git is not asked, because the
/// repository's own settings may name another folder outside of the project.
pub(super) fn top(root: &Path) -> &Path {
    root.ancestors().find(|it| it.join(".git").symlink_metadata().is_ok()).unwrap_or(root)
}

/// The folder of the repository to which a working tree belongs, or of its part for this tree.
pub(super) fn folder_of(tree: &Path) -> Option<PathBuf> {
    let mark = tree.join(".git");
    if mark.symlink_metadata().ok()?.is_dir() {
        return Some(mark);
    }
    let text = crate::regular::read_to_string(&mark).ok()?;
    tree.join(text.strip_prefix("gitdir: ")?.trim_end()).canonicalize().ok()
}

/// The folder of a repository with its references, of that of one of its working trees.
pub(super) fn common_of(git: &Path) -> PathBuf {
    let text = crate::regular::read_to_string(&git.join("commondir")).ok();
    text.map_or_else(|| git.to_owned(), |it| git.join(it.trim_end()))
}

pub(super) async fn read(command: &mut Command, most: u64) -> Result<(Vec<u8>, bool), Failure> {
    let failed = |fault: &io::Error| match fault.kind() {
        io::ErrorKind::NotFound => Failure::Missing,
        _ => Failure::Refused(fault.to_string()),
    };
    let mut child = command.spawn().map_err(|it| failed(&it))?;
    let group = bounded::Group::new(child.id());
    let (Some(stdout), Some(stderr)) = (child.stdout.take(), child.stderr.take()) else {
        return Err(Failure::Refused(String::new()));
    };
    // the error output is read at the same time as the output, because git would wait if nobody read it
    let complaint = tokio::spawn(async move {
        let mut head = Vec::new();
        let mut stderr = stderr.take(COMPLAINT);
        let _ = stderr.read_to_end(&mut head).await;
        let _ = tokio::io::copy(&mut stderr.into_inner(), &mut tokio::io::sink()).await;
        head
    });
    let mut output = Vec::new();
    let mut stdout = stdout.take(most.saturating_add(1));
    stdout.read_to_end(&mut output).await.map_err(|it| failed(&it))?;
    if u64::try_from(output.len()).unwrap_or(u64::MAX) > most {
        // git is killed when the child is dropped
        output.pop();
        return Ok((output, true));
    }
    let status = child.wait().await.map_err(|it| failed(&it))?;
    group.release();
    match status.code() {
        Some(0) => return Ok((output, false)),
        Some(leash::MISSING) => return Err(Failure::Missing),
        _ => (),
    }
    let complaint = complaint.await.unwrap_or_default();
    let complaint = String::from_utf8_lossy(&complaint);
    Err(Failure::Refused(complaint.lines().next().unwrap_or_default().to_owned()))
}

/// From the output of `git config --show-scope --name-only -z`, the names of the settings that the repository has set,
/// not the user or the system.
fn filters(listed: &[u8]) -> BTreeSet<&[u8]> {
    let words: Vec<&[u8]> = listed.split(|it| *it == 0).collect();
    let is_users = |scope: &[u8]| matches!(scope, b"system" | b"global" | b"command");
    words.chunks_exact(2).filter(|it| !is_users(it[0])).map(|it| it[1]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn git_filters_that_the_repository_itself_configures_are_found() {
        let listed =
            b"global\0filter.lfs.clean\0local\0filter.a=b\nc.clean\0worktree\0filter.x.process\0\
            local\0filter.a=b\nc.clean\0";
        let named = [&b"filter.a=b\nc.clean"[..], b"filter.x.process"];
        assert!(filters(listed).into_iter().eq(named));
        assert!(filters(b"").is_empty());
    }
}
