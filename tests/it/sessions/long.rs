//! A list of many conversations fits on the screen, and each conversation can be found.

use super::names::say;
use super::*;
use serde_json::json;

/// A project with 300 conversations beside `main`, which is the newest.
fn many(setup: Setup, server: &Server) -> Nvim {
    let setup = setup.anthropic(server);
    let nvim = Nvim::start(&setup);
    nvim.keys(":Caliban<CR>");
    nvim.wait_screen("g? keys");
    say(&nvim, server, "hello", "The first.");
    let main = setup.sessions().join("main.json");
    nvim.wait(|_| main.exists(), "the conversation on disk");
    let mut session: Value = serde_json::from_slice(&fs::read(&main).unwrap()).unwrap();
    let old = std::time::SystemTime::now() - std::time::Duration::from_secs(86_400);
    for n in 1..=300 {
        session["name"] = json!(format!("s{n:03}"));
        session["title"] = json!(format!("a long title number {n} {}", "and on ".repeat(20)));
        let path = setup.sessions().join(format!("s{n:03}.json"));
        fs::write(&path, session.to_string()).unwrap();
        fs::File::options().write(true).open(&path).unwrap().set_modified(old).unwrap();
    }
    nvim
}

#[test]
fn the_builtin_list_shows_one_screen_and_offers_the_rest() {
    let server = Server::start();
    let nvim = many(Setup::new().size(100, 40), &server);
    nvim.keys(":Caliban sessions<CR>");
    nvim.wait_screen("Type number and <Enter>");
    nvim.wait_screen("1: main  hello");
    nvim.wait_screen("31: All 301 …");
    nvim.wait_screen("32: Search …");
    assert!(!nvim.screen().contains("-- More --"), "{}", nvim.screen());
    nvim.keys("32<CR>");
    nvim.wait_screen("Search: ");
    nvim.keys("NUMBER 77 <CR>");
    nvim.wait_screen("1: s077  a long title number 77");
    assert!(!nvim.screen().contains("2: s"), "{}", nvim.screen());
    nvim.keys("1<CR>");
    nvim.wait_session("s077");
    nvim.wait_gone("Type number and <Enter>");
    nvim.keys(":Caliban sessions<CR>");
    nvim.wait_screen("32: Search …");
    nvim.keys("32<CR>");
    nvim.wait_screen("Search: ");
    nvim.keys("no such%<CR>");
    nvim.wait_screen("No entry contains \"no such%\".");
    nvim.keys(":Caliban sessions<CR>");
    nvim.wait_screen("31: All 301 …");
    nvim.keys("31<CR>");
    nvim.wait_screen("-- More --");
    nvim.keys("q<CR>");
}

#[test]
fn on_a_small_screen_the_list_causes_no_more_prompt() {
    let server = Server::start();
    let nvim = many(Setup::new().size(80, 20), &server);
    nvim.keys(":Caliban sessions<CR>");
    nvim.wait_screen("15: All 301 …");
    nvim.wait_screen("16: Search …");
    assert!(!nvim.screen().contains("-- More --"), "{}", nvim.screen());
    nvim.keys("<CR>");
}

#[test]
fn a_replaced_vim_ui_select_gets_all_items() {
    let server = Server::start();
    let picker = "vim.ui.select = function(items, opts, on)
        Given = { #items, opts.format_item(items[1]) }
        on(items[1])
      end";
    let nvim = many(Setup::new().size(100, 40).before(picker), &server);
    nvim.keys(":Caliban sessions<CR>");
    nvim.wait(|nvim| nvim.lua_str("return Given and Given[1]") == "301", "all 301 items");
    assert!(nvim.lua_str("return Given[2]").starts_with("main  hello "));
}

/// The title has combining characters and statusline items.
#[test]
fn a_title_of_a_hundred_thousand_characters_takes_one_row() {
    let server = Server::start();
    let nvim = Nvim::start(&Setup::new().anthropic(&server).size(100, 30));
    nvim.lua(
        "local items = {}
         for i = 1, 300 do items[i] = i .. ('e\u{301}%#Error#\\r'):rep(50000) end
         local shown = require('caliban.editor.name').shown
         vim.schedule(function()
           require('caliban.editor.pick').one(items, { prompt = 'x', cells = shown }, function() end)
         end)",
        &[],
    );
    nvim.wait_screen("26: Search …");
    assert!(!nvim.screen().contains("-- More --"), "{}", nvim.screen());
}
