//! Shortens long outputs of all tools: removes control characters, leaves lines out, and stores the whole output in a
//! file.

mod whole;
#[cfg(test)]
mod tests;

pub(super) use whole::Whole;
pub use whole::kept_in;

use crate::text::escape::{Escape, skip};
use std::borrow::Cow;
use std::collections::VecDeque;
use std::mem;
use std::path::Path;

/// How much of an output the model gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    pub lines: usize,
    pub bytes: usize,
    /// The most characters of one line.
    pub wide: usize,
    /// The percentage of lines and bytes for the beginning of the output. The rest is for its end.
    pub head: usize,
}

/// Takes an output of any length line by line. Keeps only as much text in memory as `Limits` allows.
pub struct Clip {
    limits: Limits,
    head: Vec<String>,
    head_bytes: usize,
    /// The last lines. As long as the whole output fits, these are all lines after `head`.
    tail: VecDeque<String>,
    tail_bytes: usize,
    dropped: usize,
    cut: bool,
    lines: usize,
    whole: Whole,
}

/// Shortens a text to these limits.
pub fn clip(folder: &Path, limits: Limits, text: &str) -> String {
    let mut clip = Clip::new(folder, limits);
    text.lines().for_each(|line| clip.push(line));
    clip.finish()
}

impl Clip {
    /// If the output exceeds `limits`, it is stored in a file in `folder`, which is created if needed.
    pub fn new(folder: &Path, limits: Limits) -> Clip {
        Clip {
            limits,
            head: Vec::new(),
            head_bytes: 0,
            tail: VecDeque::new(),
            tail_bytes: 0,
            dropped: 0,
            cut: false,
            lines: 0,
            whole: Whole::new(folder, limits.bytes),
        }
    }

    /// Adds a line of the output. The line has no control characters and no line end.
    pub fn push(&mut self, text: &str) {
        self.lines += 1;
        self.whole.push(text);
        let short = line(text, self.limits.wide).into_owned();
        self.cut |= short.len() != text.len();
        let size = short.len() + 1;
        let Limits { lines, bytes, head, .. } = self.limits;
        let heads = self.head.len() < lines * head / 100;
        if self.tail.is_empty()
            && self.dropped == 0
            && heads
            && self.head_bytes + size <= bytes * head / 100
        {
            self.head_bytes += size;
            self.head.push(short);
            return;
        }
        self.tail_bytes += size;
        self.tail.push_back(short);
        while self.tail.len() > 1
            && (self.tail.len() + self.head.len() > lines
                || self.tail_bytes + self.head_bytes > bytes)
        {
            self.tail_bytes -= self.tail.pop_front().map_or(0, |line| line.len() + 1);
            self.dropped += 1;
        }
    }

    /// Whether the file has reached its greatest size. Then only the newest lines of further output are needed.
    pub fn is_full(&self) -> bool {
        self.whole.is_full()
    }

    /// Leaves out further lines of the output, which are not even in the file.
    pub fn skip(&mut self, lines: usize) {
        self.lines += lines;
        self.dropped += self.tail.len() + lines;
        self.tail.clear();
        self.tail_bytes = 0;
    }

    pub fn is_empty(&self) -> bool {
        self.lines == 0
    }

    /// The text for the model. If lines were left out, a note says which ones, and where the whole output is.
    pub fn finish(mut self) -> String {
        let mut out: Vec<String> = mem::take(&mut self.head);
        if self.dropped == 0 && !self.cut {
            out.extend(mem::take(&mut self.tail));
            return out.join("\n");
        }
        let (first, total) = (out.len() + 1, self.lines);
        let left = match self.dropped {
            0 => format!("long lines cut, {total} lines in all"),
            dropped => format!("lines {first}-{} of {total} left out", first + dropped - 1),
        };
        let tail = mem::take(&mut self.tail);
        let note = self.whole.finish(&left);
        if self.dropped > 0 {
            out.push(note);
            out.extend(tail);
        } else {
            out.extend(tail);
            out.push(note);
        }
        out.join("\n")
    }
}

/// The first `wide` characters of a line, with the number of further characters.
pub fn line(text: &str, wide: usize) -> Cow<'_, str> {
    if text.len() <= wide {
        return Cow::Borrowed(text);
    }
    match text.char_indices().nth(wide) {
        None => Cow::Borrowed(text),
        Some((end, _)) => {
            let more = text[end..].chars().count();
            Cow::Owned(format!("{}… [{more} more characters]", &text[..end]))
        }
    }
}

/// The text as it would look on a terminal, without colours: escape sequences and control characters are removed. If a
/// line is overwritten after a carriage return, only its last version is kept.
pub fn clean(text: &str) -> String {
    if !text.bytes().any(may_be_control) {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    let (mut start, mut back) = (0, false);
    while let Some(c) = chars.next() {
        match c {
            '\n' => {
                out.push('\n');
                (start, back) = (out.len(), false);
            }
            '\r' => back = true,
            c if skip(c, &mut chars) != Escape::None => {}
            c if c.is_control() && c != '\t' => {}
            c => {
                if mem::take(&mut back) {
                    out.truncate(start);
                }
                out.push(c);
            }
        }
    }
    out
}

/// Whether a byte is a control character that is removed, or may be the first byte of one.
fn may_be_control(byte: u8) -> bool {
    byte < b' ' && !matches!(byte, b'\n' | b'\t') || matches!(byte, 0x7f | 0xc2)
}
