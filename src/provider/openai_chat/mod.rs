//! The dialect (wire format) of `OpenAI`'s Chat Completions, and of the many servers that imitate it.

mod calls;
mod decode;
mod encode;
mod images;
mod marks;
mod reasoning;

pub(super) use decode::Decoder;
pub(super) use encode::body;

/// The `provider` of raw blocks. They contain fields that a server added to a call or to its reasoning and requires in
/// later requests.
const NAME: &str = "openai-chat";

#[cfg(test)]
mod tests;
