//! The data of the built-in endpoints and of the user's own endpoints, and the choice of an endpoint.

pub mod claude;
mod header;
mod table;

pub use header::Header;

use super::azure;
use super::dialect::{Dialect, Quirks};
use super::facts::Facts;
use super::key::Key;
use crate::nearest;
use crate::text::cause;
use reqwest::Url;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::PathBuf;
use table::{PLAIN, Row, TABLE};

/// A server with its address, its dialect and the place of its key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    pub name: String,
    /// The base address, to which `Dialect::url` adds the rest, without a slash at the end.
    pub base_url: String,
    pub dialect: Dialect,
    pub key: Key,
    pub quirks: Quirks,
    /// The user's own headers, which go with every request.
    pub headers: Vec<Header>,
    /// Models that the user listed, or the built-in default. The first one is the default.
    pub models: Vec<String>,
    /// Whether the user wrote the address in the configuration. Then plain HTTP to this address is allowed.
    pub named_by_user: bool,
}

/// An endpoint, one of its models, and the facts of that model.
#[derive(Debug, Clone, PartialEq)]
pub struct Chosen {
    pub endpoint: Endpoint,
    pub model: String,
    pub facts: Facts,
}

/// The settings `providers.NAME` of the configuration. If the built-in table has an endpoint with this name, the fields
/// that are set here override the fields of the table.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub struct UserProvider {
    /// One of `anthropic`, `openai-chat`, `openai-responses`, `gemini`, `ollama`.
    pub dialect: Option<String>,
    pub base_url: Option<String>,
    /// Where the key comes from: `env:NAME` or `cmd:COMMAND`. Absent if the provider needs no key.
    pub key: Option<String>,
    #[serde(default)]
    pub models: Vec<String>,
    /// Names of quirks, in addition to those in the built-in table.
    #[serde(default)]
    pub quirks: Vec<String>,
    /// Headers by name. The value is a text, or `env:NAME` for the value of an environment variable.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// The file that says where the user's key for this provider is stored, if there is one.
    #[serde(skip)]
    pub stored: Option<PathBuf>,
}

impl UserProvider {
    fn dialect(&self) -> Result<Option<Dialect>, String> {
        let Some(name) = &self.dialect else { return Ok(None) };
        Dialect::named(name).map(Some).ok_or_else(|| {
            format!(
                "no dialect is called {name}; the dialects are anthropic, openai-chat, openai-responses, gemini and \
                 ollama"
            )
        })
    }
}

/// Why no endpoint was chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unresolved {
    /// Nothing is configured, and the environment has no key. The caller looks for a local server.
    Nothing,
    /// The choice is not valid; the text is a sentence for the user.
    Wrong(String),
}

/// A function that looks up an environment variable: a real one of the program, or one that a test defines.
pub type Lookup<'a> = &'a (dyn Fn(&str) -> Option<String> + Sync);

/// The names of the built-in and of the user's providers, each once, for completion and error messages.
pub fn names(users: &BTreeMap<String, UserProvider>) -> Vec<String> {
    let table = TABLE.iter().map(|row| row.name.to_owned());
    let own = users.keys().filter(|name| TABLE.iter().all(|row| row.name != name.as_str()));
    table.chain(own.cloned()).collect()
}

/// The environment variables that hold keys or values of headers.
pub fn key_variables(users: &BTreeMap<String, UserProvider>, env: Lookup<'_>) -> Vec<String> {
    let endpoints = names(users).into_iter().filter_map(|it| named(&it, users, env).ok());
    let variables = |it: Endpoint| {
        let own = it.headers.iter().filter_map(Header::variable).map(str::to_owned);
        let key = match &it.key {
            Key::Env(name) => Some(name.clone()),
            _ => None,
        };
        own.chain(key).collect::<Vec<_>>()
    };
    endpoints.flat_map(variables).collect()
}

