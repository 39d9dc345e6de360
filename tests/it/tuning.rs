//! Parameters of requests to a model: from the settings, and changed for a session.

use crate::kit::dialects::{DIALECTS, Dialect};
use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::kit::server::Server;
use crate::kit::setup::Setup;
use expect_test::expect;
use serde_json::Value;

#[test]
fn the_token_limit_of_a_reply_is_the_sessions_else_the_models_else_the_general_one_else_the_default()
 {
    for dialect in DIALECTS.into_iter().filter(|it| !it.is_local()) {
        let server = Server::start();
        let limit = |config: &str, command: &str| {
            server.reply(Reply::said("Yes."));
            let nvim = Nvim::start(&Setup::new().config(config).speaking(dialect, &server));
            if !command.is_empty() {
                nvim.keys(&format!(":Caliban<CR>:Caliban model {command}<CR>"));
                nvim.wait_transcript("! Model: ");
            }
            nvim.ask("hello", "Yes.");
            let request = server.requests().pop().unwrap();
            find(&request.json, &LIMITS).and_then(Value::as_u64).unwrap()
        };
        let model = model_of(dialect);
        assert_eq!(limit("{}", ""), 32_000);
        assert_eq!(limit("{ max_output = 9000 }", ""), 9000);
        let own = format!(
            "{{ max_output = 9000, models = {{ ['{model}'] = {{ max_output = 8000 }} }} }}"
        );
        assert_eq!(limit(&own, ""), 8000);
        assert_eq!(limit(&own, "max_output=700"), 700);
        assert_eq!(limit(&own, &format!("{model} max_output=9999")), 8000);
    }
}

