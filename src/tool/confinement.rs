//! The sandbox of the model's commands: the user's settings, and the limits for the commands of one project.

use super::Desk;
use crate::reach;
use crate::sandbox::{self, Sandbox, Strength};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use tempfile::TempDir;
use tokio::process::Command;

/// Caches of build tools, relative to the home folder. Commands may write them.
const CACHES: &[&str] = &[
    ".cache/go-build",
    ".cache/pip",
    ".cache/pnpm",
    ".cache/pre-commit",
    ".cache/uv",
    ".cache/yarn",
    ".cargo/.global-cache",
    ".cargo/.package-cache",
    ".cargo/git",
    ".cargo/registry",
    ".gradle/caches",
    ".m2/repository",
    ".npm/_cacache",
    ".npm/_logs",
    "go/pkg/mod",
];

/// Files of a project that a command may not write, because they run code later, outside of the sandbox.
const FIXED: &[&str] = &[
    ".caliban",
    ".envrc",
    ".exrc",
    ".git/config",
    ".git/hooks",
    ".git/info",
    ".githooks",
    ".husky",
    ".idea",
    ".mise.toml",
    ".nvim.lua",
    ".nvimrc",
    ".vscode",
    "mise.toml",
];

/// Where programs of the user listen for others.
const SOCKETS: &[&str] = &[
    "/run/containerd",
    "/run/dbus",
    "/run/docker.sock",
    "/run/podman",
    "/run/user",
    "/var/run/docker.sock",
];

/// Variables that name such a place.
const NAMED: &[&str] = &[
    "DBUS_SESSION_BUS_ADDRESS",
    "DISPLAY",
    "DOCKER_HOST",
    "GPG_AGENT_INFO",
    "SSH_AUTH_SOCK",
    "WAYLAND_DISPLAY",
    "XDG_RUNTIME_DIR",
];

/// The user's settings of the sandbox.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    pub is_on: bool,
    /// Whether commands may use the network.
    pub network: bool,
    /// Further folders that commands may write; `~` stands for the home folder.
    pub writable: Vec<String>,
}

/// The sandbox of a session's commands.
#[derive(Clone, Default)]
pub struct Confinement {
    settings: Settings,
    /// Folders that commands do not see.
    private: Vec<PathBuf>,
    strength: Arc<OnceLock<Option<Strength>>>,
    temporary: Arc<OnceLock<Option<TempDir>>>,
}

/// The limits for a command, and what its environment needs.
pub struct Limits {
    pub sandbox: Sandbox,
    temporary: PathBuf,
}

impl Confinement {
    pub fn new(settings: Settings, private: Vec<PathBuf>) -> Confinement {
        Confinement { settings, private, ..Confinement::default() }
    }

    /// Whether commands run in a sandbox, as far as the user's settings tell.
    pub fn is_on(&self) -> bool {
        self.settings.is_on
    }

    /// The limits for a command; `None` if it runs without a sandbox: the user wants none, or this machine has none.
    pub async fn limits(&self, desk: &Desk) -> Option<Limits> {
        if !self.settings.is_on {
            return None;
        }
        let (cell, program) = (self.strength.clone(), desk.program.clone());
        let probed = move || *cell.get_or_init(|| sandbox::probed(&program));
        let strength = tokio::task::spawn_blocking(probed).await.ok().flatten()?;
        let made = self
            .temporary
            .get_or_init(|| tempfile::Builder::new().prefix("caliban-").tempdir().ok());
        let temporary = made.as_ref()?.path().to_owned();
        Some(self.limited(desk, strength, temporary))
    }

    fn limited(&self, desk: &Desk, strength: Strength, temporary: PathBuf) -> Limits {
        let home = desk.home.clone().unwrap_or_default();
        let own = self.settings.writable.iter().map(|it| match it.strip_prefix("~/") {
            Some(rest) => home.join(rest),
            None => desk.root.join(it),
        });
        let caches = CACHES.iter().map(|it| home.join(it));
        let mut writable: Vec<PathBuf> = caches.chain(own).filter(|it| it.exists()).collect();
        writable.push(desk.root.clone());
        let is_ours = strength == Strength::Full
            && temporary.starts_with("/tmp")
            && !writable.iter().chain([&home]).any(|it| it.starts_with("/tmp"));
        let seen = if is_ours { PathBuf::from("/tmp") } else { temporary.clone() };
        writable.push(seen.clone());
        let sandbox = Sandbox {
            strength,
            fixed: FIXED.iter().map(|it| desk.root.join(it)).collect(),
            hidden: self.hidden(&home, &writable),
            writable,
            temporary: is_ours.then_some(temporary),
            network: self.settings.network,
        };
        Limits { sandbox, temporary: seen }
    }

    /// Secrets of the user, Caliban's own data and sockets. A folder that holds a folder for writing stays visible.
    fn hidden(&self, home: &Path, writable: &[PathBuf]) -> Vec<PathBuf> {
        let secrets = reach::secrets_in_home().map(|it| home.join(it));
        let credentials =
            ["credentials", "credentials.toml"].map(|it| home.join(".cargo").join(it));
        let sockets = SOCKETS.iter().map(PathBuf::from);
        let named = ["NVIM", "SSH_AUTH_SOCK", "XDG_RUNTIME_DIR"];
        let named = named.iter().filter_map(std::env::var_os).map(PathBuf::from);
        let all = self
            .private
            .iter()
            .cloned()
            .chain(secrets)
            .chain(credentials)
            .chain(sockets)
            .chain(named);
        all.filter(|it| it.is_absolute() && !writable.iter().any(|kept| kept.starts_with(it)))
            .collect()
    }
}

impl Limits {
    /// Gives a command the folder for its temporary files, and takes away the names of sockets that it cannot reach.
    pub fn apply(&self, command: &mut Command) {
        for it in NAMED {
            command.env_remove(it);
        }
        command.env("TMPDIR", &self.temporary).env("CALIBAN_SANDBOX", "1");
    }
}