/// The endpoint and model that `choice` names: `provider/model`, or a provider alone for its default model. Without a
/// choice, the variable `CALIBAN_MODEL` is used; otherwise the first of the user's providers that has a model;
/// otherwise the first built-in endpoint whose key is in the environment; otherwise the first one whose key the user
/// has entered.
pub fn resolve(
    choice: Option<&str>,
    users: &BTreeMap<String, UserProvider>,
    env: Lookup<'_>,
) -> Result<Chosen, Unresolved> {
    let from_env = || env("CALIBAN_MODEL").filter(|it| !it.trim().is_empty());
    let choice = choice.map(str::to_owned).or_else(from_env);
    if let Some(choice) = choice {
        let choice = choice.trim();
        let (name, model) = choice.split_once('/').unwrap_or((choice, ""));
        let endpoint = named(name, users, env)?;
        return chosen(endpoint, model);
    }
    let own = users.iter().find(|(_, user)| !user.models.is_empty()).map(|(name, _)| name.as_str());
    let with = |has_key: &dyn Fn(&Row) -> bool| {
        TABLE.iter().find(|row| row.has_default() && has_key(row)).map(|row| row.name)
    };
    let in_env = || with(&|row| is_set(row.key, env));
    let stored = || with(&|row| users.get(row.name).is_some_and(|it| it.stored.is_some()));
    let name = own.or_else(in_env).or_else(stored).ok_or(Unresolved::Nothing)?;
    chosen(named(name, users, env)?, "")
}

fn is_set(variable: &str, env: Lookup<'_>) -> bool {
    env(variable).is_some_and(|value| !value.trim().is_empty())
}

fn chosen(endpoint: Endpoint, model: &str) -> Result<Chosen, Unresolved> {
    let model = if model.is_empty() {
        endpoint.models.first().cloned().unwrap_or_default()
    } else {
        model.to_owned()
    };
    if model.is_empty() {
        let name = endpoint.name;
        return Err(Unresolved::Wrong(format!(
            "No model of {name} is chosen. Write {name}/MODEL."
        )));
    }
    // an endpoint without a key counts as a local server, which decides the windows of its models: only the edit format
    // is taken from the table
    let named = Facts::of(&model);
    let is_local = endpoint.key == Key::None;
    let mut facts = if is_local { Facts { edits: named.edits, ..Facts::of("") } } else { named };
    facts.window = endpoint.dialect.window(None).unwrap_or(facts.window);
    // the known price does not apply to a provider that is not in the table
    if TABLE.iter().all(|row| row.name != endpoint.name) {
        facts.price = None;
    }
    Ok(Chosen { endpoint, model, facts })
}

/// The endpoint of this name.
pub fn named(
    name: &str,
    users: &BTreeMap<String, UserProvider>,
    env: Lookup<'_>,
) -> Result<Endpoint, Unresolved> {
    let wrong = |text: String| Unresolved::Wrong(format!("Provider {name}: {text}."));
    let row = TABLE.iter().find(|row| row.name == name);
    let user = users.get(name);
    if row.is_none() && user.is_none() {
        if name.is_empty() {
            let text = "The provider is missing before the `/`. Write provider/model.";
            return Err(Unresolved::Wrong(text.to_owned()));
        }
        let known = names(users);
        let hint = nearest::find(name, &known).map_or_else(
            || format!("The providers are: {}.", known.join(", ")),
            |it| format!("Did you mean {it}?"),
        );
        return Err(Unresolved::Wrong(format!("No provider is called {name}. {hint}")));
    }
    let dialect = user.map(UserProvider::dialect).transpose().map_err(wrong)?.flatten();
    let mut endpoint = match row {
        Some(row) => from_row(row, dialect, env).map_err(wrong)?,
        None => Endpoint {
            name: name.to_owned(),
            base_url: String::new(),
            dialect: dialect.unwrap_or(Dialect::OpenAiChat),
            key: Key::None,
            quirks: PLAIN,
            headers: Vec::new(),
            models: Vec::new(),
            named_by_user: false,
        },
    };
    if let Some(user) = user {
        overlay(&mut endpoint, user, dialect, env).map_err(wrong)?;
    }
    if endpoint.base_url.is_empty() {
        return Err(wrong("it needs a base_url".to_owned()));
    }
    match endpoint.exposes_key() {
        Some(why) => Err(wrong(why)),
        None => Ok(endpoint),
    }
}

