//! `OpenAI` Chat Completions and its many relatives.

mod calls;
mod decode;
mod encode;

pub(super) use decode::Decoder;
pub(super) use encode::body;

/// The mark of raw blocks that hold a call's signature: only Gemini gives and takes them.
const SIGNER: &str = "gemini";

#[cfg(test)]
mod tests;
