//! `/usage`: the tokens and the cost of the conversation, told to the user alone.

use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::kit::server::Server;
use crate::kit::setup::Setup;
use expect_test::expect;

/// Waits until the transcript has `times` notices about the usage of tokens, and returns the last notice.
fn told(nvim: &Nvim, times: usize) -> String {
    let usage = |nvim: &Nvim| nvim.transcript().matches("Tokens of this").count() == times;
    nvim.wait(usage, "the usage");
    let transcript = nvim.transcript();
    let (_, last) = transcript.rsplit_once("! ").unwrap();
    last.trim_end().to_owned()
}

#[test]
fn slash_usage_shows_the_tokens_and_the_cost() {
    let server = Server::start();
    server.reply(Reply::said("One.").usage(20_000, 1000));
    server.reply(Reply::said("Two.").usage(100, 500).cached(19_000, 900));
    let nvim = Nvim::start(&Setup::new().anthropic(&server));
    nvim.keys(":Caliban<CR>i/usage<C-s><Esc>");
    expect![[r#"
        Tokens of this conversation:
        in       0
        out      0
        context  0 of 200,000 (0 %)
        cost     none"#]]
    .assert_eq(&told(&nvim, 1));
    nvim.ask("one", "One.");
    nvim.ask("two", "Two.");
    nvim.keys("i/usage<C-s><Esc>");
    expect![[r#"
        Tokens of this conversation:
        in       40,000, cached 19,000 (48 %)
        out      1,500
        context  20,500 of 200,000 (10 %)
        cost     $0.09"#]]
    .assert_eq(&told(&nvim, 2));
    server.reply(Reply::said("Three."));
    nvim.ask("three", "Three.");
    assert!(!server.requests()[2].outline().contains("Tokens of this"));
}

#[test]
fn slash_usage_shows_an_unknown_price_as_not_known() {
    let server = Server::start();
    server.reply(Reply::said("One.").usage(2000, 10));
    let setup = Setup::new().env("CALIBAN_MODEL", "anthropic/claude-new").anthropic(&server);
    let nvim = Nvim::start(&setup);
    nvim.keys(":Caliban<CR>");
    nvim.ask("one", "One.");
    nvim.keys("i/usage<C-s><Esc>");
    expect![[r#"
        Tokens of this conversation:
        in       2,000
        out      10
        context  2,010 of 200,000 (1 %)
        cost     not known"#]]
    .assert_eq(&told(&nvim, 1));
}
