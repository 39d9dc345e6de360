//! `OpenAI` Chat Completions and its many relatives.

mod calls;
mod decode;
mod encode;

pub(super) use decode::Decoder;
pub(super) use encode::body;

/// The mark of raw blocks: what a server adds to a call, of which it wants to see its signature again.
const NAME: &str = "openai-chat";

#[cfg(test)]
mod tests;
