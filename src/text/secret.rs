//! Finds secrets in a text and replaces each by `[secret]`: the keys that the program knows, and texts that look like
//! the keys of known services.

mod forms;
mod known;
mod pem;
mod plain;
mod quoted;
#[cfg(test)]
mod tests;

pub use forms::{FORMLESS, FORMS};
pub use known::MARK;
pub use quoted::without_parts;

use forms::{FIRST, Form, is_part, is_random};
use known::Known;
use std::mem;

/// Whether a word is a key is decided by its first bytes, at most this many. The longest access tokens have a few
/// kilobytes.
const WORD: usize = 8192;

/// Replaces the `known` keys and all words that look like a key. Returns the text and the number of replacements.
pub fn marked(text: &str, known: &[&str]) -> (String, usize) {
    let mut marking = Marking::new(known.iter().map(|&it| it.to_owned()));
    let mut out = marking.push(text);
    out.push_str(&marking.end());
    (out, marking.count())
}

/// Replaces only the `known` keys. Returns the text and the number of replacements.
pub fn without(text: &str, known: &[String]) -> (String, usize) {
    let mut pass = Known::new(known.iter().cloned());
    let mut out = pass.push(text);
    out.push_str(&pass.end());
    (out, pass.count)
}

/// The sentence for the model below a text in which `count` secrets were replaced.
pub fn told(count: usize) -> String {
    match count {
        1 => format!("[1 secret was replaced by {MARK}]"),
        n => format!("[{n} secrets were replaced by {MARK}]"),
    }
}

/// Whether the value of a variable looks like a secret: a key, or an address with a password in it.
pub fn is_secret(value: &str) -> bool {
    has_password(value) || marked(value, &[]).1 > 0
}

/// Whether a text is so long and random that no other text contains it by chance.
pub fn is_distinct(text: &str) -> bool {
    text.len() >= 16 && text.split(['-', '_', '.']).any(is_random)
}

/// Whether a text contains an address with a password: `scheme://user:password@host`.
fn has_password(text: &str) -> bool {
    text.match_indices("://").any(|(at, _)| {
        let rest = &text[at + 3..];
        let end = rest.find(|c: char| c.is_whitespace() || "/?#\"'".contains(c));
        let authority = &rest[..end.unwrap_or(rest.len())];
        let user = authority.rsplit_once('@').map_or("", |(user, _)| user);
        user.split_once(':').is_some_and(|(_, password)| !password.is_empty())
    })
}

/// Replaces secrets in a text that arrives in pieces. The result does not depend on where the text is cut. An end of a
/// piece that may be the beginning of a secret is kept back until the following text shows whether it is one.
#[derive(Clone)]
pub struct Marking {
    known: Known,
    undecided: String,
    state: State,
    count: usize,
}

#[derive(Clone, Copy)]
enum State {
    /// Outside of a word: a word may begin here.
    Between,
    /// Inside a word that is not a key.
    Word,
    /// Inside a key, which has been replaced already.
    Key(&'static Form),
    /// Inside a private key in PEM format, which has been replaced already: the most bytes that the rest of the key may
    /// have, and whether the next byte begins a line.
    Pem(usize, bool),
}

impl Marking {
    pub fn new(known: impl Iterator<Item = String>) -> Marking {
        Marking {
            known: Known::new(known),
            undecided: String::new(),
            state: State::Between,
            count: 0,
        }
    }

    /// Takes the next piece of the text, and returns the part of the result that is certain by now.
    pub fn push(&mut self, text: &str) -> String {
        let text = self.known.push(text);
        self.forms(&text, false)
    }

    /// Ends the text, and returns the rest of the result.
    pub fn end(&mut self) -> String {
        let rest = self.known.end();
        self.forms(&rest, true)
    }

    /// Begins a new text, but does not reset the number of replacements.
    pub fn restart(&mut self) {
        self.known.restart();
        self.undecided.clear();
        self.state = State::Between;
    }

    /// How many secrets have been replaced.
    pub fn count(&self) -> usize {
        self.known.count + self.count
    }

