//! The sandbox of the model's commands: the user's settings, and the limits for the commands of one project.

mod caches;
mod edited;
mod held;
mod limits;
mod secrets;
mod shared;
mod state;
mod temporary;
mod worktree;

pub use limits::Limits;
pub use state::{Confinement, Settings};

use super::desk::Desk;
use super::git::baseline::Baseline;
use super::git::gate::{self, Order};
use super::git::remotes;
use super::named::{is_within, named};
use super::planted::{Fixed, Places, hooks};
use crate::chance;
use crate::reach;
use crate::rules::{self, Rules};
use crate::sandbox::gate::Gate as Cover;
use crate::sandbox::{self, Sandbox, Strength};
use crate::web::proxy::Gate;
use state::{Shared, Writes};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::NamedTempFile;
use temporary::Temporary;
use worktree::of_worktree;

/// Places below `/run` of sockets by which programs do for others what the user may do.
const SOCKETS: &[&str] = &[
    "balena-engine.sock",
    "buildkit",
    "containerd",
    "crio",
    "cri-dockerd.sock",
    "dbus",
    "docker",
    "docker.sock",
    "host-containerd",
    "incus",
    "k3s",
    "libvirt",
    "lxd",
    "podman",
    "snapd-snap.socket",
    "snapd.socket",
    "systemd/machine",
    "systemd/private",
    "user",
];

/// The most entries of a folder of Caliban's that are looked at.
const MOST: usize = 1000;

/// The folder of shared memory.
const SHARED: &str = "/dev/shm";

/// Why the command gets no connection, as the end of a sentence that begins with the host.
const CLOSED: &str = "is closed, because untrusted text may be in the conversation and auto mode runs the command \
    without asking the user";

impl Confinement {
    /// `private` are Caliban's own folders, which commands do not see; `given` are those with the user's instructions,
    /// commands and skills. `layers` is the folder for the project's layers over the caches of build tools.
    pub fn new(
        settings: Settings,
        private: Vec<PathBuf>,
        given: Vec<PathBuf>,
        layers: PathBuf,
        program: PathBuf,
    ) -> Confinement {
        Confinement { settings, private, given, layers, program, ..Confinement::default() }
    }

    /// The same sandbox for another conversation, whose commands have a temporary folder and a network of their own.
    #[must_use]
    pub fn of_conversation(self) -> Confinement {
        Confinement {
            temporary: Arc::default(),
            secrets: Arc::default(),
            baseline: Arc::default(),
            seen: Arc::default(),
            known: Arc::default(),
            starts: Arc::default(),
            network: Arc::default(),
            ..self
        }
    }

    /// Whether the user's settings say that commands run in a sandbox.
    pub fn is_on(&self) -> bool {
        self.settings.is_on
    }

    /// Finds out, on another thread, which sandbox works on this machine. Does nothing if this is known.
    pub fn probe(&self) {
        if self.strength.get().is_none() {
            let probing = self.clone();
            tokio::task::spawn_blocking(move || probing.wait());
        }
    }

    /// Waits until it is known which sandbox works on this machine. This takes some milliseconds, only once after the
    /// program's start; `probe` begins it with the first request.
    pub fn wait(&self) -> Option<Strength> {
        let probed = || self.settings.is_on.then(|| sandbox::probed(&self.program)).flatten();
        *self.strength.get_or_init(probed)
    }

    /// Whether commands run in a complete sandbox, which protects files and has no network. False until `probe` has
    /// finished. False too if a command could replace the repository's folder, because this folder is a link, if all
    /// files of the project run when a shell or the like starts, and if the project holds the home folder or one of
    /// Caliban's own folders or of those with what the user has written for it, or lies in such a folder.
    pub fn contains(&self, root: &Path) -> bool {
        let is_full = self.strength.get() == Some(&Some(Strength::Full));
        let is_link = |it: &str| root.join(it).is_symlink();
        let is_replaceable = [".git", ".git/config", ".git/hooks"].iter().any(|it| is_link(it));
        let home = dirs::home_dir();
        let of_home =
            || home.as_ref().is_some_and(|it| it.starts_with(root) || is_within(root, it));
        let of_caliban = || {
            self.private.iter().any(|it| it.starts_with(root))
                || self.given.iter().any(|it| meets(root, it, 2))
        };
        let is_start = *self.is_start.get_or_init(|| of_home() || of_caliban());
        self.settings.is_on && is_full && !self.settings.network && !is_replaceable && !is_start
    }

