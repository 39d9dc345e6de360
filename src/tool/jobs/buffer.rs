//! The output of a job, bounded in memory: its newest lines, and the whole in a file once lines have been left out.

use crate::text::secret;
use crate::tool::clip::{self, Whole};
use crate::tool::lines::Lines;
use std::collections::VecDeque;
use std::path::Path;

/// The most bytes of lines that are kept in memory. No answer has more.
const BYTES: usize = 30_000;
/// The most characters of one line.
const WIDE: usize = 2_000;

pub(super) struct Buffer {
    lines: Lines,
    kept: Kept,
    /// The number of bytes of output so far.
    total: u64,
    /// The value of `total` at the last answer that was received.
    given: u64,
}

/// The complete lines.
struct Kept {
    /// The newest lines, each with the value of `total` when the line was complete.
    newest: VecDeque<(u64, String)>,
    bytes: usize,
    /// The value of `total` when the last line was complete that only the file has; 0 if there is no such line.
    left_out: u64,
    whole: Whole,
}

/// A part of the output for an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) text: String,
    /// Where the next part begins.
    pub(super) cursor: u64,
}

impl Buffer {
    /// A large output gets a file in `folder`. The `secrets` are replaced.
    pub(super) fn new(folder: &Path, secrets: Vec<String>) -> Buffer {
        let whole = Whole::new(folder, BYTES);
        Buffer {
            lines: Lines::new(secrets),
            kept: Kept { newest: VecDeque::new(), bytes: 0, left_out: 0, whole },
            total: 0,
            given: 0,
        }
    }

    pub(super) fn take(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        if self.kept.whole.is_full() {
            self.lines.hold(bytes);
        } else {
            self.lines.take(bytes, |it| self.kept.push(self.total, it));
        }
    }

    /// Takes the output that `lines` holds back.
    fn catch_up(&mut self) {
        if self.lines.leave_out().is_some() {
            self.kept.skip_to(self.total - self.lines.held() as u64);
        }
        self.lines.release(|it| self.kept.push(self.total, it));
    }

    /// Adds a line of Caliban's own, which ends an unfinished line.
    pub(super) fn note(&mut self, line: &str) {
        self.catch_up();
        if !self.lines.unfinished().is_empty() {
            self.take(b"\n");
        }
        self.take(format!("{line}\n").as_bytes());
    }

    /// Ends the output.
    pub(super) fn end(&mut self) {
        self.catch_up();
        self.lines.end(|it| self.kept.push(self.total, it));
    }

    /// Notes that an answer with the output up to this cursor was received.
    pub(super) fn gave(&mut self, cursor: u64) {
        self.given = cursor;
    }

    /// Whether there is output after a cursor, or after the last answer.
    pub(super) fn has_more(&self, cursor: Option<u64>) -> bool {
        self.total > cursor.unwrap_or(self.given)
    }

    /// The output after a cursor, or after the last answer. The unfinished line is shown too, and again once it is
    /// complete.
    pub(super) fn since(&mut self, cursor: Option<u64>) -> Part {
        self.catch_up();
        let from = cursor.unwrap_or(self.given).min(self.total);
        let mut parts = Vec::new();
        if self.kept.left_out > from {
            parts.push(self.kept.whole.so_far("earlier lines left out"));
        }
        let newest = self.kept.newest.iter().filter(|it| it.0 > from);
        parts.extend(newest.map(|it| it.1.clone()));
        let unfinished = self.lines.unfinished();
        if self.total > from && !unfinished.is_empty() {
            parts.push(clip::line(&unfinished, WIDE).into_owned());
        }
        if parts.is_empty() {
            parts.push(if from == 0 { "[no output]" } else { "[no new output]" }.to_owned());
        }
        let secrets = self.lines.secrets();
        parts.extend((secrets > 0).then(|| secret::told(secrets)));
        Part { text: parts.join("\n"), cursor: self.total }
    }
}

impl Kept {
    fn push(&mut self, at: u64, lines: &str) {
        lines.split_terminator('\n').for_each(|it| self.push_line(at, it));
    }

    /// Leaves out all lines that were complete at this number of bytes.
    fn skip_to(&mut self, at: u64) {
        self.newest.clear();
        (self.bytes, self.left_out) = (0, at);
    }

