//! A pattern for a name, in which `*` stands for any characters.

use memchr::memmem;

pub(super) enum Pattern {
    /// A pattern without a `*`.
    Name(String),
    Open {
        head: String,
        /// The texts between two `*`.
        middles: Vec<String>,
        tail: String,
        /// The least number of bytes of a name that fits.
        least: usize,
    },
}

impl Pattern {
    pub(super) fn new(pattern: &str) -> Pattern {
        let Some((head, rest)) = pattern.split_once('*') else {
            return Pattern::Name(pattern.to_owned());
        };
        let mut middles: Vec<String> = rest.split('*').map(str::to_owned).collect();
        let tail = middles.pop().unwrap_or_default();
        let least = pattern.bytes().filter(|it| *it != b'*').count();
        Pattern::Open { head: head.to_owned(), middles, tail, least }
    }

    pub(super) fn fits(&self, name: &str) -> bool {
        match self {
            Pattern::Name(it) => it == name,
            Pattern::Open { head, middles, tail, least } => {
                let name = name.as_bytes();
                name.len() >= *least
                    && name.starts_with(head.as_bytes())
                    && name.ends_with(tail.as_bytes())
                    && follow(middles, &name[head.len()..name.len() - tail.len()])
            }
        }
    }
}

/// Whether the name contains the texts one after the other.
fn follow(texts: &[String], mut name: &[u8]) -> bool {
    texts.iter().all(|it| match memmem::find(name, it.as_bytes()) {
        Some(at) => {
            name = &name[at + it.len()..];
            true
        }
        None => false,
    })
}
