//! What a conversation keeps of the named agent that it is. The agent's file may change or vanish; the conversation
//! goes on with what is kept here, until the user asks for the current file with `/system new`.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The most tools that are read from a session's file, and the most characters of each.
const TOOLS: usize = 200;
const TOOL: usize = 200;

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Profile {
    pub name: String,
    /// Names of tools, and of commands such as `shell(git diff)`. `None` allows all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<String>>,
    /// The most requests, tokens and USD of one turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_turns: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_usd: Option<f64>,
    /// The SHA-256 of the agent's whole text, by which a change is noticed.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub sha256: String,
    /// Fields that this program does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

impl Profile {
    /// Whether the agent may use this tool. A command of the shell may still be refused.
    pub fn offers(&self, tool: &str) -> bool {
        offers(self.tools.as_deref(), tool)
    }

    /// A profile from a session's file, which anybody may have written. `None` if the name cannot be that of an agent.
    #[must_use]
    pub fn harmless(mut self) -> Option<Profile> {
        if let Some(tools) = &mut self.tools {
            tools.retain(|it| it.len() <= TOOL);
            tools.truncate(TOOLS);
        }
        self.max_turns = self.max_turns.filter(|it| *it > 0);
        is_agent(&self.name).then_some(self)
    }
}

/// Whether these tools, which may have limits such as `shell(git diff)`, have the tool `name`. `None` has all.
pub fn offers(tools: Option<&[String]>, name: &str) -> bool {
    let is_meant = |it: &String| it.split('(').next() == Some(name);
    tools.is_none_or(|tools| tools.iter().any(is_meant))
}

/// Whether a text can be the name of an agent: `[A-Za-z0-9_-]{1,64}`.
pub fn is_agent(name: &str) -> bool {
    let is_part = |it: u8| it.is_ascii_alphanumeric() || matches!(it, b'-' | b'_');
    (1..=64).contains(&name.len()) && name.bytes().all(is_part)
}
