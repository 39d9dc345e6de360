//! What is said of the sessions as a whole: which there are, and what becomes of them.

use crate::event::SessionId;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Asks for the sessions of the project, or those in which a text stands.
#[derive(Debug, Clone, Deserialize)]
pub struct ListSessions {
    #[serde(default)]
    pub text: String,
}

#[derive(Debug, Clone, Deserialize)]
pub struct RenameSession {
    pub session: SessionId,
    pub name: String,
}

#[derive(Debug, Clone, Deserialize)]
pub struct ForkSession {
    pub session: SessionId,
    pub after: Option<u32>,
    pub is_prompt: bool,
}

#[derive(Debug, Clone, Deserialize)]
pub struct DeleteSession {
    pub session: SessionId,
}

#[derive(Debug, Clone, Deserialize)]
pub struct ExportSession {
    pub session: SessionId,
    pub file: String,
    pub force: bool,
}

#[derive(Debug, Clone, Deserialize)]
pub struct Claim {
    pub session: SessionId,
    pub way: Way,
    pub root: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Way {
    Read,
    Fork,
    Take,
}

#[derive(Debug, Clone, Deserialize)]
pub struct Yield {
    pub session: SessionId,
    pub by: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Held {
    pub session: SessionId,
    pub by: String,
    pub server: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Copied {
    pub text: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct History {
    pub session: SessionId,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Renamed {
    pub session: SessionId,
    pub to: SessionId,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Deleted {
    pub session: SessionId,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Sessions {
    pub text: String,
    pub sessions: Vec<SessionRow>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SessionRow {
    pub name: String,
    pub title: String,
    pub age: u64,
    pub bytes: u64,
    pub turns: u32,
    pub open: WhereOpen,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub root: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum WhereOpen {
    Here,
    Elsewhere,
    Nowhere,
}
