//! The whole: what the editor says goes to the session it is about, sessions are opened as they are asked for,
//! and everything is on disk when the editor goes.

mod chats;
mod connect;
mod held;
mod opening;
mod places;
mod settings;

use crate::agent::models::Models;
use crate::agent::{self, Command, Wish};
use crate::context::instructions::Places;
use crate::event::{Ruling, SessionId};
use crate::log;
use crate::message::CallId;
use crate::nvim::link::{self, Editor};
use crate::nvim::lsp;
use crate::nvim::reviews::{self, Verdict};
use crate::nvim::screen;
use crate::nvim::wire::{FromNvim, Hello, Level, Resume, ToNvim, WireConfig, WireRuling};
use crate::provider::tour;
use crate::store::{self, Barred, Draft, Project, Store};
use held::Begin;
use places::{cache_dir, close_to_others, config_dir, data_dir, project_root};
use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::{mpsc, oneshot};

/// How long after a signal the end of input is waited for.
const FAREWELL: Duration = Duration::from_millis(1500);

/// How long the sessions may take to be on disk when the editor goes: it waits a second longer.
const SAVING: Duration = Duration::from_secs(9);

/// The exit code for bytes from the editor that are no message; `lua/caliban/rpc.lua` knows it too.
const UNREADABLE: u8 = 65;

/// Runs until the editor goes.
pub async fn run() -> ExitCode {
    let Ok((editor, (mut from_nvim, link))) = link::connect() else { return ExitCode::FAILURE };
    let Some(FromNvim::Hello(hello)) = from_nvim.recv().await else { return ExitCode::FAILURE };
    let (mut program, mut ends) = Program::new(editor, hello);
    // At `:qa` the signal comes together with the end of input: what the editor still says is read first.
    let Ok(mut terminated) = signal(SignalKind::terminate()) else { return ExitCode::FAILURE };
    let mut is_terminated = false;
    let end = loop {
        tokio::select! {
            biased;
            message = from_nvim.recv() => match message {
                Some(message) => program.handle(message).await,
                None => break link.await.unwrap_or(link::End::Unreadable),
            },
            Some((session, wish)) = ends.wishes.recv() => program.wish(session, wish).await,
            Some(connected) = ends.connected.recv() => program.connected(connected),
            Some(waited) = ends.waited.recv() => program.waited(waited).await,
            _ = terminated.recv(), if !is_terminated => is_terminated = true,
            () = tokio::time::sleep(FAREWELL), if is_terminated => break link::End::Closed,
        }
    };
    program.quit().await;
    match end {
        link::End::Closed => ExitCode::SUCCESS,
        link::End::Unreadable => ExitCode::from(UNREADABLE),
    }
}

struct Program {
    editor: Editor,
    project: Project,
    root: PathBuf,
    /// Where instructions are looked for.
    places: Places,
    config: WireConfig,
    models: Models,
    /// The model of new sessions, and where its key comes from; found when the first session opens.
    model: Option<(String, String)>,
    agents: HashMap<SessionId, mpsc::UnboundedSender<Command>>,
    /// Sessions that are open for reading alone.
    readers: HashSet<SessionId>,
    /// Former names of sessions that are open.
    renamed: HashMap<SessionId, SessionId>,
    /// Files that were under review in the editor when it started us.
    live: Vec<PathBuf>,
    /// The next session to start is what the user asked for in a chat.
    shows_next: bool,
    /// The session that was opened last.
    current: Option<SessionId>,
    reviews: mpsc::UnboundedSender<reviews::Order>,
    /// Questions to the editor's language servers.
    questions: mpsc::UnboundedSender<lsp::Order>,
    wishes: mpsc::UnboundedSender<(SessionId, Wish)>,
    connected: mpsc::UnboundedSender<connect::Connected>,
    waited: mpsc::UnboundedSender<held::Waited>,
    /// Tells where the keys are that the user has given.
    keys: PathBuf,
}

struct Ends {
    wishes: mpsc::UnboundedReceiver<(SessionId, Wish)>,
    connected: mpsc::UnboundedReceiver<connect::Connected>,
    waited: mpsc::UnboundedReceiver<held::Waited>,
}

