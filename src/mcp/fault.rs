//! Why a server did not do what it was asked.

/// A fault of a server.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Fault {
    /// Caliban's own words: the end of a sentence that begins with the server.
    pub why: String,
    /// What the server says about it: a stranger's words, or nothing.
    pub said: String,
}

impl Fault {
    pub(super) fn new(why: impl Into<String>) -> Fault {
        Fault { why: why.into(), said: String::new() }
    }

    pub(super) fn saying(self, said: impl Into<String>) -> Fault {
        Fault { said: said.into(), ..self }
    }
}