#[test]
fn thinking_and_temperature_are_sent_in_the_fields_of_each_model() {
    let of = |setup: Setup, server: &Server, command: &str| {
        server.reply(Reply::said("Yes."));
        let nvim = Nvim::start(&setup);
        nvim.keys(&format!(":Caliban<CR>:Caliban model {command}<CR>"));
        nvim.wait_transcript("! Model: ");
        nvim.ask("hello", "Yes.");
        let json = server.requests().pop().unwrap().json;
        let fields = ["thinking", "output_config", "reasoning", "reasoning_effort", "temperature"];
        let said = fields.iter().filter_map(|it| Some(format!("{it}: {}", json.get(it)?)));
        let told = nvim.transcript();
        let told = told.lines().filter(|it| it.starts_with("! ")).map(str::to_owned);
        told.chain(said).collect::<Vec<_>>().join("\n")
    };
    let server = Server::start();
    let anthropic = || Setup::new().anthropic(&server);
    expect![[r#"
        ! Model: anthropic/claude-sonnet-4-5, thinking high, temperature 0.2.
        thinking: {"type":"enabled","budget_tokens":16384}"#]]
    .assert_eq(&of(anthropic(), &server, "thinking=high temperature=0.2"));
    expect![[r#"
        ! Model: anthropic/claude-sonnet-4-5, temperature 0.2.
        temperature: 0.2"#]]
    .assert_eq(&of(anthropic(), &server, "temperature=0.2"));
    expect![[r#"
        ! Model: anthropic/claude-opus-5, temperature 0.2.
        ! Caliban does not know whether anthropic/claude-opus-5 accepts a setting for temperature, so Caliban sends none.
        thinking: {"type":"adaptive","display":"summarized"}"#]]
    .assert_eq(&of(anthropic(), &server, "anthropic/claude-opus-5 temperature=0.2"));
    let openai = || Setup::new().openai(&server);
    expect![[r#"
        ! Model: openai/gpt-5, thinking low, temperature 0.2.
        ! Caliban does not know whether openai/gpt-5 accepts a setting for temperature, so Caliban sends none.
        reasoning_effort: "low""#]]
    .assert_eq(&of(openai(), &server, "thinking=low temperature=0.2"));
    expect![[r#"
        ! Model: openai/gpt-4o, thinking low, temperature 0.2.
        ! The system prompt was replaced. The model reads the whole conversation again.
        ! Caliban does not know whether openai/gpt-4o accepts a setting for thinking, so Caliban sends none.
        temperature: 0.2"#]]
    .assert_eq(&of(openai(), &server, "openai/gpt-4o thinking=low temperature=0.2"));
    // settings for one model take precedence over settings for all
    let config =
        "{ thinking = 'low', models = { ['anthropic/claude-sonnet-4-5'] = { thinking = 'max' },
        ['anthropic/own'] = { window = 50000, price = { input = 1, output = 2.5 } }, ['anthropic/none'] = {} } }";
    let own = || anthropic().config(config);
    expect![[r#"
        ! Model: anthropic/claude-sonnet-4-5.
        thinking: {"type":"enabled","budget_tokens":24000}"#]]
    .assert_eq(&of(own(), &server, "anthropic/claude-sonnet-4-5"));
    expect![[r#"
        ! Model: anthropic/claude-haiku-4-5.
        thinking: {"type":"enabled","budget_tokens":2048}"#]]
    .assert_eq(&of(own(), &server, "anthropic/claude-haiku-4-5"));
}

#[test]
fn the_context_window_reply_limit_and_price_that_the_user_sets_for_a_model_are_used() {
    let server = Server::start();
    server.reply(Reply::said("Yes.").usage(5000, 20_000));
    let config = "{ model = 'anthropic/own', models = { ['anthropic/own'] =
        { window = 50000, max_output = 77, price = { input = 10, output = 2.5 } }, ['anthropic/none'] = {} } }";
    let nvim = Nvim::start(&Setup::new().anthropic(&server).config(config));
    nvim.ask("hello", "Yes.");
    // the cost in USD: 0.005 million input tokens × 10 + 0.02 million output tokens × 2.5
    let line = "anthropic/own · ask · ○ idle  25k/50k  50% · in 5k · out 20k · $0.10";
    nvim.wait(|nvim| nvim.lua_str("return require('caliban').status(200)") == line, line);
    assert_eq!(server.requests()[0].json["max_tokens"], 77);
}

#[test]
fn a_model_that_cannot_stop_thinking_gets_low_effort_and_a_notice() {
    let server = Server::start();
    server.reply(Reply::said("One."));
    let nvim = Nvim::start(&Setup::new().anthropic(&server));
    nvim.keys(":Caliban<CR>:Caliban model anthropic/claude-sonnet-5-5 thinking=off<CR>");
    nvim.wait_transcript("The thinking of anthropic/claude-sonnet-5-5 cannot be turned off");
    nvim.ask("one", "One.");
    let body = &server.requests()[0].json;
    assert_eq!(body["thinking"]["type"], "adaptive");
    assert_eq!(body["output_config"]["effort"], "low");
}

#[test]
fn model_settings_of_a_session_survive_a_restart() {
    let server = Server::start();
    server.reply(Reply::said("One."));
    server.reply(Reply::said("Two."));
    let setup = Setup::new().anthropic(&server);
    let nvim = Nvim::start(&setup);
    nvim.keys(":Caliban<CR>:Caliban model temperature=0.25<CR>");
    nvim.wait_transcript("Model: anthropic/claude-sonnet-4-5, temperature 0.25.");
    nvim.ask("one", "One.");
    nvim.quit_with(":qa!<CR>");
    let nvim = Nvim::start(&setup);
    nvim.ask("two", "Two.");
    assert_eq!(server.requests()[1].json["temperature"], 0.25);
}

/// The names that the dialects give the field for the token limit of a reply.
const LIMITS: [&str; 5] =
    ["max_tokens", "max_completion_tokens", "max_output_tokens", "maxOutputTokens", "num_predict"];

/// The first field with one of these names, at the top level of the JSON or one level below.
fn find<'a>(json: &'a Value, names: &[&str]) -> Option<&'a Value> {
    let top = json.as_object()?;
    let inner = top.values().filter_map(Value::as_object);
    let mut all = std::iter::once(top).chain(inner);
    all.find_map(|fields| names.iter().find_map(|name| fields.get(*name)))
}

/// The full name of the model that Caliban chooses by default.
fn model_of(dialect: &dyn Dialect) -> String {
    let server = Server::start();
    let nvim = Nvim::start(&Setup::new().speaking(dialect, &server));
    nvim.keys(":Caliban<CR>");
    nvim.wait_phase("idle");
    nvim.lua_str("return require('caliban').state().model")
}

#[test]
fn a_wrong_model_setting_by_command_changes_nothing() {
    let server = Server::start();
    let nvim = Nvim::start(&Setup::new().anthropic(&server));
    nvim.keys(":Caliban<CR>:Caliban model thinkin=high<CR>");
    nvim.wait_screen("A model has no setting called thinkin. Did you mean thinking?");
    nvim.keys(":Caliban model temperature=warm<CR>");
    nvim.wait_screen("temperature must be a number from 0 to 2, not warm.");
    nvim.keys(":Caliban model antropic/x<CR>");
    nvim.wait_screen("No provider is called antropic. Did you mean anthropic?");
    nvim.keys(":Caliban model thinking=h<Tab>");
    nvim.wait_screen(":Caliban model thinking=high");
    nvim.keys("<CR>");
    nvim.wait_transcript("Model: anthropic/claude-sonnet-4-5, thinking high.");
    assert!(!nvim.transcript().contains("warm"));
}

#[test]
fn wrong_model_settings_are_reported_by_path() {
    let config = "{ temperature = 3, thinking = 'hard', models = {
        plain = {}, ['a/b'] = { windows = 1 }, ['a/c'] = { price = { input = -1 } }, ['a/d'] = { window = 0.5 },
        ['a/e'] = {} } }";
    let nvim = Nvim::start(&Setup::new().headless());
    let check =
        format!("local _, problems = require('caliban.config').check({config}) return problems");
    let problems: Vec<String> = serde_json::from_value(nvim.lua_json(&check)).unwrap();
    expect![[r#"
        caliban: config.temperature: expected a number from 0 to 2, got 3
        caliban: config.thinking: expected 'off', 'low', 'medium', 'high' or 'max', got 'hard'
        caliban: config.models['a/b'].windows: there is no such setting. Did you mean 'window'?
        caliban: config.models['a/c'].price.input: expected a number of at least 0, got -1
        caliban: config.models['a/c'].price.output: this setting is missing
        caliban: config.models['a/d'].window: expected a number of tokens, got 0.5
        caliban: config.models['plain']: the name must be 'provider/model'"#]]
    .assert_eq(&problems.join("\n"));
}
