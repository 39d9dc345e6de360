//! Restricts this process before it becomes a command: where the command may write, which files it sees, whether it has
//! a network, and which system calls it may make. On Linux by namespaces, Landlock and seccomp, on macOS by Seatbelt.
//!
//! There are two strengths. The full sandbox needs user namespaces, which some systems forbid, and a version of
//! Landlock that can keep signals within the sandbox (Linux 6.12). The plain sandbox needs only Landlock. In it,
//! protected files of the project can be written and secret files can be read, so it closes the network completely,
//! even for connections within the machine. The sandbox of macOS counts as a plain one, although it protects these
//! files and allows connections within the machine.

#[cfg(any(target_os = "linux", target_os = "macos"))]
mod check;
#[cfg(target_os = "linux")]
mod cover;
pub mod descriptor;
#[cfg(target_os = "linux")]
mod devices;
#[cfg(target_os = "linux")]
mod files;
pub mod gate;
pub mod layers;
#[cfg(target_os = "linux")]
mod namespaces;
pub mod network;
#[cfg(any(target_os = "macos", test))]
mod seatbelt;
#[cfg(target_os = "linux")]
mod sockets;
#[cfg(target_os = "linux")]
mod syscalls;

use serde::{Deserialize, Serialize};
use std::ffi::OsStr;
#[cfg(target_os = "linux")]
use std::net::Ipv4Addr;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

/// The argument that makes this program report the strength of the sandbox on this machine.
pub const PROBE: &str = "sandbox-probe";
/// The argument that makes this program try out which actions a sandbox forbids (see `check`).
pub const CHECK: &str = "sandbox-check";

/// The strength of the sandbox on a machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Strength {
    /// The sandbox uses only Landlock and seccomp.
    Plain,
    /// The sandbox also uses namespaces.
    Full,
}

/// The limits of one command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sandbox {
    pub strength: Strength,
    /// Folders and files that may be written. Those that do not exist are left out.
    pub writable: Vec<PathBuf>,
    /// Folders inside the writable ones that may be neither renamed nor replaced.
    pub pinned: Vec<PathBuf>,
    /// Folders and files inside the writable ones that may not be written.
    pub fixed: Vec<PathBuf>,
    /// Folders and files that the command sees as empty: secrets, and sockets of programs outside of the sandbox.
    pub hidden: Vec<PathBuf>,
    /// Folders and files that the command sees also inside of a hidden folder.
    pub shown: Vec<PathBuf>,
    /// The folder that the command sees as `/tmp`. `None` if the command sees the real one.
    pub temporary: Option<PathBuf>,
    /// Entries of `/tmp` and `/dev/shm` that stay in place where the command has folders of its own: they contain the
    /// project, a writable folder or the home folder.
    pub kept: Vec<PathBuf>,
    /// Whether the command may use the network.
    pub network: bool,
    /// The process that holds the network of the conversation and the layers over caches (see `network`). `None` if the
    /// command has a network of its own and sees no layers.
    pub holder: Option<u32>,
    /// Whether the network of the full sandbox gets a listener, on which this program serves as a proxy.
    pub proxy: bool,
    /// What stands in the place of git, if something does.
    pub gate: Option<gate::Gate>,
}

impl Sandbox {
    /// A command in the sandbox, and the listener for its proxy. Restricts this process for good, which then has to
    /// become the command. An error names the limit that could not be set; the command must not run then.
    #[cfg(target_os = "linux")]
    pub fn command(&self, program: &OsStr) -> Result<(Command, Option<TcpListener>), String> {
        let listener = self.enter()?;
        Ok((Command::new(program), listener))
    }

    /// A command in the sandbox. An error names a path for which there is no rule; the command must not run then.
    #[cfg(target_os = "macos")]
    pub fn command(&self, program: &OsStr) -> Result<(Command, Option<TcpListener>), String> {
        let real = |all: &[PathBuf]| {
            all.iter().map(|it| it.canonicalize().unwrap_or_else(|_| it.clone())).collect()
        };
        let sandbox = Sandbox {
            writable: real(&self.writable),
            pinned: real(&self.pinned),
            fixed: real(&self.fixed),
            hidden: real(&self.hidden),
            ..self.clone()
        };
        let mut command = Command::new("/usr/bin/sandbox-exec");
        command.arg("-p").arg(seatbelt::profile(&sandbox)?).arg(program);
        Ok((command, None))
    }

    #[cfg(not(any(target_os = "linux", target_os = "macos")))]
    pub fn command(&self, _program: &OsStr) -> Result<(Command, Option<TcpListener>), String> {
        Err("there is no sandbox on this system".to_owned())
    }

    #[cfg(target_os = "linux")]
    fn enter(&self) -> Result<Option<TcpListener>, String> {
        files::close()?;
        let mut listener = None;
        if self.strength == Strength::Full {
            namespaces::enter(self)?;
            if self.proxy && !self.network {
                let bound = TcpListener::bind((Ipv4Addr::LOCALHOST, 0));
                listener = Some(bound.map_err(|it| format!("the proxy: {it}"))?);
            }
        }
        files::restrict(&self.writable, self.strength)?;
        let closes_network = self.strength == Strength::Plain && !self.network;
        syscalls::restrict(closes_network)?;
        Ok(listener)
    }

    /// Whether this process can set the limits.
    #[cfg(target_os = "linux")]
    fn holds(&self) -> bool {
        self.enter().is_ok()
    }

    /// Whether a command runs with the limits. Here the plain sandbox is the only one.
    #[cfg(not(target_os = "linux"))]
    fn holds(&self) -> bool {
        let command = self.command(OsStr::new("/usr/bin/true"));
        let runs = |(mut it, _): (Command, _)| it.status().is_ok_and(|it| it.success());
        self.strength == Strength::Plain && command.is_ok_and(runs)
    }
}

/// The strength of the sandbox that works on this machine; `None` if none works. The sandboxes are tried in separate
/// processes, because a process cannot leave a sandbox. `program` is the path of this program. Blocks for some
/// milliseconds.
pub fn probed(program: &Path) -> Option<Strength> {
    let holds = |strength: &Strength| {
        let mut probe = Command::new(program);
        let probe = probe.arg(PROBE).arg(name(*strength));
        let probe = probe.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        probe.status().is_ok_and(|it| it.success())
    };
    [Strength::Full, Strength::Plain].into_iter().find(holds)
}

fn name(strength: Strength) -> &'static str {
    match strength {
        Strength::Plain => "plain",
        Strength::Full => "full",
    }
}

/// The main function of the process that `probed` starts.
pub fn probe() -> ExitCode {
    let full = std::env::args_os().nth(2).is_some_and(|it| it == name(Strength::Full));
    let strength = if full { Strength::Full } else { Strength::Plain };
    let hidden = vec![PathBuf::from("/proc/sys")];
    let empty = Sandbox {
        strength,
        writable: Vec::new(),
        pinned: Vec::new(),
        fixed: vec![PathBuf::from("/etc")],
        hidden,
        shown: Vec::new(),
        temporary: None,
        kept: Vec::new(),
        network: false,
        holder: None,
        proxy: false,
        gate: None,
    };
    if empty.holds() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The main function of the process that tries out the sandbox. `serve` begins to serve as a proxy without rules.
#[cfg(any(target_os = "linux", target_os = "macos"))]
pub fn check(serve: fn(TcpListener)) -> ExitCode {
    check::run(serve)
}

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
pub fn check(_serve: fn(TcpListener)) -> ExitCode {
    ExitCode::FAILURE
}
