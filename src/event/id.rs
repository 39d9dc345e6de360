//! The names and numbers by which sessions and turns are known.

use serde::{Deserialize, Deserializer, Serialize};
use std::fmt;

/// A session's name: `[A-Za-z0-9_-]{1,64}`, unique within its project.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct SessionId(pub String);

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The number of a turn in its session, from 1. A result that arrives after the end of its turn is recognised by this
/// number and ignored.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct TurnId(pub u32);

/// The highest number that is accepted from a file, so low that the program can count up from it without overflowing a
/// `u32`.
pub const HIGHEST: u32 = 1 << 30;

impl<'de> Deserialize<'de> for TurnId {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<TurnId, D::Error> {
        number(from).map(TurnId)
    }
}

/// Reads a number from a file, from which the program will count up. A larger number becomes `HIGHEST`.
pub fn number<'de, D: Deserializer<'de>>(from: D) -> Result<u32, D::Error> {
    Ok(u32::deserialize(from)?.min(HIGHEST))
}
