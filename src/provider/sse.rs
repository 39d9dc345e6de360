//! Decodes bytes into server-sent events (frames), as the WHATWG specifies them. A line is decoded when it is complete,
//! so it does not matter how the bytes were divided on the way.

use std::borrow::Cow;
use std::mem;

/// The most bytes of an event. Real events have a few hundred.
pub const LIMIT: usize = 16 << 20;

const BOM: &[u8] = b"\xEF\xBB\xBF";

/// One dispatched event. `event` is empty if the sender gave it no name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frame<'a> {
    pub event: &'a str,
    /// The `data:` lines, joined by `\n`.
    pub data: &'a str,
}

/// The error that an event was longer than `LIMIT`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooLarge;

/// The state between two calls of `push`. An event is dispatched only when a blank line ends it.
#[derive(Debug, Default)]
pub struct Sse {
    begun: bool,
    /// Whether the last byte was a CR. Then an LF that follows belongs to the same line end.
    after_cr: bool,
    /// The beginning of a line that has not ended.
    partial: Vec<u8>,
    event: String,
    data: String,
    has_data: bool,
}

impl Sse {
    /// Takes the next bytes and calls `each` for every event that the bytes complete.
    pub fn push(&mut self, bytes: &[u8], mut each: impl FnMut(Frame<'_>)) -> Result<(), TooLarge> {
        let mut rest = bytes;
        while let Some(&first) = rest.first() {
            if mem::take(&mut self.after_cr) && first == b'\n' {
                rest = &rest[1..];
                continue;
            }
            let Some(end) = memchr::memchr2(b'\r', b'\n', rest) else { return self.keep(rest) };
            self.after_cr = rest[end] == b'\r';
            self.end_line(&rest[..end], &mut each)?;
            rest = &rest[end + 1..];
        }
        Ok(())
    }

    fn keep(&mut self, bytes: &[u8]) -> Result<(), TooLarge> {
        if self.partial.len() + self.data.len() + bytes.len() > LIMIT {
            return Err(TooLarge);
        }
        self.partial.extend_from_slice(bytes);
        Ok(())
    }

    fn end_line(&mut self, tail: &[u8], each: &mut impl FnMut(Frame<'_>)) -> Result<(), TooLarge> {
        if self.partial.is_empty() {
            return self.line(tail, each);
        }
        self.keep(tail)?;
        let mut line = mem::take(&mut self.partial);
        self.line(&line, each)?;
        line.clear();
        self.partial = line;
        Ok(())
    }

    fn line(&mut self, line: &[u8], each: &mut impl FnMut(Frame<'_>)) -> Result<(), TooLarge> {
        let first = !mem::replace(&mut self.begun, true);
        let line = if first { line.strip_prefix(BOM).unwrap_or(line) } else { line };
        if line.is_empty() {
            self.dispatch(each);
            return Ok(());
        }
        let (field, value) = match memchr::memchr(b':', line) {
            Some(colon) => (&line[..colon], &line[colon + 1..]),
            None => (line, &line[line.len()..]),
        };
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match field {
            b"data" => self.append(value)?,
            b"event" => {
                self.event.clear();
                self.event.push_str(&lossy(value));
            }
            // a field that the specification does not know: servers end a stream with an error in it
            b"error" => {
                "error".clone_into(&mut self.event);
                self.append(value)?;
            }
            // comments (fields without a name) are ignored, and so are ids and retry times, because a reply cannot go
            // on after a reconnection
            _ => {}
        }
        Ok(())
    }

    fn append(&mut self, value: &[u8]) -> Result<(), TooLarge> {
        if self.data.len() + value.len() > LIMIT {
            return Err(TooLarge);
        }
        if self.has_data {
            self.data.push('\n');
        }
        self.has_data = true;
        self.data.push_str(&lossy(value));
        Ok(())
    }

    fn dispatch(&mut self, each: &mut impl FnMut(Frame<'_>)) {
        if mem::take(&mut self.has_data) {
            each(Frame { event: &self.event, data: &self.data });
        }
        self.event.clear();
        self.data.clear();
    }
}

/// A line as text, with U+FFFD in place of bytes that are not UTF-8. The line is checked first: nearly all lines are
/// UTF-8, and the check alone is several times faster.
pub(super) fn lossy(line: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(line) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => String::from_utf8_lossy(line),
    }
}

#[cfg(test)]
mod tests;
