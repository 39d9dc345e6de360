//! The user's choice of a model, and of its settings.

use super::models::{self, Models};
use super::{Agent, fitting};
use crate::conversation::report::Level;
use crate::event::Tuning;
use crate::provider::endpoint::Chosen;
use crate::session::Input;
use std::path::Path;

/// Chooses the model or the settings in `text`: a model's full name, settings like `thinking=high`, or both. Settings
/// alone change the current model.
pub(super) fn choose(agent: &mut Agent, text: &str) {
    match agent.sampler.chosen(&agent.conversation.session, text) {
        Ok((chosen, tuning)) => {
            // settings alone choose no provider
            if Tuning::parse(text).is_ok_and(|it| !it.0.is_empty()) {
                agent.sampler.recipients.agree(&chosen.endpoint);
            }
            change(agent, &chosen, tuning);
        }
        Err(why) => agent.conversation.notice(Level::Error, why),
    }
}

pub(super) fn change(agent: &mut Agent, chosen: &Chosen, tuning: Tuning) {
    let model = models::full_name(chosen);
    let before = agent.conversation.session.model.clone();
    let was_current = agent.system().is_ok_and(|it| it == agent.conversation.system());
    if let Some(line) = agent.opening.intro.get_mut(1) {
        *line = format!("Model    {model}");
    }
    agent.conversation.take(Input::ChooseModel { model, tuning });
    // the system prompt names the tools, and another model may have other ones
    if let (true, Ok(system)) = (was_current, agent.system())
        && system != agent.conversation.system()
    {
        let instructions = agent.guidance.usable().files;
        agent.conversation.take(Input::ChooseSystem { system, instructions });
    }
    if let Some(text) = Models::ignored(chosen, tuning) {
        agent.conversation.take(Input::Tell { text });
    }
    let (conversation, desk) = (&mut agent.conversation, &agent.desk);
    fitting::switched(&agent.sampler.models, conversation, desk, &before);
}

/// Uses a new key of a provider. A session on the tour changes to that provider's model.
pub(super) fn connect(agent: &mut Agent, provider: &str, file: &Path) {
    let models = &mut agent.sampler.models;
    models.connect(provider, file);
    let is_tour = models.is_tour(&agent.conversation.session.model);
    if is_tour && models.resolve(provider).is_ok() {
        choose(agent, provider);
    }
}
