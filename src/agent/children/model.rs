//! The model that a subagent begins with: the one that the user has set for subagents, otherwise its parent's. A named
//! agent with a model of its own then changes to that model.

use crate::agent::{Agent, agents, models};
use crate::context::agents::NamedAgent;
use crate::event::Tuning;

/// The full name and the settings of the model. If the model from the user's settings or from the agent's file cannot
/// be used, the user is told once, and the subagent has its parent's model.
pub(super) fn choose(agent: &mut Agent, of: Option<&NamedAgent>) -> (String, Tuning) {
    let (session, models) = (&agent.conversation.session, &agent.sampler.models);
    let own = (session.model.clone(), session.tuning);
    let refused = of.and_then(|it| agents::model_of(agent, it)).and_then(Result::err);
    let keeps = refused.is_some() || of.is_some_and(|it| it.inherits) || models.is_tour(&own.0);
    let wanted = models.subagents.as_ref().filter(|_| !keeps);
    let set = wanted.map(|wanted| match agent.sampler.chosen(session, wanted) {
        Ok((chosen, tuning)) => Ok((models::full_name(&chosen), tuning)),
        Err(why) => Err(format!(
            "The setting `subagent_model` names the model `{wanted}`. {why} Subagents have the model {} now.",
            own.0
        )),
    });
    let (model, told) = match set {
        Some(Ok(set)) => (set, None),
        Some(Err(why)) => (own, Some(why)),
        None => (own, refused),
    };
    agent.conversation.tell_once(told);
    model
}
