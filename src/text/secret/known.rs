//! Finds known keys in a text that arrives in pieces.

use super::plain::SHORT;
use memchr::memmem;
use std::mem;

/// The text that replaces a secret.
pub const MARK: &str = "[secret]";

#[derive(Clone)]
pub(super) struct Known {
    /// The keys, the longest first: if one key begins with another, the longer key is found.
    keys: Vec<String>,
    /// Whether a byte is the first byte of a key.
    first: [bool; 256],
    undecided: String,
    pub(super) count: usize,
}

impl Known {
    pub(super) fn new(keys: impl Iterator<Item = String>) -> Known {
        let mut keys: Vec<String> = keys.filter(|it| !it.is_empty()).collect();
        keys.sort_by_key(|it| std::cmp::Reverse(it.len()));
        keys.dedup();
        let mut first = [false; 256];
        for byte in keys.iter().filter_map(|it| it.bytes().next()) {
            first[usize::from(byte)] = true;
        }
        Known { keys, first, undecided: String::new(), count: 0 }
    }

    pub(super) fn push(&mut self, text: &str) -> String {
        if self.keys.is_empty() {
            return text.to_owned();
        }
        let mut undecided = mem::take(&mut self.undecided);
        undecided.push_str(text);
        let (out, done) = self.scan(&undecided, false);
        undecided.drain(..done);
        self.undecided = undecided;
        out
    }

    pub(super) fn end(&mut self) -> String {
        let undecided = mem::take(&mut self.undecided);
        self.scan(&undecided, true).0
    }

    /// Begins a new text.
    pub(super) fn restart(&mut self) {
        self.undecided.clear();
    }

    /// How many bytes at the beginning of a text certainly belong to no key.
    fn length(&self, text: &[u8]) -> usize {
        if text.len() < SHORT
            || self.keys.iter().any(|it| memmem::find(text, it.as_bytes()).is_some())
        {
            return 0;
        }
        text.len().saturating_sub(self.keys.first().map_or(0, String::len))
    }

    /// Replaces the keys in a text, as far as this can be decided. Returns the result, and the number of bytes of
    /// `text` that it covers.
    fn scan(&mut self, text: &str, is_last: bool) -> (String, usize) {
        let bytes = text.as_bytes();
        let (mut out, mut copied) = (String::with_capacity(text.len()), 0);
        let mut at = self.length(bytes);
        while at < bytes.len() {
            if !self.first[usize::from(bytes[at])] {
                at += 1;
                continue;
            }
            // a key begins with a complete character, so `text` may be cut here
            let rest = &bytes[at..];
            let begins = |it: &String| it.len() > rest.len() && it.as_bytes().starts_with(rest);
            if !is_last && self.keys.iter().any(begins) {
                break;
            }
            match self.keys.iter().find(|it| rest.starts_with(it.as_bytes())) {
                Some(key) => {
                    out.push_str(&text[copied..at]);
                    out.push_str(MARK);
                    self.count += 1;
                    at += key.len();
                    copied = at;
                }
                None => at += 1,
            }
        }
        out.push_str(&text[copied..at]);
        (out, at)
    }
}
