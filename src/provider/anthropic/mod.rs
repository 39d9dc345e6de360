//! Anthropic Messages.

mod decode;
mod encode;

pub(super) use decode::Decoder;
pub(super) use encode::body;

#[cfg(test)]
mod tests;
