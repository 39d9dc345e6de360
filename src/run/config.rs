//! The settings of a run, from a JSON or TOML file with the keys of the Lua configuration. Any problem ends the run.

mod check;

use crate::nvim::wire::WireConfig;
use crate::regular;
use crate::site::places::config_dir;
use crate::text::cause;
use serde_json::{Map, Value, json};
use std::io::{self, BufRead};
use std::path::Path;

/// The settings of this file, else those of the user's own file, else the defaults. The error is for the user.
pub(super) fn load(given: Option<&Path>) -> Result<WireConfig, String> {
    let own = config_dir().join("config.json");
    let path = given.unwrap_or(&own);
    let text = match regular::read_to_string(path) {
        Err(fault) if given.is_none() && fault.kind() == io::ErrorKind::NotFound => {
            return wire(Map::new());
        }
        read => read.map_err(|fault| format!("{}: {}.", path.display(), cause(&fault)))?,
    };
    let is_toml = path.extension().is_some_and(|it| it == "toml");
    read(&text, is_toml).map_err(|why| format!("{}: {why}", path.display()))
}

/// The settings as Neovim sends them, in one line; its plugin has checked them.
pub(super) fn of_neovim(mut input: impl BufRead) -> Result<WireConfig, String> {
    let mut line = String::new();
    let read = input.read_line(&mut line);
    read.map_err(|it| format!("Neovim's settings cannot be read: {}.", cause(&it)))?;
    serde_json::from_str(&line).map_err(|it| format!("Neovim's settings cannot be used: {it}."))
}

/// Reads and checks settings. The error has a line for each problem.
fn read(text: &str, is_toml: bool) -> Result<WireConfig, String> {
    let parsed: Result<Value, String> = if is_toml {
        toml::from_str(text).map_err(|it| it.to_string())
    } else {
        serde_json::from_str(text).map_err(|it| it.to_string())
    };
    let Value::Object(settings) = parsed? else {
        return Err("the settings are not an object.".to_owned());
    };
    let problems = check::problems(&settings);
    if problems.is_empty() { wire(settings) } else { Err(problems.join("\n")) }
}

/// Adds the defaults, and converts values as the Lua configuration does.
fn wire(settings: Map<String, Value>) -> Result<WireConfig, String> {
    let mut all = json!({
        "mode": "ask", "resume": true, "debug": false, "no_system": false, "instructions": "ask",
        "probe": true, "titles": false, "pass_env": [], "safe_commands": true, "sandbox": true,
    });
    for (key, value) in settings {
        all[key] = value;
    }
    if let Some(is_on) = all["instructions"].as_bool() {
        all["instructions"] = json!(if is_on { "ask" } else { "never" });
    }
    if all["search"] == json!(false) {
        all["search"] = Value::Null;
    }
    let sandbox = all["sandbox"].clone();
    all["sandbox"] = json!({
        "enabled": sandbox != json!(false),
        "network": sandbox["network"] == json!(true),
        "writable": sandbox.get("writable").cloned().unwrap_or(json!([])),
    });
    serde_json::from_value(all).map_err(|it| format!("the settings cannot be used: {it}."))
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    #[test]
    fn settings_are_read_from_json_and_toml() {
        let json = r#"{ "model": "a/b", "mode": "auto", "limit": { "usd": 1 }, "trim": false, "layout": "right",
            "sandbox": { "network": true }, "permissions": [{ "allow": "shell", "command": "make" }],
            "search": { "provider": "brave", "key": "env:KEY" }, "notify": false,
            "providers": { "mine": { "dialect": "ollama", "models": ["x"] } } }"#;
        let toml = "model = 'a/b'\nmode = 'auto'\ntrim = false\nlayout = 'right'\nnotify = false\n[limit]\nusd = 1\n\
                    [search]\nprovider = 'brave'\nkey = 'env:KEY'\n[sandbox]\n\
                    network = true\n[[permissions]]\nallow = 'shell'\ncommand = 'make'\n[providers.mine]\n\
                    dialect = 'ollama'\nmodels = ['x']\n";
        let [json, toml] = [read(json, false).unwrap(), read(toml, true).unwrap()];
        assert_eq!(format!("{json:?}"), format!("{toml:?}"));
        assert!(json.sandbox.enabled && json.sandbox.network && json.safe_commands);
        assert_eq!(json.permissions.len(), 1);
        assert_eq!(json.limit.unwrap().usd, Some(1.0));
        assert_eq!(json.search.unwrap().provider.unwrap(), "brave");
        assert!(read(r#"{ "search": false }"#, false).unwrap().search.is_none());
    }

    #[test]
    fn each_problem_is_reported_with_its_path() {
        let text = r#"{ "modell": "x", "mode": "wild", "limit": { "usd": -1, "eur": 2 }, "temperature": 3, "titles": 1,
            "pass_env": ["A-B"], "permissions": [{ "alow": "shell" }, 3], "sandbox": { "net": true },
            "providers": { "mine": { "dialect": "x", "headers": { "authorization": "y" } } },
            "models": { "m": {}, "a/m": { "price": { "input": 1 } } }, "system": "a", "no_system": true,
            "search": { "provider": "searxng" }, "notify": true }"#;
        expect![[r#"
            limit.eur: there is no such setting.
            limit.usd: expected a number of US dollars above 0, got -1
            mode: expected 'plan', 'ask', 'auto-edit' or 'auto', got "wild"
            modell: there is no such setting. Did you mean `model`?
            models["a/m"].price.output: this setting is missing
            models["m"]: the name must be 'provider/model'
            notify: expected false or an object, got true
            pass_env: expected a list of variable names, got ["A-B"]
            permissions[1].alow: there is no such setting. Did you mean `allow`?
            permissions[2]: expected an object, got 3
            providers["mine"].dialect: expected 'anthropic', 'openai-chat', 'openai-responses', 'gemini' or 'ollama', got "x"
            providers["mine"].headers["authorization"]: Caliban sets this header
            sandbox.net: there is no such setting.
            search: expected false, or an object with `hosted` (a boolean), or with `provider` ('searxng', 'brave', 'tavily' or 'exa'), `url`, and `key` ('env:NAME' or 'cmd:COMMAND'); searxng needs the `url`, the others the `key`, got {"provider":"searxng"}
            temperature: expected a number from 0 to 2, got 3
            titles: expected a boolean, got 1
            system, system_file and no_system exclude each other"#]]
        .assert_eq(&read(text, false).unwrap_err());
        assert!(read("[]", false).unwrap_err().contains("not an object"));
        assert!(read("{", false).unwrap_err().contains("EOF"));
    }
}
