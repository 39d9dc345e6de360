//! A header of the user's own, which goes with every request to an endpoint.

use reqwest::header::{HeaderName, HeaderValue};
use std::fmt;

#[derive(Clone, PartialEq, Eq)]
pub struct Header {
    pub name: HeaderName,
    /// The value as the user wrote it. `env:NAME` means the value that the variable has when a request is sent.
    value: String,
}

impl Header {
    /// Parses a header. The editor has checked the header before, with a more detailed message to the user.
    pub(super) fn parse(name: &str, value: &str) -> Result<Header, String> {
        let parsed = HeaderName::try_from(name);
        let name =
            parsed.map_err(|_| "one of its headers has a name that is not valid".to_owned())?;
        Ok(Header { name, value: value.to_owned() })
    }

    /// The environment variable that has the value, if the value is `env:NAME`.
    pub fn variable(&self) -> Option<&str> {
        self.value.strip_prefix("env:").map(str::trim)
    }

    /// The value, marked as secret if it comes from a variable. The error is a clause that says why there is no value.
    pub fn read(&self, env: &dyn Fn(&str) -> Option<String>) -> Result<HeaderValue, String> {
        let text = match self.variable() {
            None => self.value.clone(),
            Some(variable) => env(variable)
                .filter(|it| !it.trim().is_empty())
                .ok_or_else(|| format!("{variable} is not set"))?,
        };
        let mut value = HeaderValue::from_bytes(text.trim().as_bytes())
            .map_err(|_| "its value contains control characters".to_owned())?;
        value.set_sensitive(self.variable().is_some());
        Ok(value)
    }
}

impl fmt::Debug for Header {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name.as_str())
    }
}
