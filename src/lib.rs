//! Caliban: a coding agent that lives inside Neovim.
//!
//! The modules are listed in the order of their dependencies: each imports only from those above it. The first group is
//! pure (no I/O, no clock). The second group works with the disk, the network and processes. The last group works with
//! the editor. `doc/architecture.md` describes them.

pub mod nearest;
pub mod place;
pub mod text;
pub mod picture;
pub mod reach;
pub mod message;
pub mod edit;
pub mod event;
pub mod bash;
pub mod rules;
pub mod policy;
pub mod session;
pub mod view;
pub mod regular;
pub mod clock;
pub mod chance;
pub mod store;
pub mod provider;
pub mod sandbox;
pub mod supervisor;
pub mod leash;
pub mod pdf;
pub mod web;
pub mod mcp;
pub mod tool;
pub mod context;
pub mod complete;
pub mod conversation;
pub mod agent;
pub mod nvim;
pub mod log;
pub mod site;
pub mod run;
pub mod program;
