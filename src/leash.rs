//! Ties a program that Caliban starts for itself, such as git, to Caliban. Between the two there is a leash: a process of
//! this same program. Once nobody reads the program's output any more, also because Caliban was killed, the leash kills
//! the program and everything in its process group.

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::process::{Signal, getpid, kill_process_group, setpgid};
use std::env::ArgsOs;
use std::ffi::OsStr;
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{self, Command, ExitCode};
use std::sync::OnceLock;

/// The argument that makes this program a leash. It is followed by the program and the program's arguments.
pub const ARGUMENT: &str = "leash";

/// The exit code of a leash whose program does not exist.
pub const MISSING: i32 = 127;
/// The exit code of a leash whose program could not be started.
const NOT_RUN: i32 = 126;

/// The file of this program. It is set once, when the program starts, and never by the tests of the library, whose file
/// is not this program.
static OWN: OnceLock<PathBuf> = OnceLock::new();

/// From now on `command` puts programs on a leash.
pub fn hold(own: PathBuf) {
    let _ = OWN.set(own);
}

/// The command that starts a program in a process group of its own. The caller reads its output by a pipe.
pub fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = match OWN.get() {
        Some(own) => {
            let mut command = Command::new(own);
            command.arg0(ARGUMENT).arg(ARGUMENT).arg(program);
            command
        }
        None => Command::new(program),
    };
    command.process_group(0);
    command
}

/// The main function of a leash: runs the program after `ARGUMENT`, and ends as the program ends.
pub fn run(mut arguments: ArgsOs) -> ExitCode {
    // the group must not be that of Caliban
    let is_led = setpgid(None, None).is_ok();
    let Some(program) = arguments.nth(2).filter(|_| is_led) else { return ExitCode::FAILURE };
    let code = match Command::new(&program).args(arguments).spawn() {
        Ok(mut child) => {
            std::thread::spawn(kill_when_unread);
            let status = child.wait().map_err(|_| NOT_RUN);
            status.map_or_else(
                |it| it,
                |it| it.code().unwrap_or_else(|| it.signal().unwrap_or(0).saturating_add(128)),
            )
        }
        Err(fault) if fault.kind() == io::ErrorKind::NotFound => MISSING,
        Err(_) => NOT_RUN,
    };
    process::exit(code)
}

/// Waits until nobody reads the output, then kills the process group, to which this process belongs.
fn kill_when_unread() {
    let output = io::stdout();
    // without events, only the end of the reader is reported
    let mut watched = [PollFd::new(&output, PollFlags::empty())];
    while poll(&mut watched, None) == Err(Errno::INTR) {}
    let _ = kill_process_group(getpid(), Signal::KILL);
}
