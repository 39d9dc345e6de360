//! Ollama's own chat: a value a line, whole calls without ids, and a window that the request asks for.

mod decode;
mod encode;

pub(super) use decode::Decoder;
pub(super) use encode::{body, window};

#[cfg(test)]
mod tests;