    fn push_line(&mut self, at: u64, line: &str) {
        self.whole.push(line);
        let short = clip::line(line, WIDE).into_owned();
        self.bytes += short.len() + 1;
        self.newest.push_back((at, short));
        while self.bytes > BYTES && self.newest.len() > 1 {
            let Some((at, line)) = self.newest.pop_front() else { return };
            self.bytes -= line.len() + 1;
            self.left_out = at;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn buffer() -> (tempfile::TempDir, Buffer) {
        let dir = tempfile::tempdir().unwrap();
        let buffer = Buffer::new(&dir.path().join("outputs"), vec!["a-known-key-0123".to_owned()]);
        (dir, buffer)
    }

    impl Buffer {
        /// The output since the last `next`.
        fn next(&mut self) -> Part {
            let part = self.since(None);
            self.gave(part.cursor);
            part
        }
    }

    #[test]
    fn a_reader_gets_each_line_once() {
        let (_dir, mut buffer) = buffer();
        assert_eq!(buffer.next(), Part { text: "[no output]".into(), cursor: 0 });
        buffer.take(b"one\ntwo\n");
        assert!(buffer.has_more(None));
        assert_eq!(buffer.next().text, "one\ntwo");
        assert!(!buffer.has_more(None));
        assert_eq!(buffer.next().text, "[no new output]");
        buffer.take(b"three\n");
        assert_eq!(buffer.next().text, "three");
        // an older cursor shows the lines again
        assert_eq!(buffer.since(Some(8)).text, "three");
        assert_eq!(buffer.since(Some(0)).text, "one\ntwo\nthree");
        assert_eq!(buffer.since(Some(999)).text, "[no new output]");
    }

    #[test]
    fn a_prompt_without_a_line_end_is_shown() {
        let (_dir, mut buffer) = buffer();
        buffer.take(b"Name? ");
        let part = buffer.next();
        assert_eq!((part.text.as_str(), part.cursor), ("Name? ", 6));
        assert!(!buffer.has_more(Some(part.cursor)));
        buffer.take(b"Ann\nhello");
        assert_eq!(buffer.since(Some(part.cursor)).text, "Name? Ann\nhello");
        buffer.end();
        assert_eq!(buffer.since(Some(0)).text, "Name? Ann\nhello");
    }

    #[test]
    fn progress_escapes_and_invalid_bytes_become_clean_lines() {
        let (_dir, mut buffer) = buffer();
        buffer.take(b"1%\r2%\r3%");
        assert_eq!(buffer.next().text, "3%");
        buffer.take(b"\r4%\r\n\x1b[31mred\x1b[0m \xff\x00\n");
        assert_eq!(buffer.next().text, "4%\nred \u{fffd}");
    }

    #[test]
    fn no_part_of_a_secret_is_shown() {
        let (_dir, mut buffer) = buffer();
        buffer.take(b"key: a-known-k");
        assert_eq!(buffer.next().text, "key: ");
        buffer.take(b"ey-0123\n");
        assert_eq!(buffer.next().text, "key: [secret]\n[1 secret was replaced by [secret]]");
    }

    #[test]
    fn a_long_output_is_bounded_and_its_file_has_all_of_it() {
        let (dir, mut buffer) = buffer();
        let lines: Vec<String> = (0..20_000).map(|it| format!("line {it}")).collect();
        let all = lines.join("\n") + "\n";
        for piece in all.as_bytes().chunks(1000) {
            buffer.take(piece);
            assert!(buffer.kept.bytes <= BYTES, "{}", buffer.kept.bytes);
        }
        let text = buffer.next().text;
        assert!(text.len() < BYTES + 500 && text.ends_with("line 19999"), "{}", text.len());
        let file = clip::kept_in(&text).unwrap().to_owned();
        assert!(Path::new(&file).starts_with(dir.path()), "{file}");
        assert_eq!(fs::read_to_string(&file).unwrap(), all);
        buffer.take(b"more\n");
        assert_eq!(buffer.next().text, "more");
        // the path stays the same, and the file goes on
        assert!(buffer.since(Some(0)).text.contains(&file));
        assert!(fs::read_to_string(&file).unwrap().ends_with("line 19999\nmore\n"));
        drop(buffer);
        assert!(Path::new(&file).exists());
    }

    #[test]
    fn a_line_of_ten_megabytes_is_cut() {
        let (_dir, mut buffer) = buffer();
        for _ in 0..160 {
            buffer.take(&"x".repeat(65_536).into_bytes());
        }
        let text = buffer.next().text;
        assert!(text.len() < BYTES + 5_000, "{}", text.len());
        assert!(text.contains("more characters]"), "{}", &text[..200]);
    }
}
