//! Everything that the model gets besides its own replies: the system prompt, instructions, mentioned files and
//! selections. Also makes the request from a session.

pub mod agents;
pub mod commands;
pub mod compact;
mod diff;
pub mod digest;
pub mod export;
pub mod fence;
pub mod init;
pub mod instructions;
pub mod ledger;
pub mod mention;
pub mod parts;
pub mod prompt;
pub mod request;
pub mod review;
pub mod targets;
pub mod size;
pub mod slash;
pub mod trim;
