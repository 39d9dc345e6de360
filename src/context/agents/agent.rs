//! One named agent, and the file that may have it.

use crate::event::{self, Mode, Profile};
use crate::message::{Excerpt, ExcerptKind};
use crate::tool::{Desk, Toolset};
use serde_json::Map;
use sha2::{Digest, Sha256};
use std::path::PathBuf;

/// The owner of an agent's file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    User,
    /// Anybody may have written the agent's text, so a model gets it only after the user has agreed to it.
    Project,
}

#[derive(Debug, Clone, PartialEq)]
pub struct NamedAgent {
    /// `[A-Za-z0-9_-]{1,64}`.
    pub name: String,
    /// When to use the agent, in one line. May be empty.
    pub description: String,
    /// The agent's own system prompt. May be empty.
    pub prompt: String,
    /// The tools that the agent may use: names of tools, and of commands such as `shell(git diff)`. `None` allows all.
    pub tools: Option<Vec<String>>,
    /// The model and its settings, in the form that `:Caliban model` takes. The model may not exist.
    pub model: Option<String>,
    /// The line of the file that names the model, from 1.
    pub model_line: usize,
    /// Whether the agent has the model of the conversation that gives it a task, even if the user has set another model
    /// for subagents.
    pub inherits: bool,
    /// The mode that the agent begins in, unless the user's own mode allows less.
    pub mode: Option<Mode>,
    /// The most requests, tokens and USD of one turn.
    pub requests: Option<u32>,
    pub tokens: Option<u64>,
    pub usd: Option<f64>,
    pub origin: Origin,
    pub path: PathBuf,
    /// The line of the file where the agent's text begins, from 1.
    pub line: usize,
    /// The agent's whole text, as its author wrote it, with invisible characters spelt out.
    pub written: String,
    /// One sentence for each part of the text that cannot be applied.
    pub problems: Vec<String>,
}

/// A file that may have agents.
pub(super) struct Source {
    pub(super) path: PathBuf,
    pub(super) origin: Origin,
    pub(super) is_list: bool,
}

impl NamedAgent {
    /// Whether the agent may use this tool. A command of the shell may still be refused.
    pub fn offers(&self, tool: &str) -> bool {
        event::offers(self.tools.as_deref(), tool)
    }

    /// Those of these tools that the agent may use.
    #[must_use]
    pub fn narrow(&self, tools: &Toolset) -> Toolset {
        tools.only(|it| self.offers(&it.name))
    }

    /// The mode that the agent begins in if the user's own mode is `users`.
    pub fn mode_within(&self, users: Mode) -> Mode {
        self.mode.map_or(users, |it| it.min(users))
    }

    /// What a conversation keeps of the agent that it is.
    pub fn profile(&self) -> Profile {
        Profile {
            name: self.name.clone(),
            tools: self.tools.clone(),
            max_turns: self.requests,
            max_tokens: self.tokens,
            max_usd: self.usd,
            sha256: format!("{:x}", Sha256::digest(&self.written)),
            extra: Map::new(),
        }
    }

    /// The agent's text, for the question whether the user agrees to it.
    pub fn excerpt(&self, desk: &Desk) -> Excerpt {
        Excerpt {
            path: desk.shown(&self.path),
            kind: ExcerptKind::Instructions,
            text: self.written.clone(),
            ..Excerpt::default()
        }
    }
}
