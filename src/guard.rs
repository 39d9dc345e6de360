//! What a command starts ends with it. Between the program and each command stands a guard: this program
//! again, as a small process of its own that adopts what the command leaves behind, and kills all of it when
//! its socket closes, because the program wants so or because the program itself was killed. If a command kills
//! its guard, its processes become children of the program, which knows them by a mark and kills them.

mod orphans;

use crate::text::cause;
use rustix::process::{Pid, Signal, WaitOptions, kill_process, kill_process_group, wait};
use std::env::{self, ArgsOs};
use std::ffi::OsStr;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{self, ExitCode, ExitStatus, Stdio};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::timeout;

/// The argument that makes this program a guard; the command and its arguments follow.
pub const ARGUMENT: &str = "guard";

/// In the place of a command: the process that is going to become the one behind it.
const WAITING: &str = "--waiting";

/// The guard's last message: no process of the command is left. No process and no exit status has this number.
const NOTHING_LEFT: i32 = i32::MIN;

/// How long the end of killed processes is awaited: one may hang in the system.
const PATIENCE: Duration = Duration::from_secs(2);

/// A running command. Dropping it kills all that is left of it.
pub struct Guarded {
    /// `None` once the guard has been told to end.
    way: Option<Way>,
    /// The command's process group: all of it that is known where orphans cannot be adopted.
    group: Option<Pid>,
}

/// The connection to the guard. A guard that ends without its last message was killed.
struct Way {
    guard: tokio::process::Child,
    socket: tokio::net::UnixStream,
    has_last_word: bool,
}

/// A guard's command, for arguments, folder, environment and output to be added. `program` is this program.
pub fn command(program: &Path, command: &Path) -> tokio::process::Command {
    let mut guard = tokio::process::Command::new(program);
    guard.arg0("command-guard").arg(ARGUMENT).arg(command).process_group(0);
    guard
}

impl Guarded {
    /// Starts what `command` gave. It is consumed, since it holds ends of the socket and of the output.
    pub async fn start(mut command: tokio::process::Command) -> io::Result<Guarded> {
        orphans::adopt();
        let (ours, theirs) = UnixStream::pair()?;
        ours.set_nonblocking(true)?;
        // Reaped by tokio.
        let guard = command.stdin(Stdio::from(OwnedFd::from(theirs))).spawn()?;
        drop(command);
        let socket = tokio::net::UnixStream::from_std(ours)?;
        let mut guarded =
            Guarded { way: Some(Way { guard, socket, has_last_word: false }), group: None };
        match guarded.word().await {
            Some(pid) => guarded.group = Pid::from_raw(pid),
            None => return Err(io::Error::other("its guard ended")),
        }
        Ok(guarded)
    }

    /// The command's end; after it `None`, once nothing of it is left. `None` before it: the guard was killed.
    pub async fn ended(&mut self) -> Option<ExitStatus> {
        self.word().await.map(ExitStatus::from_raw)
    }

    async fn word(&mut self) -> Option<i32> {
        self.way.as_mut()?.word().await
    }

    /// Signals the command's process group. One that is gone already is no fault.
    pub fn signal(&self, signal: Signal) {
        if let Some(group) = self.group {
            let _ = kill_process_group(group, signal);
        }
    }

    /// Kills what is left, and waits for its end.
    pub async fn finish(mut self) {
        if let Some(way) = self.way.take() {
            way.finish().await;
        }
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
        // Without a runtime the program is ending, and each guard ends its command by itself.
        if let (Some(way), Ok(runtime)) = (self.way.take(), tokio::runtime::Handle::try_current()) {
            runtime.spawn(way.finish());
        }
    }
}

impl Way {
    /// The guard sends each message in one piece, so nothing is lost if this future is dropped before one has come.
    async fn word(&mut self) -> Option<i32> {
        loop {
            let mut word = [0; 4];
            match (self.socket.read(&mut word).await, i32::from_le_bytes(word)) {
                (Ok(4), NOTHING_LEFT) => self.has_last_word = true,
                (Ok(4), word) => return Some(word),
                _ => return None,
            }
        }
    }

