//! What a session begins with: its tools, its system prompt, its model, and the first lines of its chat.

use super::held::Begin;
use super::news::{News, Start};
use super::places::{config_dir, data_dir, outputs_dir, own_file};
use super::{Program, settings};
use crate::agent::models::full_name;
use crate::agent::{self, Command};
use crate::context::prompt;
use crate::conversation::report::Level;
use crate::event::SessionId;
use crate::message::CallId;
use crate::nvim::screen;
use crate::nvim::wire::{FromNvim, WireConfig};
use crate::provider::endpoint::{self, Chosen, Unresolved};
use crate::provider::tour;
use crate::session::Session;
use crate::store::{Draft, Store};
use crate::tool::environment::Secrets;
use crate::tool::{self, Desk};
use tokio::sync::mpsc;

/// The fourth line of an empty chat that has no model.
const TOUR: &str = "Tour     any message begins it: `i`, a word, `<Esc>`, `<CR>`";

/// What is there of a session when it begins.
#[derive(Default)]
struct Begun {
    store: Option<Store>,
    session: Session,
    replayed: bool,
    partial: String,
    draft: Draft,
    warnings: Vec<String>,
    /// It can only be read here: why, and what to do.
    reads: Option<String>,
}

impl Begun {
    fn of(begin: Begin, unsent: Draft) -> Begun {
        match begin {
            Begin::Opened(it) => Begun {
                store: Some(it.store),
                session: it.session.unwrap_or_default(),
                replayed: it.replayed,
                partial: it.partial,
                draft: it.draft,
                warnings: it.warnings,
                reads: None,
            },
            Begin::InMemory(it) => Begun { session: *it, ..Begun::default() },
            Begin::Reading(it, why) => {
                Begun { session: *it, draft: unsent, reads: Some(why), ..Begun::default() }
            }
        }
    }
}

impl Program {
    /// The parts that the tools of a session work with.
    pub(super) fn desk(
        &self,
        id: &SessionId,
        output: mpsc::UnboundedSender<(CallId, String)>,
    ) -> Desk {
        let env = |name: &str| std::env::var(name).ok();
        Desk {
            root: self.root.clone(),
            home: dirs::home_dir(),
            config: config_dir(),
            reach: self.places.reach.clone(),
            workspace: self.workspace(id),
            output,
            tools: tool::own(),
            seen: None,
            secrets: Secrets {
                variables: endpoint::key_variables(&self.models.users, &env),
                passed: self.config.pass_env.clone(),
                used: self.models.used.clone(),
            },
            overflow: outputs_dir(),
            program: own_file(),
        }
    }

    pub(super) fn choice(&self) -> prompt::Choice {
        let WireConfig { system, system_file, no_system, .. } = &self.config;
        let home = dirs::home_dir();
        let system_file = system_file.as_ref().map(|it| match (it.strip_prefix("~"), home) {
            (Ok(rest), Some(home)) => home.join(rest),
            _ => self.root.join(it),
        });
        prompt::Choice { system: system.clone(), system_file, no_system: *no_system }
    }

