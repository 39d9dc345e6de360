//! What the editor says of its language servers.

use crate::event::SessionId;
use crate::tool::lsp::{Finding, Rewrite};
use serde::Deserialize;
use std::path::PathBuf;

#[derive(Debug, Clone, Deserialize)]
pub struct Found {
    pub id: u32,
    #[serde(default)]
    pub findings: Vec<Finding>,
    #[serde(default)]
    pub more: u32,
    #[serde(default)]
    pub notes: Vec<String>,
    #[serde(default)]
    pub rewrites: Vec<Rewrite>,
    pub why: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
pub struct Checked {
    pub id: u32,
    pub session: SessionId,
    pub path: PathBuf,
    pub state: CheckState,
    pub added: Vec<Finding>,
    pub remaining: Vec<Finding>,
    pub elsewhere: Vec<Finding>,
    pub notes: Vec<String>,
    pub new: u32,
    pub fixed: u32,
    pub remain: u32,
    pub known: bool,
    pub fresh: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckState {
    Awaited,
    Told,
    Dropped,
}
