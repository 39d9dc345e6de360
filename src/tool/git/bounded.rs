//! Git ends in time. A command can put a pipe in the place of a file that git reads: then git would wait for ever. Each git
//! is in a process group of its own, which is killed as a whole.

use rustix::process::{Pid, Signal, kill_process_group};
use std::fs;
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::FileTypeExt;
use std::os::unix::process::CommandExt;
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

/// The output of git. After `WAIT` git is killed. Blocks.
pub(in crate::tool) fn output(command: &mut Command) -> io::Result<Output> {
    let command = command.process_group(0).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn()?;
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

/// If a file that git reads is a pipe, a clause that says so. `folders` are those of a repository: that with its references,
/// and what it has for a working tree.
pub(in crate::tool) fn stalled(folders: [&Path; 2]) -> Option<String> {
    let all = READ.iter().flat_map(|it| folders.map(|of| of.join(it)));
    let is_pipe = |it: &PathBuf| fs::metadata(it).is_ok_and(|it| it.file_type().is_fifo());
    let pipe = all.into_iter().find(is_pipe)?;
    let shown = pipe.display().to_string();
    Some(format!(
        "`{}` is a pipe, at which git would wait for ever. Remove it",
        shown.escape_debug()
    ))
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
    }
}
