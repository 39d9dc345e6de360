//! A command's output on its way to the chat and to the model: clean lines without secrets, bounded in memory.

use crate::message::CallId;
use crate::text::secret::{self, Marking};
use crate::tool::clip::{Clip, Limits, clean};
use crate::tool::{Desk, Done};
use std::mem;
use tokio::sync::mpsc::UnboundedSender;

const LIMITS: Limits = Limits { lines: 2_000, bytes: 30_000, wide: 2_000, head: 20 };
/// A line with more bytes is cut into several lines.
const LONG: usize = 65_536;
/// The most bytes of text that wait for the chat. In a flood the older half is dropped.
const WAITING: usize = 16_384;

pub(super) struct Output {
    call: CallId,
    chat: UnboundedSender<(CallId, String)>,
    clip: Clip,
    /// The bytes of the unfinished line that `add` has not got yet.
    partial: Vec<u8>,
    marking: Marking,
    /// The part of the unfinished line in which all secrets are already replaced.
    line: String,
    waiting: String,
    /// Whether a line reads as if a sandbox had refused something.
    is_refused: bool,
}

/// Parts of messages about a refused system call or a missing network.
const REFUSED: [&str; 14] = [
    "Permission denied",
    "permission denied",
    "Read-only file system",
    "Operation not permitted",
    "Network is unreachable",
    "name resolution",
    "resolve host",
    "Name or service not known",
    "lookup address",
    "EAI_AGAIN",
    "ENOTFOUND",
    "EROFS",
    "EACCES",
    "EPERM",
];

impl Output {
    pub(super) fn new(desk: &Desk, call: CallId) -> Output {
        Output {
            call,
            chat: desk.output.clone(),
            clip: Clip::new(&desk.overflow, LIMITS),
            partial: Vec::new(),
            marking: Marking::new(desk.secrets.known_to_commands().into_iter()),
            line: String::new(),
            waiting: String::new(),
            is_refused: false,
        }
    }

    pub(super) fn take(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            self.partial.extend_from_slice(&rest[..end]);
            let line = mem::take(&mut self.partial);
            self.add(&line, "\n");
            rest = &rest[end + 1..];
        }
        self.partial.extend_from_slice(rest);
        if self.partial.len() > LONG {
            self.cut();
        }
    }

    /// Adds the unfinished line without its last character, whose bytes may not have all arrived.
    fn cut(&mut self) {
        let bytes = &self.partial;
        // no character is longer than four bytes
        let last = bytes.len().saturating_sub(4);
        let end = bytes[last..].iter().rposition(|byte| byte & 0xc0 != 0x80);
        let end = end.map_or(bytes.len(), |at| last + at);
        let rest = self.partial.split_off(end);
        let part = mem::replace(&mut self.partial, rest);
        self.add(&part, "");
    }

    fn add(&mut self, bytes: &[u8], end: &str) {
        let text = clean(&String::from_utf8_lossy(bytes)) + end;
        let marked = self.marking.push(&text);
        self.lines(&marked);
    }

    /// Takes text without secrets. Adds each whole line to the clipped output and to the text for the chat.
    fn lines(&mut self, text: &str) {
        let mut rest = text;
        while let Some((head, tail)) = rest.split_once('\n') {
            self.line.push_str(head);
            self.hand_on();
            rest = tail;
        }
        self.line.push_str(rest);
        if self.line.len() > LONG {
            self.hand_on();
        }
    }

    fn hand_on(&mut self) {
        let line = mem::take(&mut self.line);
        self.clip.push(&line);
        self.is_refused |= REFUSED.iter().any(|it| line.contains(it));
        self.waiting.push_str(&line);
        self.waiting.push('\n');
        if self.waiting.len() > WAITING {
            let from = self.waiting.len() - WAITING / 2;
            let from = (from..self.waiting.len()).find(|at| self.waiting.is_char_boundary(*at));
            self.waiting = format!("…{}", &self.waiting[from.unwrap_or(0)..]);
        }
    }

    /// Sends the waiting text to the chat.
    pub(super) fn flush(&mut self) {
        if !self.waiting.is_empty() {
            let _ = self.chat.send((self.call.clone(), mem::take(&mut self.waiting)));
        }
    }

    /// The answer: the output, what is said about the command's end, and `hint` if the output reads as if a sandbox had
    /// refused something.
    pub(super) fn done(
        mut self,
        said: impl Iterator<Item = String>,
        hint: Option<&str>,
        summary: String,
    ) -> Done {
        let last = mem::take(&mut self.partial);
        self.add(&last, "");
        let rest = self.marking.end();
        self.lines(&rest);
        if !self.line.is_empty() {
            self.hand_on();
        }
        self.flush();
        let count = self.marking.count();
        let marked = (count > 0).then(|| secret::told(count));
        let output =
            if self.clip.is_empty() { "[no output]".to_owned() } else { self.clip.finish() };
        let hint = hint.filter(|_| self.is_refused).map(str::to_owned);
        let parts = std::iter::once(output).chain(marked).chain(said).chain(hint);
        let parts: Vec<String> = parts.collect();
        Done::new(parts.join("\n"), summary)
    }
}
