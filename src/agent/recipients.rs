//! A conversation goes to another provider or another address only with the user's consent, whatever the reason: its
//! provider is no longer configured, the address has changed, a command or a subagent has a model of its own.

use super::Agent;
use super::models::Models;
use crate::event::{Failure, Matter, Offer, Recipient, Ruling, TurnId};
use crate::message::{CallId, Usage};
use crate::provider::endpoint::Endpoint;
use crate::provider::tour;
use crate::session::{Consult, Effect, Input, Session};
use crate::view::grouped;

#[derive(Default)]
pub(super) struct Recipients {
    /// The user has agreed to these, or has chosen a model of theirs.
    agreed: Vec<Recipient>,
    /// The open question, and the request that waits for its answer.
    held: Option<Held>,
    /// The number of questions so far.
    count: u32,
}

struct Held {
    question: CallId,
    to: Recipient,
    request: Effect,
}

impl Recipients {
    /// The user has chosen a model of this provider.
    pub(super) fn agree(&mut self, endpoint: &Endpoint) {
        self.agreed.push(of(endpoint));
    }

    /// Whether the conversation may go to this model's provider without a question.
    pub(super) fn allows(&self, models: &Models, session: &Session, model: &str) -> bool {
        let Some(to) = of_model(models, model) else { return true };
        let from = session.recipient();
        let is_real =
            |it: &Recipient| Recipient::of_model(tour::NAME).is_none_or(|tour| !tour.is(it));
        from.filter(is_real).is_none_or(|it| it.is(&to)) || self.agreed.iter().any(|it| it.is(&to))
    }
}

/// Host and port make the address, on this machine too: another program may listen at another port.
fn of(endpoint: &Endpoint) -> Recipient {
    Recipient { provider: endpoint.name.clone(), host: endpoint.address() }
}

/// `None` for the tour, which sends nothing, and for a model that cannot be used.
fn of_model(models: &Models, model: &str) -> Option<Recipient> {
    let chosen = models.resolve(model).ok().filter(|_| !models.is_tour(model))?;
    Some(of(&chosen.endpoint))
}

/// Called before each effect of the conversation. Returns a request to a model if it may be sent now. Otherwise asks the
/// user, or refuses where nobody can be asked.
pub(super) fn admit(agent: &mut Agent, request: Effect) -> Option<Effect> {
    let session = &agent.conversation.session;
    let model = match &request {
        Effect::Sample { .. } => &session.model,
        Effect::Compact { model, .. } => model,
        Effect::Abort { .. } => {
            withdraw(agent);
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
fn withdraw(agent: &mut Agent) {
    if let Some(Held { question: id, .. }) = agent.sampler.recipients.held.take() {
        agent.conversation.take(Input::Withdraw { id });
    }
}

fn refuse(agent: &mut Agent, request: &Effect, to: &Recipient) {
    let failure = Failure::NotAgreed { to: to.say() };
    match request {
        Effect::Sample { turn } => agent.turn.fail(*turn, failure),
        Effect::Compact { turn, .. } => not_compacted(agent, *turn, &failure),
        _ => (),
    }
}

fn not_compacted(agent: &mut Agent, turn: TurnId, failure: &Failure) {
    let (why, usage, cost) = (failure.to_string(), Usage::default(), Some(0.0));
    agent.conversation.take(Input::NotCompacted { turn, why, is_lasting: false, usage, cost });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::endpoint;
    use std::collections::BTreeMap;

    #[test]
    fn host_and_port_make_the_address_of_a_recipient() {
        let to = |url: &str| {
            let env = |name: &str| (name == "OPENAI_BASE_URL").then(|| url.to_owned());
            of(&endpoint::named("openai", &BTreeMap::new(), &env).unwrap())
        };
        for (one, other, is_same) in [
            ("http://127.0.0.1:8080/v1", "http://127.0.0.1:8080/other", true),
            ("http://127.0.0.1:8080", "http://127.0.0.1:8081", false),
            ("http://127.0.0.1:8080", "http://localhost:8080", false),
            ("http://localhost:8080", "http://localhost:8081", false),
            ("http://[::1]:8080", "http://[::1]:8081", false),
            ("http://[::1]:8080", "http://127.0.0.1:8080", false),
            ("http://localhost", "http://localhost:80", true),
            ("http://localhost", "https://localhost", false),
            ("https://models.test", "https://models.test:443/v1", true),
            ("https://MODELS.test", "https://models.test", true),
            ("https://models.test", "https://models.test:444", false),
            ("https://models.test", "https://other.test", false),
            ("https://models.test", "https://models.test.", false),
        ] {
            assert_eq!(to(one).is(&to(other)), is_same, "{one} {other}");
        }
        assert_eq!(to("https://models.test").say(), "openai (models.test)");
        assert_eq!(to("http://127.0.0.1:8080").say(), "openai (127.0.0.1:8080)");
    }
}
