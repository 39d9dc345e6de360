//! Edits under review: proposed in the user's buffer, decided there, told to the model.

mod again;
mod arrival;
mod bytes;
mod chaos;
mod commands;
mod comment;
mod decide;
mod files;
mod formatted;
mod guard;
mod in_chat;
mod late;
mod lent;
mod life;
mod look;
mod moved;
mod named;
mod order;
mod own_text;
pub mod reopened;
mod rest;
mod saves;
pub mod scene;
mod shared;
mod truth;
mod unwritable;
mod windows;
