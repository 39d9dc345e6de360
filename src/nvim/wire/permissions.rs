//! The messages about the permissions that the user has granted for a session.

use crate::event::{Grant, SessionId};
use serde::{Deserialize, Serialize};

/// Asks for the permissions of a session. The answer is `permissions`.
#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PermissionsWanted {
    pub session: SessionId,
    /// A permission to take back before the list is made.
    pub revoke: Option<Granted>,
}

/// A permission to read a path with a tool, to run a command, or to fetch pages of a host.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Granted {
    /// If absent, the permission is for a command or a host.
    pub tool: Option<String>,
    /// Whether the permission is for a host.
    #[serde(default)]
    pub is_host: bool,
    /// The path, the command or the host.
    pub what: String,
}

/// The permissions of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Permissions {
    pub session: SessionId,
    /// The permissions in the order in which they were granted.
    pub grants: Vec<GrantRow>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct GrantRow {
    /// One line for the user.
    pub label: String,
    /// If absent, the permission is for a command or a host.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// Whether the permission is for a host.
    pub is_host: bool,
    /// The path, the command or the host.
    pub what: String,
}

impl From<Granted> for Grant {
    fn from(it: Granted) -> Grant {
        match it.tool {
            Some(tool) => Grant::Read { tool, path: it.what },
            None if it.is_host => Grant::Fetch(it.what),
            None => Grant::Act(it.what),
        }
    }
}

impl From<&Grant> for GrantRow {
    fn from(it: &Grant) -> GrantRow {
        let is_host = matches!(it, Grant::Fetch(_));
        let (tool, what) = match it.clone() {
            Grant::Read { tool, path } => (Some(tool), path),
            Grant::Act(what) | Grant::Fetch(what) => (None, what),
        };
        GrantRow { label: it.label(), tool, is_host, what }
    }
}
