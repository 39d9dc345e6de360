//! To whom the user lets the conversation be sent.

use super::models::Models;
use crate::event::Recipient;
use crate::message::CallId;
use crate::provider::endpoint::Endpoint;
use crate::provider::tour;
use crate::session::{Effect, Session};

#[derive(Default)]
pub(super) struct Recipients {
    /// The user has agreed to these, or has chosen a model of theirs.
    pub(super) agreed: Vec<Recipient>,
    /// The open question, and the request that waits for its answer.
    pub(super) held: Option<Held>,
    /// The number of questions so far.
    pub(super) count: u32,
}

pub(super) struct Held {
    pub(super) question: CallId,
    pub(super) to: Recipient,
    pub(super) request: Effect,
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
pub(super) fn of(endpoint: &Endpoint) -> Recipient {
    Recipient { provider: endpoint.name.clone(), host: endpoint.address() }
}

/// `None` for the tour, which sends nothing, and for a model that cannot be used.
pub(super) fn of_model(models: &Models, model: &str) -> Option<Recipient> {
    let chosen = models.resolve(model).ok().filter(|_| !models.is_tour(model))?;
    Some(of(&chosen.endpoint))
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
