//! Makes sure that all processes which a command has started end with the command. Between the program and each command
//! there is a supervisor: a small process, which runs this same program and adopts the processes that the command
//! leaves behind. The supervisor kills all of them when its socket closes, because the program has closed it or was
//! killed. If a command kills its supervisor, the command's processes become children of the program, which recognises
//! them by a mark and kills them.

mod orphans;

use crate::sandbox::{Sandbox, descriptor};
use crate::text::cause;
use rustix::process::{
    Pid, Signal, WaitOptions, ioctl_tiocsctty, kill_process, kill_process_group, setsid, wait,
};
use std::env::{self, ArgsOs};
use std::ffi::OsStr;
use std::io::{self, IsTerminal, Read, Write};
use std::net::TcpListener;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{self, ExitCode, ExitStatus, Stdio};
use std::time::Duration;
use tokio::io::{AsyncWriteExt, Interest};
use tokio::runtime;
use tokio::signal::unix::{SignalKind, signal};
use tokio::time::timeout;

/// The argument that makes this program a supervisor. It is followed by the sandbox as JSON (or an empty text), the
/// command and the command's arguments.
pub const ARGUMENT: &str = "supervisor";

/// The argument of the process that waits for its supervisor and then executes the command. It is followed by the
/// sandbox, the command and the command's arguments.
const WAITING: &str = "--waiting";

/// The supervisor's last message, which says that no process of the command is left. No process id and no exit status
/// has this value.
const NOTHING_LEFT: i32 = i32::MIN;

/// The listener for the proxy of the command's sandbox comes with this message, before all messages but the first.
const LISTENER: i32 = i32::MIN + 1;

/// The variables by which programs find their proxy, in both spellings that are in use.
const PROXIES: [&str; 6] =
    ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"];

/// The variable with the password for the proxy. The command finds it in the address of its proxy.
pub const PASS: &str = "CALIBAN_PROXY";
/// The name that goes with the password.
pub const USER: &str = "caliban";

/// The exit code that shells use for a command that cannot be run.
const NOT_RUN: u8 = 126;

/// How long to wait for killed processes to end, because a process may hang in the kernel.
const PATIENCE: Duration = Duration::from_secs(2);

/// A running command. When this is dropped, all processes that are left of the command are killed.
pub struct Supervised {
    /// `None` once the supervisor has been told to end.
    connection: Option<Connection>,
    /// The command's process group. On systems where orphaned processes cannot be adopted, only this group can be
    /// killed.
    group: Option<Pid>,
    /// A message that came instead of the listener.
    early: Option<i32>,
}

/// The connection to the supervisor. If the supervisor ends without sending its last message, it was killed.
struct Connection {
    supervisor: tokio::process::Child,
    socket: tokio::net::UnixStream,
    has_said_nothing_left: bool,
    listener: Option<TcpListener>,
}

/// The command that starts a supervisor of `command`, which runs in the sandbox if there is one. Arguments, folder,
/// environment and streams are added by the caller. The standard output becomes the command's output and errors, and the
/// standard error becomes the command's input. If the standard output is a terminal, it becomes the terminal of the
/// command. `program` is this program's file.
pub fn command(
    program: &Path,
    command: &Path,
    sandbox: Option<&Sandbox>,
) -> io::Result<tokio::process::Command> {
    let limits = sandbox.map_or(Ok(String::new()), serde_json::to_string)?;
    let mut supervisor = tokio::process::Command::new(program);
    supervisor.arg0("supervisor").arg(ARGUMENT).arg(limits).arg(command);
    Ok(supervisor)
}

impl Supervised {
    /// Starts a command made by `command`. Drops `command` at once, because `command` holds ends of the socket and of
    /// the output.
    pub async fn start(mut command: tokio::process::Command) -> io::Result<Supervised> {
        orphans::adopt();
        let (ours, theirs) = UnixStream::pair()?;
        ours.set_nonblocking(true)?;
        // the library tokio reaps the supervisor
        let supervisor = command.stdin(Stdio::from(OwnedFd::from(theirs))).spawn()?;
        drop(command);
        let socket = tokio::net::UnixStream::from_std(ours)?;
        let mut supervised = Supervised {
            connection: Some(Connection {
                supervisor,
                socket,
                has_said_nothing_left: false,
                listener: None,
            }),
            group: None,
            early: None,
        };
        match supervised.message().await {
            Some(pid) => supervised.group = Pid::from_raw(pid),
            None => return Err(io::Error::other("its supervisor ended")),
        }
        Ok(supervised)
    }

    /// The id of the process from which all processes of the command descend. `None` if it has ended.
    pub fn id(&self) -> Option<u32> {
        self.connection.as_ref()?.supervisor.id()
    }

