//! The bytes of a command's output as clean lines without secrets.

use super::clip::clean;
use crate::text::secret::Marking;
use std::mem;

/// A line with more bytes is cut into several lines.
const LONG: usize = 65_536;

pub(super) struct Lines {
    /// The bytes of the unfinished line that `marking` has not got yet.
    partial: Vec<u8>,
    marking: Marking,
    /// The part of the unfinished line in which all secrets are already replaced.
    line: String,
}

impl Lines {
    pub(super) fn new(secrets: Vec<String>) -> Lines {
        Lines {
            partial: Vec::new(),
            marking: Marking::new(secrets.into_iter()),
            line: String::new(),
        }
    }

    /// Takes the next bytes. Hands each line that is complete to `each`.
    pub(super) fn take(&mut self, bytes: &[u8], mut each: impl FnMut(String)) {
        let mut rest = bytes;
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            self.partial.extend_from_slice(&rest[..end]);
            let line = mem::take(&mut self.partial);
            self.add(&line, "\n", &mut each);
            rest = &rest[end + 1..];
        }
        self.partial.extend_from_slice(rest);
        if self.partial.len() > LONG {
            self.cut(&mut each);
        }
    }

    /// Ends the output. The unfinished line goes to `each`, if there is one.
    pub(super) fn end(&mut self, mut each: impl FnMut(String)) {
        let last = mem::take(&mut self.partial);
        self.add(&last, "", &mut each);
        let rest = self.marking.end();
        self.split(&rest, &mut each);
        if !self.line.is_empty() {
            each(mem::take(&mut self.line));
        }
    }

    /// The unfinished line. A text at its end that may be the beginning of a secret is left out.
    pub(super) fn unfinished(&self) -> String {
        let text = clean(&String::from_utf8_lossy(&self.partial));
        let marked = self.marking.clone().push(&text);
        let whole = self.line.clone() + &marked;
        whole.rsplit('\n').next().unwrap_or_default().to_owned()
    }

    /// How many secrets have been replaced.
    pub(super) fn secrets(&self) -> usize {
        self.marking.count()
    }

    /// Adds the unfinished line without its last character, whose bytes may not have all arrived.
    fn cut(&mut self, each: &mut impl FnMut(String)) {
        let bytes = &self.partial;
        // no character is longer than four bytes
        let last = bytes.len().saturating_sub(4);
        let end = bytes[last..].iter().rposition(|byte| byte & 0xc0 != 0x80);
        let end = end.map_or(bytes.len(), |at| last + at);
        let rest = self.partial.split_off(end);
        let part = mem::replace(&mut self.partial, rest);
        self.add(&part, "", each);
    }

    fn add(&mut self, bytes: &[u8], end: &str, each: &mut impl FnMut(String)) {
        let text = clean(&String::from_utf8_lossy(bytes)) + end;
        let marked = self.marking.push(&text);
        self.split(&marked, each);
    }

    /// Takes text without secrets.
    fn split(&mut self, text: &str, each: &mut impl FnMut(String)) {
        let mut rest = text;
        while let Some((head, tail)) = rest.split_once('\n') {
            self.line.push_str(head);
            each(mem::take(&mut self.line));
            rest = tail;
        }
        self.line.push_str(rest);
        if self.line.len() > LONG {
            each(mem::take(&mut self.line));
        }
    }
}
