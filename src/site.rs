//! A project on this machine with the user's settings: everything that all sessions of the project have in common, in
//! the editor and without it.

mod moved;
pub mod places;
pub mod settings;

use crate::agent::models::Models;
use crate::agent::{self, Permissions};
use crate::context::instructions::Places;
use crate::context::prompt;
use crate::mcp::Servers;
use crate::message::CallId;
use crate::nvim::wire::{Instructions, WireConfig};
use crate::session::Limits;
use crate::store::Project;
use crate::tool::confinement::Confinement;
use crate::tool::{self, Desk, Workspace};
use crate::web::Web;
use places::{cache_dir, config_dir, data_dir, outputs_dir, own_file, project_root};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::sync::mpsc;

pub struct Site {
    /// The folders of the project and of the user, in which instructions are searched for.
    pub places: Places,
    pub config: WireConfig,
    pub models: Models,
    /// The sandbox of commands.
    pub confinement: Confinement,
    /// The sessions of the project on disk.
    pub project: Project,
    /// The file that lists the keys that the user has stored.
    pub keys: PathBuf,
    /// The servers of tools, which all sessions share.
    pub servers: Servers,
}

impl Site {
    pub fn new(mut config: WireConfig, cwd: &Path) -> Site {
        let root = project_root(cwd);
        let project = Project::new(&data_dir().join("sessions"), &root);
        let keys = data_dir().join("keys.json");
        let models = settings::models(&mut config, &keys);
        models.note_keys();
        let private = vec![data_dir(), cache_dir()];
        let name = project.dir().file_name().unwrap_or_default();
        let layers = cache_dir().join("layers").join(name);
        let confinement = Confinement::new(
            settings::sandbox(&config),
            private,
            places::given(),
            layers,
            own_file(),
        );
        let places = Places {
            cwd: std::fs::canonicalize(cwd).unwrap_or_else(|_| root.clone()),
            config: config_dir(),
            home: dirs::home_dir(),
            reach: places::reach(&root),
            root,
        };
        let secrets = settings::secrets(&config, &models);
        let servers = settings::servers(&config, &places.root, secrets);
        Site { places, config, models, confinement, project, keys, servers }
    }

    /// Everything that a session's tools work with.
    pub fn desk(
        &self,
        workspace: Arc<dyn Workspace>,
        output: mpsc::UnboundedSender<(CallId, String)>,
    ) -> Desk {
        Desk {
            session: String::new(),
            root: self.places.root.clone(),
            project: None,
            home: dirs::home_dir(),
            config: config_dir(),
            reach: self.places.reach.clone(),
            rules: Arc::default(),
            workspace,
            output,
            tools: settings::tools(&self.config, &self.models.used, &self.servers),
            servers: self.servers.clone(),
            seen: None,
            agreed: None,
            skills: tool::skills::Usable::All,
            secrets: settings::secrets(&self.config, &self.models),
            overflow: outputs_dir(&self.places.root),
            program: own_file(),
            web: Web::new(self.config.fetch_private.clone(), own_file()),
            confinement: self.confinement.clone(),
            jobs: tool::jobs::Jobs::default(),
        }
    }

    pub fn choice(&self) -> prompt::Choice {
        let WireConfig { system, system_file, no_system, .. } = &self.config;
        let home = dirs::home_dir();
        let system_file = system_file.as_ref().map(|it| match (it.strip_prefix("~"), home) {
            (Ok(rest), Some(home)) => home.join(rest),
            _ => self.places.root.join(it),
        });
        prompt::Choice { system: system.clone(), system_file, no_system: *no_system }
    }

    pub fn instructions(&self) -> agent::Instructions {
        let setting = self.config.instructions;
        let places = (setting != Instructions::Never).then(|| self.places.clone());
        let asks = setting == Instructions::Ask;
        agent::Instructions { places, agreed: asks.then(|| self.project.agreed()) }
    }

    pub fn permissions(&self) -> Permissions {
        let permitted = self.project.permitted();
        let WireConfig { permissions, safe_commands, .. } = &self.config;
        let agreed = self.project.agreed_rules();
        Permissions::new(permissions, Some(permitted), Some(agreed), *safe_commands)
    }

    pub fn limits(&self) -> Limits {
        settings::limits(self.config.limit)
    }
}