    /// The listener for the proxy of a sandbox that has one. `None` if the sandbox failed.
    pub async fn listener(&mut self) -> Option<TcpListener> {
        let connection = self.connection.as_mut()?;
        self.early = connection.received().await.filter(|it| *it != LISTENER);
        connection.listener.take()
    }

    /// The first call returns the command's exit status. The next call returns `None` once no process of the command is
    /// left. If the supervisor was killed, returns `None` at once.
    pub async fn ended(&mut self) -> Option<ExitStatus> {
        self.message().await.map(ExitStatus::from_raw)
    }

    async fn message(&mut self) -> Option<i32> {
        match self.early.take() {
            Some(message) => Some(message),
            None => self.connection.as_mut()?.message().await,
        }
    }

    /// Sends a signal to the command's process group. Does nothing if the group has ended.
    pub fn signal(&self, signal: Signal) {
        if let Some(group) = self.group {
            let _ = kill_process_group(group, signal);
        }
    }

    /// Kills the processes that are left of the command, and waits for their end.
    pub async fn finish(mut self) {
        if let Some(connection) = self.connection.take() {
            connection.finish().await;
        }
    }
}

impl Drop for Supervised {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
        // without a runtime the program is ending, and then each supervisor kills its command by itself
        if let (Some(connection), Ok(runtime)) =
            (self.connection.take(), runtime::Handle::try_current())
        {
            runtime.spawn(connection.finish());
        }
    }
}

impl Connection {
    /// The supervisor's next message. Each message arrives in one piece, so nothing is lost if this future is dropped.
    async fn message(&mut self) -> Option<i32> {
        loop {
            match self.received().await? {
                LISTENER => (),
                message => return Some(message),
            }
        }
    }

    async fn received(&mut self) -> Option<i32> {
        loop {
            let mut message = [0; 4];
            let read = || descriptor::receive(&self.socket, &mut message);
            let Ok((4, handed)) = self.socket.async_io(Interest::READABLE, read).await else {
                return None;
            };
            match i32::from_le_bytes(message) {
                NOTHING_LEFT => self.has_said_nothing_left = true,
                message => {
                    self.listener = handed.map(TcpListener::from);
                    return Some(message);
                }
            }
        }
    }

    /// Tells the supervisor to kill the remaining processes, and waits until the supervisor has ended. If the
    /// supervisor itself was killed, this program kills the processes.
    async fn finish(mut self) {
        // the command may have stopped its supervisor by a signal, so the supervisor is continued
        if let Some(supervisor) =
            self.supervisor.id().and_then(|it| Pid::from_raw(it.cast_signed()))
        {
            let _ = kill_process(supervisor, Signal::CONT);
        }
        let _ = self.socket.shutdown().await;
        let _ = timeout(PATIENCE, async { while self.message().await.is_some() {} }).await;
        if !self.has_said_nothing_left {
            // A supervisor that does not end keeps the processes that it has adopted. Once it is killed, they become
            // children of this program, a moment after its socket closes.
            let _ = self.supervisor.start_kill();
            let _ = timeout(PATIENCE, self.supervisor.wait()).await;
            // this task goes on even if the caller no longer waits
            let _ = timeout(PATIENCE, tokio::spawn(orphans::end_marked())).await;
        }
    }
}

/// The main function of a supervisor: starts the command after `ARGUMENT`, and ends when no process of the command is
/// left.
pub fn run(mut arguments: ArgsOs) -> ExitCode {
    match arguments.nth(2) {
        Some(first) if first == WAITING => become_next(arguments),
        Some(limits) => {
            supervisor(&limits, arguments).map_or(ExitCode::FAILURE, |()| ExitCode::SUCCESS)
        }
        None => ExitCode::FAILURE,
    }
}

fn supervisor(limits: &OsStr, arguments: ArgsOs) -> io::Result<()> {
    // in a session of its own, the command has not the terminal in which `caliban run` was typed
    setsid()?;
    let mut socket = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    orphans::adopt();
    orphans::name_supervisor();
    let (mut line, theirs) = UnixStream::pair()?;
    let mut waiting = process::Command::new(env::current_exe()?);
    waiting.args([OsStr::new(ARGUMENT), OsStr::new(WAITING), limits]).args(arguments);
    if !io::stdout().is_terminal() {
        // the leader of a group could not lead the session that a terminal needs
        waiting.process_group(0);
    }
    let child = waiting.stdin(OwnedFd::from(theirs)).spawn()?;
    // `waiting` holds the other end of the line
    drop(waiting);
    let pid = child.id().cast_signed();
    // the waiting process ends if it does not get the line below
    socket.write_all(&pid.to_le_bytes())?;
    let _ = line.write_all(b"\n");
    if let Some(group) = Pid::from_raw(pid) {
        let ours = socket.try_clone()?;
        std::thread::spawn(move || kill_when_closed(ours, group));
        // the socket closes when the waiting process has become the command
        if let Ok((_, Some(listener))) = descriptor::receive(&line, &mut [0; 4]) {
            let _ = descriptor::send(&socket, &LISTENER.to_le_bytes(), listener.as_fd());
        }
        drop(line);
        reap_all(&mut socket, group);
    }
    Ok(())
}

