//! What a process holds that commands join.

use super::layers::Layers;
use serde::{Deserialize, Serialize};

/// What the holder holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Held {
    /// Whether the commands have a network of their own.
    pub network: bool,
    pub files: Files,
}

/// The files that the commands see.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Files {
    /// Those of the system.
    Real,
    /// Those of the system, with layers.
    Layered(Layers),
    /// What the commands of the conversation with this holder see.
    Of(u32),
}
