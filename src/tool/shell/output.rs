//! A command's output on its way to the chat and to the model, bounded in memory.

use crate::message::CallId;
use crate::text::secret;
use crate::tool::clip::{Clip, Limits};
use crate::tool::lines::Lines;
use crate::tool::{Desk, Done};
use memchr::memmem;
use std::mem;
use tokio::sync::mpsc::UnboundedSender;

const LIMITS: Limits = Limits { lines: 2_000, bytes: 30_000, wide: 2_000, head: 20 };
/// The most bytes of text that wait to be sent to the chat. If there are more, the older half is dropped.
const WAITING: usize = 16_384;

pub(super) struct Output {
    call: CallId,
    chat: UnboundedSender<(CallId, String)>,
    lines: Lines,
    gathered: Gathered,
}

/// The complete lines.
struct Gathered {
    clip: Clip,
    waiting: String,
    /// The lines that look as if the sandbox had refused something, at most `KEPT`.
    refused: Vec<String>,
}

/// The most lines that are kept apart because of their words.
const KEPT: usize = 100;

/// Parts of messages about a refused system call or a missing network.
const REFUSED: [&str; 16] = [
    "Permission denied",
    "permission denied",
    "Read-only file system",
    // a file on which a mount lies cannot be removed
    "Device or resource busy",
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
    // git without a key
    "failed to sign the data",
];

impl Output {
    pub(super) fn new(desk: &Desk, call: CallId, secrets: Vec<String>) -> Output {
        let clip = Clip::new(&desk.overflow, LIMITS);
        Output {
            call,
            chat: desk.output.clone(),
            lines: Lines::new(secrets),
            gathered: Gathered { clip, waiting: String::new(), refused: Vec::new() },
        }
    }

    pub(super) fn take(&mut self, bytes: &[u8]) {
        if self.gathered.clip.is_full() {
            self.lines.hold(bytes);
        } else {
            self.lines.take(bytes, |it| self.gathered.push(it));
        }
    }

    /// Takes the output that `lines` holds back.
    fn catch_up(&mut self) {
        if let Some(lines) = self.lines.leave_out() {
            self.gathered.clip.skip(lines);
            self.gathered.waiting.push_str("…\n");
        }
        self.lines.release(|it| self.gathered.push(it));
    }

    /// Sends the waiting text to the chat.
    pub(super) fn flush(&mut self) {
        self.catch_up();
        let waiting = mem::take(&mut self.gathered.waiting);
        if !waiting.is_empty() {
            let _ = self.chat.send((self.call.clone(), waiting));
        }
    }

    /// Takes the rest of the output. Returns the lines that look as if the sandbox had refused something.
    pub(super) fn end(&mut self) -> &[String] {
        self.catch_up();
        self.lines.end(|it| self.gathered.push(it));
        self.flush();
        &self.gathered.refused
    }

    /// The answer to the call: the output, and the words about the command's end.
    pub(super) fn done(mut self, said: impl Iterator<Item = String>, summary: String) -> Done {
        self.end();
        let count = self.lines.secrets();
        let marked = (count > 0).then(|| secret::told(count));
        let Gathered { clip, .. } = self.gathered;
        let is_silent = clip.is_empty();
        let output = if is_silent { String::new() } else { clip.finish() };
        let silent = is_silent.then(|| "[no output]".to_owned());
        let after: Vec<String> = silent.into_iter().chain(marked).chain(said).collect();
        Done { after: after.join("\n"), ..Done::new(output, summary) }
    }
}

impl Gathered {
    fn push(&mut self, lines: &str) {
        lines.split_terminator('\n').for_each(|line| self.clip.push(line));
        if is_refusal(lines) && self.refused.len() < KEPT {
            self.refused.extend(lines.lines().filter(|it| is_refusal(it)).map(str::to_owned));
        }
        self.waiting.push_str(lines);
        if self.waiting.len() > WAITING {
            let from = self.waiting.len() - WAITING / 2;
            let from = (from..self.waiting.len()).find(|at| self.waiting.is_char_boundary(*at));
            self.waiting = format!("…{}", &self.waiting[from.unwrap_or(0)..]);
        }
    }
}

/// Whether a text reads as if a sandbox had refused something.
pub(in crate::tool) fn is_refusal(text: &str) -> bool {
    REFUSED.iter().any(|it| memmem::find(text.as_bytes(), it.as_bytes()).is_some())
}
