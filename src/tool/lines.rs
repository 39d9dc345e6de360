//! The bytes of a command's output as clean lines without secrets.

use super::clip::clean;
use crate::text::secret::Marking;
use memchr::{memchr, memchr_iter, memrchr};
use std::mem;

/// A line with more bytes is cut into several lines.
const LONG: usize = 65_536;
/// How many of the bytes that are held back are kept at least.
const HELD: usize = 131_072;
/// How many bytes are not shown after a gap, because they may belong to a secret that began in the gap. No private key
/// and no other key is longer.
const OVERLAP: usize = 32_768;

pub(super) struct Lines {
    /// The bytes of the unfinished line that `marking` has not received yet.
    partial: Vec<u8>,
    marking: Marking,
    /// The part of the unfinished line in which all secrets are already replaced.
    line: String,
    /// The newest of the bytes that are held back.
    held: Vec<u8>,
    /// The number of lines that were left out before `held`; `None` if nothing was left out.
    left_out: Option<usize>,
}

impl Lines {
    pub(super) fn new(secrets: Vec<String>) -> Lines {
        Lines {
            partial: Vec::new(),
            marking: Marking::new(secrets.into_iter()),
            line: String::new(),
            held: Vec::new(),
            left_out: None,
        }
    }

    /// Takes the next bytes. Hands the lines that are complete to `each`, one or several at a time, each with its line
    /// end.
    pub(super) fn take(&mut self, bytes: &[u8], mut each: impl FnMut(&str)) {
        let whole = memrchr(b'\n', bytes).map_or(0, |at| at + 1);
        self.partial.extend_from_slice(&bytes[..whole]);
        if whole > 0 {
            let lines = mem::take(&mut self.partial);
            self.add(&lines, &mut each);
        }
        self.partial.extend_from_slice(&bytes[whole..]);
        if self.partial.len() > LONG {
            self.cut(&mut each);
        }
    }

    /// Holds the next bytes back until `release`. Of many bytes only the newest are kept.
    pub(super) fn hold(&mut self, bytes: &[u8]) {
        self.held.extend_from_slice(bytes);
        if self.held.len() > 2 * HELD {
            self.drop_held(self.held.len() - HELD);
        }
    }

    /// The number of bytes that are held back.
    pub(super) fn held(&self) -> usize {
        self.held.len()
    }

    /// Must be called before `release`. Returns the number of lines that were left out since the last call; `None` if
    /// nothing was left out.
    pub(super) fn leave_out(&mut self) -> Option<usize> {
        self.left_out?;
        // the unfinished line is left out too
        self.partial.clear();
        self.line.clear();
        self.marking.restart();
        // a secret may have begun in the bytes that are missing
        let overlap = self.held.len().min(OVERLAP);
        let end = memchr(b'\n', &self.held[overlap..]).map_or(overlap, |at| overlap + at + 1);
        let unsafe_bytes = self.held[..end].to_vec();
        self.add(&unsafe_bytes, &mut |_| ());
        self.line.clear();
        self.drop_held(end);
        self.left_out.take()
    }

    /// Hands what was held back to `each`.
    pub(super) fn release(&mut self, each: impl FnMut(&str)) {
        let held = mem::take(&mut self.held);
        self.take(&held, each);
    }

    fn drop_held(&mut self, count: usize) {
        let lines = memchr_iter(b'\n', &self.held[..count]).count();
        *self.left_out.get_or_insert(0) += lines;
        self.held.drain(..count);
    }

