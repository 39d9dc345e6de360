//! A slash command of the user's own may ask for a model. The conversation uses that model for the command's turn only.

use super::sampler::Lent;
use super::{Agent, choice, models};
use crate::session::{Input, Phase};

/// Sends a message to the model. `model` is the model that the message's slash command asks for, if any.
pub(super) fn send(agent: &mut Agent, message: Input, model: Option<String>) {
    if let Some(model) = model {
        lend_model(agent, &model);
    }
    let waits = agent.turn.children.wait_for_review(&agent.conversation.session);
    agent.conversation.take(match message {
        // a message that ends the wait for a review goes with the next request of the running turn
        Input::Send { text, context, steer } => {
            Input::Send { text, context, steer: steer || waits }
        }
        other => other,
    });
    if waits {
        agent.turn.children.leave_review(&mut agent.conversation);
    }
    if let Some(lent) = &mut agent.sampler.lent {
        lent.turn = lent.turn.or(agent.conversation.session.turn());
    }
}

fn lend_model(agent: &mut Agent, wanted: &str) {
    let session = &agent.conversation.session;
    let chosen = match agent.sampler.chosen(session, wanted) {
        Ok(_) if session.phase != Phase::Idle => Err("A turn is running.".to_owned()),
        chosen => chosen,
    };
    match chosen {
        Ok((chosen, tuning)) => {
            let model = models::full_name(&chosen);
            let own = (session.model.clone(), session.tuning);
            if model != own.0 {
                choice::change(agent, &chosen, tuning);
                agent.sampler.lent = Some(Lent { turn: None, model, own });
            }
        }
        Err(why) => {
            let current = agent.sampler.lent.as_ref().map_or(&session.model, |it| &it.own.0);
            let text = format!(
                "The command names the model `{wanted}`. {why} The message goes to {current}."
            );
            agent.conversation.take(Input::Tell { text });
        }
    }
}

/// Returns to the conversation's own model once the command's turn is over, unless the user has chosen another one.
pub(super) fn take_back_model(agent: &mut Agent) {
    let turn = agent.conversation.session.turn();
    let Some(lent) = agent.sampler.lent.take_if(|it| it.turn != turn || turn.is_none()) else {
        return;
    };
    return_model(agent, lent);
}

pub(super) fn return_model(agent: &mut Agent, lent: Lent) {
    let (model, tuning) = lent.own;
    if agent.conversation.session.model == lent.model
        && let Ok(chosen) = agent.sampler.models.resolve(&model)
    {
        choice::change(agent, &chosen, tuning);
    }
}
