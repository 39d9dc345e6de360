//! The user's permission rules: those of the settings, and where the others are stored.

use super::trust::{FILE, Trust, text};
use crate::conversation::Conversation;
use crate::message::CallId;
use crate::rules::{self, Origin, Rule, Rules, WrittenRule};
use crate::store::{Agreed, Permitted};
use crate::text::cause;
use crate::tool::{self, Desk};
use std::collections::BTreeSet;
use std::io;
use std::path::Path;
use std::sync::Arc;

#[derive(Default)]
pub(super) struct Ports {
    /// The open questions: the job and the port of each.
    pub(super) asked: Vec<(CallId, (u32, u16))>,
    /// The user wants these to stay closed.
    pub(super) refused: BTreeSet<u16>,
    /// The number of ports so far about which the user was asked or told.
    pub(super) count: u32,
}

/// The warning about rules that allow `network` on a machine where they have no effect.
const NO_PROXY: &str = "The permission rules about network have no effect on this machine, because it has no complete \
    sandbox (:checkhealth caliban).";

/// The rules in the user's settings, and where the other rules are stored.
#[derive(Default)]
pub struct Permissions {
    pub(super) settings: Vec<Rule>,
    pub(super) problems: Vec<String>,
    /// The rules that were made when the user answered “always” to a question; `None` if such rules are not stored.
    pub(super) permitted: Option<Permitted>,
    /// The user's agreement to the project's rules that allow calls.
    pub(super) trust: Trust,
    /// The ports of jobs that the user was asked about.
    pub(super) ports: Ports,
    /// Whether everyday commands run without a question if the sandbox is complete.
    pub(super) is_safe_allowed: bool,
}

impl Permissions {
    pub fn new(
        written: &[WrittenRule],
        permitted: Option<Permitted>,
        agreed: Option<Agreed>,
        is_safe_allowed: bool,
    ) -> Permissions {
        let (settings, problems) =
            rules::read(written, Origin::Settings, "caliban: config.permissions");
        let (trust, ports) = (Trust::new(agreed), Ports::default());
        Permissions { settings, problems, permitted, trust, ports, is_safe_allowed }
    }

    /// All rules as they are now, and the problems as sentences for the user. Reads two small files.
    pub(super) fn load(&self, desk: &Desk) -> (Rules, Vec<String>) {
        let mut all = self.settings.clone();
        let mut problems = self.problems.clone();
        let (project, others) = self.of_project(desk.project());
        all.extend(project);
        problems.extend(others);
        let always = self.permitted.as_ref().map(Permitted::all).unwrap_or_default();
        all.extend(rules::read(&always, Origin::Always, "").0);
        if self.is_safe_allowed && desk.confinement.contains(&desk.root) {
            all.extend(rules::safe::rules());
        }
        let rules = Rules::new(all, &desk.root, &desk.reach).seeing(Arc::new(tool::tree::OnDisk));
        if rules.opens_network() && desk.confinement.has_no_proxy() {
            problems.push(NO_PROXY.to_owned());
        }
        (rules.containing(desk.confinement.contains(&desk.root)), problems)
    }

    /// Loads the rules from disk and applies them to the conversation's next calls. Returns the problems.
    pub(super) fn reload(&self, conversation: &mut Conversation, desk: &mut Desk) -> Vec<String> {
        let (rules, problems) = self.load(desk);
        if *desk.rules != rules {
            desk.rules = Arc::new(rules);
        }
        desk.confinement.set_rules(&desk.rules);
        conversation.session.set_rules(&desk.rules);
        problems
    }

    /// The rules of the project's file that may be used, and the problems of the file.
    pub(super) fn of_project(&self, root: &Path) -> (Vec<Rule>, Vec<String>) {
        match text(root) {
            Ok(None) => (Vec::new(), Vec::new()),
            Ok(Some(text)) => rules::from_project(&text, self.trust.answer(&text)),
            Err(why) => {
                let problem = format!(
                    "{FILE} cannot be read: {why}. Until you correct the file, every command, edit and web page needs \
                     your consent."
                );
                (
                    rules::caution(Origin::Project, "the project's rules cannot be read"),
                    vec![problem],
                )
            }
        }
    }

    pub(super) fn note(
        &self,
        change: impl FnOnce(&Permitted) -> io::Result<()>,
    ) -> Result<(), String> {
        let Some(permitted) = &self.permitted else {
            return Err("Rules cannot be stored for this conversation.".to_owned());
        };
        change(permitted)
            .map_err(|fault| format!("The rule could not be stored: {}.", cause(&fault)))
    }
}
