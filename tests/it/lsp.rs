//! The user's language servers: what the tools get from them, and what is told of an edit.

mod asked;
mod edited;
mod real;
mod renamed;
mod scene;
