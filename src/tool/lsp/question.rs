//! Questions to the user's language servers, and the servers' answers.

use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// The user's formatters for a file.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Formatter {
    /// The commands. Each one gets what the one before has printed.
    pub steps: Vec<Filter>,
    /// Whether a question about some lines gives the commands only these lines. Otherwise they get the whole text, and
    /// their changes of other lines are left out.
    pub takes_lines: bool,
    /// The most milliseconds that a command may take.
    pub ms: u32,
}

/// A command of a formatter.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Filter {
    /// The line for a shell.
    pub line: String,
    /// The exit codes that mean that the command has formatted the text.
    pub codes: Vec<i32>,
}

/// The kind of a question to the language servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Aspect {
    Diagnostics,
    Definition,
    References,
    Hover,
    Symbols,
    /// The changes that renaming a symbol needs.
    Rename,
    /// The code actions on some lines.
    Actions,
    /// The changes of one code action.
    Action,
    /// The changes that formatting needs.
    Format,
}

impl Aspect {
    /// Whether the answer has changes of files.
    pub fn changes(self) -> bool {
        matches!(self, Aspect::Rename | Aspect::Action | Aspect::Format)
    }
}

/// A question to the language servers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    pub aspect: Aspect,
    /// The file's absolute path. `None` for a question about the whole project.
    pub path: Option<PathBuf>,
    /// The symbol's line, or the first line of a range, from 0.
    pub line: u32,
    /// The last line of a range, from 0.
    pub last: Option<u32>,
    /// The symbol as it is written on that line.
    pub symbol: String,
    /// The text to look for in the names of all symbols of the project.
    pub query: Option<String>,
    /// The symbol's new name, or the title or the number of a code action.
    pub name: Option<String>,
    /// The kind of the code actions, such as `quickfix`.
    pub only: Option<String>,
}

impl Question {
    pub fn new(aspect: Aspect, path: Option<PathBuf>) -> Question {
        Question {
            aspect,
            path,
            line: 0,
            last: None,
            symbol: String::new(),
            query: None,
            name: None,
            only: None,
        }
    }
}

/// The changes of one file by a language server.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Rewrite {
    /// The file's absolute path.
    pub path: PathBuf,
    /// The hash of the text for which the changes were computed (`Text::sha256_hex`); empty if the text does not
    /// change.
    pub sha: String,
    /// The changes of the text, in ascending order and without overlaps.
    pub splices: Vec<Splice>,
    /// Whether the file is created. Then `splices` make its text from an empty one.
    pub created: bool,
    pub deleted: bool,
    /// The file's new path, if the file is moved.
    pub to: Option<PathBuf>,
}

/// A range of bytes in a text's joined lines, and its new text.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Splice {
    pub from: u32,
    pub to: u32,
    pub text: String,
}

/// A symbol's name and place in its file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Symbol {
    pub name: String,
    /// The name of the symbol that contains this one; empty if the server gives none.
    pub container: String,
    /// The first and the last line of the symbol, from 0. Some servers give only the line of the name.
    pub first: u32,
    pub last: u32,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Finding {
    /// The absolute path; for a finding outside of files, the URI.
    pub path: PathBuf,
    /// The line, from 0.
    pub line: u32,
    /// The server's text about the line. If it is empty, the line itself is shown.
    pub text: String,
    /// The symbol, if the finding is one.
    #[serde(default)]
    pub symbol: Option<Symbol>,
}

/// The answer of the language servers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Findings {
    pub findings: Vec<Finding>,
    /// The number of findings beyond the listed ones.
    pub more: u32,
    /// Sentences about servers that did not answer.
    pub notes: Vec<String>,
    /// The changes of a renaming, a code action or formatting, file by file.
    pub rewrites: Vec<Rewrite>,
    /// The user's formatters, if no server formats the file.
    pub formatter: Option<Formatter>,
}