impl Program {
    fn new(editor: Editor, hello: Hello) -> (Program, Ends) {
        let config = hello.config;
        close_to_others();
        let asked = std::env::var("CALIBAN_DEBUG").is_ok_and(|it| !matches!(it.as_str(), "" | "0"));
        if (config.debug || asked)
            && let Err(error) = log::begin(&cache_dir())
        {
            let text = format!("The debug log cannot be written: {error}.");
            editor.tell(ToNvim::Notice { level: Level::Warn, text });
        }
        tracing::info!(nvim = hello.nvim, plugin = hello.version, "hello");
        let root = project_root(&hello.cwd);
        let places = Places {
            root: root.clone(),
            cwd: std::fs::canonicalize(&hello.cwd).unwrap_or_else(|_| root.clone()),
            config: config_dir(),
            home: std::env::home_dir(),
            reach: places::reach(&root),
        };
        let project = Project::new(&data_dir().join("sessions"), &root);
        let keys = data_dir().join("keys.json");
        let mut models = settings::models(&config, &keys);
        models.answer_by("tour", Arc::new(tour::Tour { leader: hello.leader }));
        models.note_keys();
        let (reviews, review_orders) = mpsc::unbounded_channel();
        let (wishes, wishes_end) = mpsc::unbounded_channel();
        let (connected, connected_end) = mpsc::unbounded_channel();
        let (waited, waited_end) = mpsc::unbounded_channel();
        tokio::spawn(reviews::run(first_id(), root.clone(), review_orders));
        let (questions, question_orders) = mpsc::unbounded_channel();
        tokio::spawn(lsp::run(first_id(), question_orders));
        let version = env!("CARGO_PKG_VERSION").to_owned();
        editor.tell(ToNvim::Welcome { version });
        let (agents, current, model) = (HashMap::new(), None, None);
        let program = Program {
            editor,
            project,
            root,
            places,
            config,
            models,
            model,
            agents,
            readers: HashSet::new(),
            renamed: HashMap::new(),
            live: hello.reviews,
            shows_next: false,
            current,
            reviews,
            questions,
            wishes,
            connected,
            waited,
            keys,
        };
        (program, Ends { wishes: wishes_end, connected: connected_end, waited: waited_end })
    }

    async fn handle(&mut self, message: FromNvim) {
        match message {
            FromNvim::Hello(_) => (),
            FromNvim::Open { session } => self.open(session).await,
            FromNvim::Look { session } => self.look(session).await,
            FromNvim::New { name, ephemeral } => self.new_session(name, ephemeral).await,
            FromNvim::Send { session, text, context, .. } if !self.runs(&session) => {
                let why = format!(
                    "The conversation `{session}` is not open. :Caliban new begins another."
                );
                self.editor.tell(ToNvim::Bounce { session, text, context, why });
            }
            FromNvim::Send { session, text, context, steer } => {
                self.note_last(&session);
                self.tell(&session, Command::Send { text, context, steer });
            }
            FromNvim::SendHeld { session, id } => self.tell(&session, Command::SendHeld(id)),
            FromNvim::Unqueue { session, id } => self.tell(&session, Command::Unqueue(id)),
            // Its text has gone to the one opened instead.
            FromNvim::Draft { session, .. } if !self.runs(&session) => (),
            FromNvim::Draft { session, text, context } => {
                self.tell(&session, Command::Draft(Draft { text, context }));
            }
            FromNvim::Stop { session } => self.tell(&session, Command::Stop),
            FromNvim::Rule { session, call, ruling, reason } => {
                let (call, ruling) = (CallId(call), ruled(ruling, reason));
                self.tell(&session, Command::Rule { call, ruling });
            }
            FromNvim::Toggle { session, block, line } => {
                self.tell(&session, Command::Toggle { block, line });
            }
            FromNvim::Retry { session } => self.tell(&session, Command::Retry),
            FromNvim::Model { session, model } => self.tell(&session, Command::ChooseModel(model)),
            FromNvim::Mode { session, mode } => self.tell(&session, Command::ChooseMode(mode)),
            FromNvim::Models { session } => self.offer_models(session),
            FromNvim::Connect { provider } => self.ask_for_key(provider),
            FromNvim::Key { provider, key } => self.connect(provider, key),
            FromNvim::Request { session } => self.tell(&session, Command::ShowRequest),
            FromNvim::Rewind(it) => self.tell(&it.session.clone(), Command::Rewind(it.into())),
            FromNvim::Arrived(arrived) => drop(self.reviews.send(reviews::Order::Arrived(arrived))),
            FromNvim::Found(found) => drop(self.questions.send(lsp::Order::Found(found))),
            FromNvim::Checked(checked) => {
                // Of a session that is not open any more nobody waits for it.
                if let Some(agent) = self.agents.get(self.now(&checked.session)) {
                    drop(agent.send(Command::Checked(Box::new(checked))));
                }
            }
            FromNvim::Reviewed(reviewed) => {
                // A message sent after it must find the verdict told.
                let (done, verdicts) = oneshot::channel();
                let _ = self.reviews.send(reviews::Order::Reviewed(reviewed, done));
                verdicts.await.unwrap_or_default().into_iter().for_each(|it| self.verdict(it));
            }
            message => self.about_sessions(message).await,
        }
    }

