//! A request as the user can see it: its tokens and costs, how long the provider has been silent, its exact text.

use crate::kit::chat::DIALECTS;
use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::kit::server::Server;
use crate::kit::setup::Setup;
use expect_test::expect;
use serde_json::Value;

const KEY: &str = "key-of-the-test";

#[test]
fn the_last_request_is_shown_as_it_was_sent_but_without_the_api_key() {
    for dialect in DIALECTS {
        let server = Server::start();
        server.reply(Reply::said("First."));
        server.reply(Reply::said("Second."));
        let nvim = Nvim::start(&Setup::new().speaking(dialect, &server).size(300, 60));
        nvim.keys(":Caliban<CR>:Caliban request<CR>");
        nvim.wait_screen("Nothing has been sent in this conversation since it was opened.");
        nvim.ask("one", "First.");
        nvim.ask("two \"quoted\" ✓", "Second.");
        nvim.keys(":Caliban request<CR>");
        nvim.wait_screen("POST http://127.0.0.1");
        let sent = server.requests().pop().unwrap();
        let body: Value = serde_json::from_slice(&sent.body).unwrap();
        assert_eq!(nvim.buffer("/request"), serde_json::to_string_pretty(&body).unwrap());
        let about = nvim.lua_str("return vim.wo.winbar");
        assert!(about.contains("content-type: application/json"), "{about}");
        assert!(about.contains(&sent.path.replace('%', "%%")), "{about}");
        assert_eq!(about.contains(": removed"), !dialect.is_local(), "{about}");
        assert!(!about.contains(KEY), "{about}");
        assert!(!nvim.screen().contains(KEY));
        let options = "local b = vim.bo return b.filetype .. tostring(b.modifiable) .. b.buftype";
        assert_eq!(nvim.lua_str(options), "jsonfalsenofile");
        // showing the request again uses the same window
        let windows = || nvim.lua_str("return #vim.api.nvim_tabpage_list_wins(0)");
        let before = windows();
        nvim.keys("gg:Caliban request<CR>");
        assert_eq!(windows(), before);
    }
}

#[test]
fn an_api_key_in_the_conversation_is_hidden_in_the_shown_request() {
    let server = Server::start();
    server.reply(Reply::said("Fine."));
    let nvim = Nvim::start(&Setup::new().anthropic(&server));
    nvim.ask(&format!("is {KEY} a key?"), "Fine.");
    nvim.keys(":vertical Caliban request<CR>");
    nvim.wait_screen("POST http://127");
    let body = nvim.buffer("/request");
    assert!(body.contains("is [key] a key?") && !body.contains(KEY), "{body}");
}

#[test]
fn the_tour_has_no_request_to_show() {
    let nvim = Nvim::start(&Setup::new().config("{ probe = false }"));
    nvim.ask("hello", "tour");
    nvim.keys(":Caliban request<CR>");
    nvim.wait_screen("The tour sends no requests.");
}

#[test]
fn the_winbar_shows_tokens_cache_and_cost() {
    let server = Server::start();
    server.reply(Reply::said("One.").usage(10_000, 1000).cached(0, 10_000));
    server.reply(Reply::said("Two.").usage(1000, 500).cached(19_000, 0));
    let setup = Setup::new().anthropic(&server).openai(&server).size(200, 30);
    let nvim = Nvim::start(&setup);
    let bar = || nvim.lua_str("return require('caliban').status(200)");
    nvim.ask("one", "One.");
    nvim.wait(|_| bar().contains("11%"), "the figures of the first turn");
    // the cost in USD: 0.01 million input tokens × 3 + 0.001 million output tokens × 15 + 0.01 million tokens written
    // to the cache × 3.75
    expect!["anthropic/claude-sonnet-4-5 · ask · ○ idle  21k/200k  11% · in 20k · out 1k · $0.08"]
        .assert_eq(&bar());
    nvim.ask("two", "Two.");
    nvim.wait(|_| bar().contains("cached 95%"), "the figures of the second turn");
    expect!["anthropic/claude-sonnet-4-5 · ask · ○ idle  20.5k/200k  10% · in 40k · out 1.5k · cached 95% · $0.10"].assert_eq(&bar());
    let cost = nvim.lua_str("return ('%.4f'):format(require('caliban').state().usage.cost)");
    assert_eq!(cost, "0.0987");
    nvim.quit_with(":qa!<CR>");
    // after a restart the costs are known, but not how much was cached
    let nvim = Nvim::start(&setup);
    nvim.keys(":Caliban<CR>");
    nvim.wait_screen("$0.10");
    assert!(!nvim.screen().contains("cached"));
    nvim.keys(":Caliban model openai/no-such<CR>");
    nvim.wait_transcript("Model: openai/no-such.");
    server.reply(Reply::said("Three."));
    nvim.ask("three", "Three.");
    nvim.wait_screen("$0.10+");
}

#[test]
fn the_winbar_shows_for_how_long_no_bytes_have_arrived() {
    let server = Server::start();
    let gate = server.reply(Reply::hang());
    let nvim = Nvim::start(&Setup::new().anthropic(&server));
    nvim.keys(":Caliban<CR>ihello<C-s>");
    nvim.wait_screen("● thinking");
    nvim.wait_screen("● no data for ");
    gate.finish();
    nvim.wait_transcript("late");
    nvim.wait_gone("no data for");
    nvim.wait_phase("idle");
}
