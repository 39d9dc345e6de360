//! Begins a session: its tools, system prompt, model and the first lines of its chat.

use super::message::{Incoming, Source, Start};
use super::state::Program;
use crate::agent::models::full_name;
use crate::agent::{self, Command};
use crate::conversation::report::{Glance, Level};
use crate::event::SessionId;
use crate::message::{Block, CallId};
use crate::nvim::screen;
use crate::nvim::session_link::{Handle, SessionLink};
use crate::nvim::wire::FromNvim;
use crate::nvim::workspace::Buffers;
use crate::provider::endpoint::{self, Chosen, Unresolved};
use crate::provider::tour;
use crate::session::Session;
use crate::site::places::data_dir;
use crate::site::settings;
use crate::store::{Draft, Store};
use crate::tool::Desk;
use std::sync::Arc;
use tokio::sync::{mpsc, watch};

/// The fourth line of an empty chat without a model.
const TOUR: &str = "Tour     any message begins it: i, a word, <Esc>, <CR>";
/// Shown in place of `TOUR` in a project without the tour's file.
const CONNECT: &str = "Connect  /connect asks for a provider's key; :help caliban-models";

/// The parts of a session that are known when it begins.
#[derive(Default)]
struct Parts {
    store: Option<Store>,
    session: Session,
    replayed: bool,
    partial: Vec<Block>,
    draft: Draft,
    warnings: Vec<String>,
    /// If the session is read-only: why, and what the user can do about it.
    read_only: Option<String>,
}

impl Parts {
    fn of(source: Source, unsent: Draft) -> Parts {
        match source {
            Source::Opened(it) => Parts {
                store: Some(it.store),
                session: it.session.unwrap_or_default(),
                replayed: it.replayed,
                partial: it.partial,
                draft: it.draft,
                warnings: it.warnings,
                read_only: None,
            },
            Source::InMemory(it) => Parts { session: *it, ..Parts::default() },
            Source::ReadOnly(it, why) => {
                Parts { session: *it, draft: unsent, read_only: Some(why), ..Parts::default() }
            }
        }
    }
}

impl Program {
    /// The root folder, files, rules and settings that a session's tools work with. The user reviews the session's
    /// proposals in the session `owner`.
    pub(super) fn desk(
        &self,
        link: SessionLink,
        owner: SessionLink,
        output: mpsc::UnboundedSender<(CallId, String)>,
    ) -> Desk {
        let workspace = Buffers {
            owner,
            link,
            reviews: self.reviews.clone(),
            questions: self.questions.clone(),
        };
        self.site.desk(Arc::new(workspace), output)
    }

    /// Begins an opened session: its screen, its agent and their channels.
    pub(super) fn start(&mut self, start: Start) {
        let open = self.sessions.named(&start.id).filter(|it| !self.sessions.read_only(*it));
        if let Some(open) = open.filter(|it| self.sessions.runs(*it)) {
            return self.came_twice(open, start);
        }
        self.default_model(None);
        let intro = self.intro(&start);
        let Start { id, source, in_place_of, shown, recorded, unsent, is_kept, warning, .. } =
            start;
        let (instead, why) = in_place_of.unzip();
        let why = why.filter(|it| !it.is_empty());
        let Parts { store, mut session, replayed, partial, draft, warnings: others, read_only } =
            Parts::of(source, unsent);
        let warnings = why.into_iter().chain(warning).chain(others).collect();
        let (models, model) = (&self.site.models, &session.model);
        if model.is_empty() || models.is_tour(model) || models.resolve(model).is_err() {
            self.model_of_new().0.clone_into(&mut session.model);
        }
        let (agent, inbox) = mpsc::unbounded_channel();
        if self.current.and_then(|it| self.sessions.name(it)).as_ref() != Some(&id) {
            let _ = self.notes.send((id.clone(), is_kept));
        }
        let (link, glance) = self.sessions.begin(&id, agent, read_only.is_some());
        self.current = Some(link.session);
        let setup = agent::Setup {
            session,
            replayed,
            partial,
            draft,
            agent: start.agent,
            titles: self.site.config.titles,
            recorded,
            shown,
            intro,
            warnings,
            instead,
            read_only,
            ..self.setup(id, (link.clone(), link), (store, false), glance)
        };
        tokio::spawn(agent::run(setup, inbox));
        self.current.into_iter().for_each(|it| self.tell_of_left_worktrees(it));
    }

