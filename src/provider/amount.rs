//! Measures how much of a reply has arrived. The length of a reply is limited, because the whole reply is kept in
//! memory, painted and sent back to the model.

use super::Sampled;
use crate::event::Delta;

/// The most bytes of text and thoughts in one reply. The longest replies of models have about half a megabyte.
const TEXT: usize = 16 << 20;
/// The most bytes of one reply as it arrives over the wire, without text and thoughts. Most of these bytes are calls
/// and their arguments.
const ALL: usize = 64 << 20;
/// How many bytes of a frame, besides its text, are not counted. A frame (one event of the stream) with a single token
/// has about this many.
const AROUND_TEXT: usize = 2 << 10;
/// A call counts as at least this many bytes, so a reply has at most 16,000 calls.
const CALL: usize = 4 << 10;

/// The bytes of one reply that have arrived.
#[derive(Debug, Default)]
pub(super) struct Amount {
    text: usize,
    all: usize,
}

impl Amount {
    /// Counts a frame of `frame` bytes and its content. Returns the limit, in megabytes, once the reply exceeds it.
    pub(super) fn add(&mut self, frame: usize, said: &[Sampled]) -> Option<u32> {
        let (mut text, mut calls) = (0, 0);
        for it in said {
            match it {
                Sampled::Delta(Delta::Text(more) | Delta::Thinking(more)) => text += more.len(),
                Sampled::Delta(Delta::CallBegun { .. }) => calls += CALL,
                _ => (),
            }
        }
        let around_text = if text > 0 { AROUND_TEXT } else { 0 };
        self.text += text;
        self.all += text + frame.saturating_sub(text + around_text).max(calls);
        match () {
            () if self.text > TEXT => Some(16),
            () if self.all > ALL => Some(64),
            () => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::CallId;

    fn text(bytes: usize) -> Vec<Sampled> {
        vec![Sampled::Delta(Delta::Text("x".repeat(bytes)))]
    }

    fn call() -> Vec<Sampled> {
        vec![Sampled::Delta(Delta::CallBegun { id: CallId(String::new()), tool: String::new() })]
    }

    /// Adds equal frames until the reply exceeds a limit. Returns the number of frames, and the limit in megabytes.
    fn passed(frame: usize, said: &[Sampled]) -> (usize, u32) {
        let mut amount = Amount::default();
        (1..).find_map(|n| Some((n, amount.add(frame, said)?))).unwrap()
    }

    #[test]
    fn text_arguments_and_calls_count_towards_the_size_limits_of_a_reply() {
        // if a frame has one token, only the token's text counts
        assert_eq!(passed(400, &text(4)), ((4 << 20) + 1, 16));
        let thought = [Sampled::Delta(Delta::Thinking("x".repeat(1 << 20)))];
        assert_eq!(passed(1 << 20, &thought), (17, 16));
        // all bytes of a call's arguments count; each call counts as at least 4 kB
        assert_eq!(passed(1 << 10, &[]), ((64 << 10) + 1, 64));
        assert_eq!(passed(100, &call()), ((16 << 10) + 1, 64));
        assert_eq!(passed(1 << 20, &call()), (65, 64));
        // the other bytes of a frame count if there are many
        assert_eq!(passed(1 << 20, &text(1)), (65, 64));
    }
}
