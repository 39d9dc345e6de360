//! Clips the output of every tool: cleans the text, cuts it at line ends, and stores the whole output in a file.

#[cfg(test)]
mod tests;

use crate::text::escape::{Escape, skip};
use sha2::{Digest, Sha256};
use std::borrow::Cow;
use std::collections::VecDeque;
use std::fs::DirBuilder;
use std::io::Write;
use std::mem;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// The most bytes of one output that are stored in its file.
const KEPT: usize = 50_000_000;

/// The words before and behind the path in the note about a clipped output.
const KEPT_IN: (&str, &str) = (" is in ", ": read it with offset, or grep it]");

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

/// Takes an output of any length line by line. Holds in memory only as much text as `Limits` allows.
pub struct Clip {
    limits: Limits,
    folder: PathBuf,
    head: Vec<String>,
    head_bytes: usize,
    /// Lines after the head. No line is dropped while everything fits.
    tail: VecDeque<String>,
    tail_bytes: usize,
    dropped: usize,
    cut: bool,
    lines: usize,
    /// The part of the output that is not yet in the output's file. A small output gets no file.
    whole: String,
    written: usize,
    /// The output's file cannot be written, for example because the disk is full.
    lost: bool,
    hash: Sha256,
    file: Option<NamedTempFile>,
}

/// Clips a whole text.
pub fn clip(folder: &Path, limits: Limits, text: &str) -> String {
    let mut clip = Clip::new(folder, limits);
    text.lines().for_each(|line| clip.push(line));
    clip.finish()
}

impl Clip {
    /// An output that exceeds `limits` is stored in a file in `folder`, which is created if needed.
    pub fn new(folder: &Path, limits: Limits) -> Clip {
        Clip {
            limits,
            folder: folder.to_owned(),
            head: Vec::new(),
            head_bytes: 0,
            tail: VecDeque::new(),
            tail_bytes: 0,
            dropped: 0,
            cut: false,
            lines: 0,
            whole: String::new(),
            written: 0,
            lost: false,
            hash: Sha256::new(),
            file: None,
        }
    }

    /// Adds a line of the output. The line has no control characters and no line end.
    pub fn push(&mut self, text: &str) {
        self.lines += 1;
        self.keep(text);
        let short = line(text, self.limits.wide).into_owned();
        self.cut |= short.len() != text.len();
        let size = short.len() + 1;
        let Limits { lines, bytes, head, .. } = self.limits;
        let heads = self.head.len() < lines * head / 100;
        if self.tail.is_empty() && heads && self.head_bytes + size <= bytes * head / 100 {
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
        let note = match self.persist() {
            Some((path, part)) => {
                format!("[{left}; {part}{}{}{}", KEPT_IN.0, path.display(), KEPT_IN.1)
            }
            None => format!("[{left}]"),
        };
        if self.dropped > 0 {
            out.push(note);
            out.extend(tail);
        } else {
            out.extend(tail);
            out.push(note);
        }
        out.join("\n")
    }

    fn keep(&mut self, text: &str) {
        if self.lost || self.written + text.len() >= KEPT {
            self.written = KEPT;
            return;
        }
        self.written += text.len() + 1;
        self.whole.push_str(text);
        self.whole.push('\n');
        if self.whole.len() > self.limits.bytes {
            self.spill();
        }
    }

    /// Moves the text in memory to the file. If the disk fails, the rest is missing from the file, but not from the clipped
    /// output.
    fn spill(&mut self) {
        let text = mem::take(&mut self.whole);
        if self.lost {
            return;
        }
        if self.file.is_none() {
            let made = DirBuilder::new().recursive(true).mode(0o700).create(&self.folder);
            self.file = made.and_then(|()| NamedTempFile::new_in(&self.folder)).ok();
        }
        self.hash.update(&text);
        let done = self.file.as_mut().map(|file| file.write_all(text.as_bytes()));
        if !matches!(done, Some(Ok(()))) {
            self.lost = true;
            self.file = None;
        }
    }

    /// Renames the output's file after the hash of its content. Returns the path, and the words for the part of the
    /// output that the file holds. Only the user can read the file.
    fn persist(&mut self) -> Option<(PathBuf, &'static str)> {
        self.spill();
        let name = format!("{:x}", mem::take(&mut self.hash).finalize());
        let path = self.folder.join(format!("{}.txt", &name[..16]));
        self.file.take()?.persist(&path).ok()?;
        Some((path, if self.written < KEPT { "the whole" } else { "the first 50 MB" }))
    }
}

/// The path of the stored output, as the note in a clipped text names it.
pub fn kept_in(text: &str) -> Option<&str> {
    let notes = text.lines().rev().filter_map(|it| it.strip_suffix(KEPT_IN.1)?.strip_prefix('['));
    notes.filter_map(|it| Some(it.rsplit_once(KEPT_IN.0)?.1)).find(|it| it.starts_with('/'))
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

/// The text as it would look on a terminal, without colours: escape sequences and control characters are removed. Of
/// a line that is overwritten after a carriage return, the last version stays.
pub fn clean(text: &str) -> String {
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
