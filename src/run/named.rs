//! `caliban run --agent`: the named agent that carries out the prompt. A run cannot ask the user about an agent's text,
//! so the user must have agreed to a project's agent before the run.

use crate::agent::models::{Models, full_name};
use crate::context::agents::{self, NamedAgent, Origin};
use crate::event::Tuning;
use crate::session::Session;
use crate::site::Site;
use crate::store::Agreed;
use crate::tool::disk::Disk;
use std::sync::Arc;
use tokio::sync::mpsc;

/// The agent that a new conversation becomes; `None` if the conversation is this agent already. The error is a sentence
/// for the user.
pub(super) fn find(site: &Site, name: &str, own: &Session) -> Result<Option<NamedAgent>, String> {
    let name = name.trim_start_matches('@');
    if !own.is_blank() {
        let is_one = own.profile.as_ref().is_some_and(|it| it.name == name);
        let why = "--agent: this conversation has already begun without this agent. Only a new conversation can be an \
                   agent.";
        return if is_one { Ok(None) } else { Err(why.to_owned()) };
    }
    let workspace = Arc::new(Disk { root: site.places.root.clone(), is_apart: false });
    let desk = site.desk(workspace, mpsc::unbounded_channel().0);
    let found = agents::load(&desk).get(name).cloned().map_err(|why| format!("--agent: {why}"))?;
    let setting = site.instructions();
    let text = found.excerpt(&desk);
    let agreed = |it: &Agreed| it.answer(&text.path, &text.text) == Some(true);
    match (&found.origin, &setting.places) {
        (Origin::User, _) => Ok(Some(found)),
        (Origin::Project, None) => Err(format!(
            "--agent: `{name}` is the project's agent, and the setting `instructions` turns the project's texts off."
        )),
        (Origin::Project, _) if setting.agreed.as_ref().is_none_or(agreed) => Ok(Some(found)),
        (Origin::Project, _) => Err(format!(
            "--agent: you have not agreed to the current text of the project's agent `{name}`. To read and agree to \
             it, send a message in a `:Caliban new @{name}`."
        )),
    }
}

/// The full name of the model that the agent's file names, otherwise `model`. A model that cannot be used is reported
/// by the agent itself.
pub(super) fn model(models: &Models, agent: Option<&NamedAgent>, model: String) -> String {
    let wanted = agent.and_then(|it| it.model.as_ref());
    let name = wanted.and_then(|it| Tuning::parse(it).ok()).map(|it| it.0);
    let name = name.filter(|it| !it.is_empty());
    let full = name.and_then(|it| models.lengthened(&model, it).ok());
    full.and_then(|it| models.resolve(&it).ok()).map_or(model, |it| full_name(&it))
}
