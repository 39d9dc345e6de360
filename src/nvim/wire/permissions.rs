//! The messages about permissions: those that the user has granted for a session, and rules.

use crate::agent::Wanted;
use crate::conversation::report::Permission;
use crate::event::{Grant, SessionId};
use crate::message::CallId;
use serde::{Deserialize, Serialize};

/// Lists the permissions of a session, revokes one, or explains how a command would be judged or why the user is asked
/// about a call. The answer is `permissions`, or a text in the chat.
#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PermissionsWanted {
    pub session: SessionId,
    /// The permission to revoke.
    pub revoke: Option<Granted>,
    /// A command. If present, the chat shows how the command would be judged.
    #[serde(default)]
    pub explain: Option<String>,
    /// If present, the open question about this call shows or hides why the user is asked.
    #[serde(default)]
    pub why: Option<String>,
}

/// A permission: to read a path with a tool, to run a command, or to fetch pages of a host. Or a permission rule.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[expect(clippy::struct_excessive_bools, reason = "the wire has independent flags")]
pub struct Granted {
    /// The tool that may read the path. If absent, the permission is for a command or a host.
    pub tool: Option<String>,
    /// Whether the permission is for a host.
    #[serde(default)]
    pub is_host: bool,
    /// Whether the permission is for commands' connections to a host.
    #[serde(default)]
    pub is_connection: bool,
    /// Whether the permission is for a port of a job.
    #[serde(default)]
    pub is_port: bool,
    /// Whether the permission is for a command outside of the sandbox.
    #[serde(default)]
    pub is_outside: bool,
    /// Whether this is a rule instead of a permission for the session.
    #[serde(default)]
    pub is_rule: bool,
    /// If given, the permission is for input to this job.
    pub job: Option<u32>,
    /// The path, the command, the host or the rule in one line.
    pub what: String,
}

/// The permissions of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Permissions {
    pub session: SessionId,
    /// The permissions in the order in which they were granted, then the rules.
    pub grants: Vec<GrantRow>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[expect(clippy::struct_excessive_bools, reason = "the wire has independent flags")]
pub struct GrantRow {
    /// The permission or rule in one line for the user.
    pub label: String,
    /// If absent, the permission is for a command or a host.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// Whether the permission is for a host.
    pub is_host: bool,
    /// Whether the permission is for commands' connections to a host.
    pub is_connection: bool,
    /// Whether the permission is for a port of a job.
    pub is_port: bool,
    /// Whether the permission is for a command outside of the sandbox.
    pub is_outside: bool,
    /// Whether this is a rule.
    pub is_rule: bool,
    /// If given, the permission is for input to this job.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub job: Option<u32>,
    /// The path, the command, the host or the rule in one line.
    pub what: String,
}

impl From<PermissionsWanted> for (SessionId, Wanted) {
    fn from(it: PermissionsWanted) -> (SessionId, Wanted) {
        let wanted = match (it.revoke, it.explain, it.why) {
            (Some(it), ..) => Wanted::Revoke(it.into()),
            (None, Some(command), _) => Wanted::Explain(command),
            (None, None, Some(call)) => Wanted::Why(CallId(call)),
            (None, None, None) => Wanted::List,
        };
        (it.session, wanted)
    }
}

impl From<Granted> for Permission {
    fn from(it: Granted) -> Permission {
        Permission::Grant(match (it.tool, it.job) {
            _ if it.is_rule => return Permission::Rule(it.what),
            (Some(tool), _) => Grant::Read { tool, path: it.what },
            (None, Some(job)) => Grant::Input { job, command: it.what },
            (None, None) if it.is_host => Grant::Fetch(it.what),
            (None, None) if it.is_connection => Grant::Connect(it.what),
            (None, None) if it.is_port => Grant::Open(it.what.parse().unwrap_or_default()),
            (None, None) if it.is_outside => Grant::Outside(it.what),
            (None, None) => Grant::Act(it.what),
        })
    }
}

impl From<&Permission> for GrantRow {
    fn from(it: &Permission) -> GrantRow {
        let grant = match it {
            Permission::Grant(grant) => grant,
            Permission::Rule(rule) => {
                let (label, what) = (format!("rule: {rule}"), rule.clone());
                return GrantRow {
                    label,
                    tool: None,
                    is_host: false,
                    is_connection: false,
                    is_port: false,
                    is_outside: false,
                    is_rule: true,
                    job: None,
                    what,
                };
            }
        };
        let is_host = matches!(grant, Grant::Fetch(_));
        let (tool, what) = match grant.clone() {
            Grant::Read { tool, path } => (Some(tool), path),
            Grant::Act(what)
            | Grant::Outside(what)
            | Grant::Fetch(what)
            | Grant::Connect(what)
            | Grant::Input { command: what, .. } => (None, what),
            Grant::Open(port) => (None, port.to_string()),
        };
        let is_connection = matches!(grant, Grant::Connect(_));
        let is_port = matches!(grant, Grant::Open(_));
        let is_outside = matches!(grant, Grant::Outside(_));
        let job = match grant {
            Grant::Input { job, .. } => Some(*job),
            _ => None,
        };
        let (label, is_rule) = (grant.label(), false);
        GrantRow { label, tool, is_host, is_connection, is_port, is_outside, is_rule, job, what }
    }
}
