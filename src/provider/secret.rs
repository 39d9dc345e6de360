//! A provider's key, which no debug output shows.

use serde::Deserialize;
use std::fmt;

/// A key with fewer bytes is not replaced in texts, because it may occur there by chance.
const SHORTEST: usize = 8;

/// A provider's key. Debug output does not show the key.
#[derive(Clone, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Secret(String);

impl Secret {
    /// A placeholder for the key, in a request that is only shown.
    pub fn removed() -> Secret {
        Secret("removed".to_owned())
    }

    /// A key that the user entered, without the blanks around it.
    pub fn given(text: &str) -> Secret {
        Secret(text.trim().to_owned())
    }

    /// The text without this key. A key shorter than `SHORTEST` stays, because it may occur in any text by chance.
    pub fn taken_out_of(&self, text: String) -> String {
        if self.is_long() && text.contains(&self.0) { text.replace(&self.0, "[key]") } else { text }
    }

    /// Whether the key is too long to occur in a text by chance.
    pub fn is_long(&self) -> bool {
        self.0.len() >= SHORTEST
    }

    /// Whether the key is replaced in files and outputs. For a server that needs no key, the user may have entered a
    /// word such as `lm-studio`, which also occurs in ordinary text.
    pub fn is_distinct(&self) -> bool {
        self.0.len() >= 20 || self.is_long() && self.0.contains(|it: char| it.is_ascii_digit())
    }

    /// The key itself, to send it in a request's header or to remove it from texts.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}