    /// The same sandbox for one command, to which the user has opened these hosts. If `is_closed`, rules open no others.
    #[must_use]
    pub fn connecting(self, is_closed: bool, opened: Vec<String>) -> Confinement {
        Confinement { is_closed, opened, ..self }
    }

    /// Whether single hosts can be opened to a command. The error tells the model why not.
    pub fn can_open(&self, root: &Path) -> Result<(), String> {
        let why = "hosts: the sandbox on this machine cannot open single hosts. Leave hosts out; if the command needs \
            the network, use outside_sandbox.";
        if self.contains(root) { Ok(()) } else { Err(why.to_owned()) }
    }

    /// Whether the user's settings give commands the whole network.
    pub fn has_network(&self) -> bool {
        !self.settings.is_on || self.settings.network
    }

    /// The same sandbox for one command that may write only in its temporary folder.
    #[must_use]
    pub fn read_only(self) -> Confinement {
        Confinement { writes: Writes::Temporary, ..self }
    }

    /// The same sandbox for one command that is git alone, and for which git only says which locked files it would change.
    #[must_use]
    pub(super) fn looking(self) -> Confinement {
        Confinement { writes: Writes::Nothing, ..self }
    }

    /// The same sandbox for the commands of a subagent that works in a worktree apart.
    #[must_use]
    pub fn apart(self) -> Confinement {
        Confinement { is_apart: true, ..self }
    }

    /// The same sandbox for one command, which may change these locked paths with the user's consent.
    #[must_use]
    pub fn unlocking(self, unlocked: Vec<String>) -> Confinement {
        Confinement { unlocked, ..self }
    }

    /// The same sandbox for commands that may write only these files and folders of the project.
    #[must_use]
    pub fn owning(self, paths: Vec<PathBuf>) -> Confinement {
        Confinement { owned: Some(paths), ..self }
    }

    /// The gate that decides on the connections of a command with these limits. `None` if it has no proxy.
    pub fn gate(&self, desk: &Desk, limits: &Limits) -> Option<Gate> {
        let closed = self.is_closed.then_some(CLOSED);
        let opened = rules::opening(&self.opened);
        let pass = Some(limits.pass.clone());
        let gate =
            Gate { rules: self.rules.subscribe(), web: desk.web.clone(), closed, opened, pass };
        limits.has_proxy().then_some(gate)
    }

    /// Uses these rules for the connections of commands, also of those that run.
    pub fn set_rules(&self, rules: &Arc<Rules>) {
        self.rules.send_if_modified(|it| {
            let is_new = it != rules;
            it.clone_from(rules);
            is_new
        });
    }

    /// Whether rules cannot open hosts on this machine, because it has no complete sandbox. False until `probe` has
    /// finished, and if the user's settings give commands the whole network.
    pub fn has_no_proxy(&self) -> bool {
        let is_weaker = self.strength.get().is_some_and(|it| *it != Some(Strength::Full));
        self.settings.is_on && !self.settings.network && is_weaker
    }

    /// The limits for a command. `None` if the command runs without a sandbox, because the user wants none or none
    /// works on this machine. After an error the command must not run.
    pub async fn limits(&self, desk: &Desk) -> io::Result<Option<Limits>> {
        let probing = self.clone();
        let probed = tokio::task::spawn_blocking(move || probing.wait()).await;
        let Some(strength) = probed.map_err(io::Error::other)? else { return Ok(None) };
        let made = self.made()?;
        let is_shared = strength == Strength::Full && self.writes == Writes::Project;
        let shared = if is_shared { Some(self.joined(desk, made).await?) } else { None };
        let places = self.places(desk).await.map_err(io::Error::other)?;
        let mut limits = self.limited(desk, strength, places, shared.as_ref())?;
        limits.pass = chance::word()?;
        if let Some(places) = &limits.places {
            let modules = places.open_modules().map(|it| it.join("config"));
            let files: Vec<PathBuf> = modules.chain([places.configuration()]).collect();
            let known = self.known.clone();
            let asking = tokio::task::spawn_blocking(move || {
                for it in &files {
                    remotes::of(&known, it);
                }
            });
            asking.await.map_err(io::Error::other)?;
            let common = of_worktree(&desk.root);
            let locks = limits.locks.clone();
            let looking = async || {
                let found = Baseline::new(&desk.root, common.as_deref(), &locks).await;
                found.map(|it| it.map(Arc::new)).map_err(|it| io::Error::other(it.clause()))
            };
            limits.baseline = self.baseline.get_or_try_init(looking).await?.clone();
            if let Some(baseline) = &limits.baseline {
                limits.head = baseline.head().await;
            }
        }
        if let Some(shared) = shared {
            limits.network = (!self.settings.network).then_some(shared.network);
        }
        Ok(Some(limits))
    }

