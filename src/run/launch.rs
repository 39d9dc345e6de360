//! Opens the session of a run and starts its agent.

use super::arguments::Arguments;
use super::{config, named};
use crate::agent::models::full_name;
use crate::agent::{self, Command, PlaceWanted};
use crate::conversation::report::{Glance, Show, Wish};
use crate::event::{Mode, Recipient, SessionId};
use crate::log;
use crate::nvim::wire::WireConfig;
use crate::provider::endpoint::{self, Unresolved};
use crate::provider::probe;
use crate::session::Limit;
use crate::site::Site;
use crate::site::places::{cache_dir, close_to_others, data_dir};
use crate::store::{self, Opened, Project};
use crate::text::cause;
use crate::tool::disk::Disk;
use std::fs::Permissions;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use tracing_appender::non_blocking::WorkerGuard;

/// The longest prompt that is read from standard input, in bytes.
const LONGEST: u64 = 10_000_000;
/// The name of conversations that nobody has named; a number is added if the name is taken.
const NAME: &str = "run";

/// A running agent and its channels.
pub(super) struct Launched {
    pub(super) agent: mpsc::UnboundedSender<Command>,
    pub(super) shown: mpsc::UnboundedReceiver<Show>,
    pub(super) wishes: mpsc::UnboundedReceiver<Wish>,
    /// Requests for sessions of subagents.
    pub(super) places: mpsc::UnboundedReceiver<PlaceWanted>,
    pub(super) session: SessionId,
    pub(super) model: String,
    pub(super) mode: Mode,
    pub(super) root: PathBuf,
    /// Ends when the Neovim that started this run is gone; `None` if no Neovim started the run.
    pub(super) neovim: Option<JoinHandle<()>>,
    pub(super) site: Site,
    pub(super) arguments: Arguments,
    /// The project in which the sessions of subagents are saved.
    pub(super) project: Project,
    /// The folder of a session that is not saved.
    _temporary: Option<tempfile::TempDir>,
    _log: Option<WorkerGuard>,
}

/// Opens the session. Also returns the prompt. The error is for the user.
pub(super) async fn launch(arguments: Arguments) -> Result<(Launched, String), String> {
    let text = prompt(&arguments)?;
    let (cwd, config) = settings(&arguments)?;
    close_to_others();
    let asked = std::env::var("CALIBAN_DEBUG").is_ok_and(|it| !matches!(it.as_str(), "" | "0"));
    let log = (config.debug || asked).then(|| log::begin(&cache_dir()).ok()).flatten();
    let mut site = Site::new(config, &cwd);
    let (mut opened, session, temporary) = open(&site, &arguments)?;
    let own = opened.session.get_or_insert_default();
    let is_new = own.is_blank();
    let found = arguments.agent.as_ref().map(|it| named::find(&site, it, own));
    let found = found.transpose()?.flatten();
    let model = model(&mut site, &arguments, &own.model).await?;
    let asks = found.as_ref().filter(|it| it.model.is_some());
    let overrules = arguments.model.is_some() && asks.is_some();
    let model = named::model(&site.models, asks.filter(|_| !overrules), model);
    own.model.clone_from(&model);
    if arguments.model.is_some() {
        // who names the model for this run agrees to send the conversation to its provider
        own.sent_to = Recipient::of_model(&model);
    }
    let (screen, shown) = mpsc::unbounded_channel();
    let (wish, wishes) = mpsc::unbounded_channel();
    let (place, places) = mpsc::unbounded_channel();
    let (agent, inbox) = mpsc::unbounded_channel();
    let setup = setup(&site, &arguments, (session.clone(), opened), (screen, wish, place));
    let name = found.as_ref().map(|it| it.name.clone());
    tokio::spawn(agent::run(agent::Setup { agent: name, ..setup }, inbox));
    if overrules {
        let _ = agent.send(Command::ChooseModel(model.clone()));
    }
    if let (Some(mode), false) = (arguments.mode, is_new) {
        // the send fails only if the agent has failed
        let _ = agent.send(Command::ChooseMode(Some(mode)));
    }
    if arguments.coordinator {
        let _ = agent.send(Command::Coordinate);
    }
    let mode = found.map_or(site.config.mode, |it| it.mode_within(site.config.mode));
    let root = site.places.root.clone();
    let apart = temporary.as_ref().map(|it| Project::new(it.path(), &root));
    let launched = Launched {
        agent,
        shown,
        wishes,
        places,
        session,
        model,
        mode,
        root,
        neovim: arguments.neovim.then(|| tokio::task::spawn_blocking(until_closed)),
        project: apart.unwrap_or_else(|| site.project.clone()),
        site,
        arguments,
        _temporary: temporary,
        _log: log,
    };
    Ok((launched, text))
}

/// Reads standard input to its end. Neovim sends nothing after its settings, and the input closes when Neovim ends.
fn until_closed() {
    let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
}

/// The working directory, and the settings. A setting in the arguments replaces the same setting in the file.
fn settings(arguments: &Arguments) -> Result<(PathBuf, WireConfig), String> {
    let cwd = match &arguments.cwd {
        Some(it) => std::fs::canonicalize(it).map_err(|it| format!("--cwd: {}.", cause(&it)))?,
        None => std::env::current_dir().map_err(|it| cause(&it))?,
    };
    if !cwd.is_dir() {
        return Err("--cwd: this is not a folder.".to_owned());
    }
    let mut config = if arguments.neovim {
        config::of_neovim(std::io::stdin().lock())?
    } else {
        config::load(arguments.config.as_deref())?
    };
    config.mode = arguments.mode.unwrap_or(config.mode);
    config.model = arguments.model.clone().or(config.model);
    Ok((cwd, config))
}

