//! The spending limit from end to end: the question in the chat, and the requests after each answer.

use crate::kit::chat::{DIALECTS, assert_grows};
use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::kit::server::Server;
use crate::kit::setup::Setup;
use serde_json::json;

/// A reply with one `read` call. The provider counts `tokens` tokens in total.
fn reads(id: &str, tokens: u64) -> Reply {
    Reply::new().call(id, "read", json!({"path": "a.txt"})).usage(tokens - 10, 10)
}

fn start(setup: Setup, limit: &str) -> Nvim {
    let config = format!("{{ limit = {limit} }}");
    let nvim = Nvim::start(&setup.file("a.txt", "alpha\n").config(&config).size(150, 40));
    nvim.keys(":Caliban<CR>");
    nvim
}

/// Sends a prompt by keys and waits for a question about this limit, with the cursor in the transcript.
fn ask_up_to(nvim: &Nvim, prompt: &str, setting: &str) {
    nvim.keys(&format!("i{prompt}<C-s><Esc><C-w>k"));
    wait_question(nvim, setting);
}

fn wait_question(nvim: &Nvim, setting: &str) {
    nvim.wait_transcript(&format!("({setting}). Send the next request?"));
    nvim.wait_phase("asking");
    nvim.command("redraw");
    nvim.wait_question();
}

#[test]
fn the_turn_pauses_at_the_limit_and_goes_on_by_keys() {
    let server = Server::start();
    for (id, tokens) in [("c1", 1500), ("c2", 900), ("c3", 1200), ("c4", 1500)] {
        server.reply(reads(id, tokens));
    }
    server.reply(Reply::said("Over.").usage(10, 10));
    let nvim = start(Setup::new().anthropic(&server), "{ tokens = 2000 }");
    ask_up_to(&nvim, "go", "limit.tokens = 2000");
    nvim.wait_transcript("? The spending limit is reached: this conversation has used 2400 tokens");
    nvim.wait_screen("y once more   s no limit   n stop   e stop, because …");
    nvim.wait_screen("● waiting for you");
    assert_eq!(nvim.lua_str("return require('caliban').state().waiting_for"), "question");
    // while the question is open, a message stays in the queue and no request is sent
    nvim.lua("require('caliban').ask(...)", &["and more".into()]);
    nvim.wait_queue(1);
    assert_eq!(server.count(), 2);
    nvim.go_to_transcript("? The spending limit");
    nvim.wait_question();
    nvim.keys("y");
    nvim.wait_transcript("has used 2700 tokens since you allowed more");
    assert_eq!(server.count(), 4);
    server.reply(Reply::said("Over again.").usage(10, 10));
    nvim.go_to_transcript("? The spending limit");
    nvim.wait_question();
    nvim.keys("s");
    nvim.wait_transcript("Over again.");
    nvim.wait_phase("idle");
    assert!(!nvim.transcript().contains("spending limit is reached"), "{}", nvim.transcript());
    server.reply(Reply::said("Without a limit.").usage(9000, 10));
    nvim.ask("once more", "Without a limit.");
    assert_grows(server.requests());
    assert!(!server.requests().last().unwrap().outline().contains("spending limit"));
}

#[test]
fn the_limit_in_usd_stops_the_turn_and_also_applies_after_a_restart() {
    let server = Server::start();
    // this model costs 3 $ for a million input tokens
    server.reply(reads("c1", 400_010));
    let setup = Setup::new().anthropic(&server);
    let nvim = start(setup.clone(), "{ usd = 1, turn_usd = 5 }");
    ask_up_to(&nvim, "go", "limit.usd = 1");
    assert!(nvim.transcript().contains("this conversation has cost $1.20 (limit.usd = 1)"));
    nvim.keys("Gn");
    nvim.wait_transcript("! Stopped.");
    nvim.wait_phase("idle");
    nvim.quit_with(":qa<CR>");

    let nvim = start(setup.clone(), "{ usd = 1, turn_usd = 5 }");
    ask_up_to(&nvim, "again", "limit.usd = 1");
    // Killing Neovim discards the open question about the limit. The limit itself still applies after the restart.
    nvim.kill();
    let nvim = start(setup, "{ usd = 1, turn_usd = 5 }");
    nvim.wait_transcript("! Interrupted");
    assert!(!nvim.transcript().contains("spending limit is reached"));
    ask_up_to(&nvim, "and again", "limit.usd = 1");
    assert_eq!(server.count(), 1);
    server.reply(Reply::said("Fine."));
    nvim.keys("Gy");
    nvim.wait_transcript("Fine.");
}

