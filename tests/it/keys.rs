//! Tests API keys: how they are asked for, tried, stored and found again, and where they must never appear.

use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::kit::server::Server;
use crate::kit::setup::Setup;
use caliban::provider::endpoint;
use expect_test::expect;
use serde_json::json;
use std::os::unix::fs::PermissionsExt;

const KEY: &str = "sk-given-by-hand-1234";

fn models() -> Reply {
    let list = json!({"data": [{"id": "claude-sonnet-4-5"}, {"id": "claude-opus-5"}]});
    Reply::raw(200, &[("content-type", "application/json")], list.to_string())
}

/// A setup with the provider's address and without a key.
fn setup(server: &Server) -> Setup {
    Setup::new().config("{ probe = false }").env("ANTHROPIC_BASE_URL", &server.url()).size(200, 40)
}

/// Adds a fake keyring program that stores one key with its characters in reverse order.
fn with_ring(setup: Setup) -> Setup {
    let ring = setup.dir().join("ring");
    std::fs::create_dir_all(&ring).unwrap();
    let script = "#!/bin/sh\necho \"$@\" >> \"$RING/said\"\ncase $1 in\nstore) rev > \"$RING/kept\" ;;\nlookup) rev < \"$RING/kept\" ;;\nesac\n";
    let tool = ring.join("secret-tool");
    std::fs::write(&tool, script).unwrap();
    std::fs::set_permissions(&tool, std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", ring.display(), std::env::var("PATH").unwrap());
    setup.env("PATH", &path).env("RING", &ring.display().to_string())
}

const ALL: &str = "return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\\n')";

/// Checks that the key is nowhere in the editor, and on disk only in `keys.json`.
fn search(nvim: &Nvim) {
    let everything =
        "return table.concat({ vim.fn.execute('messages'), vim.fn.execute('history all'),
        vim.fn.execute('registers') }, '\\n')";
    let said = nvim.lua_str(everything);
    assert!(!said.contains(KEY), "{said}");
    assert!(!nvim.screen().contains(KEY), "{}", nvim.screen());
    for buffer in nvim.lua_json("return vim.api.nvim_list_bufs()").as_array().unwrap() {
        let text = nvim.lua_str(&format!(
            "return table.concat(vim.api.nvim_buf_get_lines({buffer}, 0, -1, false), '\\n')"
        ));
        assert!(!text.contains(KEY), "{text}");
    }
    nvim.command("wshada!");
    for entry in ignore::WalkBuilder::new(nvim.setup.dir()).hidden(false).build().flatten() {
        let bytes = std::fs::read(entry.path()).unwrap_or_default();
        let holds = String::from_utf8_lossy(&bytes).contains(KEY);
        let is_store = entry.path().ends_with("caliban/keys.json");
        assert!(!holds || is_store, "{}", entry.path().display());
    }
    for (_, command) in nvim.setup.processes() {
        assert!(!command.contains(KEY), "{command}");
    }
}

#[test]
fn connecting_asks_for_a_key_tries_it_and_stores_it() {
    let server = Server::start();
    server.reply(models());
    server.reply(Reply::said("At last."));
    let setup = setup(&server);
    let nvim = Nvim::start(&setup);
    nvim.keys(":Caliban<CR>");
    nvim.wait_screen("tour/offline");
    nvim.keys("i/connect anthropic<C-s>");
    nvim.wait_screen("Key for anthropic:");
    nvim.keys(&format!("{KEY}<CR>"));
    nvim.wait_transcript("Model: anthropic/");
    let file = setup.dir().join("data/caliban/keys.json");
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(server.requests()[0].header("x-api-key"), Some(KEY));
    nvim.keys("<Esc>");
    nvim.ask("hello", "At last.");
    assert_eq!(server.requests()[1].header("x-api-key"), Some(KEY));
    nvim.keys(":Caliban request<CR>");
    nvim.wait_screen("POST http");
    nvim.keys(":checkhealth caliban<CR>");
    nvim.wait(|nvim| nvim.lua_str(ALL).contains("anthropic: key stored in "), "the report");
    search(&nvim);
    nvim.quit_with(":qa!<CR>");
    // a restarted Neovim finds the stored key
    server.reply(Reply::said("Still there."));
    let nvim = Nvim::start(&setup);
    nvim.keys(":Caliban new<CR>");
    nvim.wait_screen("  (a stored key)");
    nvim.ask("hello", "Still there.");
    search(&nvim);
    nvim.quit_with(":qa!<CR>");
    // The environment takes precedence.
    server.reply(Reply::said("From the environment."));
    let nvim = Nvim::start(&setup.env("ANTHROPIC_API_KEY", "sk-of-the-environment"));
    nvim.ask("hello", "From the environment.");
    let last = server.requests().pop().unwrap();
    assert_eq!(last.header("x-api-key"), Some("sk-of-the-environment"));
}

