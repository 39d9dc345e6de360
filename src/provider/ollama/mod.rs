//! Ollama's own chat: one JSON value a line, whole calls without ids, and a context window that the request asks for.

mod decode;
mod encode;

pub(super) use decode::Decoder;
pub(super) use encode::{body, window};

#[cfg(test)]
mod tests;
