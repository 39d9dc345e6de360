//! The limits of one command, and what its environment needs for them.

use crate::reach::Locks;
use crate::sandbox::Sandbox;
use crate::sandbox::gate;
use crate::sandbox::network::Network;
use crate::supervisor;
use crate::tool::git::baseline::{Baseline, Store};
use crate::tool::git::remotes::Origins;
use crate::tool::planted::{Agreed, Places, Watch};
use crate::tool::workspace::Workspace;
use std::collections::BTreeSet;
use std::io::{self, Read, Seek};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::NamedTempFile;
use tokio::process::Command;
use tokio::sync::watch;

/// What is known of git's store.
#[derive(Default)]
pub(super) struct Seen {
    pub(super) store: Store,
    /// The contents of which the user was told: the path of each, and the id of its content.
    pub(super) told: BTreeSet<(String, String)>,
}

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

/// The most lines of rebases that are named, and the most characters of each.
const SHOWN: usize = 8;
const LONGEST: usize = 100;
/// The most bytes that are read of the paths that git would change.
const LOOKED: u64 = 100_000;

/// The sandbox of a command, and the temporary folder that the command's environment needs.
pub struct Limits {
    pub sandbox: Sandbox,
    pub(super) temporary: PathBuf,
    /// The folders in which `planted` looks for files that the command may not create. `None` if the command may write
    /// only in its temporary folder, or if the sandbox is not the full one.
    pub(super) places: Option<Places>,
    pub(super) locks: Arc<Locks>,
    /// What the repository held before the conversation, if the root is in one.
    pub(super) baseline: Option<Arc<Baseline>>,
    /// The commit that was checked out when the command began.
    pub(super) head: Option<String>,
    /// The network of the conversation, if the command is in it.
    pub(in crate::tool) network: Option<Network>,
    /// The password for the command's proxy.
    pub(in crate::tool) pass: String,
    /// The file by which this program, in the place of git, talks with the one outside of the sandbox.
    pub(super) channel: Option<NamedTempFile>,
    /// Where the branches went before the conversation's commands.
    pub(super) known: Origins,
    /// What the user has agreed to for commands.
    pub(super) agreed: Arc<watch::Sender<Agreed>>,
    /// The last known state of git's store, and what the user was told of it.
    pub(super) seen: Arc<watch::Sender<Seen>>,
}

impl Limits {
    /// Whether the command's network has a listener for a proxy.
    pub fn has_proxy(&self) -> bool {
        self.sandbox.proxy && !self.sandbox.network
    }

    /// The locked paths that exist and that the command may not write, but for those in the folder of the repository.
    pub(in crate::tool) fn fixed(&self, root: &Path) -> Vec<PathBuf> {
        let locked = self.places.as_ref().and_then(|it| it.locked().ok());
        let mut all = locked.map(|it| it.paths).unwrap_or_default();
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

    /// A sentence for the user about programs that the command has put into the list of a rebase, and about patches.
    pub(in crate::tool) fn rebased(&self) -> Option<String> {
        let new = self.places.as_ref()?.rebased();
        let show = |it: &String| {
            let first: String = it.chars().take(LONGEST).collect();
            let more = if it.chars().count() > LONGEST { "…" } else { "" };
            format!("`{}{more}`", first.escape_debug())
        };
        let named: Vec<String> = new.iter().take(SHOWN).map(show).collect();
        let more = if new.len() > SHOWN { ", …" } else { "" };
        (!new.is_empty()).then(|| {
            format!(
                "A command has put programs into the list of a rebase that waits, or into the state of a rebase, a \
                 cherry-pick or a revert, or patches of files that commands may not write: {}{more}. Git runs and \
                 applies them when you continue or skip. `git rebase --edit-todo` shows the list; the state is in \
                 `.git/rebase-merge`, `.git/sequencer` and `.git/rebase-apply`.",
                named.join(", ")
            )
        })
    }

    /// Watches for files that the command may not create (see `planted`). After an error the command must not run.
    pub(in crate::tool) fn watch(
        &mut self,
        workspace: &Arc<dyn Workspace>,
    ) -> io::Result<Option<Watch>> {
        let settings = self.channel.take().map(|it| (it, self.known.clone()));
        let baseline = self.baseline.clone();
        let watch = |it: &Places| it.watch(workspace.clone(), baseline, settings, &self.agreed);
        self.places.as_ref().map(watch).transpose().map_err(io::Error::other)
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
        if self.sandbox.gate.is_some() {
            let path = std::env::var_os("PATH").unwrap_or_default();
            let all =
                std::iter::once(PathBuf::from(gate::FOLDER)).chain(std::env::split_paths(&path));
            if let Ok(path) = std::env::join_paths(all) {
                command.env("PATH", path);
            }
        }
    }

    /// The locked paths that git has written into the channel, if it was only to look.
    pub(in crate::tool) fn looked(&self) -> Vec<String> {
        let Some(channel) = &self.channel else { return Vec::new() };
        let (mut text, mut file) = (Vec::new(), channel.as_file());
        let _ = file.rewind();
        let _ = file.take(LOOKED).read_to_end(&mut text);
        let paths: Vec<String> = serde_json::from_slice(&text).unwrap_or_default();
        paths.into_iter().filter(|it| self.locks.unit(it).is_some()).collect()
    }
}
