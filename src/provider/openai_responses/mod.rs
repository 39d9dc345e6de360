//! The dialect (wire format) of `OpenAI`'s Responses API. The provider is told to store nothing, so reasoning arrives
//! encrypted and is sent back with each request.

mod decode;
mod encode;
mod items;
mod search;

pub(super) use decode::Decoder;
pub(super) use encode::body;

/// The `provider` of raw blocks that contain an item as it arrived.
const RAW: &str = "openai-responses";

#[cfg(test)]
mod tests;
