//! `OpenAI` Responses. Nothing is stored at the provider: reasoning comes encrypted and goes back with each request.

mod decode;
mod encode;
mod items;

pub(super) use decode::Decoder;
pub(super) use encode::body;

/// The `provider` of raw blocks that hold an item as it arrived.
const RAW: &str = "openai-responses";

#[cfg(test)]
mod tests;
