//! The user's settings that the program needs.

use crate::edit::Format;
use crate::event::Mode;
use crate::message::Effort;
use crate::provider::facts::{Calls, Share};
use crate::rules::WrittenRule;
use rmpv::Value;
use serde::de::IntoDeserializer;
use serde::{Deserialize, Deserializer};
use std::collections::BTreeMap;
use std::path::PathBuf;

#[expect(clippy::struct_excessive_bools, reason = "switches of the user's, each its own")]
#[derive(Debug, Clone, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct WireConfig {
    pub model: Option<String>,
    /// The model of subagents. If absent, a subagent has the model of its parent.
    pub subagent_model: Option<String>,
    #[serde(default, deserialize_with = "map")]
    pub providers: BTreeMap<String, ProviderConfig>,
    #[serde(default, deserialize_with = "map")]
    pub models: BTreeMap<String, ModelConfig>,
    pub thinking: Option<Effort>,
    pub temperature: Option<f64>,
    pub max_output: Option<u32>,
    /// When the conversation fills this share of the context window, old tool results are trimmed.
    #[serde(default, deserialize_with = "share")]
    pub trim: Option<Share>,
    /// When the conversation fills this share of the context window, the conversation is compacted.
    #[serde(default, deserialize_with = "share")]
    pub compact: Option<Share>,
    pub mode: Mode,
    /// Whether `:Caliban` opens the session that was used last. With `open`, the chat is also shown when Neovim starts.
    pub resume: Resume,
    pub debug: bool,
    pub system: Option<String>,
    pub system_file: Option<PathBuf>,
    pub no_system: bool,
    /// Whether `AGENTS.md` and files like it are used.
    pub instructions: Instructions,
    /// Whether to look for a model server on this machine if no provider is configured.
    pub probe: bool,
    /// Whether to ask the model for a title after the first turn.
    pub titles: bool,
    /// The most tokens and money that may be spent before the user is asked.
    pub limit: Option<LimitConfig>,
    /// Environment variables that commands get even if they look like secrets.
    pub pass_env: Vec<String>,
    /// Hosts, with or without a port, that may be fetched although they have private network addresses.
    #[serde(default)]
    pub fetch_private: Vec<String>,
    /// If absent, the model has no tool that searches the web.
    pub search: Option<SearchConfig>,
    /// Rules that allow calls, ask about them or deny them.
    #[serde(default)]
    pub permissions: Vec<WrittenRule>,
    /// Whether everyday commands run without a question if the sandbox is complete.
    #[serde(default)]
    pub safe_commands: bool,
    #[serde(default)]
    pub sandbox: SandboxConfig,
    /// Servers of tools, by name.
    #[serde(default, deserialize_with = "map")]
    pub mcp: BTreeMap<String, ServerConfig>,
}

/// A server of tools: a program, or an address with `url`. Each text may name variables of the environment as `${NAME}` or `${NAME:-default}`.
#[derive(Debug, Clone, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ServerConfig {
    pub command: Option<String>,
    #[serde(default)]
    pub args: Vec<String>,
    #[serde(default, deserialize_with = "map")]
    pub env: BTreeMap<String, String>,
    pub cwd: Option<PathBuf>,
    pub url: Option<String>,
    /// Headers of each request to the address.
    #[serde(default, deserialize_with = "map")]
    pub headers: BTreeMap<String, String>,
    /// The longest time of one call, in seconds.
    pub timeout: Option<u32>,
    /// The longest time from the start of the program, or from the first request, to the first answer, in seconds.
    pub startup_timeout: Option<u32>,
    #[serde(default)]
    pub disabled: bool,
}

/// How the web is searched.
#[derive(Debug, Clone, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SearchConfig {
    /// The service: `searxng`, `brave`, `tavily` or `exa`. If absent, the model has no tool of Caliban that searches.
    pub provider: Option<String>,
    pub url: Option<String>,
    /// Where the key comes from: `env:NAME` or `cmd:COMMAND`.
    pub key: Option<String>,
    /// Whether the provider of the model may search by itself, without a question.
    #[serde(default)]
    pub hosted: bool,
}