fn from_row(row: &Row, wanted: Option<Dialect>, env: Lookup<'_>) -> Result<Endpoint, String> {
    let moved = match row.base_variable {
        "" => None,
        variable => env(variable).filter(|value| !value.trim().is_empty()),
    };
    let base = moved.as_deref().unwrap_or(row.base_url);
    let dialect = wanted.unwrap_or(row.dialect);
    let base_url = match row.name {
        "azure" if base.is_empty() => String::new(),
        "azure" => azure_base(&azure::versioned(base, env("AZURE_OPENAI_API_VERSION")), dialect)?,
        "ollama" => base_url(&ollama_host(base), dialect)?,
        "gemini" if dialect == Dialect::OpenAiChat => {
            format!("{}/v1beta/openai", base_url(base, Dialect::Gemini)?)
        }
        _ => base_url(base, dialect)?,
    };
    let key = if row.key.is_empty() { Key::None } else { Key::Env(row.key.to_owned()) };
    let models = Vec::from_iter(row.has_default().then(|| row.default_model()));
    let mut endpoint = Endpoint {
        name: row.name.to_owned(),
        base_url,
        dialect,
        key,
        quirks: row.quirks,
        headers: Vec::new(),
        models,
        named_by_user: false,
    };
    if moved.is_some() {
        endpoint.adapt_to_address(wanted);
    }
    Ok(endpoint)
}

fn overlay(
    endpoint: &mut Endpoint,
    user: &UserProvider,
    wanted: Option<Dialect>,
    env: Lookup<'_>,
) -> Result<(), String> {
    let is_set = matches!(&endpoint.key, Key::Env(name) if is_set(name, env));
    if let Some(base) = &user.base_url {
        let base_url = if endpoint.name == "azure" { azure_base } else { base_url };
        endpoint.base_url = base_url(base, endpoint.dialect)?;
        endpoint.named_by_user = true;
        endpoint.adapt_to_address(wanted);
    }
    match (&user.key, &user.stored) {
        (Some(key), _) => endpoint.key = Key::parse(key)?,
        (None, Some(file)) if !is_set => endpoint.key = Key::Stored(file.clone()),
        _ => (),
    }
    if !user.models.is_empty() {
        endpoint.models.clone_from(&user.models);
    }
    let headers = user.headers.iter().map(|(name, value)| Header::parse(name, value));
    endpoint.headers = headers.collect::<Result<_, _>>()?;
    user.quirks.iter().try_for_each(|name| endpoint.quirks.set(name))
}

/// Normalises a base URL, which users write with or without `/v1` or with the whole path, to the form to which
/// `Dialect::url` adds the rest.
fn base_url(text: &str, dialect: Dialect) -> Result<String, String> {
    let url = checked(text, false)?;
    if azure::is_at(&url) {
        return azure::base(&url, dialect);
    }
    let at_root = url.path() == "/";
    let base = url.as_str().trim_end_matches('/');
    let without = |tails: &[&str]| {
        tails.iter().fold(base, |base, tail| base.strip_suffix(tail).unwrap_or(base)).to_owned()
    };
    Ok(match dialect {
        Dialect::Anthropic => without(&["/messages", "/v1"]),
        Dialect::OpenAiChat | Dialect::OpenAiResponses if at_root => format!("{base}/v1"),
        Dialect::OpenAiChat | Dialect::OpenAiResponses => {
            without(&["/chat/completions", "/responses"])
        }
        Dialect::Gemini => without(&["/models", "/openai", "/v1beta"]),
        Dialect::Ollama => without(&["/chat", "/api", "/v1"]),
    })
}

/// Like `base_url`, but for the provider `azure`, at any host.
fn azure_base(text: &str, dialect: Dialect) -> Result<String, String> {
    azure::base(&checked(text, true)?, dialect)
}

