//! The size of a conversation in tokens: the provider's own count, and an estimate of what was not sent yet. And the
//! sizes at which a conversation is made shorter.

use crate::message::{Block, Input, Message, Role};
use crate::provider::facts::Share;
use crate::session::Session;
use crate::view::grouped;

/// What a reply may need beside its limit: thoughts that do not count, and the errors of the estimate.
const SPARE: u64 = 16_000;

/// At which size a conversation is made shorter, in tokens. `None`: never.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Limits {
    /// The model's window; 0 if not known.
    pub window: u64,
    pub trim: Option<u64>,
    pub compact: Option<u64>,
    /// Above this size the window may be too small for the reply.
    pub full: u64,
    /// Whether the user left automatic compaction on.
    pub is_automatic: bool,
}

impl Limits {
    /// `output` is the limit of the reply. It and the spare room take at most half of the window.
    pub fn of(window: u64, output: u64, trim: Share, compact: Share) -> Limits {
        let full = window - (output.saturating_add(SPARE)).min(window / 2);
        let known = |it: Share| it.of(window).filter(|_| window > 0);
        let (trim, is_automatic) = (known(trim), compact.0.is_some());
        Limits { window, trim, compact: known(compact).map(|it| it.min(full)), full, is_automatic }
    }

    /// The fewest tokens that a trimming removes. Less is not worth a new prefix, which the provider reads uncached.
    pub fn worth(&self) -> u64 {
        self.trim.unwrap_or(0) / 5
    }

    /// The fewest tokens that an automatic compaction summarises.
    pub fn growth(&self) -> u64 {
        self.compact.unwrap_or(0) / 5
    }
}

/// The tokens of the next request.
pub fn of_next(session: &Session) -> u64 {
    let spoken = &session.messages[session.beginning()..];
    if session.context == 0 {
        let system = session.messages.first().filter(|it| it.role == Role::System);
        let handoff = session.handoff().map_or(0, of_text);
        return handoff + system.into_iter().chain(spoken).map(of_message).sum::<u64>();
    }
    let unsent = spoken.iter().rev().take_while(|it| it.role != Role::Assistant);
    session.context.saturating_add(unsent.map(of_message).sum())
}

/// The estimated tokens of a message.
pub fn of_message(message: &Message) -> u64 {
    if message.role == Role::Note { 0 } else { message.blocks.iter().map(of_block).sum() }
}

fn of_block(block: &Block) -> u64 {
    match block {
        Block::Text { text } | Block::Notice { text } | Block::Thinking { text, .. } => {
            of_text(text)
        }
        Block::Excerpt(it) => of_text(&it.text),
        Block::Answer(it) => of_text(&it.text),
        Block::Call(call) => match &call.input {
            Input::Json(value) => of_text(&value.to_string()),
            Input::Broken { text, .. } => of_text(text),
        },
        Block::Raw { value, .. } => of_text(&value.to_string()),
    }
}

/// An estimate: a token has about four bytes.
pub fn of_text(text: &str) -> u64 {
    (text.len() as u64).div_ceil(4)
}

/// A number of bytes for a reader: `900 bytes`, `12 kB`.
pub fn bytes(n: usize) -> String {
    if n < 1000 { format!("{n} bytes") } else { format!("{} kB", (n + 500) / 1000) }
}

/// A number of tokens, rounded down to two significant digits: `3,300`.
pub fn rounded(tokens: u64) -> String {
    let mut unit = 1;
    while tokens / unit >= 100 {
        unit *= 10;
    }
    grouped(tokens / unit * unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_shares_of_the_window_with_room_for_the_reply() {
        let limits = |window, output| {
            let it = Limits::of(window, output, Share::TRIM, Share::COMPACT);
            (it.trim, it.compact, it.full)
        };
        assert_eq!(limits(1_000_000, 32_000), (Some(500_000), Some(750_000), 952_000));
        assert_eq!(limits(200_000, 32_000), (Some(100_000), Some(150_000), 152_000));
        assert_eq!(limits(128_000, 32_000), (Some(64_000), Some(80_000), 80_000));
        // the room for the reply takes at most half of a small window
        assert_eq!(limits(8_000, 8_000), (Some(4_000), Some(4_000), 4_000));
        assert_eq!(limits(0, 8_000), (None, None, 0));
        let never = Limits::of(8_000, 100, Share::NEVER, Share::NEVER);
        assert_eq!((never.trim, never.compact), (None, None));
    }
}
