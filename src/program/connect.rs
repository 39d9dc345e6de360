//! Lists the models that the user can choose, and stores the API keys that the user enters.

use super::message::{Connected, Outcome};
use super::state::Program;
use crate::agent::Command;
use crate::agent::models::{Models, full_name};
use crate::conversation::report::Level;
use crate::event::Failure;
use crate::nvim::session_link::Handle;
use crate::nvim::wire::{Offer, ToNvim};
use crate::provider::endpoint::{self, Endpoint};
use crate::provider::facts::Facts;
use crate::provider::http::Http;
use crate::provider::key::{Key, Secret, Used};
use crate::provider::lesson::Lesson;
use crate::provider::stored::{self, Place};
use crate::site::settings;
use crate::text::{cause, counted};
use futures::future::join_all;
use std::path::Path;

fn env(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

impl Program {
    /// Sends the editor all models of the providers with a key. The requests to the providers run at the same time.
    pub(super) fn offer_models(&self, session: Handle) {
        let Some(link) = self.sessions.link(session) else { return };
        let (models, probes) = (self.site.models.clone(), self.site.config.probe);
        tokio::spawn(async move {
            let (models, problems) = list_all(&models, probes).await;
            link.tell(|session| ToNvim::Models { session, models, problems });
        });
    }

    /// Takes in what a provider's error in one conversation has taught about a model, for all conversations until the
    /// program ends.
    pub(super) fn learn(&mut self, model: &str, lesson: &Lesson) {
        if self.site.models.learn(model, lesson) {
            for (_, agent) in self.sessions.agents() {
                // The send fails only if the agent has ended, and then it sends no requests.
                let _ = agent.send(Command::Learn(model.to_owned(), lesson.clone()));
            }
        }
    }

    /// Tells the editor to ask the user for a key of this provider. Without a provider, the user first chooses one.
    pub(super) fn ask_for_key(&self, provider: Option<String>) {
        let users = &self.site.models.users;
        if let Some(name) = &provider
            && let Err(endpoint::Unresolved::Wrong(why)) = endpoint::named(name, users, &env)
        {
            return self.notice(Level::Warn, why);
        }
        let all = endpoint::names(users).into_iter();
        let keyed = all.filter_map(|it| endpoint::named(&it, users, &env).ok());
        let keyed = keyed.filter(|it| it.key != Key::None || !it.is_local());
        let providers = keyed.map(|it| {
            let is_there = it.is_usable(&env, false);
            let about = if is_there { settings::origin(&it.key) } else { "" }.to_owned();
            Offer { name: it.name, about, facts: Vec::new() }
        });
        self.editor.tell(ToNvim::Connect { provider, providers: providers.collect() });
    }

    /// Tries a key, and stores it unless the provider refuses it.
    pub(super) fn connect(&mut self, provider: String, key: Secret) {
        let named = endpoint::named(&provider, &self.site.models.users, &env);
        let Ok(endpoint) = named else { return self.ask_for_key(Some(provider)) };
        let (file, used) = (self.site.keys.clone(), self.site.models.used.clone());
        self.begin(Vec::new(), |_| async move {
            vec![Outcome::Connected(try_and_store(endpoint, used, &key, &file).await)]
        });
    }

    pub(super) fn connected(&mut self, connected: Connected) {
        let Connected { provider, is_stored, level, text } = connected;
        if is_stored {
            self.site.models.connect(&provider, &self.site.keys);
            self.model = self.model.take().filter(|(name, _)| !self.site.models.is_tour(name));
            for (_, agent) in self.sessions.agents() {
                // Fails only for a closed agent, which needs no key.
                let _ = agent.send(Command::Connect(provider.clone(), self.site.keys.clone()));
            }
        }
        self.notice(level, text);
    }
}

/// All models of the providers that have a key, and one sentence for each provider that did not answer. `probes` says
/// whether local servers without a key are asked too.
pub(super) async fn list_all(models: &Models, probes: bool) -> (Vec<Offer>, Vec<String>) {
    let endpoints = endpoint::names(&models.users).into_iter();
    let endpoints = endpoints.filter_map(|it| endpoint::named(&it, &models.users, &env).ok());
    let asked = endpoints.filter(|it| it.is_usable(&env, probes));
    let lists = join_all(asked.map(|it| list(it, models))).await;
    let (offers, problems): (Vec<_>, Vec<_>) = lists.into_iter().unzip();
    (offers.concat(), problems.into_iter().flatten().collect())
}

async fn list(endpoint: Endpoint, models: &Models) -> (Vec<Offer>, Option<String>) {
    let http = Http::new(endpoint).noting(models.used.clone());
    let Endpoint { name, models: own, .. } = http.endpoint();
    let (mut names, problem) = match http.list(None).await {
        Ok(names) => (names, None),
        // If a local server does not run, this is not reported as a problem.
        Err(Failure::Offline { .. }) if http.endpoint().is_local() && own.is_empty() => {
            return (Vec::new(), None);
        }
        Err(failure) => (Vec::new(), Some(format!("{name}: {failure}"))),
    };
    let missing: Vec<_> = own.iter().filter(|it| !names.contains(it)).cloned().collect();
    names.splice(0..0, missing);
    let offers = names.into_iter().filter_map(|it| {
        let chosen = models.resolve(&format!("{name}/{it}")).ok()?;
        let facts = facts(&chosen.facts);
        let known: Vec<&str> =
            facts.iter().map(String::as_str).filter(|it| !it.is_empty()).collect();
        let about = known.join(" · ");
        Some(Offer { name: full_name(&chosen), about, facts: facts.into() })
    });
    (offers.collect(), problem)
}

/// The facts about a model: `200k`, `images`, `$3/$15`. A fact that is not known is empty. Prices are per million
/// tokens.
fn facts(facts: &Facts) -> [String; 3] {
    let window = match facts.window / 1000 {
        0 => String::new(),
        thousands @ 1..1000 => format!("{thousands}k"),
        thousands => format!("{}M", thousands / 1000),
    };
    let images = if facts.images == Some(true) { "images" } else { "" };
    let price = facts.price.map(|it| format!("${}/${}", it.input, it.output));
    [window, images.to_owned(), price.unwrap_or_default()]
}

async fn try_and_store(endpoint: Endpoint, used: Used, key: &Secret, file: &Path) -> Connected {
    let provider = endpoint.name.clone();
    let before = match &endpoint.key {
        Key::Env(variable) if endpoint.is_usable(&env, false) => {
            format!(" But {variable} is set too and is used instead.")
        }
        Key::Command(_) => {
            " But the settings name a key command, which is used instead.".to_owned()
        }
        _ => String::new(),
    };
    let tried = match Http::new(endpoint).noting(used).list(Some(key)).await {
        Err(failure @ Failure::Unauthorized { .. }) => {
            let text = format!("{failure} The key was not stored.");
            return Connected { provider, is_stored: false, level: Level::Error, text };
        }
        Err(failure) => format!("The key could not be tested: {failure}"),
        Ok(models) if models.is_empty() => "The first request will test the key.".to_owned(),
        Ok(models) => {
            let count = counted(models.len(), "model");
            format!("{provider} accepts the key and has {count}: see /models.")
        }
    };
    let place = match stored::store(file, &provider, key).await {
        Ok(Place::Keyring) => "the system's keyring".to_owned(),
        Ok(Place::File) => format!("{}, which only you can read", file.display()),
        Err(error) => {
            let text = format!("The key for {provider} could not be stored: {}.", cause(&error));
            return Connected { provider, is_stored: false, level: Level::Error, text };
        }
    };
    let text = format!("The key for {provider} is in {place}. {tried}{before}");
    Connected { provider, is_stored: true, level: Level::Info, text }
}