/// The address in `OLLAMA_HOST`: a host, a port, both, or a URL. The server itself reads this variable too.
fn ollama_host(text: &str) -> String {
    let text = text.trim();
    let (scheme, host) = text.split_once("://").unwrap_or(("http", text));
    let host = host.trim_end_matches('/');
    let host = if host.starts_with(':') {
        format!("127.0.0.1{host}")
    } else {
        host.replacen("0.0.0.0", "127.0.0.1", 1)
    };
    let has_port = host.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
    let port = if has_port || text.contains("://") { "" } else { ":11434" };
    format!("{scheme}://{host}{port}")
}

/// Parses a URL. Azure's addresses may end in an API version.
fn checked(text: &str, azure: bool) -> Result<Url, String> {
    // the message does not quote the text, because it may contain a password
    let url = Url::parse(text.trim())
        .map_err(|error| format!("its base URL cannot be read ({})", cause(&error)))?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
        return Err("its base URL must begin with https:// or http://".to_owned());
    }
    let azure = azure || azure::is_at(&url);
    if !url.username().is_empty()
        || url.password().is_some()
        || url.query().is_some_and(|query| !(azure && azure::is_version(query)))
        || url.fragment().is_some()
    {
        return Err("its base URL must have no password and nothing after `?` or `#`".to_owned());
    }
    Ok(url)
}

impl Endpoint {
    /// Adapts the dialect and the quirks to the endpoint's address. A server that imitates `OpenAI` supports at least
    /// Chat Completions.
    fn adapt_to_address(&mut self, wanted: Option<Dialect>) {
        let at_home = self.base_url.contains("//api.openai.com/");
        if !at_home && wanted.is_none() && self.dialect == Dialect::OpenAiResponses {
            self.dialect = Dialect::OpenAiChat;
        }
        self.quirks.completion_tokens = at_home || self.is_azure();
    }

    /// Whether the endpoint's models are Azure's. Azure takes the key in a header of its own.
    pub fn is_azure(&self) -> bool {
        self.name == "azure" || Url::parse(&self.base_url).is_ok_and(|url| azure::is_at(&url))
    }

    /// Why no key may be sent to this endpoint: its address is plain HTTP to another machine, and the user has not
    /// written the address in the configuration. `None` if a key may be sent.
    pub fn exposes_key(&self) -> Option<String> {
        let url = Url::parse(&self.base_url).ok()?;
        let open = url.scheme() == "http"
            && !is_loopback(&url)
            && (self.key != Key::None || self.headers.iter().any(|it| it.variable().is_some()))
            && !self.named_by_user;
        open.then(|| {
            let host = url.host_str().unwrap_or_default();
            format!(
                "plain HTTP would expose the key on the way to {host}; use https, or set providers.{}.base_url",
                self.name
            )
        })
    }

    /// The host and port, for messages to the user.
    pub fn host(&self) -> String {
        let Ok(url) = Url::parse(&self.base_url) else { return self.name.clone() };
        let host = url.host_str().unwrap_or(&self.name);
        url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
    }

    /// The host and the port to which requests go, without the port that an encrypted connection has by itself.
    pub fn address(&self) -> String {
        let Ok(url) = Url::parse(&self.base_url) else { return self.name.clone() };
        let host = url.host_str().unwrap_or(&self.name);
        match url.port_or_known_default() {
            Some(port) if port != 443 => format!("{host}:{port}"),
            _ => host.to_owned(),
        }
    }

    /// Whether requests can be sent to the endpoint: its key is available, or it needs no key. With `local`, this
    /// includes servers on this machine that are not in the user's configuration.
    pub fn is_usable(&self, env: Lookup<'_>, local: bool) -> bool {
        match &self.key {
            Key::None => self.named_by_user || (local && self.is_local()),
            Key::Env(variable) => is_set(variable, env),
            Key::Command(_) | Key::Stored(_) => true,
        }
    }

    /// Whether the endpoint is on this machine.
    pub fn is_local(&self) -> bool {
        Url::parse(&self.base_url).is_ok_and(|url| is_loopback(&url))
    }
}

/// Whether the address is on this machine by its words: `localhost`, or an address of the loopback.
pub(crate) fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let host = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost"
        || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests;