    /// The temporary folder of the conversation's commands.
    fn made(&self) -> io::Result<&Temporary> {
        let made = self.temporary.get_or_init(|| Temporary::new().ok());
        made.as_ref().ok_or_else(|| io::Error::other("no temporary folder can be made"))
    }

    /// The folders in which locked paths may lie. The error is a clause.
    async fn places(&self, desk: &Desk) -> Result<Places, String> {
        let common = of_worktree(&desk.root).filter(|_| !self.is_apart);
        let (common_dir, home) = (common.as_deref(), desk.home.as_deref());
        let mut named = named(&desk.root, common_dir, home, &self.listed, &self.starts).await?;
        let (root, git) = (desk.root.clone(), common.clone());
        let git = git.unwrap_or_else(|| root.join(".git"));
        let hooked = tokio::task::spawn_blocking(move || hooks(&root, &git)).await;
        named.extend(hooked.map_err(|it| it.to_string())?);
        let places = Places::new(&desk.root, common).naming(&named).unlocking(&self.unlocked);
        let nested = self.nested.borrow().clone();
        let nesting = tokio::task::spawn_blocking(move || places.nesting(nested));
        let places = nesting.await.map_err(|it| it.to_string()).flatten()?;
        self.nested.send_replace(places.nested().clone());
        Ok(places)
    }

    fn limited(
        &self,
        desk: &Desk,
        strength: Strength,
        places: Places,
        shared: Option<&Shared>,
    ) -> io::Result<Limits> {
        let made = self.made()?;
        let home = desk.home.clone().unwrap_or_default();
        let mut writable = self.writable(desk, &home);
        writable.extend(caches::writable(&home, shared.and_then(Shared::layers), strength));
        let common = of_worktree(&desk.root);
        // the project stays visible, also where the command may not write
        let visible = |writable: &[PathBuf]| [writable, std::slice::from_ref(&desk.root)].concat();
        let needed =
            [visible(&writable), vec![home.clone()], Vec::from_iter(common.clone())].concat();
        let is_full = strength == Strength::Full;
        let is_ours = is_full && !needed.iter().any(|it| it == Path::new("/tmp"));
        let seen = if is_ours { PathBuf::from("/tmp") } else { made.path.clone() };
        writable.push(seen.clone());
        let Fixed { paths: mut fixed, pinned } = protected(&desk.root, &places)?;
        if let Some(common) = common {
            fixed.push(desk.root.join(".git"));
            writable.extend((!self.is_apart).then_some(common));
        }
        let shown = visible(&writable);
        let (is_looking, is_watched) =
            (self.writes == Writes::Nothing, is_full && self.writes == Writes::Project);
        let gated = (is_watched || is_full && is_looking).then(|| self.gate_of_git(desk, &places));
        let (gate, channel) = gated.transpose()?.unwrap_or_default();
        let sandbox = Sandbox {
            strength,
            pinned,
            fixed,
            hidden: self.hidden(desk, &shown, made),
            shown,
            writable: self.writes.limiting(writable, &seen),
            temporary: is_ours.then(|| made.path.clone()),
            kept: needed.iter().filter_map(|it| entry(it)).collect(),
            network: self.settings.network && !is_looking,
            holder: shared.and_then(|it| it.network.holder()),
            proxy: is_full && !is_looking,
            gate,
        };
        Ok(Limits {
            sandbox,
            // each command in the full sandbox has shared memory of its own
            temporary: if is_looking { PathBuf::from(SHARED) } else { seen },
            locks: places.locks(),
            places: is_watched.then_some(places),
            baseline: None,
            head: None,
            network: None,
            pass: String::new(),
            channel,
            known: self.known.clone(),
            agreed: self.agreed.clone(),
            seen: self.seen.clone(),
        })
    }

    /// The paths that the user's settings name as writable.
    fn named(&self, desk: &Desk, home: &Path) -> impl Iterator<Item = PathBuf> {
        self.settings.writable.iter().map(|it| match it.strip_prefix("~/") {
            Some(rest) => home.join(rest),
            None => desk.root.join(it),
        })
    }