#[test]
fn a_key_that_the_provider_refuses_is_not_stored() {
    let server = Server::start();
    let body = json!({"error": {"type": "authentication_error", "message": format!("bad {KEY}")}});
    let refused = Reply::raw(401, &[("content-type", "application/json")], body.to_string());
    server.reply(refused);
    let nvim = Nvim::start(&setup(&server));
    nvim.keys(":Caliban connect anthropic<CR>");
    nvim.wait_screen("Key for anthropic:");
    nvim.keys(&format!("{KEY}<CR>"));
    nvim.wait_screen(
        "anthropic refused the key: “bad [key]”. Check the key, then send again. The key was not stored.",
    );
    assert!(!nvim.setup.dir().join("data/caliban/keys.json").exists());
    search(&nvim);
}

#[test]
fn a_key_is_stored_in_the_keyring_and_never_passed_as_a_process_argument() {
    let server = Server::start();
    server.reply(models());
    server.reply(Reply::said("From the ring."));
    let setup = with_ring(setup(&server));
    let ring = setup.dir().join("ring");
    let nvim = Nvim::start(&setup);
    nvim.keys(":Caliban<CR><Esc>");
    nvim.wait_screen("tour/offline");
    nvim.keys(":Caliban connect anthropic<CR>");
    nvim.wait_screen("Key for anthropic:");
    nvim.keys(&format!("{KEY}<CR>"));
    nvim.wait_transcript("Model: anthropic/");
    nvim.ask("hello", "From the ring.");
    assert_eq!(server.requests()[1].header("x-api-key"), Some(KEY));
    let keys = std::fs::read_to_string(setup.dir().join("data/caliban/keys.json")).unwrap();
    assert_eq!(keys.split_whitespace().collect::<String>(), r#"{"anthropic":null}"#);
    let said = std::fs::read_to_string(ring.join("said")).unwrap();
    expect![[r#"
        store --label Caliban: anthropic service caliban provider anthropic
        lookup service caliban provider anthropic
        lookup service caliban provider anthropic
    "#]]
    .assert_eq(&said);
    search(&nvim);
}

#[test]
fn a_key_is_not_visible_while_typing_even_if_a_plugin_has_replaced_vim_ui_input() {
    let server = Server::start();
    server.reply(models());
    let ask = "vim.ui.input = function(opts, done)
        vim.g.asked = true
        done(vim.fn.input(opts.prompt))
    end";
    let nvim = Nvim::start(&setup(&server).before(ask));
    nvim.keys(":Caliban connect<CR>");
    nvim.wait_screen("1: anthropic");
    nvim.keys("1<CR>");
    nvim.wait_screen("Key for anthropic:");
    nvim.keys(KEY);
    nvim.wait_screen(&format!("Key for anthropic: {}", "*".repeat(KEY.len())));
    assert!(!nvim.screen().contains("given"), "{}", nvim.screen());
    nvim.keys("<CR>");
    nvim.wait_screen(
        "which only you can read. anthropic accepts the key and has 2 models: see /models.",
    );
    nvim.keys(":<CR>");
    assert_eq!(nvim.lua_str("return vim.g.asked"), "nil");
    let numbers = "return vim.fn.histnr('input') + vim.fn.histnr('search')";
    assert_eq!(nvim.lua_json(numbers), -2, "nothing is in these histories");
    search(&nvim);
}

#[test]
fn commands_of_the_model_have_no_api_key_in_their_environment() {
    let server = Server::start();
    server.reply(Reply::new().call(
        "c1",
        "shell",
        json!({"command": "env; tr '\\0' ' ' < /proc/$$/environ"}),
    ));
    server.reply(Reply::said("Seen."));
    let config = format!(
        "{{ model = 'mine/m', providers = {{ mine = {{ dialect = 'anthropic', base_url = '{}', key = 'env:MY_WORD' }} }} }}",
        server.url()
    );
    let setup = Setup::new().config(&config).env("MY_WORD", KEY).env("OPENAI_API_KEY", KEY);
    let nvim = Nvim::start(&setup);
    nvim.lua("require('caliban').ask('go')", &[]);
    nvim.wait_phase("asking");
    nvim.wait_question();
    nvim.lua("require('caliban').approve()", &[]);
    nvim.wait_transcript("Seen.");
    let answer = server.requests()[1].answer("c1");
    assert!(answer.contains("PATH=") && !answer.contains(KEY), "{answer}");
}

#[test]
fn if_the_user_pastes_a_key_that_comes_from_a_command_it_is_hidden_in_the_shown_request() {
    let server = Server::start();
    server.reply(Reply::said("Do not show it."));
    let config = format!(
        "{{ probe = false, providers = {{ mine = {{ dialect = 'anthropic', base_url = '{}',
           key = 'cmd:printf sk-of-the-command', models = {{ 'm' }} }} }} }}",
        server.url()
    );
    let nvim = Nvim::start(&Setup::new().config(&config));
    nvim.ask("my key is sk-of-the-command, yes", "Do not show it.");
    assert!(server.requests()[0].last_user_text().contains("sk-of-the-command"));
    nvim.keys(":Caliban request<CR>");
    nvim.wait(|nvim| nvim.lua_str(ALL).contains("my key is [key], yes"), "the request");
    assert!(!nvim.lua_str(ALL).contains("sk-of-the-command"));
}

