//! Tests the user's own HTTP headers: they are sent with every request, and their secrets are shown nowhere.

use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::kit::server::Server;
use crate::kit::setup::Setup;
use serde_json::json;

const PASS: &str = "pass-of-the-team-77";

const ALL: &str = "return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\\n')";

fn setup(server: &Server, headers: &str) -> Setup {
    let config = format!(
        "{{ probe = false, providers = {{ mine = {{ dialect = 'anthropic', base_url = '{}', key = 'env:MY_KEY',
           models = {{ 'm' }}, headers = {headers} }} }} }}",
        server.url()
    );
    Setup::new().config(&config).env("MY_KEY", "key-of-the-test").env("TEAM_PASS", PASS)
}

const TEAM: &str = "{ ['X-Team'] = 'blue', ['x-pass'] = 'env:TEAM_PASS',
    ['Anthropic-Beta'] = 'some-beta-2026-01-01' }";

#[test]
fn configured_headers_are_sent_and_their_secrets_shown_nowhere() {
    let server = Server::start();
    server.reply(Reply::new().call("c1", "shell", json!({"command": "echo [$TEAM_PASS]"})));
    server.reply(Reply::said("Done."));
    let nvim = Nvim::start(&setup(&server, TEAM));
    nvim.lua("require('caliban').ask(...)", &[format!("it is {PASS}").into()]);
    nvim.wait_phase("asking");
    nvim.wait_question();
    nvim.lua("require('caliban').approve()", &[]);
    nvim.wait_transcript("Done.");
    nvim.wait_phase("idle");
    for request in server.requests() {
        assert_eq!(request.header("x-team"), Some("blue"));
        assert_eq!(request.header("x-pass"), Some(PASS));
        assert_eq!(request.header("x-api-key"), Some("key-of-the-test"));
        assert_eq!(request.header("anthropic-beta"), Some("some-beta-2026-01-01"));
    }
    assert!(server.requests()[1].answer("c1").contains("[]"));
    nvim.keys(":Caliban request<CR>");
    nvim.wait(|nvim| nvim.lua_str(ALL).contains("it is [key]"), "the request");
    let shown = nvim.lua_str("return vim.wo.winbar");
    assert!(shown.contains("x-team: blue") && shown.contains("x-pass: removed"), "{shown}");
    assert!(!shown.contains(PASS) && !nvim.lua_str(ALL).contains(PASS), "{shown}");
    assert!(!nvim.setup.debug_log().contains(PASS));
}

#[test]
fn a_header_value_quoted_by_an_error_is_hidden() {
    let server = Server::start();
    let said = json!({"type": "error", "error": {"type": "invalid_request_error",
        "message": format!("no {PASS} here")}});
    server.reply(Reply::raw(400, &[("content-type", "application/json")], said.to_string()));
    let nvim = Nvim::start(&setup(&server, TEAM));
    nvim.ask("go", "The provider rejected the request (400): “no [key] here”.");
    assert!(!nvim.setup.debug_log().contains(PASS));
}

#[test]
fn no_request_is_sent_if_the_variable_of_a_configured_header_is_not_set() {
    let server = Server::start();
    let nvim = Nvim::start(&setup(&server, "{ ['x-team'] = 'env:NO_SUCH_TEAM' }"));
    let told = "The header `x-team` for mine cannot be sent: NO_SUCH_TEAM is not set.";
    nvim.ask("go", told);
    assert!(server.requests().is_empty());
}

#[test]
fn a_setting_for_the_authorization_header_is_refused() {
    let server = Server::start();
    let nvim = Nvim::start(&setup(&server, "{ Authorization = 'Bearer x' }"));
    nvim.keys(":Caliban<CR>");
    nvim.wait_screen(
        "caliban: config.providers.mine.headers.Authorization: this header holds the key; set key instead",
    );
}
