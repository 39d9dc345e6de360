//! What is said of the sessions as a whole: which there are, and what becomes of them.

use serde::{Deserialize, Serialize};

/// Asks for the sessions of the project, or those in which a text stands.
#[derive(Debug, Clone, Deserialize)]
pub struct ListSessions {
    #[serde(default)]
    pub text: String,
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
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum WhereOpen {
    Here,
    Elsewhere,
    Nowhere,
}
