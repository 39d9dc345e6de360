//! The number of bytes in a token of a model, learned in one conversation and used in all.

use crate::kit::chat::DIALECTS;
use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::kit::server::Server;
use crate::kit::setup::Setup;

/// The tokens that `/context` estimates for the next request of a new conversation of this name.
fn begin(nvim: &Nvim, name: &str) -> String {
    nvim.keys(&format!("<Esc>:Caliban new {name}<CR>"));
    nvim.wait_session(name);
    nvim.keys("i/context<C-s>");
    let shown = || {
        let transcript = nvim.transcript();
        let (_, rest) = transcript.rsplit_once("! About ")?;
        Some(rest.split_once(" tokens")?.0.to_owned())
    };
    nvim.wait(|_| shown().is_some(), "the estimate");
    shown().unwrap()
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
        let assumed = begin(&nvim, "first");
        server.reply(Reply::said("Seen.").usage(10_000, 10));
        nvim.keys("isee @a.txt<C-s>");
        nvim.wait_transcript("Seen.");
        nvim.wait_phase("idle");
        let learned = begin(&nvim, "second");
        assert_ne!(learned, assumed);
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
        assert_eq!(begin(&nvim, "fourth"), assumed);
    }
}