/// Makes the command end at Ctrl-C and Ctrl-\ again. A program that a shell has started in the background ignores these
/// signals, and so would its commands: a shell cannot even trap a signal that was ignored when the shell began. The
/// handlers that are installed here end when the command is executed, which restores the default.
fn heed_interrupts() {
    let Ok(runtime) = runtime::Builder::new_current_thread().enable_io().build() else { return };
    let _inside = runtime.enter();
    for kind in [SignalKind::interrupt(), SignalKind::quit()] {
        drop(signal(kind));
    }
}

/// Waits for the supervisor's line, then executes the command. Ends if the supervisor has ended.
fn become_next(mut arguments: ArgsOs) -> ExitCode {
    let (Some(limits), Some(command)) = (arguments.next(), arguments.next()) else {
        return ExitCode::FAILURE;
    };
    let Ok(1) = io::stdin().read(&mut [0]) else { return ExitCode::FAILURE };
    orphans::mark();
    heed_interrupts();
    if let Err(why) = lead_terminal() {
        let _ = writeln!(
            io::stdout(),
            "The command was not run, because no terminal could be set up: {}.",
            cause(&why)
        );
        return ExitCode::from(NOT_RUN);
    }
    let confined = match confined(&limits, &command) {
        Ok(confined) => confined,
        Err(why) => {
            let _ = writeln!(
                io::stdout(),
                "The command was not run, because its sandbox failed: {why}."
            );
            return ExitCode::from(NOT_RUN);
        }
    };
    let error = become_command(confined, arguments);
    let _ = writeln!(io::stdout(), "{}: {}", command.display(), cause(&error));
    // the exit code that shells use for a command that does not exist
    ExitCode::from(127)
}

/// Makes the standard output the terminal of this process, if it is a terminal.
fn lead_terminal() -> io::Result<()> {
    if io::stdout().is_terminal() {
        setsid()?;
        ioctl_tiocsctty(io::stdout())?;
    }
    Ok(())
}

/// Replaces this process by the command. Returns only if that fails.
fn become_command(mut command: process::Command, arguments: ArgsOs) -> io::Error {
    let (input, output) = (io::stderr(), io::stdout());
    let streams =
        || Ok((input.as_fd().try_clone_to_owned()?, output.as_fd().try_clone_to_owned()?));
    match streams() {
        Ok((input, output)) => command.args(arguments).stdin(input).stderr(output).exec(),
        Err(error) => error,
    }
}

/// The command in its sandbox, if it has one. Hands the listener of the sandbox's proxy to the supervisor.
fn confined(limits: &OsStr, command: &OsStr) -> Result<process::Command, String> {
    if limits.is_empty() {
        return Ok(process::Command::new(command));
    }
    let limits = limits.to_str().ok_or("its limits are not text")?;
    let sandbox: Sandbox = serde_json::from_str(limits).map_err(|it| it.to_string())?;
    let (mut command, listener) = sandbox.command(command)?;
    if let Some(listener) = listener {
        hand_on(&listener, &mut command).map_err(|it| format!("the proxy: {}", cause(&it)))?;
    }
    Ok(command)
}

/// Hands the proxy's listener to the supervisor, and tells the command where the proxy is.
fn hand_on(listener: &TcpListener, command: &mut process::Command) -> io::Result<()> {
    let address = listener.local_addr()?;
    descriptor::send(&io::stdin(), &LISTENER.to_le_bytes(), listener.as_fd())?;
    let pass = env::var(PASS).map(|it| format!("{USER}:{it}@")).unwrap_or_default();
    command.envs(PROXIES.map(|it| (it, format!("http://{pass}{address}")))).env_remove(PASS);
    command.envs(["NO_PROXY", "no_proxy"].map(|it| (it, "localhost,127.0.0.1")));
    Ok(())
}

/// Reaps child processes until none is left. Reports the exit status of the command itself, and at the end that no
/// process is left.
fn reap_all(socket: &mut UnixStream, command: Pid) {
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

/// Waits until the socket closes, then kills all processes of the command. The supervisor ends when the last of them is
/// reaped.
fn kill_when_closed(mut socket: UnixStream, group: Pid) {
    while matches!(socket.read(&mut [0]), Ok(1..)) {}
    let _ = kill_process_group(group, Signal::KILL);
    while orphans::kill_children() {
        std::thread::sleep(Duration::from_millis(1));
    }
    process::exit(1);
}
