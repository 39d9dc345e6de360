//! A note of the program to the model.

use super::call::CallId;
use serde::{Deserialize, Serialize};
use std::ops::Deref;

/// A note that goes with the next request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Stored", into = "Stored")]
pub struct Note {
    pub text: String,
    /// The edit of which the note tells the verdict.
    pub call: Option<CallId>,
}

/// How a note is stored. A note that tells no verdict is its text.
#[derive(Clone, Serialize, Deserialize)]
#[serde(untagged)]
enum Stored {
    Text(String),
    Verdict { text: String, call: CallId },
}

impl From<Stored> for Note {
    fn from(it: Stored) -> Note {
        match it {
            Stored::Text(text) => Note { text, call: None },
            Stored::Verdict { text, call } => Note { text, call: Some(call) },
        }
    }
}

impl From<Note> for Stored {
    fn from(Note { text, call }: Note) -> Stored {
        match call {
            Some(call) => Stored::Verdict { text, call },
            None => Stored::Text(text),
        }
    }
}

impl From<String> for Note {
    fn from(text: String) -> Note {
        Note { text, call: None }
    }
}

impl From<&str> for Note {
    fn from(text: &str) -> Note {
        text.to_owned().into()
    }
}

impl Deref for Note {
    type Target = str;

    fn deref(&self) -> &str {
        &self.text
    }
}

impl PartialEq<str> for Note {
    fn eq(&self, other: &str) -> bool {
        self.text == other
    }
}

impl PartialEq<&str> for Note {
    fn eq(&self, other: &&str) -> bool {
        self.text == *other
    }
}
