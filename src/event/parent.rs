//! The session for which a subagent works.

use super::id::SessionId;
use super::worker::Post;
use crate::message::CallId;
use serde::{Deserialize, Serialize};

/// Links a subagent's session to the call that began it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parent {
    pub session: SessionId,
    pub call: CallId,
    /// Whether the parent's conversation had a text that a stranger may have written. The task may then repeat what the
    /// stranger wants.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_tainted: bool,
    /// What narrows the parent's tools: the parent's agent, and slash commands of its turn. Each has its name and the
    /// tools that it allows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub limits: Vec<(String, Vec<String>)>,
    /// If the subagent is a worker of a coordinator: its work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub post: Option<Post>,
    /// Whether the session is a copy of the subagent's session, which the user continues.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_copy: bool,
}
