//! Converts the user's settings into the program's types.

use super::places::own_file;
use crate::agent::models::Models;
use crate::event::Tuning;
use crate::mcp::{Address, Definition, Host, Place, Program, Servers};
use crate::nvim::wire::{
    LimitConfig, ModelConfig, PriceConfig, ProviderConfig, SandboxConfig, SearchConfig,
    ServerConfig, WireConfig,
};
use crate::provider::endpoint::{self, UserProvider};
use crate::provider::facts::{Price, UserModel};
use crate::provider::key::{self, Key, Used};
use crate::provider::stored;
use crate::session::{Limit, Limits};
use crate::tool::environment::Secrets;
use crate::tool::{self, Toolset, confinement};
use crate::web::search::Search;
use std::collections::BTreeMap;
use std::mem::take;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// The longest time of a call of a server's tool, and of a server's start, in seconds, if the user sets no other.
const CALL: u32 = 60;
const STARTUP: u32 = 30;

/// Takes providers and models out of the settings. `keys` is the file that lists the stored keys.
pub fn models(config: &mut WireConfig, keys: &Path) -> Models {
    let WireConfig { thinking, temperature, max_output, trim, compact, .. } = *config;
    let (providers, own) = (take(&mut config.providers), take(&mut config.models));
    let mut models = Models::new(
        providers.into_iter().map(|(name, it)| (name, provider(it))).collect(),
        own.into_iter().map(|(name, it)| (name, model(it))).collect(),
        Tuning { thinking, temperature, max_output },
    )
    .shortening(trim, compact)
    .searching(config.search.as_ref().is_some_and(|it| it.hosted));
    let known = endpoint::names(&models.users);
    let stored = stored::providers(keys).into_iter().filter(|it| known.contains(it));
    stored.for_each(|it| models.connect(&it, keys));
    models.subagents = take(&mut config.subagent_model);
    models
}

fn provider(it: ProviderConfig) -> UserProvider {
    let ProviderConfig { dialect, base_url, key, models, quirks, headers } = it;
    UserProvider { dialect, base_url, key, models, quirks, headers, stored: None }
}

fn model(it: ModelConfig) -> UserModel {
    let ModelConfig {
        window,
        max_output,
        thinking,
        temperature,
        price,
        num_ctx,
        edits,
        trim,
        compact,
        vision,
        calls,
    } = it;
    let tuning = Tuning { thinking, temperature, max_output };
    let price = price.map(price_of);
    UserModel { window, price, num_ctx, edits, vision, calls, tuning, trim, compact }
}

/// The user's settings of the sandbox.
pub(super) fn sandbox(config: &WireConfig) -> confinement::Settings {
    let SandboxConfig { enabled, network, writable } = config.sandbox.clone();
    confinement::Settings { is_on: enabled, network, writable }
}

/// The user's spending limits.
pub(super) fn limits(it: Option<LimitConfig>) -> Limits {
    let LimitConfig { usd, tokens, turn_usd, turn_tokens } = it.unwrap_or_default();
    let (session, turn) = (Limit::new(usd, tokens), Limit::new(turn_usd, turn_tokens));
    Limits { session, turn, requests: None }
}

/// Without a cache price, the price of ordinary input is used.
fn price_of(it: PriceConfig) -> Price {
    Price {
        input: it.input,
        output: it.output,
        cache_read: it.cache_read.unwrap_or(it.input),
        cache_write: it.cache_write.unwrap_or(it.input),
        long: None,
    }
}

/// The origin of a key in a few words.
pub fn origin(key: &Key) -> &str {
    match key {
        Key::None => "no key needed",
        Key::Env(name) => name,
        Key::Command(_) => "a command's key",
        Key::Stored(_) => "a stored key",
    }
}

/// What commands and servers do not get of the user's environment, and the keys that no answer shows.
pub(super) fn secrets(config: &WireConfig, models: &Models) -> Secrets {
    let env = |name: &str| std::env::var(name).ok();
    Secrets {
        variables: endpoint::key_variables(&models.users, &env),
        passed: config.pass_env.clone(),
        used: models.used.clone(),
    }
}

/// The servers of tools.
pub(super) fn servers(config: &WireConfig, root: &Path, secrets: Secrets) -> Servers {
    let seconds =
        |given: Option<u32>, usual: u32| Duration::from_secs(given.unwrap_or(usual).into());
    let definition = |it: &ServerConfig| Definition {
        place: place(it),
        timeout: seconds(it.timeout, CALL),
        startup: seconds(it.startup_timeout, STARTUP),
    };
    let all: BTreeMap<String, Definition> = config
        .mcp
        .iter()
        .filter(|it| !it.1.disabled)
        .map(|(name, it)| (name.clone(), definition(it)))
        .collect();
    let host = Host {
        program: own_file(),
        root: root.to_owned(),
        withhold: Arc::new(move |command| secrets.withhold(command)),
        variables: Arc::new(|name| std::env::var(name).ok()),
    };
    Servers::new(host, all)
}

fn place(it: &ServerConfig) -> Place {
    match &it.url {
        Some(url) => Place::Address(Address { url: url.clone(), headers: it.headers.clone() }),
        None => Place::Program(Program {
            command: it.command.clone().unwrap_or_default(),
            args: it.args.clone(),
            env: it.env.clone(),
            cwd: it.cwd.clone(),
        }),
    }
}

/// The tools of the model: Caliban's own, one that searches the web if the user has chosen a service, and those for the
/// tools of servers.
pub(super) fn tools(config: &WireConfig, used: &Used, servers: &Servers) -> Toolset {
    let tools = built_in(config, used);
    if servers.is_empty() { tools } else { tool::serving(&tools, servers) }
}

fn built_in(config: &WireConfig, used: &Used) -> Toolset {
    let Some(SearchConfig { provider: Some(provider), url, key, .. }) = &config.search else {
        return tool::own();
    };
    match Search::new(provider, url.as_deref(), key.as_deref(), used, key::environment) {
        Ok(search) => tool::searching(search),
        Err(why) => {
            // not expected, because the plugin has checked the setting
            tracing::warn!("{why}");
            tool::own()
        }
    }
}
