//! What a session begins with: its tools, its system prompt, its model, and the first lines of its chat.

use super::places::{config_dir, outputs_dir, own_file};
use super::{Program, settings};
use crate::agent::models::full_name;
use crate::context::prompt;
use crate::event::SessionId;
use crate::message::CallId;
use crate::nvim::wire::{Level, WireConfig};
use crate::provider::endpoint::{self, Unresolved};
use crate::provider::{probe, tour};
use crate::tool::Desk;
use crate::tool::environment::Secrets;
use tokio::sync::mpsc;

/// The fourth line of an empty chat that has no model.
const TOUR: &str = "Tour     any message begins it: `i`, a word, `<Esc>`, `<CR>`";

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
            home: std::env::home_dir(),
            config: config_dir(),
            reach: self.places.reach.clone(),
            workspace: self.workspace(id),
            output,
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
        let home = std::env::home_dir();
        let system_file = system_file.as_ref().map(|it| match (it.strip_prefix("~"), home) {
            (Ok(rest), Some(home)) => home.join(rest),
            _ => self.root.join(it),
        });
        prompt::Choice { system: system.clone(), system_file, no_system: *no_system }
    }

    /// The configured model, else the first whose key is there, else a local server's, else the tour.
    pub(super) async fn default_model(&mut self) -> (String, String) {
        if let Some(model) = &self.model {
            return model.clone();
        }
        let env = |name: &str| std::env::var(name).ok();
        let found = endpoint::resolve(self.config.model.as_deref(), &self.models.users, &env);
        let model = match (found, &self.config.model) {
            (Ok(chosen), _) => (full_name(&chosen), settings::origin(&chosen.endpoint.key)),
            (Err(Unresolved::Wrong(text)), model) => {
                self.notice(Level::Error, text);
                (model.clone().unwrap_or_else(|| tour::NAME.to_owned()), String::new())
            }
            (Err(Unresolved::Nothing), _) => {
                let local = if self.config.probe { probe::probe(&env).await } else { None };
                match local {
                    Some(chosen) => {
                        let name = full_name(&chosen);
                        self.models.remember(&chosen);
                        (name, "a server on this machine".to_owned())
                    }
                    None => (tour::NAME.to_owned(), "no model found".to_owned()),
                }
            }
        };
        self.model.insert(model).clone()
    }

    pub(super) fn intro(&self, model: &str, origin: &str) -> Vec<String> {
        let origin = if origin.is_empty() { String::new() } else { format!("  ({origin})") };
        let others = self.project.names().len();
        let relative = || {
            let mut all = self.project.relatives().into_iter();
            all.find(|it| !it.names().is_empty()).map(|it| it.root().display().to_string())
        };
        let relative = if others == 0 { relative() } else { None };
        let resume = match (others, relative) {
            (0, Some(root)) => {
                format!("Before   This repository has conversations as {root}: `:Caliban sessions`")
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