    /// Whether a session is open, and its task has not died of a fault of ours.
    fn runs(&self, session: &SessionId) -> bool {
        self.agents.get(self.now(session)).is_some_and(|agent| !agent.is_closed())
    }

    fn tell(&self, session: &SessionId, command: Command) {
        match self.agents.get(self.now(session)) {
            Some(agent) if agent.send(command).is_ok() => (),
            Some(_) => self.notice(
                Level::Error,
                format!("The conversation `{session}` broke off. :Caliban restart takes it up."),
            ),
            None => self.notice(Level::Error, format!("The conversation `{session}` is not open.")),
        }
    }

    fn notice(&self, level: Level, text: String) {
        self.editor.tell(ToNvim::Notice { level, text });
    }

    async fn open(&mut self, session: Option<SessionId>) {
        let resumes = self.config.resume != Resume::Fresh;
        let asked = session.or_else(|| self.current.clone());
        let id = match asked.or_else(|| resumes.then(|| self.project.last()).flatten()) {
            Some(id) if !store::is_name(&id.0) => return self.bad_name(&id.0),
            Some(id) => id,
            None if resumes => SessionId("main".into()),
            None => self.free_name("main"),
        };
        match self.agents.get(&id).filter(|_| !self.readers.contains(&id)) {
            Some(agent) => {
                drop(agent.send(Command::Present));
                self.note_last(&id);
            }
            None => self.load(id).await,
        }
    }

    /// A turn was interrupted: its session is brought to rest. Or it has reviews, which the editor takes up again once
    /// it is open, and tells of. Another Neovim's session is not interrupted.
    async fn look(&mut self, id: SessionId) {
        if !store::is_name(&id.0) || self.agents.contains_key(&id) {
            return;
        }
        let mut opened = match self.project.open(&id) {
            Ok(opened) => opened,
            Err(Barred::Held(_)) => return self.look_later(id),
            Err(_) => return,
        };
        let has_reviews = !self.project.under_review(&id, &self.places.reach).is_empty();
        let session = opened.session.as_ref().filter(|it| !it.is_blank());
        if session.is_some() && (opened.interrupted || has_reviews) {
            self.start(id, Begin::of(opened), None).await;
            if !has_reviews {
                let text = "A turn was interrupted in this project. :Caliban shows it.".to_owned();
                self.notice(Level::Info, text);
            }
        } else if let Some(Err(error)) = session.map(|it| opened.store.settle(it)) {
            tracing::warn!("what stood in the journal alone stays there: {error}");
        }
    }

    /// The session that the user has turned to is the one to come back to.
    fn note_last(&mut self, id: &SessionId) {
        if self.current.as_ref() == Some(id) {
            return;
        }
        self.current = Some(id.clone());
        self.project.note_hints();
        if !self.project.is_free(&id.0)
            && let Err(error) = self.project.set_last(id)
        {
            tracing::warn!("the last session could not be noted: {error}");
        }
    }