    /// The parts of a new session's agent, and its screen. The user reviews the session's proposals in the session
    /// `owner`. A hidden session is not shown until the user opens it.
    pub(super) fn setup(
        &self,
        id: SessionId,
        (link, owner): (SessionLink, SessionLink),
        (store, is_hidden): (Option<Store>, bool),
        glance: watch::Sender<Glance>,
    ) -> agent::Setup {
        let (output, outputs) = mpsc::unbounded_channel();
        let (screen, shows) = mpsc::unbounded_channel();
        let files = store.as_ref().map(Store::outputs);
        tokio::spawn(screen::run(link.clone(), files, is_hidden, shows));
        agent::Setup {
            id,
            wishes: marked(link.session, self.wishes.clone()),
            places: marked(link.session, self.places.clone()),
            inherited: agent::Inherited::default(),
            desk: self.desk(link, owner, output),
            screen,
            store,
            session: Session::default(),
            replayed: false,
            partial: Vec::new(),
            draft: Draft::default(),
            models: self.site.models.clone(),
            tally: Some(data_dir().join("edits.json")),
            measures: Some(data_dir().join("measures.json")),
            glance,
            mode: self.site.config.mode,
            agent: None,
            titles: false,
            limits: self.site.limits(),
            choice: self.site.choice(),
            permissions: self.site.permissions(),
            instructions: self.site.instructions(),
            live: self.live.clone(),
            recorded: Vec::new(),
            shown: false,
            outputs,
            intro: Vec::new(),
            warnings: Vec::new(),
            instead: None,
            read_only: None,
        }
    }

    /// Called when a session was to be opened but a session with the same name has begun in the meantime. Then the chat
    /// shows the session that has begun. A new session that is never saved gets another name instead.
    fn came_twice(&mut self, open: Handle, start: Start) {
        let Start { id, source, shown, agent, .. } = start;
        if matches!(&source, Source::InMemory(it) if it.is_blank()) {
            let name = Some(id.0);
            let new = FromNvim::New { name, ephemeral: true, agent };
            return self.step(Incoming::from_editor(new));
        }
        if shown {
            self.tell(open, Command::Present { show: true });
        }
    }

    /// Whether to look for a model server on this machine: the user has chosen no model, and there is no key.
    pub(super) fn looks_for_server(&self) -> bool {
        let env = |name: &str| std::env::var(name).ok();
        let found =
            || endpoint::resolve(self.site.config.model.as_deref(), &self.site.models.users, &env);
        self.model.is_none()
            && self.site.config.probe
            && matches!(found(), Err(Unresolved::Nothing))
    }

    /// Finds the model of new sessions: the configured one, otherwise the first one with a key, otherwise the model of
    /// the server on this machine (`local`), otherwise the tour.
    pub(super) fn default_model(&mut self, local: Option<Chosen>) {
        if self.model.is_some() {
            return;
        }
        let env = |name: &str| std::env::var(name).ok();
        let wanted = self.site.config.model.as_deref();
        let model = match (endpoint::resolve(wanted, &self.site.models.users, &env), local) {
            (Ok(chosen), _) => {
                (full_name(&chosen), settings::origin(&chosen.endpoint.key).to_owned())
            }
            (Err(Unresolved::Wrong(text)), _) => {
                self.notice(Level::Error, text);
                (wanted.unwrap_or(tour::NAME).to_owned(), String::new())
            }
            (Err(Unresolved::Nothing), Some(chosen)) => {
                let name = full_name(&chosen);
                self.site.models.remember(&chosen);
                (name, "a server on this machine".to_owned())
            }
            (Err(Unresolved::Nothing), None) => {
                (tour::NAME.to_owned(), "no model found".to_owned())
            }
        };
        self.model = Some(model);
    }

    /// The model of new sessions, and the origin of its key.
    fn model_of_new(&self) -> (&str, &str) {
        self.model.as_ref().map_or((tour::NAME, ""), |(model, origin)| (model, origin))
    }

    pub(super) fn intro(&self, start: &Start) -> Vec<String> {
        let (model, origin) = self.model_of_new();
        let origin = if origin.is_empty() { String::new() } else { format!("  ({origin})") };
        let resume = match (start.others, &start.relative) {
            (0, Some(root)) => {
                format!("Earlier  Conversations of this repository from {root}: :Caliban sessions")
            }
            (0, None) => "Help     :help caliban".to_owned(),
            (1, _) => "Earlier  1 conversation in this project: :Caliban resume <Tab>".to_owned(),
            (n, _) => {
                format!("Earlier  {n} conversations in this project: :Caliban resume <Tab>")
            }
        };
        vec![
            format!("Project  {}", self.site.places.root.display()),
            format!("Model    {model}{origin}"),
            "Keys     <CR> send · <C-c> stop · g? keys · @file".to_owned(),
            match self.site.models.is_tour(model) {
                true if tour::is_ready(&self.site.places.root) => TOUR.to_owned(),
                true => CONNECT.to_owned(),
                false => resume,
            },
        ]
    }
}

/// A channel for requests of a session's agent to the program. The agent does not know its session's handle, so a
/// task adds the handle to each request.
fn marked<T: Send + 'static>(
    session: Handle,
    to: mpsc::UnboundedSender<(Handle, T)>,
) -> mpsc::UnboundedSender<T> {
    let (wishes, mut wished) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        while let Some(wish) = wished.recv().await {
            // The send fails only when the program is ending.
            let _ = to.send((session, wish));
        }
    });
    wishes
}
