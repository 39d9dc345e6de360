//! Reads an answer from its first byte to its end, in any dialect: divides it into frames, has the decoder of the dialect
//! read them, and takes thoughts and calls out of the text.

use super::amount::Amount;
use super::dialect::{Asked, Decoder, Dialect, json, protocol};
use super::lines::Lines;
use super::sse::{Frame, LIMIT, Sse, TooLarge};
use super::thoughts::Thoughts;
use super::written::taken::Taken;
use super::{Sampled, fault};
use crate::event::Failure;
use serde::de::IgnoredAny;
use serde_json::Value;

/// How an answer is divided into frames.
enum Frames {
    Events(Sse),
    Lines(Lines),
}

impl Frames {
    fn push(&mut self, bytes: &[u8], mut each: impl FnMut(Frame<'_>)) -> Result<(), TooLarge> {
        match self {
            Frames::Events(sse) => sse.push(bytes, each),
            Frames::Lines(lines) => lines.push(bytes, |data| each(Frame { event: "", data })),
        }
    }

    /// Whether the bytes ended with a line that lacks only its newline.
    fn lacks_end(&self) -> bool {
        match self {
            Frames::Events(_) => false,
            Frames::Lines(lines) => serde_json::from_slice::<IgnoredAny>(lines.rest()).is_ok(),
        }
    }
}

/// Reads one answer: takes bytes and returns values, without any input or output of its own.
pub struct Reading {
    frames: Frames,
    decoder: Box<dyn Decoder>,
    thoughts: Thoughts,
    /// Takes calls out of the text, if the model writes them there.
    taken: Option<Taken>,
    /// The first bytes of the answer, or the whole answer if it may be one JSON value. If no event arrives, it is read
    /// as such a value, or the error message quotes it.
    head: Vec<u8>,
    framed: bool,
    ended: bool,
    amount: Amount,
    /// The values of a frame before they are passed on.
    fresh: Vec<Sampled>,
}

/// How many of the first bytes are kept, to quote an answer that is not an event stream.
const HEAD: usize = 512;

impl Reading {
    pub fn new(dialect: Dialect, asked: Asked) -> Reading {
        let frames = match dialect {
            Dialect::Ollama => Frames::Lines(Lines::default()),
            _ => Frames::Events(Sse::default()),
        };
        let taken = asked.taken();
        Reading {
            frames,
            taken,
            decoder: dialect.decoder(asked),
            thoughts: Thoughts::default(),
            head: Vec::new(),
            framed: false,
            ended: false,
            amount: Amount::default(),
            fresh: Vec::new(),
        }
    }

    /// Whether a `Done` or `Failed` was returned; nothing follows it.
    pub fn is_over(&self) -> bool {
        self.ended
    }

    /// Takes the next bytes of the answer and adds their content to `out`.
    pub fn push(&mut self, bytes: &[u8], out: &mut Vec<Sampled>) {
        if self.ended {
            return;
        }
        if !self.framed {
            let most = if is_json(&self.head) { LIMIT } else { HEAD };
            self.head
                .extend_from_slice(&bytes[..bytes.len().min(most.saturating_sub(self.head.len()))]);
        }
        let Reading { frames, decoder, thoughts, taken, framed, ended, amount, fresh, .. } = self;
        let read = frames.push(bytes, |frame| {
            *framed = true;
            if !*ended {
                take(&mut **decoder, frame, fresh);
                if let Some(megabytes) = amount.add(frame.data.len(), fresh) {
                    fresh.clear();
                    fresh.push(Sampled::Failed(Failure::Endless { megabytes }));
                }
                *ended = pass_on(fresh, thoughts, taken.as_mut(), out);
            }
        });
        if read.is_err() && !*ended {
            *ended = true;
            out.push(protocol("an event of more than 16 MiB"));
        }
    }

    /// Called when the bytes have ended, or when no more are read. Adds the reply if it is complete, otherwise the
    /// failure.
    pub fn end(&mut self, out: &mut Vec<Sampled>) {
        if self.frames.lacks_end() {
            self.push(b"\n", out);
        }
        if std::mem::replace(&mut self.ended, true) {
            return;
        }
        if self.framed {
            self.fresh.push(self.decoder.end());
        } else {
            self.unframed();
        }
        pass_on(&mut self.fresh, &mut self.thoughts, self.taken.as_mut(), out);
    }

    /// Reads an answer without any frame: one JSON value where a stream was asked for, or something that is no answer.
    fn unframed(&mut self) {
        let head = String::from_utf8_lossy(&self.head);
        let text = head.trim_start_matches(['\u{feff}', ' ', '\t', '\r', '\n']);
        let quoted = || protocol(&fault::snippet(&head.chars().take(HEAD).collect::<String>()));
        let is_value = matches!(self.frames, Frames::Events(_)) && text.starts_with(['{', '[']);
        let end = match serde_json::from_str::<Value>(text) {
            _ if text.starts_with('<') => quoted(),
            _ if is_silent(text) => Sampled::Failed(Failure::Empty),
            _ if !is_value => self.decoder.end(),
            Ok(value) => {
                whole(&mut *self.decoder, &value, &mut self.fresh);
                Some(self.decoder.end())
                    .filter(|it| matches!(it, Sampled::Done(_)))
                    .unwrap_or_else(quoted)
            }
            Err(error) if error.is_eof() && self.head.len() < LIMIT => self.decoder.end(),
            Err(_) => quoted(),
        };
        self.fresh.push(end);
    }
}

/// Whether an answer has only blanks and the comments of an event stream.
fn is_silent(text: &str) -> bool {
    text.lines().all(|it| it.trim().is_empty() || it.starts_with(':'))
}

/// Whether these first bytes of an answer may be those of a JSON value.
fn is_json(head: &[u8]) -> bool {
    let first = head.trim_ascii_start().first();
    matches!(first, None | Some(b'{' | b'[' | 0xEF))
}

/// Reads one frame. An error that is named as one is an error in every dialect, whatever its form.
fn take(decoder: &mut dyn Decoder, frame: Frame<'_>, out: &mut Vec<Sampled>) {
    if frame.event == "error" {
        let error = json(frame.data).unwrap_or_else(|_| Value::String(frame.data.to_owned()));
        return out.push(Sampled::Failed(fault::in_stream(&error, decoder.asked())));
    }
    decoder.read(frame, out);
}

/// Reads an answer that is one JSON value.
fn whole(decoder: &mut dyn Decoder, value: &Value, out: &mut Vec<Sampled>) {
    let first = value.get(0).unwrap_or(value);
    if !first["error"].is_null() || first["object"] == "error" {
        return out.push(Sampled::Failed(fault::in_stream(first, decoder.asked())));
    }
    decoder.whole(value, out);
}

fn is_end(it: &Sampled) -> bool {
    matches!(it, Sampled::Done(_) | Sampled::Failed(_))
}

/// Passes on the values of one frame. Returns whether one of them ends the answer.
fn pass_on(
    fresh: &mut Vec<Sampled>,
    thoughts: &mut Thoughts,
    taken: Option<&mut Taken>,
    out: &mut Vec<Sampled>,
) -> bool {
    if let Some(end) = fresh.iter().position(is_end) {
        fresh.truncate(end + 1);
    }
    let before = out.len();
    thoughts.pass(fresh, out);
    if let Some(taken) = taken {
        fresh.extend(out.drain(before..));
        taken.pass(fresh, out);
    }
    if let Some(Sampled::Done(reply)) = out.last_mut() {
        reply.usage = reply.usage.fitting();
    }
    out.last().is_some_and(is_end)
}
