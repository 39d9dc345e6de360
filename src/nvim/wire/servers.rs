//! What the editor says of its language servers.

use crate::agent::{Check, Looked};
use crate::event::SessionId;
use crate::tool::lsp::{Difference, Finding, Rewrite};
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

impl From<Checked> for (SessionId, Check) {
    fn from(it: Checked) -> (SessionId, Check) {
        let Checked { id, session, path, state, added, remaining, elsewhere, notes, .. } = it;
        let Checked { new, fixed, remain, known, fresh, .. } = it;
        let looked = match state {
            CheckState::Awaited => Looked::Begun,
            CheckState::Dropped => Looked::Dropped,
            CheckState::Told => Looked::Found(Difference {
                path,
                added,
                remaining,
                elsewhere,
                notes,
                new,
                fixed,
                remain,
                known,
                fresh,
            }),
        };
        (session, Check { id, looked })
    }
}
