//! The limits of one command, and what its environment needs for them.

use crate::reach::Locks;
use crate::sandbox::Sandbox;
use crate::sandbox::network::Network;
use crate::supervisor;
use crate::tool::Desk;
use crate::tool::git::baseline::Baseline;
use crate::tool::git::gate::{self, Order};
use crate::tool::git::settings::Known;
use crate::tool::planted::{Places, Watch};
use std::io::{Read, Seek};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::NamedTempFile;
use tokio::process::Command;

/// Environment variables that contain the path of such a socket.
const NAMED: &[&str] = &[
    "DBUS_SESSION_BUS_ADDRESS",
    "DISPLAY",
    "DOCKER_HOST",
    "GPG_AGENT_INFO",
    "SSH_AUTH_SOCK",
    "WAYLAND_DISPLAY",
    "XDG_RUNTIME_DIR",
];

/// The most bytes of a report that are read.
const REPORT: u64 = 100_000;

/// The sandbox of a command, and the temporary folder that the command's environment needs.
pub struct Limits {
    pub sandbox: Sandbox,
    pub(super) temporary: PathBuf,
    /// The folders in which `planted` looks for files that the command may not create. `None` if the command may write
    /// only in its temporary folder, or if the sandbox is not the full one.
    pub(super) places: Option<Places>,
    /// What the repository held before the conversation, if the root is in one.
    pub(super) baseline: Option<Arc<Baseline>>,
    /// The commit that was checked out when the command began.
    pub(super) head: Option<String>,
    /// The network of the conversation, if the command is in it.
    pub(in crate::tool) network: Option<Network>,
    /// The password for the command's proxy.
    pub(in crate::tool) pass: String,
    /// What Caliban in the place of git needs to know, if it stands there.
    pub(super) gate: Option<Order>,
    /// The file by which git asks for a change of the repository's configuration.
    pub(super) settings: Option<NamedTempFile>,
    /// Where the repository's branches went before the conversation.
    pub(super) known: Known,
}

/// The file for the locked paths that a git command would change.
pub struct Report {
    /// Caliban reads the open file, so a command that puts another one in its place changes nothing.
    file: NamedTempFile,
}

impl Report {
    /// The locked paths that git has reported; there are none if git has run.
    pub fn read(&self) -> Vec<String> {
        let mut text = Vec::new();
        let mut file = self.file.as_file();
        let _ = file.rewind();
        let _ = file.take(REPORT).read_to_end(&mut text);
        let paths: Vec<String> = serde_json::from_slice(&text).unwrap_or_default();
        let locks = Locks::new();
        paths.into_iter().filter(|it| locks.unit(it).is_some()).collect()
    }
}

impl Limits {
    /// Whether the command's network has a listener for a proxy.
    pub fn has_proxy(&self) -> bool {
        self.sandbox.proxy && !self.sandbox.network
    }

    /// The locked paths that exist and that the command may not write, but for those in the folder of the repository.
    pub(in crate::tool) fn fixed(&self, root: &Path) -> Vec<PathBuf> {
        let mut all = self.places.as_ref().map(Places::locked).unwrap_or_default();
        let git = root.join(".git");
        all.retain(|it| it.starts_with(root) && !it.starts_with(&git));
        all
    }

    /// The locked files that stay as they were although the command has checked out another commit.
    pub(in crate::tool) async fn left(&self, root: &Path) -> Vec<PathBuf> {
        match (&self.baseline, &self.head) {
            (Some(baseline), Some(head)) => baseline.left(head, &self.fixed(root)).await,
            _ => Vec::new(),
        }
    }

    /// Watches for files that the command may not create (see `planted`).
    pub(in crate::tool) fn watch(&mut self, desk: &Desk) -> Option<Watch> {
        let settings = self.settings.take().map(|it| (it, self.known.clone()));
        let baseline = self.baseline.clone();
        self.places.as_ref().map(|it| it.watch(desk.workspace.clone(), baseline, settings))
    }

    /// Sets the variables for the command's temporary folder, and removes the variables with sockets that the command
    /// cannot reach.
    pub fn apply(&self, command: &mut Command) {
        for it in NAMED {
            command.env_remove(it);
        }
        command.env("TMPDIR", &self.temporary);
        if self.has_proxy() {
            command.env(supervisor::PASS, &self.pass);
        }
        let Some(gate) = &self.gate else { return };
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folders = std::iter::once(gate.folder.clone()).chain(std::env::split_paths(&path));
        if let (Ok(path), Ok(order)) = (std::env::join_paths(folders), serde_json::to_string(gate))
        {
            command.env("PATH", path).env(gate::VARIABLE, order);
        }
    }

    /// Has a git command report the locked paths that it would change, instead of printing them. `None` if Caliban does
    /// not stand in the place of git.
    pub fn report(&mut self) -> Option<Report> {
        let gate = self.gate.as_mut()?;
        let real = self.sandbox.temporary.as_deref().unwrap_or(&self.temporary);
        let file = NamedTempFile::with_prefix_in("git-", real).ok()?;
        gate.report = Some(self.temporary.join(file.path().file_name()?));
        Some(Report { file })
    }
}
