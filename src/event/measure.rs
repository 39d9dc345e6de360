//! A provider's count of a request's tokens.

use crate::message;
use serde::{Deserialize, Serialize};

/// The tokens that a provider counted for a request of this many bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Measure {
    #[serde(deserialize_with = "message::count")]
    pub tokens: u64,
    #[serde(deserialize_with = "message::count")]
    pub bytes: u64,
}
