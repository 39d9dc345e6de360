//! A conversation goes to another provider or another address only with the user's consent, whatever the reason: its
//! provider is no longer configured, the address has changed, a command or a subagent has a model of its own.

use super::Agent;
use super::agreed::{Held, Recipients, of_model};
use crate::conversation::Conversation;
use crate::event::{Failure, Matter, Offer, Recipient, Ruling, TurnId};
use crate::message::{CallId, Usage};
use crate::session::{Consult, Effect, Input};
use crate::view::grouped;

/// Called before each effect of the conversation. Returns a request to a model if it may be sent now. Otherwise asks the
/// user, or refuses where nobody can be asked.
pub(super) fn admit(agent: &mut Agent, request: Effect) -> Option<Effect> {
    let session = &agent.conversation.session;
    let model = match &request {
        Effect::Sample { .. } => &session.model,
        Effect::Compact { model, .. } => model,
        Effect::Abort { .. } => {
            withdraw(&mut agent.conversation, &mut agent.sampler.recipients);
            return Some(request);
        }
        _ => return Some(request),
    };
    let models = &agent.sampler.models;
    let Some(to) = of_model(models, model) else { return Some(request) };
    if agent.sampler.recipients.allows(models, session, model) {
        // a model that was lent for one turn does not become the conversation's own
        let is_new = session.sent_to.as_ref() != Some(&to) && agent.sampler.lent.is_none();
        if is_new {
            agent.conversation.take(Input::Address { to });
        }
        return Some(request);
    }
    if session.is_unattended() {
        refuse(agent, &request, &to);
        return None;
    }
    let from = session.recipient().map(|it| it.say()).unwrap_or_default();
    let size = agent.sampler.fitting.shown_size(models, session, &agent.desk);
    let question = format!(
        "Send this conversation to {}? So far it went to {from}. All of it is sent: about {} tokens. Its model is {model} \
         now.",
        to.say(),
        grouped(size)
    );
    let recipients = &mut agent.sampler.recipients;
    recipients.count += 1;
    let id = CallId::own(format_args!("recipient-{}-{}", session.turns, recipients.count));
    let (about, offer) = (Matter::Recipient, Offer { to: Some(to.clone()), ..Offer::default() });
    recipients.held = Some(Held { question: id.clone(), to, request });
    agent.conversation.take(Input::Consult(Consult { id, about, question, offer }));
    None
}

/// Takes the user's answer, and sends or refuses the request that waited for it. Ignores answers to other questions.
pub(super) fn rule(agent: &mut Agent, id: &CallId, ruling: &Ruling) -> Option<Effect> {
    let held = agent.sampler.recipients.held.take_if(|it| it.question == *id)?;
    if let Ruling::Denied { .. } = ruling {
        refuse(agent, &held.request, &held.to);
        return None;
    }
    // the conversation may go back to where it was, too
    agent.sampler.recipients.agreed.extend(agent.conversation.session.recipient());
    agent.sampler.recipients.agreed.push(held.to);
    Some(held.request)
}

/// Withdraws the question, because the turn of its request was stopped.
fn withdraw(conversation: &mut Conversation, recipients: &mut Recipients) {
    if let Some(Held { question: id, .. }) = recipients.held.take() {
        conversation.take(Input::Withdraw { id });
    }
}

fn refuse(agent: &mut Agent, request: &Effect, to: &Recipient) {
    let failure = Failure::NotAgreed { to: to.say() };
    match request {
        Effect::Sample { turn } => agent.turn.fail(*turn, failure),
        Effect::Compact { turn, .. } => not_compacted(&mut agent.conversation, *turn, &failure),
        _ => (),
    }
}

fn not_compacted(conversation: &mut Conversation, turn: TurnId, failure: &Failure) {
    let (why, usage, cost) = (failure.to_string(), Usage::default(), Some(0.0));
    conversation.take(Input::NotCompacted { turn, why, is_lasting: false, usage, cost });
}
