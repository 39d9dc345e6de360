//! Splits bytes into lines, for streams with one JSON value on each line (NDJSON). Only LF ends a line. A line is
//! decoded when it is complete, so it does not matter how the bytes were divided on the way.

use super::sse::{LIMIT, TooLarge, lossy};
use std::mem;

/// The state between two calls of `push`.
#[derive(Debug, Default)]
pub(super) struct Lines {
    /// The beginning of a line that has not ended.
    partial: Vec<u8>,
}

impl Lines {
    /// Takes the next bytes and calls `each` for every line that the bytes complete, except blank lines.
    pub(super) fn push(
        &mut self,
        bytes: &[u8],
        mut each: impl FnMut(&str),
    ) -> Result<(), TooLarge> {
        let mut rest = bytes;
        while let Some(end) = memchr::memchr(b'\n', rest) {
            let tail = &rest[..end];
            rest = &rest[end + 1..];
            if self.partial.is_empty() {
                line(tail, &mut each);
                continue;
            }
            self.keep(tail)?;
            let whole = mem::take(&mut self.partial);
            line(&whole, &mut each);
        }
        self.keep(rest)
    }

    /// The bytes after the last newline.
    pub(super) fn rest(&self) -> &[u8] {
        &self.partial
    }

    fn keep(&mut self, bytes: &[u8]) -> Result<(), TooLarge> {
        if self.partial.len() + bytes.len() > LIMIT {
            return Err(TooLarge);
        }
        self.partial.extend_from_slice(bytes);
        Ok(())
    }
}

fn line(bytes: &[u8], each: &mut impl FnMut(&str)) {
    let text = lossy(bytes);
    if !text.trim().is_empty() {
        each(text.trim());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(pieces: &[&[u8]]) -> (Vec<String>, String) {
        let mut lines = Lines::default();
        let mut out = Vec::new();
        for piece in pieces {
            lines.push(piece, |line| out.push(line.to_owned())).unwrap();
        }
        (out, String::from_utf8_lossy(lines.rest()).into_owned())
    }

    #[test]
    fn a_line_ends_at_a_line_feed_only() {
        let text = "{\"a\": \"x\u{2028}y\u{2029}\u{85}\"}\r\n\n  \n\"\u{feff}é🦀\"\nrest";
        let whole = lines(&[text.as_bytes()]);
        let expected = ["{\"a\": \"x\u{2028}y\u{2029}\u{85}\"}", "\"\u{feff}é🦀\""];
        assert_eq!(whole, (expected.map(str::to_owned).to_vec(), "rest".to_owned()));
        for at in 0..=text.len() {
            let (head, tail) = text.as_bytes().split_at(at);
            assert_eq!(lines(&[head, tail]), whole, "cut at {at}");
        }
    }

    #[test]
    fn a_line_has_a_size_limit() {
        let mut lines = Lines::default();
        let piece = vec![b'x'; LIMIT / 2];
        let mut push = |bytes: &[u8]| lines.push(bytes, |_| ());
        assert_eq!([push(&piece), push(&piece), push(b"\n")], [Ok(()); 3]);
        assert_eq!([push(&piece), push(&piece), push(b"x")], [Ok(()), Ok(()), Err(TooLarge)]);
    }
}
