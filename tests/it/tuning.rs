//! How a model is asked: from the settings, and for the session.

use crate::kit::dialects::{DIALECTS, Dialect};
use crate::kit::nvim::Nvim;
use crate::kit::reply::Reply;
use crate::kit::server::Server;
use crate::kit::setup::Setup;
use expect_test::expect;
use serde_json::Value;

#[test]
fn the_limit_of_a_reply_is_the_sessions_the_models_the_settings_or_the_tables() {
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

/// What the dialects call the limit of a reply.
const LIMITS: [&str; 5] =
    ["max_tokens", "max_completion_tokens", "max_output_tokens", "maxOutputTokens", "num_predict"];

/// The first field of one of these names, at the top or one level below.
fn find<'a>(json: &'a Value, names: &[&str]) -> Option<&'a Value> {
    let top = json.as_object()?;
    let inner = top.values().filter_map(Value::as_object);
    let mut all = std::iter::once(top).chain(inner);
    all.find_map(|fields| names.iter().find_map(|name| fields.get(*name)))
}

/// The full name of the model that is chosen by itself.
fn model_of(dialect: &dyn Dialect) -> String {
    let server = Server::start();
    let nvim = Nvim::start(&Setup::new().speaking(dialect, &server));
    nvim.keys(":Caliban<CR>");
    nvim.wait_phase("idle");
    nvim.lua_str("return require('caliban').state().model")
}

#[test]
fn what_is_wrong_with_a_tuning_is_told_and_changes_nothing() {
    let server = Server::start();
    let nvim = Nvim::start(&Setup::new().anthropic(&server));
    nvim.keys(":Caliban<CR>:Caliban model thinkin=high<CR>");
    nvim.wait_screen("A model has no setting called thinkin. Did you mean thinking?");
    nvim.keys(":Caliban model temperature=warm<CR>");
    nvim.wait_screen("temperature is a number from 0 to 2, not `warm`.");
    nvim.keys(":Caliban model antropic/x<CR>");
    nvim.wait_screen("No provider is called antropic. Did you mean anthropic?");
    nvim.keys(":Caliban model thinking=h<Tab>");
    nvim.wait_screen(":Caliban model thinking=high");
    nvim.keys("<CR>");
    nvim.wait_transcript("Model: anthropic/claude-sonnet-4-5, thinking high.");
    assert!(!nvim.transcript().contains("warm"));
}

#[test]
fn what_is_wrong_in_the_settings_of_a_model_is_told_with_its_place() {
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
        caliban: config.models['a/c'].price.input: expected a number from 0 up, got -1
        caliban: config.models['a/c'].price.output: it is missing
        caliban: config.models['a/d'].window: expected a number of tokens, got 0.5
        caliban: config.models['plain']: its name is not 'provider/model'"#]]
    .assert_eq(&problems.join("\n"));
}