    /// `barred`: the session that this one stands for, and why, where that is to be said.
    async fn start(&mut self, id: SessionId, begin: Begin, barred: Option<(SessionId, String)>) {
        let (instead, why) = barred.unzip();
        let mut warnings = self.warnings(why);
        let (model, origin) = self.default_model().await;
        self.readers.remove(&id);
        let mut reads = None;
        let (store, session, replayed, partial, draft) = match begin {
            Begin::Opened(it) => {
                warnings.extend(it.warnings);
                (Some(it.store), it.session, it.replayed, it.partial, it.draft)
            }
            Begin::InMemory(it) => (None, Some(*it), false, String::new(), Draft::default()),
            Begin::Reading(session, why) => {
                self.readers.insert(id.clone());
                reads = Some(why);
                (None, Some(*session), false, String::new(), self.project.unsent(&id))
            }
        };
        let mut session = session.unwrap_or_default();
        if session.model.is_empty()
            || self.models.is_tour(&session.model)
            || self.models.resolve(&session.model).is_err()
        {
            session.model.clone_from(&model);
        }
        let (output, outputs) = mpsc::unbounded_channel();
        let (show, shown) = mpsc::unbounded_channel();
        let stored = store.as_ref().map(Store::outputs);
        tokio::spawn(screen::run(self.editor.clone(), id.clone(), stored, shown));
        self.note_last(&id);
        let setup = agent::Setup {
            id: id.clone(),
            editor: self.editor.clone(),
            desk: self.desk(&id, output),
            screen: show,
            store,
            session,
            replayed,
            partial,
            draft,
            models: self.models.clone(),
            tally: Some(data_dir().join("edits.json")),
            mode: self.config.mode,
            titles: self.config.titles,
            choice: self.choice(),
            places: self.config.instructions.then(|| self.places.clone()),
            live: self.live.clone(),
            recorded: self.project.under_review(&id, &self.places.reach),
            shown: std::mem::take(&mut self.shows_next),
            outputs,
            wishes: self.wishes.clone(),
            intro: self.intro(&model, &origin),
            warnings,
            instead,
            reads,
        };
        let (agent, inbox) = mpsc::unbounded_channel();
        tokio::spawn(agent::run(setup, inbox));
        self.agents.insert(id, agent);
    }

    /// What the user is told first in a chat: why it is not the session that was asked for, and a warning if the
    /// project holds the home folder.
    fn warnings(&self, why: Option<String>) -> Vec<String> {
        let why = why.filter(|it| !it.is_empty());
        why.into_iter().chain(places::warning(&self.root)).collect()
    }

    async fn wish(&mut self, session: SessionId, wish: Wish) {
        match wish {
            Wish::Sessions { text } => self.list_sessions(text),
            Wish::Rename { text } => self.rename(session, &text).await,
            Wish::Copy(copy) => self.keep_copy(session, copy).await,
            Wish::Models => self.offer_models(session),
            Wish::Connect { provider } => self.ask_for_key(provider),
            Wish::New { name } => {
                self.shows_next = true;
                self.new_session(name, false).await;
                self.shows_next = false;
            }
        }
    }

    fn verdict(&self, verdict: Verdict) {
        let Verdict { session, answers, path, was, saved, text } = verdict;
        // Of a program that has ended, its conversation may not be open here.
        let current = self.current.as_ref().filter(|_| !self.runs(&session));
        let session = current.unwrap_or(&session);
        if let Some(path) = was {
            let (answers, saved, text) = (Vec::new(), true, None);
            self.tell(session, Command::Reviewed { answers, path, saved, text });
        }
        self.tell(session, Command::Reviewed { answers, path, saved, text });
    }

    async fn quit(self) {
        let mut saved = Vec::new();
        for agent in self.agents.values() {
            let (done, is_done) = oneshot::channel();
            let _ = agent.send(Command::Quit(done));
            saved.push(is_done);
        }
        let _ = tokio::time::timeout(SAVING, futures::future::join_all(saved)).await;
    }
}

fn ruled(ruling: WireRuling, reason: String) -> Ruling {
    match ruling {
        WireRuling::Once => Ruling::Once,
        WireRuling::Session => Ruling::Session,
        WireRuling::Deny => Ruling::Denied { reason },
    }
}

/// Ids of proposals begin at another number in every run.
fn first_id() -> u32 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u32::try_from(now.as_millis() % 2_000_000).unwrap_or(0) * 1000
}
