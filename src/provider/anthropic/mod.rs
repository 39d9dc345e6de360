//! The dialect (wire format) of Anthropic's Messages API.

mod decode;
mod encode;
mod thinking;

pub(super) use decode::Decoder;
pub(super) use encode::body;

#[cfg(test)]
mod tests;
