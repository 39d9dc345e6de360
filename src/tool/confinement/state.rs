//! What the confinement of a session's commands keeps.

use super::caches::Set;
use super::limits::Seen;
use super::temporary::Temporary;
use crate::rules::Rules;
use crate::sandbox::Strength;
use crate::sandbox::layers::Layers;
use crate::sandbox::network::{Former, Network};
use crate::tool::git::baseline::Baseline;
use crate::tool::git::remotes::Origins;
use crate::tool::named::{Listed, Starts};
use crate::tool::planted::{Agreed, Nested};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock, Weak};
use tokio::sync::{OnceCell, Semaphore, watch};

/// The layers that the open conversations of the project share.
#[derive(Clone, Default)]
pub(super) struct Layered {
    pub(super) set: Weak<Set>,
    /// The networks of these conversations.
    pub(super) holders: Vec<Former>,
}

/// Lets one command of the project after the other begin or join a network.
#[derive(Clone)]
pub(super) struct Turn(pub(super) Arc<Semaphore>);

impl Default for Turn {
    fn default() -> Turn {
        Turn(Arc::new(Semaphore::new(1)))
    }
}

/// What the commands of a conversation share.
#[derive(Clone)]
pub(super) struct Shared {
    pub(super) network: Network,
    /// The layers over the caches of build tools; `None` if the system has none. Commands only read the caches then.
    pub(super) set: Option<Arc<Set>>,
}

impl Shared {
    pub(super) fn layers(&self) -> Option<&Layers> {
        self.set.as_ref().map(|it| &it.layers)
    }
}

/// The user's settings of the sandbox.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    pub is_on: bool,
    /// Whether commands may use the network.
    pub network: bool,
    /// Further folders in which commands may write files; `~` stands for the home folder.
    pub writable: Vec<String>,
}

/// What commands may write.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Writes {
    /// The project, their temporary folder and the caches of build tools.
    #[default]
    Project,
    /// Only their temporary folder.
    Temporary,
    /// Nothing. The command only looks which locked files git would change, and has no network.
    Nothing,
}

impl Writes {
    /// Those of the paths that may be written.
    pub(super) fn limiting(self, paths: Vec<PathBuf>, temporary: &Path) -> Vec<PathBuf> {
        match self {
            Writes::Project => paths,
            Writes::Temporary => vec![temporary.to_owned()],
            Writes::Nothing => Vec::new(),
        }
    }
}

/// The sandbox of a session's commands.
#[derive(Clone, Default)]
pub struct Confinement {
    pub(super) settings: Settings,
    /// Folders that are hidden from commands.
    pub(super) private: Vec<PathBuf>,
    /// The folders with the user's instructions, commands and skills.
    pub(super) given: Vec<PathBuf>,
    /// The folder with the project's layers over the caches of build tools.
    pub(super) layers: PathBuf,
    pub(super) layered: Arc<watch::Sender<Layered>>,
    pub(super) turn: Turn,
    /// The path of this program.
    pub(super) program: PathBuf,
    pub(super) strength: Arc<OnceLock<Option<Strength>>>,
    pub(super) temporary: Arc<OnceLock<Option<Temporary>>>,
    /// The files with secrets that commands do not see, as they were when the conversation's first command began.
    pub(super) secrets: Arc<OnceLock<Vec<PathBuf>>>,
    /// What the repository held before the conversation's first command.
    pub(super) baseline: Arc<OnceCell<Option<Arc<Baseline>>>>,
    /// The last known state of git's store, and what the user was told of it.
    pub(super) seen: Arc<watch::Sender<Seen>>,
    /// Where the branches went before the conversation's commands.
    pub(super) known: Origins,
    /// The start files of the user's, at that time.
    pub(super) starts: Arc<OnceLock<Starts>>,
    /// Whether all of the project runs when a shell or an editor starts.
    pub(super) is_start: Arc<OnceLock<bool>>,
    /// The settings of git for the project, as the last command found them.
    pub(super) listed: Arc<watch::Sender<Listed>>,
    /// The repositories in folders of the project, as the last command found them.
    pub(super) nested: Arc<watch::Sender<Nested>>,
    /// The network of the conversation's commands, from the first command on.
    pub(super) network: Arc<watch::Sender<Option<Shared>>>,
    /// Whether rules that allow hosts are ignored.
    pub(super) is_closed: bool,
    pub(super) writes: Writes,
    /// Whether commands work in a worktree apart, and do not write in the folder of its repository.
    pub(super) is_apart: bool,
    /// The files and folders of the project in which commands may write; `None` is the whole project.
    pub(super) owned: Option<Vec<PathBuf>>,
    /// The locked paths that the command may change with the user's consent.
    pub(super) unlocked: Vec<String>,
    /// What the user has agreed to for commands of all conversations of the project.
    pub(super) agreed: Arc<watch::Sender<Agreed>>,
    /// Hosts that the user has opened. They are open even if `is_closed` is set.
    pub(super) opened: Vec<String>,
    /// The rules for the connections of running commands.
    pub(super) rules: Arc<watch::Sender<Arc<Rules>>>,
}