    /// Ends the output. The unfinished line goes to `each`, if there is one.
    pub(super) fn end(&mut self, mut each: impl FnMut(&str)) {
        let last = mem::take(&mut self.partial);
        self.add(&last, &mut each);
        let rest = self.marking.end();
        self.split(&rest, &mut each);
        if !self.line.is_empty() {
            self.end_line(&mut each);
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
    fn cut(&mut self, each: &mut impl FnMut(&str)) {
        let bytes = &self.partial;
        // no character is longer than four bytes
        let last = bytes.len().saturating_sub(4);
        let end = bytes[last..].iter().rposition(|byte| byte & 0xc0 != 0x80);
        let end = end.map_or(bytes.len(), |at| last + at);
        let rest = self.partial.split_off(end);
        let part = mem::replace(&mut self.partial, rest);
        self.add(&part, each);
    }

    fn add(&mut self, bytes: &[u8], each: &mut impl FnMut(&str)) {
        let marked = self.marking.push(&clean(&String::from_utf8_lossy(bytes)));
        self.split(&marked, each);
    }

    /// Takes text without secrets.
    fn split(&mut self, text: &str, each: &mut impl FnMut(&str)) {
        let whole = memrchr(b'\n', text.as_bytes()).map_or(0, |at| at + 1);
        let (lines, rest) = text.split_at(whole);
        if self.line.is_empty() && whole > 0 {
            each(lines);
        } else if whole > 0 {
            self.line.push_str(lines);
            each(&mem::take(&mut self.line));
        }
        self.line.push_str(rest);
        if self.line.len() > LONG {
            self.end_line(each);
        }
    }

    fn end_line(&mut self, each: &mut impl FnMut(&str)) {
        self.line.push('\n');
        each(&mem::take(&mut self.line));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines() -> (Lines, String) {
        (Lines::new(vec!["a-known-key-0123".to_owned()]), String::new())
    }

    #[test]
    fn lines_are_the_same_wherever_the_output_is_cut() {
        let text = "one\r\n\u{1b}[31mtwo\u{1b}[0m é\n\na-known-key-0123\n1%\r2%\nlast";
        for size in 1..text.len() {
            let (mut lines, mut all) = lines();
            text.as_bytes().chunks(size).for_each(|it| lines.take(it, |it| all += it));
            lines.end(|it| all += it);
            assert_eq!(all, "one\ntwo é\n\n[secret]\n2%\nlast\n", "{size}");
        }
    }

    #[test]
    fn only_the_newest_of_many_held_back_bytes_are_released() {
        let (mut lines, mut all) = lines();
        lines.take(b"unfinished", |it| all += it);
        lines.hold(b", but held\nfew\n");
        assert_eq!(lines.leave_out(), None);
        lines.release(|it| all += it);
        assert_eq!(mem::take(&mut all), "unfinished, but held\nfew\n");
        lines.take(b"never seen", |it| all += it);
        for n in 0..100_000 {
            lines.hold(format!("line {n}\n").as_bytes());
            assert!(lines.held() <= 2 * HELD);
        }
        let left_out = lines.leave_out().unwrap();
        lines.release(|it| all += it);
        lines.end(|it| all += it);
        assert!(all.starts_with(&format!("line {left_out}\n")), "{left_out} {}", &all[..20]);
        assert!(all.ends_with("line 99999\n") && all.len() > HELD - OVERLAP - 20);
        assert_eq!(all.lines().count() + left_out, 100_000);
    }

    #[test]
    fn no_part_of_a_private_key_is_shown_if_its_beginning_is_left_out() {
        let (mut lines, mut all) = lines();
        let key = "bm90IGEga2V5\n".repeat(1_200);
        lines.hold("x\n".repeat(2 * HELD).as_bytes());
        lines.hold(b"-----BEGIN PRIVATE KEY-----\n");
        lines.hold(key.as_bytes());
        // the bytes that are kept begin in the middle of the key
        lines.hold("y\n".repeat((HELD - key.len() / 2) / 2).as_bytes());
        assert!(lines.held.windows(4).any(|it| it == b"bm90"));
        lines.leave_out().unwrap();
        lines.release(|it| all += it);
        lines.end(|it| all += it);
        assert!(all.ends_with("y\n") && !all.contains("bm90"), "{}", &all[..100]);
    }
}
