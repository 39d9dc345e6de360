//! Gemini's generateContent. A signature (`thoughtSignature`) belongs to one part for good, so signed parts are
//! never joined or moved: a raw block that holds nothing else stands right behind the block it signs.

mod decode;
mod encode;

pub(super) use decode::Decoder;
pub(super) use encode::body;

/// The mark of this dialect's raw blocks.
const NAME: &str = "gemini";

#[cfg(test)]
mod tests;
