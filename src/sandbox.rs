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
mod held;
pub mod layers;
mod limits;
#[cfg(target_os = "linux")]
mod mounts;
#[cfg(target_os = "linux")]
mod namespaces;
pub mod network;
#[cfg(any(target_os = "macos", test))]
mod seatbelt;
#[cfg(target_os = "linux")]
mod sockets;
#[cfg(target_os = "linux")]
mod syscalls;

pub use limits::{CHECK, PROBE, Sandbox, Strength, probed};

use limits::name;
use std::ffi::OsStr;
#[cfg(target_os = "linux")]
use std::net::Ipv4Addr;
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

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
