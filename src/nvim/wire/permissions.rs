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

/// What a permission lets the model do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Permitted {
    /// Read a path with a tool.
    Read,
    Command,
    /// Run a command outside of the sandbox.
    Outside,
    /// Send input to a job.
    Input,
    /// Fetch pages of a host.
    Host,
    /// Connect from the sandbox to a host.
    Connection,
    /// Open a port of a job to the user's programs.
    Port,
    /// Call a tool of a server.
    Server,
    /// This is a rule instead of a permission for the session.
    Rule,
}

/// A permission for the session, or a permission rule.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Granted {
    pub kind: Permitted,
    /// The tool that may read the path.
    pub tool: Option<String>,
    /// The job that may get input.
    pub job: Option<u32>,
    /// The path, the command, the host, the port, the tool of a server, or the rule in one line.
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
pub struct GrantRow {
    /// The permission or rule in one line for the user.
    pub label: String,
    pub kind: Permitted,
    /// The tool that may read the path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// The job that may get input.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub job: Option<u32>,
    /// The path, the command, the host, the port, the tool of a server, or the rule in one line.
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
        let Granted { kind, tool, job, what } = it;
        Permission::Grant(match kind {
            Permitted::Rule => return Permission::Rule(what),
            Permitted::Read => Grant::Read { tool: tool.unwrap_or_default(), path: what },
            Permitted::Input => Grant::Input { job: job.unwrap_or_default(), command: what },
            Permitted::Command => Grant::Act(what),
            Permitted::Outside => Grant::Outside(what),
            Permitted::Host => Grant::Fetch(what),
            Permitted::Connection => Grant::Connect(what),
            Permitted::Port => Grant::Open(what.parse().unwrap_or_default()),
            Permitted::Server => Grant::Remote(what),
        })
    }
}

impl From<&Permission> for GrantRow {
    fn from(it: &Permission) -> GrantRow {
        let (mut tool, mut job) = (None, None);
        let (label, kind, what) = match it {
            Permission::Rule(rule) => (format!("rule: {rule}"), Permitted::Rule, rule.clone()),
            Permission::Grant(grant) => {
                let (kind, what) = match grant {
                    Grant::Read { tool: reader, path } => {
                        tool = Some(reader.clone());
                        (Permitted::Read, path)
                    }
                    Grant::Input { job: of, command } => {
                        job = Some(*of);
                        (Permitted::Input, command)
                    }
                    Grant::Act(it) => (Permitted::Command, it),
                    Grant::Outside(it) => (Permitted::Outside, it),
                    Grant::Fetch(it) => (Permitted::Host, it),
                    Grant::Connect(it) => (Permitted::Connection, it),
                    Grant::Remote(it) => (Permitted::Server, it),
                    Grant::Open(port) => (Permitted::Port, &port.to_string()),
                };
                (grant.label(), kind, what.clone())
            }
        };
        GrantRow { label, kind, tool, job, what }
    }
}