/// The sandbox of commands.
#[derive(Debug, Clone, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SandboxConfig {
    pub enabled: bool,
    /// Whether commands may use the network.
    pub network: bool,
    /// Further folders in which commands may write files.
    pub writable: Vec<String>,
}

#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ProviderConfig {
    #[cfg_attr(test, schemars(with = "Option<crate::provider::dialect::Dialect>"))]
    pub dialect: Option<String>,
    pub base_url: Option<String>,
    /// Where the key comes from: `env:NAME` or `cmd:COMMAND`.
    pub key: Option<String>,
    #[serde(default)]
    pub models: Vec<String>,
    #[serde(default)]
    pub quirks: Vec<String>,
    /// Each value is a text or `env:NAME`.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
}

/// The user's settings for one model.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ModelConfig {
    /// The context window, in tokens.
    pub window: Option<u32>,
    /// The longest reply, in tokens.
    pub max_output: Option<u32>,
    #[serde(default, deserialize_with = "named")]
    pub thinking: Option<Effort>,
    pub temperature: Option<f64>,
    pub price: Option<PriceConfig>,
    /// The size of the context window, in tokens, that is requested from a server on this machine.
    pub num_ctx: Option<u32>,
    /// Whether the model reads images.
    pub vision: Option<bool>,
    /// How the model calls tools.
    #[serde(default, deserialize_with = "named")]
    pub calls: Option<Calls>,
    #[serde(default, deserialize_with = "named")]
    pub edits: Option<Format>,
    #[serde(default, deserialize_with = "share")]
    pub trim: Option<Share>,
    #[serde(default, deserialize_with = "share")]
    pub compact: Option<Share>,
}

/// What a session and one turn may spend before the user is asked: money in USD, and tokens.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LimitConfig {
    pub usd: Option<f64>,
    pub tokens: Option<u64>,
    pub turn_usd: Option<f64>,
    pub turn_tokens: Option<u64>,
}

/// Prices in USD per million tokens.
#[derive(Debug, Clone, Copy, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PriceConfig {
    pub input: f64,
    pub output: f64,
    pub cache_read: Option<f64>,
    pub cache_write: Option<f64>,
}

/// Whether `AGENTS.md` and files like it are used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Instructions {
    #[default]
    /// The user is asked before texts of a project are used for the first time.
    Ask,
    Always,
    Never,
}

/// Whether the session that was used last is opened: `true`, `false` or `'open'`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Resume {
    #[default]
    Last,
    Open,
    Fresh,
}

impl<'de> Deserialize<'de> for Resume {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Resume, D::Error> {
        Ok(match Value::deserialize(from)? {
            Value::Boolean(false) => Resume::Fresh,
            Value::String(text) if text.as_str() == Some("open") => Resume::Open,
            _ => Resume::Last,
        })
    }
}

/// Reads a number from 0 to 1, or `false` for never.
fn share<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Share>, D::Error> {
    Ok(match Value::deserialize(from)? {
        Value::Nil => None,
        Value::Boolean(false) => Some(Share::NEVER),
        // Neovim sends 1.0 as an integer
        it => it.as_f64().map(|it| Share(Some(it))),
    })
}

/// Reads an enum by its name, because `rmpv` cannot read an enum that is a value of a map.
fn named<'de, D: Deserializer<'de>, T: Deserialize<'de>>(from: D) -> Result<Option<T>, D::Error> {
    let name = String::deserialize(from)?;
    T::deserialize(name.into_deserializer()).map(Some)
}

/// Reads a map. An empty Lua table arrives as an array.
fn map<'de, D, T>(from: D) -> Result<BTreeMap<String, T>, D::Error>
where
    D: Deserializer<'de>,
    T: serde::de::DeserializeOwned,
{
    match Value::deserialize(from)? {
        value @ Value::Map(_) => rmpv::ext::from_value(value).map_err(serde::de::Error::custom),
        _ => Ok(BTreeMap::new()),
    }
}
