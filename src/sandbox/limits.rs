//! The limits of one command, and the strength with which a machine can set them.

use super::gate::Gate;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

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
    pub gate: Option<Gate>,
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

pub(super) fn name(strength: Strength) -> &'static str {
    match strength {
        Strength::Plain => "plain",
        Strength::Full => "full",
    }
}
