//! How much the agent does before the user has decided.

use serde::{Deserialize, Serialize};
use std::fmt;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
// in order: each mode allows all that the mode before it allows
pub enum Mode {
    /// Looks only: what edits or acts is refused.
    Plan,
    /// The user decides on each edit and each command.
    #[default]
    Ask,
    /// Edits are written at once, and reviewed afterwards; on commands the user decides.
    AutoEdit,
}

/// As the user goes through them.
pub const MODES: [Mode; 3] = [Mode::Plan, Mode::Ask, Mode::AutoEdit];

impl Mode {
    pub fn name(self) -> &'static str {
        match self {
            Mode::Plan => "plan",
            Mode::Ask => "ask",
            Mode::AutoEdit => "auto-edit",
        }
    }

    /// For the user: what holds in it, a sentence.
    pub fn means(self) -> &'static str {
        match self {
            Mode::Plan => "nothing is edited or run",
            Mode::Ask => "you decide on each edit and command",
            Mode::AutoEdit => "edits are written at once, to be reviewed afterwards; commands ask",
        }
    }

    /// The one after this, and from the last the first.
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