#[test]
fn the_limit_of_a_turn_applies_in_each_mode_and_to_a_retry() {
    for mode in ["plan", "ask", "auto-edit", "auto"] {
        let server = Server::start();
        server.reply(reads("c1", 60));
        server.reply(Reply::error(429).header("retry-after", "60"));
        server.reply(reads("c2", 60));
        let nvim = start(Setup::new().anthropic(&server), "{ turn_tokens = 100 }");
        nvim.keys(&format!(":Caliban mode {mode}<CR>igo<C-s><Esc><C-w>k"));
        nvim.wait_phase("retrying");
        nvim.keys("Gr");
        wait_question(&nvim, "limit.turn_tokens = 100");
        assert_eq!(server.count(), 3, "{mode}");
        nvim.command("Caliban stop");
        nvim.wait_transcript("! Stopped.");
        // the next turn starts from zero
        server.reply(Reply::said("Next.").usage(20, 10));
        nvim.ask("next", "Next.");
        assert_grows(server.requests());
    }
}

#[test]
fn a_model_with_an_unknown_price_is_named_once_and_its_tokens_still_count() {
    let server = Server::start();
    server.reply(reads("c1", 600));
    server.reply(reads("c2", 600));
    let setup = Setup::new().env("CALIBAN_MODEL", "anthropic/claude-new").anthropic(&server);
    let nvim = start(setup, "{ usd = 0.001, tokens = 1000 }");
    ask_up_to(&nvim, "go", "limit.tokens = 1000");
    let told = "! The price of anthropic/claude-new is not known, so a limit in USD does not count its replies.";
    assert_eq!(nvim.transcript().matches(told).count(), 1, "{}", nvim.transcript());
    assert_eq!(server.count(), 2);
}

#[test]
fn requests_are_valid_after_a_pause_at_the_limit_in_each_dialect() {
    for dialect in DIALECTS {
        let server = Server::start();
        server.reply(reads("c1", 2400));
        let nvim = start(Setup::new().speaking(dialect, &server), "{ turn_tokens = 2000 }");
        ask_up_to(&nvim, "go", "limit.turn_tokens = 2000");
        assert_eq!(server.count(), 1);
        server.reply(reads("c2", 2400));
        nvim.keys("Gy");
        nvim.wait_transcript("since you allowed more");
        wait_question(&nvim, "limit.turn_tokens = 2000");
        assert_eq!(server.count(), 2);
        nvim.keys("Ge");
        nvim.wait_screen("No, because:");
        nvim.keys("too dear<CR>");
        nvim.wait_transcript("! Stopped.");
        nvim.wait_phase("idle");
        server.reply(Reply::said("Fine.").usage(10, 10));
        nvim.ask("and now?", "Fine.");
        let requests = server.requests();
        assert_eq!(requests.len(), 3);
        let last = requests[2].outline();
        assert!(last.contains("the spending limit was reached, and says: too dear"), "{last}");
        assert_eq!(requests[2].answers().len(), 2);
        assert_grows(requests);
    }
}

#[test]
fn a_wrong_limit_is_named_with_its_path() {
    let server = Server::start();
    let nvim = start(Setup::new().anthropic(&server), "{ usd = 0, token = 5, turn_tokens = 1.5 }");
    let problems = nvim.lua_str("return table.concat(require('caliban.config').problems(), '\\n')");
    for it in [
        "caliban: config.limit.usd: expected a number of US dollars above 0, got 0",
        "caliban: config.limit.token: there is no such setting. Did you mean 'tokens'?",
        "caliban: config.limit.turn_tokens: expected a number of tokens, got 1.5",
    ] {
        assert!(problems.contains(it), "{problems}");
    }
    server.reply(Reply::said("Without a limit.").usage(9000, 10));
    nvim.ask("go", "Without a limit.");
}
