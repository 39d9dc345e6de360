//! Claude Code's short names for models, which agents' files use. Each stands for the newest such model that a provider
//! is known to have.

use super::Endpoint;
use super::table::TABLE;
use crate::provider::facts;

/// Whether a name of a model is one of Claude Code's short names.
pub fn is_short(name: &str) -> bool {
    ["sonnet", "opus", "haiku"].contains(&name)
}

/// The endpoint's model for a short name: the newest one that the user has listed; otherwise, if the provider is known
/// to have Claude models, the newest one in the table of models.
pub fn newest(endpoint: &Endpoint, short: &str) -> Option<String> {
    let is_meant = |it: &&String| {
        let name = it.rsplit('/').next().unwrap_or(it).to_lowercase();
        name.contains("claude") && name.contains(short)
    };
    let listed = endpoint.models.iter().filter(is_meant).min_by_key(|it| facts::rank(it));
    let row = || TABLE.iter().find(|it| it.name == endpoint.name)?.claude(short);
    listed.cloned().or_else(row)
}
