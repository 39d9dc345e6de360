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
    /// Whether a line looks as if the sandbox had refused something.
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
        let clip = Clip::new(&desk.overflow, LIMITS);
        Output {
            call,
            chat: desk.output.clone(),
            lines: Lines::new(desk.secrets.known_to_commands()),
            gathered: Gathered { clip, waiting: String::new(), is_refused: false },
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

    /// The answer to the call: the output, the words about the command's end, and `hint` if the output looks as if the
    /// sandbox had refused something.
    pub(super) fn done(
        mut self,
        said: impl Iterator<Item = String>,
        hint: Option<&str>,
        summary: String,
    ) -> Done {
        self.catch_up();
        self.lines.end(|it| self.gathered.push(it));
        self.flush();
        let count = self.lines.secrets();
        let marked = (count > 0).then(|| secret::told(count));
        let Gathered { clip, is_refused, .. } = self.gathered;
        let is_silent = clip.is_empty();
        let output = if is_silent { String::new() } else { clip.finish() };
        let silent = is_silent.then(|| "[no output]".to_owned());
        let hint = hint.filter(|_| is_refused).map(str::to_owned);
        let after: Vec<String> = silent.into_iter().chain(marked).chain(said).chain(hint).collect();
        Done { after: after.join("\n"), ..Done::new(output, summary) }
    }
}

impl Gathered {
    fn push(&mut self, lines: &str) {
        lines.split_terminator('\n').for_each(|line| self.clip.push(line));
        self.is_refused |= is_refusal(lines);
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
