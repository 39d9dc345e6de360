//! To whom a conversation is sent.

use serde::{Deserialize, Serialize};

/// A provider, and the host of its address.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recipient {
    pub provider: String,
    /// Empty if it is not known.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub host: String,
}

impl Recipient {
    /// The provider in a model's full name, at an address that is not known.
    pub fn of_model(model: &str) -> Option<Recipient> {
        let (provider, _) = model.split_once('/')?;
        Some(Recipient { provider: provider.to_owned(), host: String::new() })
    }

    /// Whether both are the same, as far as is known.
    pub fn is(&self, other: &Recipient) -> bool {
        let has_unknown = self.host.is_empty() || other.host.is_empty();
        self.provider == other.provider && (has_unknown || self.host == other.host)
    }

    /// The provider and its host, for the user.
    pub fn say(&self) -> String {
        match &*self.host {
            "" => self.provider.clone(),
            host => format!("{} ({host})", self.provider),
        }
    }
}
