//! The number of bytes in a token of a model, learned in one conversation and used in all.

use crate::kit::chat::DIALECTS;
use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::kit::server::Server;
use crate::kit::setup::Setup;

/// The thousands of tokens that the chip of `a.txt` shows. The file has 8,000 bytes.
fn chip(nvim: &Nvim) -> String {
    let shown = || {
        let screen = nvim.screen();
        let (_, rest) = screen.split_once("▏a.txt  400 lines  ")?;
        Some(rest.split_once("k tokens")?.0.to_owned())
    };
    nvim.wait(|_| shown().is_some(), "the chip");
    shown().unwrap()
}

/// Begins a conversation of this name, and returns what the chip in its composer shows.
fn begin(nvim: &Nvim, name: &str) -> String {
    nvim.keys(&format!("<Esc>:Caliban new {name}<CR>"));
    nvim.wait_session(name);
    nvim.keys("isee @a.txt ");
    chip(nvim)
}

#[test]
fn the_size_of_a_token_is_learned_once_for_all_conversations_in_every_dialect() {
    for dialect in DIALECTS {
        let server = Server::start();
        let setup = Setup::new().file("a.txt", "a line of 19 bytes.\n".repeat(400));
        let setup = setup.speaking(dialect, &server).size(200, 40);
        let nvim = Nvim::start(&setup);
        nvim.keys(":Caliban<CR>");
        nvim.wait_phase("idle");
        assert_eq!(begin(&nvim, "first"), "2.0");
        server.reply(Reply::said("Seen.").usage(10_000, 10));
        nvim.keys("<C-s>");
        nvim.wait_transcript("Seen.");
        nvim.wait_phase("idle");
        let learned = begin(&nvim, "second");
        assert_ne!(learned, "2.0");
        nvim.quit_with("<Esc>:qa!<CR>");
        let nvim = Nvim::start(&setup);
        nvim.keys(":Caliban<CR>");
        nvim.wait_phase("idle");
        assert_eq!(begin(&nvim, "third"), learned);
        nvim.quit_with("<Esc>:qa!<CR>");
        // a damaged file counts as a missing one
        std::fs::write(setup.dir().join("data/caliban/measures.json"), "{\"a\": [").unwrap();
        let nvim = Nvim::start(&setup);
        nvim.keys(":Caliban<CR>");
        nvim.wait_phase("idle");
        assert_eq!(begin(&nvim, "fourth"), "2.0");
    }
}
