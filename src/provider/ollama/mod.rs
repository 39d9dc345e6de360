//! The dialect (wire format) of Ollama's chat API: one JSON value on each line, complete calls without ids, and a
//! context window that the request asks for.

mod decode;
mod encode;

pub(super) use decode::Decoder;
pub(super) use encode::{body, window};

#[cfg(test)]
mod tests;