    fn forms(&mut self, text: &str, is_last: bool) -> String {
        let mut undecided = mem::take(&mut self.undecided);
        undecided.push_str(text);
        let (mut at, mut out) = (0, String::with_capacity(undecided.len()));
        if matches!(self.state, State::Between | State::Word) {
            at = plain::length(&undecided);
            out.push_str(&undecided[..at]);
            if let Some(last) = out.chars().next_back() {
                self.state = if is_part(last) { State::Word } else { State::Between };
            }
        }
        while at < undecided.len() {
            match self.step(&undecided[at..], is_last, &mut out) {
                Some(len) => at += len,
                None => break,
            }
        }
        undecided.drain(..at);
        self.undecided = undecided;
        out
    }

    /// Processes the beginning of `rest`, which is not empty. Returns the number of bytes that were processed, or
    /// `None` if more text is needed. If the number is zero, only the state has changed.
    fn step(&mut self, rest: &str, is_last: bool, out: &mut String) -> Option<usize> {
        let first = rest.chars().next()?;
        match self.state {
            State::Between | State::Word if first == '-' => match pem::begin(rest) {
                pem::Begin::Yes(len) => {
                    return Some(self.mark(State::Pem(pem::LONGEST, false), len, out));
                }
                pem::Begin::Perhaps if !is_last => return None,
                _ => (),
            },
            _ => (),
        }
        match self.state {
            State::Between => self.word(rest, first, is_last, out),
            State::Word => {
                // this may be the beginning of a private key
                let end = rest.find(|c| !is_part(c) || c == '-').unwrap_or(rest.len());
                let len = if first == '-' { 1 } else { end };
                out.push_str(&rest[..len]);
                if len == 0 {
                    self.state = State::Between;
                }
                Some(len)
            }
            State::Key(form) => {
                let len = rest.find(|c| !form.takes(c)).unwrap_or(rest.len());
                if len == 0 {
                    self.state = State::Between;
                }
                Some(len)
            }
            State::Pem(left, in_line) => {
                let (len, next) = match pem::line(rest, is_last)? {
                    pem::Line::End(len) => (len, State::Between),
                    pem::Line::Body(len) if len <= left => {
                        (len, State::Pem(left - len, rest[..len].ends_with('\n')))
                    }
                    _ => {
                        out.push_str(if in_line { "\n" } else { "" });
                        (0, State::Between)
                    }
                };
                self.state = next;
                Some(len)
            }
        }
    }

    fn mark(&mut self, next: State, len: usize, out: &mut String) -> usize {
        out.push_str(MARK);
        self.count += 1;
        self.state = next;
        len
    }

    /// Like `step`, at a place where a word may begin.
    fn word(&mut self, rest: &str, first: char, is_last: bool, out: &mut String) -> Option<usize> {
        if !is_part(first) {
            return end_of_word(rest, first, is_last, out);
        }
        if !FIRST.get(first as usize).is_some_and(|it| *it) {
            self.state = State::Word;
            return Some(0);
        }
        if !is_last
            && FORMS.iter().any(|it| it.prefix.len() > rest.len() && it.prefix.starts_with(rest))
        {
            return None;
        }
        for form in FORMS.iter().filter(|it| rest.starts_with(it.prefix)) {
            let body = &rest[form.prefix.len()..];
            let end = body.find(|c| !form.takes(c)).map(|it| form.prefix.len() + it);
            let len = end.unwrap_or(rest.len()).min(WORD);
            if end.is_none() && len < WORD && !is_last {
                return None;
            }
            if form.is_key(&rest[..len]) {
                return Some(self.mark(State::Key(form), len, out));
            }
        }
        self.state = State::Word;
        Some(0)
    }
}

/// Like `step`, at a character between words. An escaped newline (the two characters `\n`) counts as one such
/// character.
fn end_of_word(rest: &str, first: char, is_last: bool, out: &mut String) -> Option<usize> {
    let second = rest.chars().nth(1);
    if first == '\\' && second.is_none() && !is_last {
        return None;
    }
    let is_escape = first == '\\' && matches!(second, Some('n' | 'r' | 't'));
    let len = if is_escape { 2 } else { first.len_utf8() };
    out.push_str(&rest[..len]);
    Some(len)
}
