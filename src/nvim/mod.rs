//! The editor: the only place that knows msgpack, the wire's messages and buffers.

pub mod wire;
pub mod link;
pub mod session_link;
pub mod lsp;
pub mod screen;
pub mod reviews;
pub mod workspace;
