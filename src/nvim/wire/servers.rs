//! The messages about the editor's language servers.

use crate::agent::{Check, Looked};
use crate::event::SessionId;
use crate::tool::formatter::Formatter;
use crate::tool::lsp::{Aspect, Difference, Finding, Question, Rewrite, Unparsed as Errors};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// A question to the language servers. The editor answers at once; the servers' answer follows as `found`.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Consult {
    id: u32,
    session: SessionId,
    aspect: Aspect,
    /// The absolute path.
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<PathBuf>,
    /// The symbol's line, or the first line of a range.
    line: u32,
    /// The last line of a range.
    #[serde(skip_serializing_if = "Option::is_none")]
    last: Option<u32>,
    /// The symbol as it is written on that line.
    symbol: String,
    /// A part of the names of the symbols to find in the project.
    #[serde(skip_serializing_if = "Option::is_none")]
    query: Option<String>,
    /// The symbol's new name, or the title or number of a code action.
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    /// The kind of the code actions.
    #[serde(skip_serializing_if = "Option::is_none")]
    only: Option<String>,
}

impl Consult {
    pub fn new(id: u32, session: SessionId, question: Question) -> Consult {
        let Question { aspect, path, line, last, symbol, query, name, only } = question;
        Consult { id, session, aspect, path, line, last, symbol, query, name, only }
    }
}

/// The answer of the language servers to `consult`.
#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Found {
    pub id: u32,
    pub findings: Vec<Finding>,
    /// How many findings were left out.
    pub more: u32,
    /// Sentences about servers that did not answer.
    pub notes: Vec<String>,
    /// The changes of a renaming, a code action or formatting.
    pub rewrites: Vec<Rewrite>,
    /// The user's formatters, if no server formats the file.
    pub formatter: Option<Formatter>,
    /// Why no server could be asked, as a text for the model.
    pub why: Option<String>,
}

/// How an edit changed the diagnostics (findings) of a file. The numbers count all findings; the lists have only the
/// first ones.
#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Checked {
    pub id: u32,
    pub session: SessionId,
    /// The absolute path.
    pub path: PathBuf,
    pub state: CheckState,
    /// New findings.
    pub added: Vec<Finding>,
    /// Findings that the file had before the edit and still has.
    pub remaining: Vec<Finding>,
    /// New findings in other files.
    pub elsewhere: Vec<Finding>,
    /// Sentences about the language servers, for example that one did not answer.
    pub notes: Vec<String>,
    pub new: u32,
    pub fixed: u32,
    pub remain: u32,
    /// Whether the diagnostics before the edit are known. If not, `added` has the findings on the changed lines.
    pub known: bool,
    /// Whether at least one server has reported on the new text.
    pub fresh: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CheckState {
    /// The check has begun. The model's answer about the edit waits for the result.
    Awaited,
    /// This message has the result.
    Told,
    /// There will be no result, because another edit was made in the meantime.
    Dropped,
}

/// The syntax errors that an edit adds to a file: the result of a check that was announced by `checked`.
#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Unparsed {
    pub id: u32,
    pub session: SessionId,
    /// The absolute path.
    pub path: PathBuf,
    /// The language of the parser.
    pub language: String,
    /// The first errors, at least one.
    pub errors: Vec<Finding>,
    /// The number of errors beyond these.
    pub more: u32,
}

impl From<Unparsed> for (SessionId, Check) {
    fn from(it: Unparsed) -> (SessionId, Check) {
        let Unparsed { id, session, path, language, errors, more } = it;
        let looked = Looked::Unparsed(Errors { path, language, errors, more });
        (session, Check { id, looked })
    }
}

impl From<Checked> for (SessionId, Check) {
    fn from(it: Checked) -> (SessionId, Check) {
        let Checked { id, session, path, state, added, remaining, elsewhere, notes, .. } = it;
        let Checked { new, fixed, remain, known, fresh, .. } = it;
        let looked = match state {
            CheckState::Awaited => Looked::Begun(path),
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
