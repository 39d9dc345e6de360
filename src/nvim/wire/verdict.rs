//! How a review ended.

use super::WireWhole;
use crate::edit::Decision;
use crate::event::SessionId;
use serde::Deserialize;
use std::path::PathBuf;

#[derive(Debug, Clone, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "the wire has independent flags")]
pub struct Reviewed {
    pub session: SessionId,
    pub proposals: Vec<u32>,
    #[serde(default)]
    pub decisions: Vec<Vec<Decision>>,
    #[serde(default)]
    pub texts: Vec<ProposedText>,
    pub path: PathBuf,
    pub was: Option<PathBuf>,
    #[serde(default)]
    pub deleted: bool,
    pub gone: bool,
    pub text: Option<String>,
    pub eol: bool,
    pub saved: bool,
    #[serde(default)]
    pub unsaved: String,
    #[serde(default)]
    pub reasons: Vec<Reason>,
    #[serde(default)]
    pub formattings: Vec<WireFormatting>,
}

/// What a formatter made of the text, lines joined by `\n`.
#[derive(Debug, Clone, Deserialize)]
pub struct WireFormatting {
    pub before: String,
    pub after: String,
}

#[derive(Debug, Clone, Deserialize)]
pub struct ProposedText {
    pub id: u32,
    pub before: String,
    pub before_eol: bool,
    pub after: String,
    pub after_eol: bool,
    pub whole: Option<WireWhole>,
    pub to: Option<PathBuf>,
}

#[derive(Debug, Clone, Deserialize)]
pub struct Reason {
    pub lines: Vec<String>,
    pub reason: String,
}
