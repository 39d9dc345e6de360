//! Git ends in time. A command can put a pipe in the place of a file that git reads: then git would wait for ever. Each git
//! is in a process group of its own, which is killed as a whole, and on a leash, so that none outlives Caliban.

use crate::leash;
use rustix::process::{Pid, Signal, kill_process_group};
use std::fs;
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// The longest time for a git process whose caller blocks.
const WAIT: Duration = Duration::from_secs(10);
/// Files in git's folder that git reads in nearly each command.
const READ: [&str; 14] = [
    "HEAD",
    "ORIG_HEAD",
    "commondir",
    "config",
    "config.worktree",
    "index",
    "info/attributes",
    "info/exclude",
    "info/grafts",
    "info/sparse-checkout",
    "objects/info/alternates",
    "objects/info/commit-graph",
    "packed-refs",
    "shallow",
];

/// The command that starts git. Everything of Caliban's that starts git outside of the sandbox begins here.
pub(in crate::tool) fn git() -> Command {
    leash::command("git")
}

/// The output of git, which gets this input. After `WAIT` git is killed. Blocks.
pub(in crate::tool) fn fed(command: &mut Command, input: Vec<u8>) -> io::Result<Output> {
    let (theirs, mut ours) = io::pipe()?;
    command.stdin(theirs);
    // ends when git has read all, or has ended and the command is dropped
    thread::spawn(move || ours.write_all(&input));
    let output = output(command);
    command.stdin(Stdio::null());
    output
}

/// The output of git. After `WAIT` git is killed. Blocks.
pub(in crate::tool) fn output(command: &mut Command) -> io::Result<Output> {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
    let Some(mut stdout) = child.stdout.take() else { return child.wait_with_output() };
    let (sender, output) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let read = stdout.read_to_end(&mut bytes).map(|_| bytes);
        // the send fails if nobody waits any more
        let _ = sender.send(read);
    });
    if let Ok(stdout) = output.recv_timeout(WAIT) {
        let (stdout, status) = (stdout?, child.wait()?);
        return Ok(Output { status, stdout, stderr: Vec::new() });
    }
    drop(Group::new(Some(child.id())));
    let _ = child.wait();
    Err(io::Error::new(ErrorKind::TimedOut, format!("git did not end within {WAIT:?}")))
}

/// The process group of a git that runs. When this is dropped, the group is killed.
pub(super) struct Group(Option<Pid>);

impl Group {
    pub(super) fn new(id: Option<u32>) -> Group {
        let id = id.and_then(|it| i32::try_from(it).ok());
        Group(id.and_then(Pid::from_raw))
    }

    /// Git has ended and was waited for, so another process may have its number.
    pub(super) fn release(mut self) {
        self.0 = None;
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if let Some(group) = self.0 {
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}

/// The most entries below `refs` among which a pipe is searched for, and the most levels of folders.
const REFERENCES: usize = 20_000;
const LEVELS: usize = 12;

/// If a file that git reads is a pipe, a clause that says so. `folders` are those of a repository: that with its references,
/// and what it has for a working tree.
pub(in crate::tool) fn stalled(folders: [&Path; 2]) -> Option<String> {
    let all = READ.iter().flat_map(|it| folders.map(|of| of.join(it)));
    let is_pipe = |it: &PathBuf| fs::metadata(it).is_ok_and(|it| it.file_type().is_fifo());
    let pipe = all.into_iter().find(is_pipe).or_else(|| folders.into_iter().find_map(waiting))?;
    let shown = pipe.display().to_string();
    Some(format!(
        "`{}` is a pipe, at which git would wait for ever. Remove it",
        shown.escape_debug()
    ))
}

/// A pipe among the references of a repository.
fn waiting(git: &Path) -> Option<PathBuf> {
    let mut left = vec![(git.join("refs"), LEVELS)];
    let mut count = 0;
    while let Some((folder, levels)) = left.pop() {
        for it in fs::read_dir(folder).into_iter().flatten().flatten() {
            count += 1;
            match it.file_type() {
                Ok(kind) if kind.is_fifo() => return Some(it.path()),
                Ok(kind) if kind.is_dir() && levels > 0 && count < REFERENCES => {
                    left.push((it.path(), levels - 1));
                }
                _ => (),
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_git_that_ends_gives_its_output_and_leaves_nothing() {
        let said = output(Command::new("git").arg("--version")).unwrap();
        assert!(said.status.success() && said.stdout.starts_with(b"git version"));
    }

    #[test]
    fn a_pipe_in_the_place_of_a_file_that_git_reads_is_found() {
        let dir = tempfile::tempdir().unwrap();
        let folders = [dir.path(); 2];
        assert_eq!(stalled(folders), None);
        let made = Command::new("mkfifo").arg(dir.path().join("packed-refs")).status().unwrap();
        assert!(made.success());
        assert!(stalled(folders).unwrap().contains("packed-refs` is a pipe"));
        fs::remove_file(dir.path().join("packed-refs")).unwrap();
        fs::create_dir_all(dir.path().join("refs/heads/a")).unwrap();
        let made = Command::new("mkfifo").arg(dir.path().join("refs/heads/a/b")).status().unwrap();
        assert!(made.success() && stalled(folders).unwrap().contains("refs/heads/a/b` is a pipe"));
    }
}
