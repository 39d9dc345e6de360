//! The user's language servers: the tools that use them, and the diagnostics that the model gets after an edit.

mod actions;
mod asked;
mod edited;
mod formatted;
mod formatters;
mod real;
mod renamed;
mod scene;
