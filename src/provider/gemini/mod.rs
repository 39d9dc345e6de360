//! The dialect (wire format) of Gemini's generateContent. A signature (`thoughtSignature`) belongs to one part, so
//! parts with a signature are never joined or moved. A raw block that has only a signature comes directly after the
//! block that it signs.

mod decode;
mod encode;
mod search;

pub(super) use decode::Decoder;
pub(super) use encode::{body, searches};

/// The `provider` of this dialect's raw blocks.
const NAME: &str = "gemini";

#[cfg(test)]
mod tests;
