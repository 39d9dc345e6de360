//! The settings that the program needs.

use crate::edit::Format;
use crate::event::Mode;
use crate::message::Effort;
use rmpv::Value;
use serde::de::IntoDeserializer;
use serde::{Deserialize, Deserializer};
use std::collections::BTreeMap;
use std::path::PathBuf;

#[expect(clippy::struct_excessive_bools, reason = "switches of the user's, each its own")]
#[derive(Debug, Clone, Default, Deserialize)]
pub struct WireConfig {
    pub model: Option<String>,
    #[serde(default, deserialize_with = "map")]
    pub providers: BTreeMap<String, ProviderConfig>,
    #[serde(default, deserialize_with = "map")]
    pub models: BTreeMap<String, ModelConfig>,
    pub thinking: Option<Effort>,
    pub temperature: Option<f64>,
    pub max_output: Option<u32>,
    #[serde(default)]
    pub mode: Mode,
    #[serde(default)]
    pub resume: Resume,
    #[serde(default)]
    pub debug: bool,
    pub system: Option<String>,
    pub system_file: Option<PathBuf>,
    #[serde(default)]
    pub no_system: bool,
    #[serde(default)]
    pub instructions: bool,
    #[serde(default)]
    pub probe: bool,
    #[serde(default)]
    pub titles: bool,
    #[serde(default)]
    pub pass_env: Vec<String>,
}

#[derive(Debug, Clone, Deserialize)]
pub struct ProviderConfig {
    pub dialect: Option<String>,
    pub base_url: Option<String>,
    pub key: Option<String>,
    #[serde(default)]
    pub models: Vec<String>,
    #[serde(default)]
    pub quirks: Vec<String>,
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
pub struct ModelConfig {
    pub window: Option<u32>,
    pub max_output: Option<u32>,
    #[serde(default, deserialize_with = "named")]
    pub thinking: Option<Effort>,
    pub temperature: Option<f64>,
    pub price: Option<PriceConfig>,
    pub num_ctx: Option<u32>,
    #[serde(default, deserialize_with = "named")]
    pub edits: Option<Format>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
pub struct PriceConfig {
    pub input: f64,
    pub output: f64,
    pub cache_read: Option<f64>,
    pub cache_write: Option<f64>,
}

/// `true`, `false` or `'open'`.
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

/// By its name: what reads the values of a map takes no enum.
fn named<'de, D: Deserializer<'de>, T: Deserialize<'de>>(from: D) -> Result<Option<T>, D::Error> {
    let name = String::deserialize(from)?;
    T::deserialize(name.into_deserializer()).map(Some)
}

/// An empty Lua table arrives as an array.
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
