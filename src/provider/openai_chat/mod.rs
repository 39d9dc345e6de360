//! `OpenAI` Chat Completions, and the many servers that imitate it.

mod calls;
mod decode;
mod encode;
mod images;
mod marks;
mod reasoning;

pub(super) use decode::Decoder;
pub(super) use encode::body;

/// The `provider` of raw blocks: fields that a server added to a call or to its reasoning, and wants back.
const NAME: &str = "openai-chat";

#[cfg(test)]
mod tests;
