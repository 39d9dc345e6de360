//! What the user has allowed for a session: listed, and taken back.

use crate::event::{Grant, SessionId};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Deserialize)]
pub struct PermissionsWanted {
    pub session: SessionId,
    pub revoke: Option<Granted>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Granted {
    pub tool: Option<String>,
    pub what: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Permissions {
    pub session: SessionId,
    pub grants: Vec<GrantRow>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct GrantRow {
    pub label: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
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
