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

/// A permission to read a path with a tool, or to run a command.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Granted {
    /// If absent, the permission is for a command.
    pub tool: Option<String>,
    /// The path or the command.
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
    /// If absent, the permission is for a command.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// The path or the command.
    pub what: String,
}

impl From<Granted> for Grant {
    fn from(it: Granted) -> Grant {
        match it.tool {
            Some(tool) => Grant::Read { tool, path: it.what },
            None => Grant::Act(it.what),
        }
    }
}

impl From<&Grant> for GrantRow {
    fn from(it: &Grant) -> GrantRow {
        let (tool, what) = match it.clone() {
            Grant::Read { tool, path } => (Some(tool), path),
            Grant::Act(command) => (None, command),
        };
        GrantRow { label: it.label(), tool, what }
    }
}
