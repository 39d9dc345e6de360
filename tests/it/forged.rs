//! Tests session files, checkpoint logs and review records that a stranger has written: they must not cause any action.

mod keys;
mod known;
mod links;
mod log;
mod queue;
mod records;

use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::kit::server::Server;
use crate::kit::setup::Setup;
use serde_json::{Value, json};
use std::fs;

/// Saves a conversation of one turn, and ends Neovim.
fn one_turn(server: &Server, setup: Setup) -> Setup {
    server.reply(Reply::said("Hello to you."));
    let nvim = Nvim::start(&setup);
    nvim.keys(":Caliban<CR>");
    nvim.ask("hello", "Hello to you.");
    assert!(nvim.quit_with("<Esc>:qa!<CR>").success());
    nvim.wait_program_end();
    setup
}

/// Changes the session file as a stranger could.
fn forge(setup: &Setup, change: impl FnOnce(&mut Value)) {
    let path = setup.sessions().join("main.json");
    let mut file: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    change(&mut file);
    fs::write(&path, serde_json::to_vec_pretty(&file).unwrap()).unwrap();
}

/// Opens the chat of a setup whose files were forged.
fn opened(setup: &Setup) -> Nvim {
    let nvim = Nvim::start(setup);
    nvim.keys(":Caliban<CR>");
    nvim.wait_transcript("Hello to you.");
    nvim.wait_phase("idle");
    nvim
}

/// The mode of the conversation, from the Lua API.
fn mode(nvim: &Nvim) -> String {
    nvim.lua_str("return require('caliban').state().mode")
}
