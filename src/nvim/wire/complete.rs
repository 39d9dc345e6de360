//! The composer's completion.

use crate::event::SessionId;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

#[derive(Debug, Clone, Deserialize)]
pub struct Complete {
    pub id: u32,
    pub session: Option<SessionId>,
    pub line: String,
    pub is_first: bool,
    #[serde(default)]
    pub open: Vec<PathBuf>,
}

#[derive(Debug, Clone, Serialize)]
pub struct Completed {
    pub id: u32,
    pub start: u32,
    pub items: Vec<CompletionItem>,
    pub more: bool,
}

#[derive(Debug, Clone, Serialize)]
pub struct CompletionItem {
    pub label: String,
    pub text: String,
    pub is: CompletionKind,
    pub about: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CompletionKind {
    File,
    Folder,
    Command,
    Word,
    Model,
    Session,
    Skill,
}
