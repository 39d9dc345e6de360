//! The lines of an answer that are for the user alone.

use serde::{Deserialize, Serialize};

/// Lines that the chat shows below the line of an answered call. The model does not get them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Aside(pub Vec<String>);

impl Aside {
    /// `None` if there are no lines.
    pub fn of(lines: Vec<String>) -> Option<Box<Aside>> {
        (!lines.is_empty()).then(|| Box::new(Aside(lines)))
    }
}
