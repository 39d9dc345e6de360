//! The size of a conversation in tokens: the provider's count, plus an estimate of the messages that were not sent yet.
//! Also the sizes at which a conversation is made shorter.

use crate::edit::Format;
use crate::message::{Block, Excerpt, Image, Input, Message, Request, Role, ToolAnswer, ToolSpec};
use crate::provider::facts::Share;
use crate::session::Session;
use crate::text::counted;
use crate::tool::Toolset;
use crate::view::grouped;
use serde::Serialize;
use serde_json::Value;

/// Spare tokens besides the limit of the reply: for thoughts that do not count towards that limit, and for errors of
/// the estimate.
const SPARE: u64 = 16_000;
/// A conversation that fills this percentage of the window counts as long.
const LONG: u64 = 40;
/// The assumed number of bytes in a token, if the provider has not counted a request yet.
const BYTES: u64 = 4;
/// The most bytes that a token can have on average. If a provider's count implies longer tokens, the provider has not
/// counted the whole request.
const MOST_BYTES: u64 = 16;
/// The largest size that is used, because a provider may send any count, and a floating-point number is exact only up
/// to 2^53.
pub(super) const MOST: u64 = 1 << 52;

/// The sizes, in tokens, at which a conversation is made shorter. `None` means never.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Limits {
    /// The model's window; 0 if not known.
    pub window: u64,
    pub trim: Option<u64>,
    pub compact: Option<u64>,
    /// Above this size the rest of the window may be too small for a reply.
    pub full: u64,
    /// Whether the user left automatic compaction on.
    pub is_automatic: bool,
}

/// How full a model's window is. An unknown window is never full.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Fill {
    Ample,
    /// The conversation is long: models begin to overlook things long before their window is full.
    Long,
    /// The conversation has the size at which it is made shorter.
    Full,
}

impl Limits {
    /// How full the window is with a conversation of this size.
    pub fn fill(&self, size: u64) -> Fill {
        let shorter = self.trim.into_iter().chain(self.compact).min().unwrap_or(self.full);
        match self.window {
            0 => Fill::Ample,
            _ if size >= shorter => Fill::Full,
            window if size >= window / 100 * LONG => Fill::Long,
            _ => Fill::Ample,
        }
    }

    /// `output` is the most tokens of a reply. The room for the reply and the spare tokens take at most half of the
    /// window.
    pub fn of(window: u64, output: u64, trim: Share, compact: Share) -> Limits {
        let full = window - (output.saturating_add(SPARE)).min(window / 2);
        let known = |it: Share| it.of(window).filter(|_| window > 0);
        let (trim, is_automatic) = (known(trim), compact.0.is_some());
        Limits { window, trim, compact: known(compact).map(|it| it.min(full)), full, is_automatic }
    }

    /// The fewest tokens for which old results are trimmed. Trimming changes the beginning of the request, so the
    /// provider has to read the request without its cache; a smaller saving is not worth that.
    pub fn worth(&self) -> u64 {
        self.trim.unwrap_or(0) / 5
    }

    /// An automatic compaction needs at least this many tokens in the messages since the last compaction.
    pub fn growth(&self) -> u64 {
        self.compact.unwrap_or(0) / 5
    }
}

/// The estimated ratio of tokens to bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scale {
    tokens: u64,
    bytes: u64,
}

impl Scale {
    /// The ratio for a model for which the provider has not counted a request yet.
    pub const ASSUMED: Scale = Scale { tokens: 1, bytes: BYTES };

    /// The scale of the session's model, from the tokens that the provider counted for the last request to this model:
    /// the last one in this conversation, else the last one in another conversation.
    pub fn of(session: &Session) -> Scale {
        Scale::counted(session).unwrap_or(Scale::ASSUMED)
    }

    /// Whether the provider has counted a request to the session's model.
    pub fn is_counted(session: &Session) -> bool {
        Scale::counted(session).is_some()
    }

    fn counted(session: &Session) -> Option<Scale> {
        let counted = [&session.measures, &session.learned].map(|it| it.get(&session.model));
        let scales = counted.into_iter().flatten();
        let mut scales = scales.map(|it| Scale { tokens: it.tokens, bytes: it.bytes });
        scales.find(Scale::is_plausible)
    }

    /// Whether tokens of this length are possible. A provider may send any count.
    fn is_plausible(&self) -> bool {
        self.tokens > 0
            && self.tokens <= self.bytes
            && self.bytes <= self.tokens.saturating_mul(MOST_BYTES)
    }

    pub fn tokens(self, bytes: u64) -> u64 {
        let tokens = u128::from(bytes) * u128::from(self.tokens);
        let tokens = tokens.div_ceil(u128::from(self.bytes.max(1)));
        u64::try_from(tokens).map_or(MOST, |it| it.min(MOST))
    }

    pub fn of_text(self, text: &str) -> u64 {
        self.tokens(text.len() as u64)
    }
}

/// The bytes of a request's texts.
pub fn of_request(request: &Request) -> u64 {
    let messages: u64 = request.messages.iter().map(of_message).sum();
    let tools = request.tools.iter().map(of_spec);
    let texts = request.system.len() + request.tail.len();
    texts as u64 + messages + tools.sum::<u64>()
}

