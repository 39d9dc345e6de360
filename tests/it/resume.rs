//! Interrupted turns are found at startup, without opening a window or moving the focus.

use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::kit::server::Server;
use crate::kit::setup::Setup;

#[test]
fn an_interrupted_turn_is_announced_at_startup() {
    let server = Server::start();
    let gate = server.reply(Reply::new().text("half an ").gate().text("answer"));
    let setup = Setup::new().anthropic(&server).file("a.txt", "text of the file\n");
    let nvim = Nvim::start(&setup);
    nvim.keys(":Caliban<CR>ihello<C-s>");
    nvim.wait_screen("half an");
    nvim.kill();
    let nvim = Nvim::start(&setup);
    nvim.wait_screen("A turn was interrupted in this project. :Caliban shows the conversation.");
    gate.finish();
    assert_eq!(nvim.lua_json("return #vim.api.nvim_list_wins()"), 1);
    nvim.keys(":Caliban<CR>");
    nvim.wait_screen("! Interrupted: Neovim or the program ended in the middle");
    nvim.quit_with(":qa<CR>");

    let nvim = Nvim::start(&setup);
    nvim.keys(":edit a.txt<CR>");
    nvim.wait_screen("text of the file");
    let started = "return package.loaded['caliban.program.process'] ~= nil";
    assert_eq!(nvim.lua_json(started), false, "nothing waits: the program is not started");
    nvim.quit_with(":qa<CR>");
}

#[test]
fn the_chat_can_open_at_startup_without_moving_the_cursor() {
    let server = Server::start();
    let setup = Setup::new().anthropic(&server).config("{ resume = 'open' }").file("a.txt", "a\n");
    let nvim = Nvim::start(&setup);
    server.reply(Reply::said("The first."));
    nvim.ask("one", "The first.");
    nvim.quit_with(":qa<CR>");
    let nvim = Nvim::start(&setup);
    nvim.wait_screen("The first.");
    nvim.keys(":edit a.txt<CR>");
    nvim.wait(|nvim| nvim.lua_str("return vim.fn.expand('%:t')") == "a.txt", "the file");
    nvim.wait_screen("The first.");
}
