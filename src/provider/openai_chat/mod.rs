//! `OpenAI` Chat Completions and its many relatives.

mod calls;
mod decode;
mod encode;
mod marks;
mod reasoning;

pub(super) use decode::Decoder;
pub(super) use encode::body;

/// The mark of raw blocks: what a server adds to a call or to its reasoning, and wants to see again.
const NAME: &str = "openai-chat";

#[cfg(test)]
mod tests;
