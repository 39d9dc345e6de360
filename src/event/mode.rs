//! The modes of the agent: what the agent does before it asks the user.

use serde::{Deserialize, Serialize};
use std::fmt;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
// in ascending order: each mode allows everything that the mode before it allows
pub enum Mode {
    /// The agent only reads: edits and commands are refused.
    Plan,
    /// The user decides on each edit and each command.
    #[default]
    Ask,
    /// Edits are written at once and reviewed afterwards. The user decides on each command.
    AutoEdit,
    /// As `AutoEdit`, and commands run without a question if the sandbox is complete.
    Auto,
}

/// The modes in the order in which the user steps through them.
pub const MODES: [Mode; 4] = [Mode::Plan, Mode::Ask, Mode::AutoEdit, Mode::Auto];

impl Mode {
    pub fn name(self) -> &'static str {
        match self {
            Mode::Plan => "plan",
            Mode::Ask => "ask",
            Mode::AutoEdit => "auto-edit",
            Mode::Auto => "auto",
        }
    }

    /// What the mode means, as a sentence for the user.
    pub fn means(self) -> &'static str {
        match self {
            Mode::Plan => "nothing is edited or run",
            Mode::Ask => "you decide on each edit, and on commands that are not everyday ones",
            Mode::AutoEdit => {
                "edits are written at once, then reviewed; you decide on commands that are not everyday ones"
            }
            Mode::Auto => {
                "edits are written at once; commands run in the sandbox without a question"
            }
        }
    }

    /// The next mode; after the last one the first.
    #[must_use]
    pub fn next(self) -> Mode {
        let at = MODES.iter().position(|it| *it == self).map_or(0, |at| at + 1);
        MODES[at % MODES.len()]
    }

    pub fn is_default(&self) -> bool {
        *self == Mode::default()
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