    /// Begins a session that was opened.
    pub(super) fn start(&mut self, start: Start) {
        let open = self.agents.get(&start.id).filter(|it| !it.is_closed());
        if open.is_some() && !self.readers.contains(&start.id) {
            return self.came_twice(start);
        }
        let model = self.default_model(None);
        let intro = self.intro(&model, &start);
        let Start { id, begin, barred, shown, recorded, unsent, is_kept, warning, .. } = start;
        let (instead, why) = barred.unzip();
        let why = why.filter(|it| !it.is_empty());
        let mut warnings: Vec<String> = why.into_iter().chain(warning).collect();
        let Begun { store, mut session, replayed, partial, draft, warnings: others, reads } =
            Begun::of(begin, unsent);
        warnings.extend(others);
        match &reads {
            Some(_) => self.readers.insert(id.clone()),
            None => self.readers.remove(&id),
        };
        if session.model.is_empty()
            || self.models.is_tour(&session.model)
            || self.models.resolve(&session.model).is_err()
        {
            session.model = model.0;
        }
        let (output, outputs) = mpsc::unbounded_channel();
        let (show, show_end) = mpsc::unbounded_channel();
        let stored = store.as_ref().map(Store::outputs);
        tokio::spawn(screen::run(self.editor.clone(), id.clone(), stored, show_end));
        if self.current.replace(id.clone()).as_ref() != Some(&id) {
            let _ = self.notes.send((id.clone(), is_kept));
        }
        let setup = agent::Setup {
            id: id.clone(),
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
            recorded,
            shown,
            outputs,
            wishes: self.wishes.clone(),
            intro,
            warnings,
            instead,
            reads,
        };
        let (agent, inbox) = mpsc::unbounded_channel();
        tokio::spawn(agent::run(setup, inbox));
        self.agents.insert(id, agent);
    }

    /// A session of this name has begun meanwhile: it is shown. One that is never saved takes another name.
    fn came_twice(&mut self, start: Start) {
        let Start { id, begin, shown, .. } = start;
        if matches!(&begin, Begin::InMemory(it) if it.is_blank()) {
            let name = Some(id.0);
            return self.step(News::said(FromNvim::New { name, ephemeral: true }));
        }
        if shown {
            self.tell(&id, Command::Present);
        }
    }

    /// Whether a model server on this machine is to be looked for, because the user has named no model.
    pub(super) fn looks_for_server(&self) -> bool {
        let env = |name: &str| std::env::var(name).ok();
        let found = || endpoint::resolve(self.config.model.as_deref(), &self.models.users, &env);
        self.model.is_none() && self.config.probe && matches!(found(), Err(Unresolved::Nothing))
    }

    /// The configured model, else the first whose key is there, else that of the `local` server, else the tour.
    pub(super) fn default_model(&mut self, local: Option<Chosen>) -> (String, String) {
        if let Some(model) = &self.model {
            return model.clone();
        }
        let env = |name: &str| std::env::var(name).ok();
        let found = endpoint::resolve(self.config.model.as_deref(), &self.models.users, &env);
        let model = match (found, &self.config.model, local) {
            (Ok(chosen), ..) => (full_name(&chosen), settings::origin(&chosen.endpoint.key)),
            (Err(Unresolved::Wrong(text)), model, _) => {
                self.notice(Level::Error, text);
                (model.clone().unwrap_or_else(|| tour::NAME.to_owned()), String::new())
            }
            (Err(Unresolved::Nothing), _, Some(chosen)) => {
                let name = full_name(&chosen);
                self.models.remember(&chosen);
                (name, "a server on this machine".to_owned())
            }
            (Err(Unresolved::Nothing), _, None) => {
                (tour::NAME.to_owned(), "no model found".to_owned())
            }
        };
        self.model.insert(model).clone()
    }

    pub(super) fn intro(&self, (model, origin): &(String, String), start: &Start) -> Vec<String> {
        let origin = if origin.is_empty() { String::new() } else { format!("  ({origin})") };
        let resume = match (start.others, &start.relative) {
            (0, Some(root)) => {
                format!(
                    "Before   Conversations of this repository from {root}: `:Caliban sessions`"
                )
            }
            (0, None) => "Help     `:help caliban`".to_owned(),
            (1, _) => "Before   1 conversation of this project: `:Caliban resume <Tab>`".to_owned(),
            (n, _) => {
                format!("Before   {n} conversations of this project: `:Caliban resume <Tab>`")
            }
        };
        vec![
            format!("Project  {}", self.root.display()),
            format!("Model    {model}{origin}"),
            "Keys     <CR> send · <C-c> stop · g? keys · @file".to_owned(),
            if self.models.is_tour(model) { TOUR.to_owned() } else { resume },
        ]
    }
}
