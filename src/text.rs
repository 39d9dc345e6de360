//! A file's text as Neovim shows it. Newline style, byte order mark and final newline are kept, so that the file's
//! bytes can be restored. Also computes the differing lines of two texts.

mod cause;
pub mod encoded;
pub mod escape;
mod number;
mod pieces;
pub mod secret;
pub mod unseen;
#[cfg(test)]
mod tests;

pub use cause::cause;
pub use number::{counted, grouped, noun};
pub use pieces::{Hunk, diff_lines};

use imara_diff::{Algorithm, Diff, InternedInput};
use sha2::{Digest, Sha256};
use std::borrow::Cow;

/// How many bytes the editor hashes without a pause (`CHUNK` in `lua/caliban/review/hunks/long.lua`).
const PART: usize = 65_536;
const BOM: &[u8] = b"\xef\xbb\xbf";

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Newline {
    #[default]
    Unix,
    /// Every line ends in CR LF. A file with mixed line ends counts as `Unix` and has the CRs in its lines, as in
    /// Neovim.
    Dos,
}

/// A text. `content` has the lines joined by `\n`, and ends in `\n` exactly if the file ends in a newline.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Text {
    pub content: String,
    pub newline: Newline,
    pub bom: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Undecodable {
    /// The file has a NUL byte, so it is not text.
    Binary,
    /// The file is not UTF-8; for example, it is UTF-16 with a byte order mark. `at` is the byte offset of the first
    /// error.
    NotUtf8 { at: usize },
}

impl Text {
    /// A text with Unix line ends and without a byte order mark.
    pub fn new(content: impl Into<String>) -> Text {
        Text { content: content.into(), ..Text::default() }
    }

    /// Reads a file's bytes as Neovim does with `fileformats=unix,dos`. `encode` is the inverse.
    pub fn decode(bytes: &[u8]) -> Result<Text, Undecodable> {
        if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") {
            return Err(Undecodable::NotUtf8 { at: 0 });
        }
        if bytes.contains(&0) {
            return Err(Undecodable::Binary);
        }
        let whole = std::str::from_utf8(bytes)
            .map_err(|fault| Undecodable::NotUtf8 { at: fault.valid_up_to() })?;
        let bom = bytes.starts_with(BOM);
        let body = if bom { &whole[BOM.len()..] } else { whole };
        let ends = body.matches('\n').count();
        if ends > 0 && body.matches("\r\n").count() == ends {
            return Ok(Text { content: body.replace("\r\n", "\n"), newline: Newline::Dos, bom });
        }
        Ok(Text { content: body.to_owned(), newline: Newline::Unix, bom })
    }

    /// The bytes of the file with this text.
    pub fn encode(&self) -> Vec<u8> {
        let body = match self.newline {
            Newline::Unix => Cow::Borrowed(self.content.as_str()),
            Newline::Dos => Cow::Owned(self.content.replace('\n', "\r\n")),
        };
        let mut bytes = if self.bom { BOM.to_vec() } else { Vec::new() };
        bytes.extend_from_slice(body.as_bytes());
        bytes
    }

    /// Makes a text from the editor's form. `joined` has the lines joined by `\n`, without a final `\n`. `eol` says
    /// whether the file ends in a newline; it is false for a buffer without lines.
    pub fn from_lines_joined(joined: &str, eol: bool, dos: bool, bom: bool) -> Text {
        let mut content = joined.to_owned();
        if eol {
            content.push('\n');
        }
        Text { content, newline: if dos { Newline::Dos } else { Newline::Unix }, bom }
    }

    /// The lines joined by `\n`, without a final `\n`: the form that the editor sends, receives and hashes.
    pub fn joined(&self) -> &str {
        self.content.strip_suffix('\n').unwrap_or(&self.content)
    }

    /// Whether the last line ends in a newline. An empty file counts as ending in a newline, as in Neovim.
    pub fn eol(&self) -> bool {
        self.content.is_empty() || self.content.ends_with('\n')
    }

    /// The lines that Neovim shows, without their line ends. An empty file has one empty line.
    pub fn lines(&self) -> impl Iterator<Item = &str> {
        self.joined().split('\n')
    }

    /// The lines as a review counts them: an empty file has none.
    pub fn reviewed_lines(&self) -> Vec<&str> {
        if self.content.is_empty() { Vec::new() } else { self.lines().collect() }
    }

    /// The number of lines that Neovim shows, never 0.
    pub fn line_count(&self) -> usize {
        self.joined().bytes().filter(|byte| *byte == b'\n').count() + 1
    }

    /// The SHA-256 of `joined`, in lower-case hex.
    pub fn sha256_hex(&self) -> String {
        format!("{:x}", Sha256::digest(self.joined()))
    }

    /// Like `sha256_hex` for a text of at most `PART` bytes. For a longer text, the hash of the joined hashes of its
    /// parts, so that the editor can hash part by part between the user's keys.
    pub fn hash_of_parts(&self) -> String {
        let joined = self.joined();
        if joined.len() <= PART {
            return self.sha256_hex();
        }
        let hash = |part: &[u8]| format!("{:x}", Sha256::digest(part));
        let parts: String = joined.as_bytes().chunks(PART).map(hash).collect();
        hash(parts.as_bytes())
    }
}

/// The hunks that turn `old` into `new`, in ascending order and never adjacent. If only the final newline is added or
/// removed, there is no hunk: compare `eol` for that.
pub fn diff(old: &Text, new: &Text) -> Vec<Hunk> {
    diff_lines(old.lines(), new.lines())
}

/// The hunks as a review counts them: the lines of an empty file are none.
pub fn reviewed_hunks(old: &Text, new: &Text) -> Vec<Hunk> {
    diff_lines(old.reviewed_lines().into_iter(), new.reviewed_lines().into_iter())
}

/// How many lines have to be removed and added to turn `old` into `new`.
pub fn distance(old: &[&str], new: &[&str]) -> usize {
    let mut input = InternedInput::default();
    input.update_before(old.iter().copied());
    input.update_after(new.iter().copied());
    let diff = Diff::compute(Algorithm::Myers, &input);
    (diff.count_additions() + diff.count_removals()) as usize
}