/// The bytes of the tools in a request to a model that writes edits in this format.
pub fn of_tools(tools: &Toolset, format: Format) -> u64 {
    tools.offered(format).map(|it| of_tool(&it.name, &it.purpose, &it.schema)).sum()
}

/// The bytes of one tool of a request.
pub fn of_spec(it: &ToolSpec) -> u64 {
    of_tool(&it.name, &it.purpose, &it.schema)
}

fn of_tool(name: &str, purpose: &str, schema: &Value) -> u64 {
    (name.len() + purpose.len()) as u64 + of_json(schema)
}

/// The bytes of a message.
pub fn of_message(message: &Message) -> u64 {
    if message.role == Role::Note { 0 } else { message.blocks.iter().map(of_block).sum() }
}

/// The bytes of a block.
pub fn of_block(block: &Block) -> u64 {
    let text = match block {
        Block::Text { text } | Block::Notice { text, .. } | Block::Thinking { text, .. } => text,
        Block::Excerpt(it) => return of_excerpt(it),
        Block::Answer(it) => return of_answer(it),
        Block::Image(it) => return of_image(it),
        Block::Call(call) => {
            let name = call.tool.len() as u64;
            return name
                + match &call.input {
                    Input::Json(value) => of_json(value),
                    Input::Broken { text, .. } => text.len() as u64,
                };
        }
        Block::Raw { value, .. } => return of_json(value),
        Block::Searched(_) => return 0,
    };
    text.len() as u64
}

fn of_excerpt(it: &Excerpt) -> u64 {
    let texts = it.text.len() + it.note.len() + 2 * it.path.len() + it.filetype.len();
    texts as u64 + it.image.as_ref().map_or(0, of_image)
}

/// The bytes of an answer.
pub fn of_answer(answer: &ToolAnswer) -> u64 {
    let changed = answer.changed.as_ref().map_or(0, String::len);
    (answer.text.len() + changed) as u64 + answer.images.iter().map(of_image).sum::<u64>()
}

/// The number of bytes of a text that has as many tokens as the image.
fn of_image(image: &Image) -> u64 {
    image.tokens().saturating_mul(BYTES).min(MOST)
}

/// The approximate number of bytes of a value's JSON. Computed without making the JSON.
fn of_json(value: &Value) -> u64 {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 4,
        Value::String(text) => text.len() as u64 + 2,
        Value::Array(items) => 2 + items.iter().map(|it| of_json(it) + 1).sum::<u64>(),
        Value::Object(fields) => {
            let sizes = fields.iter().map(|(name, it)| name.len() as u64 + 4 + of_json(it));
            2 + sizes.sum::<u64>()
        }
    }
}

/// The estimated number of tokens of a text outside of a session, at about four bytes for a token.
pub fn of_text(text: &str) -> u64 {
    Scale::ASSUMED.of_text(text)
}

/// A number of bytes as it is shown to users: `900 bytes`, `12 kB`.
pub fn bytes(n: usize) -> String {
    if n < 1000 { counted(n, "byte") } else { format!("{} kB", (n + 500) / 1000) }
}

/// How much of `whole` a part is, in percent, rounded.
pub fn percent(part: u64, whole: u64) -> u64 {
    let whole = u128::from(whole.max(1));
    u64::try_from((u128::from(part) * 100 + whole / 2) / whole).unwrap_or(u64::MAX)
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

    /// By Caliban's estimate, and by a stricter one of 3.5 bytes for each token.
    #[test]
    fn the_tools_of_a_request_take_less_than_5000_tokens() {
        for format in [Format::Replace, Format::Patch, Format::Whole] {
            let bytes = of_tools(&crate::tool::tests::arguments::all(), format);
            for scale in [Scale::ASSUMED, Scale { tokens: 2, bytes: 7 }] {
                let tokens = scale.tokens(bytes);
                assert!(tokens < 5_000, "{format:?}: {tokens} tokens, {bytes} bytes");
            }
        }
    }

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

    #[test]
    fn a_conversation_is_long_at_40_percent_of_its_window_and_full_at_a_threshold() {
        let fills = |limits: Limits, sizes: [u64; 4]| sizes.map(|it| limits.fill(it));
        let usual = Limits::of(200_000, 32_000, Share::TRIM, Share::COMPACT);
        let expected = [Fill::Ample, Fill::Long, Fill::Long, Fill::Full];
        assert_eq!(fills(usual, [79_999, 80_000, 99_999, 100_000]), expected);
        let never = Limits::of(200_000, 32_000, Share::NEVER, Share::NEVER);
        assert_eq!(fills(never, [79_999, 80_000, 151_999, 152_000]), expected);
        let compact = Limits::of(200_000, 32_000, Share::NEVER, Share(Some(0.1)));
        assert_eq!(fills(compact, [0, 19_999, 20_000, u64::MAX])[1..3], [Fill::Ample, Fill::Full]);
        assert_eq!(Limits::default().fill(u64::MAX), Fill::Ample);
    }
}