/// Everything that the agent of an opened session needs.
pub(super) fn setup(
    site: &Site,
    arguments: &Arguments,
    (id, opened): (SessionId, Opened),
    (screen, wishes, places): (
        mpsc::UnboundedSender<Show>,
        mpsc::UnboundedSender<Wish>,
        mpsc::UnboundedSender<PlaceWanted>,
    ),
) -> agent::Setup {
    let (output, outputs) = mpsc::unbounded_channel();
    let mut limits = site.limits();
    limits.requests = arguments.requests;
    if arguments.usd.is_some() || arguments.tokens.is_some() {
        limits.turn = Limit::new(arguments.usd, arguments.tokens);
    }
    let mut desk =
        site.desk(Arc::new(Disk { root: site.places.root.clone(), is_apart: false }), output);
    desk.tools = desk.tools.without_servers();
    agent::Setup {
        id,
        desk,
        screen,
        store: Some(opened.store),
        session: opened.session.unwrap_or_default(),
        replayed: opened.replayed,
        partial: opened.partial,
        draft: opened.draft,
        models: site.models.clone(),
        tally: Some(data_dir().join("edits.json")),
        measures: Some(data_dir().join("measures.json")),
        glance: watch::channel(Glance::default()).0,
        mode: site.config.mode,
        agent: None,
        titles: false,
        limits,
        choice: site.choice(),
        permissions: site.permissions(),
        instructions: site.instructions(),
        instead: None,
        read_only: None,
        live: Vec::new(),
        recorded: Vec::new(),
        shown: false,
        outputs,
        wishes,
        places,
        inherited: agent::Inherited::opening(&arguments.ports),
        intro: Vec::new(),
        warnings: opened.warnings,
    }
}

/// The prompt of the arguments or of standard input.
fn prompt(arguments: &Arguments) -> Result<String, String> {
    if let Some(prompt) = &arguments.prompt {
        return Ok(prompt.clone());
    }
    let mut bytes = Vec::new();
    let read = std::io::stdin().take(LONGEST + 1).read_to_end(&mut bytes);
    read.map_err(|it| format!("The prompt could not be read: {}.", cause(&it)))?;
    if bytes.len() as u64 > LONGEST {
        return Err("The prompt is longer than 10 MB.".to_owned());
    }
    let text = String::from_utf8(bytes).map_err(|_| "The prompt is not UTF-8 text.".to_owned())?;
    if text.trim().is_empty() {
        return Err("The prompt is empty.".to_owned());
    }
    Ok(text.trim_end_matches('\n').to_owned())
}

/// Opens the session. A session that is not saved is in a folder of its own, which is deleted at the end.
fn open(
    site: &Site,
    arguments: &Arguments,
) -> Result<(Opened, SessionId, Option<tempfile::TempDir>), String> {
    let said = |why: store::Unavailable, id: &SessionId| why.say(&id.0);
    if let Some(name) = &arguments.session {
        if !store::is_name(name) {
            return Err("--session: use 1 to 64 letters, digits, `-` and `_`.".to_owned());
        }
        let id = SessionId(name.clone());
        let opened = site.project.open(&id).map_err(|it| said(it, &id))?;
        return Ok((opened, id, None));
    }
    let temporary = arguments.ephemeral.then(private).transpose();
    let temporary = temporary.map_err(|it| cause(&it))?;
    let apart = temporary.as_ref().map(|it| Project::new(it.path(), &site.places.root));
    let (id, opened) = apart.as_ref().unwrap_or(&site.project).open_free(NAME, &[]);
    Ok((opened.map_err(|it| said(it, &id))?, id, temporary))
}

/// A temporary folder into which only the user can look.
fn private() -> std::io::Result<tempfile::TempDir> {
    tempfile::Builder::new().permissions(Permissions::from_mode(0o700)).tempdir()
}

/// The full name of the model: that of the arguments, else the session's own, else that of the settings, else the first
/// one with a key, else the model of a server on this machine.
async fn model(site: &mut Site, arguments: &Arguments, own: &str) -> Result<String, String> {
    if arguments.model.is_none() && !own.is_empty() && site.models.resolve(own).is_ok() {
        return Ok(own.to_owned());
    }
    let env = |name: &str| std::env::var(name).ok();
    let wanted = site.config.model.as_deref();
    match endpoint::resolve(wanted, &site.models.users, &env) {
        Ok(chosen) => Ok(full_name(&chosen)),
        Err(Unresolved::Wrong(why)) => Err(why),
        Err(Unresolved::Nothing) if site.config.probe => match probe::probe(&env).await {
            Some(chosen) => {
                site.models.remember(&chosen);
                Ok(full_name(&chosen))
            }
            None => Err(NONE.to_owned()),
        },
        Err(Unresolved::Nothing) => Err(NONE.to_owned()),
    }
}

const NONE: &str = "There is no model. Name one with --model provider/model or CALIBAN_MODEL, and set its provider's \
                    key.";