    /// Has the guard kill what is left, and waits for its end. If the guard was killed itself, this program kills it.
    async fn finish(mut self) {
        // A command may have stopped its guard.
        if let Some(guard) = self.guard.id().and_then(|it| Pid::from_raw(it.cast_signed())) {
            let _ = kill_process(guard, Signal::CONT);
        }
        let _ = self.socket.shutdown().await;
        let _ = timeout(PATIENCE, async { while self.word().await.is_some() {} }).await;
        if !self.has_last_word {
            // A guard that was stopped holds what it has adopted. Killed, it leaves that to this program: its processes
            // become children of this program once it is gone, a moment after its socket closes.
            let _ = self.guard.start_kill();
            let _ = timeout(PATIENCE, self.guard.wait()).await;
            // This goes on even if the call no longer waits for it.
            let _ = timeout(PATIENCE, tokio::spawn(orphans::end_marked())).await;
        }
    }
}

/// The guard: runs the command that stands behind `ARGUMENT`, and ends when nothing is left of it.
pub fn run(mut arguments: ArgsOs) -> ExitCode {
    match arguments.nth(2) {
        Some(first) if first == WAITING => become_next(arguments),
        Some(command) => {
            guard(&command, arguments).map_or(ExitCode::FAILURE, |()| ExitCode::SUCCESS)
        }
        None => ExitCode::FAILURE,
    }
}

fn guard(command: &OsStr, arguments: ArgsOs) -> io::Result<()> {
    let mut socket = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    orphans::adopt();
    orphans::name_guard();
    let mut child = process::Command::new(env::current_exe()?)
        .args([OsStr::new(ARGUMENT), OsStr::new(WAITING), command])
        .args(arguments)
        .stdin(Stdio::piped())
        .process_group(0)
        .spawn()?;
    let pid = child.id().cast_signed();
    // The process that waits ends if it is not told to go on.
    socket.write_all(&pid.to_le_bytes())?;
    if let Some(mut waiting) = child.stdin.take() {
        let _ = waiting.write_all(b"\n");
    }
    if let Some(group) = Pid::from_raw(pid) {
        let ours = socket.try_clone()?;
        std::thread::spawn(move || end_with(ours, group));
        report(&mut socket, group);
    }
    Ok(())
}

/// Becomes the command once the guard says so. A guard that ended before will not.
fn become_next(mut arguments: ArgsOs) -> ExitCode {
    let (Some(command), Ok(1)) = (arguments.next(), io::stdin().read(&mut [0])) else {
        return ExitCode::FAILURE;
    };
    orphans::mark();
    let error = process::Command::new(&command).args(arguments).stdin(Stdio::null()).exec();
    let _ = writeln!(io::stderr(), "{}: {}", command.display(), cause(&error));
    // The shells' own code for a command that is not there.
    ExitCode::from(127)
}

/// Reaps until there is nothing below this process any more; tells the command's own end.
fn report(socket: &mut UnixStream, command: Pid) {
    loop {
        match wait(WaitOptions::empty()) {
            Ok(Some((pid, status))) if pid == command => {
                let _ = socket.write_all(&status.as_raw().to_le_bytes());
            }
            Ok(_) | Err(rustix::io::Errno::INTR) => (),
            Err(_) => {
                let _ = socket.write_all(&NOTHING_LEFT.to_le_bytes());
                return;
            }
        }
    }
}

/// Waits for the socket's end, then kills everything; this process ends as the last of it is reaped.
fn end_with(mut socket: UnixStream, group: Pid) {
    while matches!(socket.read(&mut [0]), Ok(1..)) {}
    let _ = kill_process_group(group, Signal::KILL);
    while orphans::kill_children() {
        std::thread::sleep(Duration::from_millis(1));
    }
    process::exit(1);
}