    /// The paths that commands may write, apart from their temporary folder and the caches of build tools.
    fn writable(&self, desk: &Desk, home: &Path) -> Vec<PathBuf> {
        let mut writable: Vec<PathBuf> = self.named(desk, home).filter(|it| it.exists()).collect();
        match &self.owned {
            None => writable.push(desk.root.clone()),
            Some(owned) => writable.extend(owned.iter().filter(|it| it.exists()).cloned()),
        }
        writable
    }

    /// What stands in the place of git, and the file by which it talks with this program. The file lies where no command
    /// writes.
    fn gate_of_git(
        &self,
        desk: &Desk,
        places: &Places,
    ) -> io::Result<(Option<Cover>, Option<NamedTempFile>)> {
        let is_looking = self.writes == Writes::Nothing;
        let made = self.made()?;
        let talks = is_looking || !self.is_apart;
        let channel = talks.then(|| NamedTempFile::with_prefix_in("git-", &made.folder));
        let channel = channel.transpose()?;
        let covered = gate::files();
        let order = Order {
            root: desk.root.clone(),
            common: of_worktree(&desk.root).filter(|_| !self.is_apart),
            covered: covered.clone(),
            named: places.named().to_vec(),
            links: places.links().to_vec(),
            unlocked: self.unlocked.clone(),
            carries: talks,
            looks: is_looking,
        };
        let order = serde_json::to_string(&order)?;
        let cover =
            Cover { order, covered, channel: channel.as_ref().map(|it| it.path().to_owned()) };
        Ok((Some(cover), channel))
    }

    /// The paths to hide: the user's secrets, Caliban's own data, and sockets. A folder with secrets that contains a
    /// writable folder stays visible. In Caliban's own folders only what the command needs stays visible.
    fn hidden(&self, desk: &Desk, writable: &[PathBuf], made: &Temporary) -> Vec<PathBuf> {
        let home = desk.home.clone().unwrap_or_default();
        let found = || secrets::found(&home, desk.project(), &desk.reach);
        let secrets = self.secrets.get_or_init(found).iter().cloned();
        let credentials =
            ["credentials", "credentials.toml"].map(|it| home.join(".cargo").join(it));
        let places = |it: &&str| ["/run", "/var/run"].map(|folder| Path::new(folder).join(it));
        let sockets = SOCKETS.iter().flat_map(places);
        let named = ["NVIM", "SSH_AUTH_SOCK", "XDG_RUNTIME_DIR"];
        let named = named.iter().filter_map(std::env::var_os).map(PathBuf::from);
        let all = secrets.chain(credentials).chain(sockets).chain(named);
        let all = all.filter(|it| !writable.iter().any(|kept| kept.starts_with(it)));
        let own = self.private.iter().chain([&made.all]).cloned();
        all.chain(own).filter(|it| it.is_absolute()).collect()
    }
}

/// The paths of the project that are locked, and the folders that stay in place, such as that of its repository.
fn protected(root: &Path, places: &Places) -> io::Result<Fixed> {
    let mut fixed = places.locked().map_err(io::Error::other)?;
    let own = root.join(".git");
    for git in places.open_modules().chain([&own]).filter(|it| it.join("HEAD").is_file()) {
        // only a folder that exists can be protected
        let hooks = git.join("hooks");
        if std::fs::create_dir(&hooks).is_ok() {
            fixed.paths.push(hooks);
        }
    }
    if cfg!(target_os = "macos") {
        // Seatbelt can also lock paths that do not exist yet
        fixed.paths.extend(reach::locked().map(|it| root.join(it)));
        let named = places.named().iter();
        fixed.paths.extend(named.map(|it| root.join(it.iter().collect::<PathBuf>())));
    }
    fixed.pinned.push(own);
    Ok(fixed)
}

/// Whether the project holds the path or lies in it, with links followed; and the same of the entries of a folder, to
/// this depth: `~/.config/caliban/AGENTS.md` may be a link into a project with the user's settings.
fn meets(root: &Path, path: &Path, depth: usize) -> bool {
    let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    if real.starts_with(root) || root.starts_with(&real) {
        return true;
    }
    let entries = path.read_dir().into_iter().flatten().flatten().take(MOST);
    depth > 0 && entries.map(|it| it.path()).any(|it| meets(root, &it, depth - 1))
}

/// The entry of a folder that all programs share which is this path, or contains it; the shared folder itself if it is
/// this path.
fn entry(path: &Path) -> Option<PathBuf> {
    let shared = ["/tmp", SHARED].into_iter().map(Path::new).find(|it| path.starts_with(it))?;
    Some(path.ancestors().find(|it| it.parent() == Some(shared)).unwrap_or(shared).to_owned())
}