/// The command that prints the key hangs, as it would when it waits for a password. It must not be run only to show a
/// request.
#[test]
fn showing_the_last_request_does_not_run_the_command_that_prints_the_key() {
    let server = Server::start();
    server.reply(Reply::said("Hi."));
    let config = format!(
        "{{ probe = false, model = 'mine/m', providers = {{
           mine = {{ dialect = 'anthropic', base_url = '{0}', key = 'cmd:echo run >> runs; echo sk-of-the-command' }},
           other = {{ dialect = 'anthropic', base_url = '{0}', key = 'cmd:echo run >> runs; sleep 60' }} }} }}",
        server.url()
    );
    let nvim = Nvim::start(&Setup::new().config(&config));
    nvim.ask("my key is sk-of-the-command, yes", "Hi.");
    nvim.keys(":Caliban request<CR>");
    nvim.wait(|nvim| nvim.lua_str(ALL).contains("my key is [key], yes"), "the request");
    assert_eq!(nvim.setup.on_disk("runs").as_deref(), Some("run\n"));
}

/// Tested with the key stored in the keyring and with the key stored in `keys.json`.
#[test]
fn if_the_user_pastes_a_stored_key_it_is_hidden_in_the_shown_request() {
    for in_ring in [true, false] {
        let server = Server::start();
        server.reply(models());
        server.reply(Reply::said("At last."));
        server.reply(Reply::said("Do not show it."));
        let setup = if in_ring { with_ring(setup(&server)) } else { setup(&server) };
        let nvim = Nvim::start(&setup);
        nvim.keys(":Caliban<CR><Esc>");
        nvim.wait_screen("tour/offline");
        nvim.keys(":Caliban connect anthropic<CR>");
        nvim.wait_screen("Key for anthropic:");
        nvim.keys(&format!("{KEY}<CR>"));
        nvim.wait_transcript("Model: anthropic/");
        nvim.ask("hello", "At last.");
        nvim.quit_with(":qa!<CR>");
        let nvim = Nvim::start(&setup);
        nvim.ask(&format!("my key is {KEY}, yes"), "Do not show it.");
        assert!(server.requests()[2].last_user_text().contains(KEY));
        nvim.keys(":Caliban request<CR>");
        nvim.wait(|nvim| nvim.lua_str(ALL).contains("my key is [key], yes"), "the request");
        assert!(!nvim.lua_str(ALL).contains(KEY));
    }
}

#[test]
fn the_warning_about_a_missing_key_disappears_when_the_user_enters_a_key() {
    let server = Server::start();
    server.reply(models());
    let nvim = Nvim::start(&setup(&server));
    nvim.keys(":Caliban<CR>i/models<C-s>");
    nvim.wait_screen("No provider has a key yet.");
    nvim.keys("<Esc>:Caliban connect anthropic<CR>");
    nvim.wait_screen("Key for anthropic:");
    nvim.keys(&format!("{KEY}<CR>"));
    nvim.wait_transcript("Model: anthropic/");
    nvim.wait(|nvim| !nvim.screen().contains("No provider has a key yet."), "the warning gone");
}

#[test]
fn the_connect_command_completes_the_names_of_providers() {
    let own = "{ providers = { mine = { base_url = 'http://127.0.0.1:1/v1' } } }";
    let nvim = Nvim::start(&Setup::new().config(own));
    let complete = "return vim.fn.getcompletion('Caliban connect ', 'cmdline')";
    let mut known =
        endpoint::names(&[("mine".to_owned(), endpoint::UserProvider::default())].into());
    known.retain(|it| !["ollama", "llamacpp", "lmstudio", "vllm"].contains(&it.as_str()));
    assert_eq!(nvim.lua_json(complete), json!(known));
    nvim.keys(":Caliban connect open<Tab><C-y><CR>");
    nvim.wait_screen("Key for openai:");
    nvim.keys("<C-c>");
}
