//! Tests the list of models that the providers offer.

use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::kit::server::Server;
use crate::kit::setup::Setup;
use expect_test::expect;
use serde_json::{Value, json};

fn list(names: &[&str]) -> Reply {
    let data: Vec<Value> = names.iter().map(|it| json!({"id": it})).collect();
    Reply::raw(200, &[("content-type", "application/json")], json!({"data": data}).to_string())
}

/// Lua code that replaces `vim.ui.select`: it stores the items in `_G.items` and chooses the first that begins with
/// `g:choice`.
const CHOOSE: &str = "
    function vim.ui.select(items, opts, done)
      _G.items = vim.tbl_map(opts.format_item, items)
      for _, item in ipairs(items) do
        if vim.startswith(opts.format_item(item), vim.g.choice or ' ') then return done(item) end
      end
      done(nil)
    end";

#[test]
fn a_provider_that_fails_to_list_its_models_is_shown_as_one_entry_with_the_error() {
    let (first, second) = (Server::start(), Server::start());
    first.reply(list(&["claude-opus-5", "claude-sonnet-4-5", "claude-new"]));
    second.reply(Reply::error(500));
    second.reply(Reply::said("Another."));
    let setup = Setup::new().config("{ probe = false }").before(CHOOSE);
    let nvim = Nvim::start(&setup.anthropic(&first).openai(&second).size(160, 40));
    nvim.command("let g:choice = 'openai/gpt-'");
    nvim.keys(":Caliban<CR>");
    // the first status from the program names the current model
    nvim.wait_screen("anthropic/claude-sonnet-4-5 ·");
    nvim.keys("i/models<C-s>");
    nvim.wait_transcript("Model: openai/gpt-6.1-sol.");
    expect![[r#"
        anthropic/claude-sonnet-4-5  (now)  200k  images  $3/$15
        anthropic/claude-sonnet-5-5         1M    images  $2/$10
        anthropic/claude-new                200k
        anthropic/claude-opus-5             1M    images  $5/$25
        openai/gpt-6.1-sol                  1M    images  $2/$10
        ! openai: The provider had an internal error (500): “Internal server error”. Wait a little, then send again."#]]
    .assert_eq(&nvim.lua_str("return table.concat(_G.items, '\\n')"));
    assert_eq!(first.requests()[0].method, "GET");
    assert_eq!(first.requests()[0].path, "/v1/models?limit=1000");
    assert_eq!(second.requests()[0].path, "/v1/models");
    nvim.keys("<Esc>");
    nvim.ask("hello", "Another.");
    // choosing the failed provider in the list of `:Caliban model` shows its error
    first.reply(list(&["claude-sonnet-4-5"]));
    second.reply(Reply::error(500));
    nvim.command("let g:choice = '! openai'");
    nvim.keys(":Caliban model<CR>");
    nvim.wait_screen("openai: The provider had an internal error (500)");
    assert_eq!(first.take_refusals().len() + second.take_refusals().len(), 0);
}

#[test]
fn listing_models_without_a_provider_says_what_to_do() {
    let nvim = Nvim::start(&Setup::new().config("{ probe = false }"));
    nvim.keys(":Caliban<CR>:Caliban model<CR>");
    nvim.wait_screen("No provider has a key yet. :Caliban connect asks for one.");
}
