//! A server's process, under a supervisor, so that nothing of it is left when it is dropped.

use super::definition::Program;
use super::host::Host;
use crate::supervisor::{self, Supervised};
use crate::text::cause;
use rustix::fs::{CWD, Mode, mkfifoat};
use rustix::io::ioctl_fionbio;
use std::collections::VecDeque;
use std::env;
use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::Stdio;
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe::{OpenOptions, Receiver, Sender};
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// The shell that gives the program its own standard error, and how: the supervisor knows only one output.
const SHELL: &str = "/bin/sh";
const SCRIPT: &str = "exec 2>\"$0\"; exec \"$@\"";
/// How much of the standard error is kept.
const TAIL: usize = 4_000;

/// A running server. Dropping it ends the server with all that it has started.
pub(super) struct Process {
    _supervised: Supervised,
    errors: watch::Receiver<VecDeque<u8>>,
    reading: JoinHandle<()>,
    _folder: tempfile::TempDir,
}

/// What a server writes and reads.
pub(super) type Streams = (Receiver, Sender);

impl Process {
    /// The error is the end of a sentence about the server.
    pub(super) async fn start(
        host: &Host,
        program: &Program,
    ) -> Result<(Process, Streams), String> {
        let cwd = program.cwd.as_deref().unwrap_or(&host.root);
        if !cwd.is_dir() {
            return Err(format!("is not started: there is no folder {}", cwd.display()));
        }
        if !has_program(program, cwd) {
            return Err(format!("is not started: there is no program {}", program.command));
        }
        let started = Process::begin(host, program, cwd).await;
        started.map_err(|fault| format!("cannot be started: {}", cause(&fault)))
    }

    async fn begin(host: &Host, program: &Program, cwd: &Path) -> io::Result<(Process, Streams)> {
        let folder = tempfile::tempdir()?;
        let place = folder.path().join("errors");
        mkfifoat(CWD, &place, Mode::RUSR | Mode::WUSR)?;
        // open before the shell opens its end, which would wait else
        let read = OpenOptions::new().open_receiver(&place)?;
        let mut command = supervisor::command(&host.program, Path::new(SHELL), None)?;
        command.args(["-c", SCRIPT]).arg(&place).arg(&program.command).args(&program.args);
        command.current_dir(cwd);
        (host.withhold)(&mut command);
        command.envs(&program.env);
        let (output, theirs) = io::pipe()?;
        command.stdout(Stdio::from(theirs));
        let (theirs, input) = io::pipe()?;
        command.stderr(Stdio::from(theirs));
        let (output, input) = (OwnedFd::from(output), OwnedFd::from(input));
        for it in [&output, &input] {
            ioctl_fionbio(it, true)?;
        }
        let supervised = Supervised::start(command).await?;
        let (kept, errors) = watch::channel(VecDeque::new());
        let reading = tokio::spawn(keep(read, kept));
        let process = Process { _supervised: supervised, errors, reading, _folder: folder };
        Ok((process, (Receiver::from_owned_fd(output)?, Sender::from_owned_fd(input)?)))
    }

    /// The last lines that the server has written to its standard error.
    pub(super) fn errors(&self) -> String {
        let bytes: Vec<u8> = self.errors.borrow().iter().copied().collect();
        String::from_utf8_lossy(&bytes).trim().to_owned()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.reading.abort();
    }
}

/// Whether the shell will find the program: by its path, or in a folder of `PATH`.
fn has_program(program: &Program, cwd: &Path) -> bool {
    let command = Path::new(&program.command);
    if program.command.contains('/') {
        return cwd.join(command).is_file();
    }
    let path = program.env.get("PATH").map(OsString::from).or_else(|| env::var_os("PATH"));
    env::split_paths(&path.unwrap_or_default()).any(|it| cwd.join(it).join(command).is_file())
}

/// Keeps the end of what a pipe brings.
async fn keep(mut pipe: Receiver, kept: watch::Sender<VecDeque<u8>>) {
    let mut buffer = [0; 4_096];
    while let Ok(count @ 1..) = pipe.read(&mut buffer).await {
        kept.send_modify(|kept| {
            kept.extend(&buffer[..count]);
            let over = kept.len().saturating_sub(TAIL);
            kept.drain(..over);
        });
    }
}
