//! The integration tests: a real Neovim with a UI attached, the program, a fake model server.

#![expect(clippy::unwrap_used, reason = "a test says what it found by panicking")]

pub mod kit;

mod auto_edit;
mod bad_days;
mod cases;
mod changes;
mod chat;
mod context;
mod dialects;
mod durable;
mod edits;
mod ends;
mod evil;
mod fidelity;
mod forged;
mod formats;
mod headers;
mod health;
mod instructions;
mod kit_test;
mod keys;
mod lints;
mod listing;
mod live;
mod looks;
mod lsp;
mod lua;
mod misses;
mod models;
mod modes;
mod narrow;
mod openai;
mod prefix;
mod prompts;
mod relatives;
mod resume;
pub mod review;
mod rewind;
mod sessions;
mod sight;
mod skills;
mod shell;
mod stops;
mod thoughts;
mod tidy;
mod todo;
mod together;
mod tools;
mod tour;
mod tuning;
mod turns;
mod usage;
mod whole;
mod wire;
