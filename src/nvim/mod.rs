//! The connection to the editor. Only this module knows msgpack, the messages to the editor, and buffers.

pub mod wire;
pub mod link;
pub mod session_link;
pub mod lsp;
pub mod screen;
pub mod reviews;
pub mod workspace;
