#![expect(clippy::needless_raw_string_hashes, reason = "the form in which expect-test writes them")]
#![expect(clippy::needless_pass_by_value, reason = "an expectation is written in the call")]

use super::*;
use crate::text::secret;
use expect_test::{Expect, expect};

fn users(json: &str) -> BTreeMap<String, UserProvider> {
    serde_json::from_str(json).unwrap()
}

/// Shows the endpoint that is chosen for `choice`, with these environment variables (`NAME=value`, separated by spaces)
/// and these configured providers.
fn shown(choice: &str, variables: &str, providers: &str) -> String {
    let env = |name: &str| {
        let mut pairs = variables.split(' ').filter_map(|pair| pair.split_once('='));
        pairs.find(|(key, _)| *key == name).map(|(_, value)| value.to_owned())
    };
    match resolve((!choice.is_empty()).then_some(choice), &users(providers), &env) {
        Ok(chosen) => {
            let endpoint = chosen.endpoint;
            let url = endpoint.dialect.url(&endpoint.base_url, &chosen.model);
            format!("{} {} {url} {:?}", endpoint.name, chosen.model, endpoint.key)
        }
        Err(Unresolved::Nothing) => "nothing".to_owned(),
        Err(Unresolved::Wrong(sentence)) => sentence,
    }
}

#[track_caller]
fn check(cases: &[(&str, &str, &str)], expected: Expect) {
    let lines = cases
        .iter()
        .map(|(choice, variables, providers)| shown(choice, variables, providers) + "\n");
    expected.assert_eq(&lines.collect::<String>());
}

#[test]
fn without_a_chosen_model_the_first_provider_with_a_key_is_used() {
    check(
        &[
            ("", "", "{}"),
            ("", "ANTHROPIC_API_KEY= OPENAI_API_KEY=o", "{}"),
            ("", "XAI_API_KEY=x OPENAI_API_KEY=o ANTHROPIC_API_KEY=a", "{}"),
            ("", "MISTRAL_API_KEY=m", "{}"),
            ("", "OLLAMA_HOST=127.0.0.1", "{}"),
            ("", "CALIBAN_MODEL=groq/openai/gpt-oss-20b ANTHROPIC_API_KEY=a", "{}"),
            (
                "",
                "ANTHROPIC_API_KEY=a",
                r#"{"mine":{"base_url":"http://127.0.0.1:9/v1","models":["big","small"]}}"#,
            ),
        ],
        expect![[r#"
            nothing
            openai gpt-6.1-sol https://api.openai.com/v1/responses Env(OPENAI_API_KEY)
            anthropic claude-sonnet-5-5 https://api.anthropic.com/v1/messages Env(ANTHROPIC_API_KEY)
            mistral devstral-medium-latest https://api.mistral.ai/v1/chat/completions Env(MISTRAL_API_KEY)
            nothing
            groq openai/gpt-oss-20b https://api.groq.com/openai/v1/chat/completions Env(GROQ_API_KEY)
            mine big http://127.0.0.1:9/v1/chat/completions None
        "#]],
    );
}

#[test]
fn a_model_setting_names_a_provider_and_optionally_its_model() {
    check(
        &[
            ("anthropic/claude-opus-4-5", "CALIBAN_MODEL=openai/gpt-5", "{}"),
            ("anthropic", "", "{}"),
            ("openrouter/anthropic/claude-sonnet-4.5", "", "{}"),
            ("gemini", "", "{}"),
            ("ollama/qwen3:8b", "", "{}"),
            ("ollama", "", "{}"),
            ("gpt-5", "", r#"{"mine":{}}"#),
            (
                "mine/m",
                "",
                r#"{"mine":{"dialect":"anthropic","base_url":"https://relay.example/v1/","key":"env:MY_KEY"}}"#,
            ),
            (
                "mine/m",
                "",
                r#"{"mine":{"base_url":"https://relay.example","key":"cmd:pass show relay"}}"#,
            ),
            ("mine/m", "", r#"{"mine":{"dialect":"gopher","base_url":"https://relay.example"}}"#),
            ("mine/m", "", r#"{"mine":{}}"#),
            ("mine/m", "", r#"{"mine":{"base_url":"https://relay.example","key":"sk-secret"}}"#),
            ("openai/gpt-5", "", r#"{"openai":{"key":"cmd:pass show openai"}}"#),
        ],
        expect![[r#"
            anthropic claude-opus-4-5 https://api.anthropic.com/v1/messages Env(ANTHROPIC_API_KEY)
            anthropic claude-sonnet-5-5 https://api.anthropic.com/v1/messages Env(ANTHROPIC_API_KEY)
            openrouter anthropic/claude-sonnet-4.5 https://openrouter.ai/api/v1/chat/completions Env(OPENROUTER_API_KEY)
            gemini gemini-3.8-flash https://generativelanguage.googleapis.com/v1beta/models/gemini-3.8-flash:streamGenerateContent?alt=sse Env(GEMINI_API_KEY)
            ollama qwen3:8b http://127.0.0.1:11434/api/chat None
            No model of ollama is chosen. Write ollama/MODEL.
            No provider is called gpt-5. The providers are: anthropic, openai, gemini, openrouter, groq, deepseek, mistral, xai, together, cerebras, fireworks, moonshot, zai, nvidia, huggingface, azure, ollama, llamacpp, lmstudio, vllm, mine.
            mine m https://relay.example/v1/messages Env(MY_KEY)
            mine m https://relay.example/v1/chat/completions Command
            Provider mine: no dialect is called gopher; the dialects are anthropic, openai-chat, openai-responses, gemini and ollama.
            Provider mine: it needs a base_url.
            Provider mine: write a key as `env:NAME` or `cmd:COMMAND`, never the key itself.
            openai gpt-5 https://api.openai.com/v1/responses Command
        "#]],
    );
}

#[test]
fn base_urls_are_accepted_with_or_without_version_path_and_slash() {
    check(
        &[
            ("anthropic", "ANTHROPIC_BASE_URL=http://127.0.0.1:4000", "{}"),
            ("anthropic", "ANTHROPIC_BASE_URL=http://localhost:4000/v1/", "{}"),
            ("anthropic", "ANTHROPIC_BASE_URL=https://relay.example/claude/v1/messages", "{}"),
            ("openai", "OPENAI_BASE_URL=http://[::1]:4000/v1", "{}"),
            ("openai", "OPENAI_BASE_URL=https://relay.example", "{}"),
            ("gemini", "GOOGLE_GEMINI_BASE_URL=http://127.0.0.1:4000/", "{}"),
            ("gemini", "GOOGLE_GEMINI_BASE_URL=http://127.0.0.1:4000/v1beta", "{}"),
            ("gemini", "GOOGLE_GEMINI_BASE_URL=http://127.0.0.1:4000/v1beta/openai/", "{}"),
            ("gemini", "", r#"{"gemini":{"base_url":"https://relay.example/v1beta/models"}}"#),
            ("gemini", "", r#"{"gemini":{"dialect":"openai-chat"}}"#),
            ("ollama/m", "OLLAMA_HOST=0.0.0.0", "{}"),
            ("ollama/m", "OLLAMA_HOST=:9999", "{}"),
            ("ollama/m", "OLLAMA_HOST=gpu.lan:9999", "{}"),
            ("ollama/m", "OLLAMA_HOST=https://gpu.example/", "{}"),
            ("ollama/m", "OLLAMA_HOST=:9999", r#"{"ollama":{"dialect":"openai-chat"}}"#),
            (
                "mine/m",
                "",
                r#"{"mine":{"dialect":"ollama","base_url":"http://gpu.lan:1/api/chat"}}"#,
            ),
            ("gemini/models/gemini-2.5-flash", "", "{}"),
        ],
        expect![[r#"
            anthropic claude-sonnet-5-5 http://127.0.0.1:4000/v1/messages Env(ANTHROPIC_API_KEY)
            anthropic claude-sonnet-5-5 http://localhost:4000/v1/messages Env(ANTHROPIC_API_KEY)
            anthropic claude-sonnet-5-5 https://relay.example/claude/v1/messages Env(ANTHROPIC_API_KEY)
            openai gpt-6.1-sol http://[::1]:4000/v1/chat/completions Env(OPENAI_API_KEY)
            openai gpt-6.1-sol https://relay.example/v1/chat/completions Env(OPENAI_API_KEY)
            gemini gemini-3.8-flash http://127.0.0.1:4000/v1beta/models/gemini-3.8-flash:streamGenerateContent?alt=sse Env(GEMINI_API_KEY)
            gemini gemini-3.8-flash http://127.0.0.1:4000/v1beta/models/gemini-3.8-flash:streamGenerateContent?alt=sse Env(GEMINI_API_KEY)
            gemini gemini-3.8-flash http://127.0.0.1:4000/v1beta/models/gemini-3.8-flash:streamGenerateContent?alt=sse Env(GEMINI_API_KEY)
            gemini gemini-3.8-flash https://relay.example/v1beta/models/gemini-3.8-flash:streamGenerateContent?alt=sse Env(GEMINI_API_KEY)
            gemini gemini-3.8-flash https://generativelanguage.googleapis.com/v1beta/openai/chat/completions Env(GEMINI_API_KEY)
            ollama m http://127.0.0.1:11434/api/chat None
            ollama m http://127.0.0.1:9999/api/chat None
            ollama m http://gpu.lan:9999/api/chat None
            ollama m https://gpu.example/api/chat None
            ollama m http://127.0.0.1:9999/v1/chat/completions None
            mine m http://gpu.lan:1/api/chat None
            gemini models/gemini-2.5-flash https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse Env(GEMINI_API_KEY)
        "#]],
    );
}

#[test]
fn azure_addresses_are_accepted_with_or_without_deployment_and_version() {
    let at = |base: &str| format!(r#"{{"azure":{{"base_url":"{base}"}}}}"#);
    let deployment = "https://me.openai.azure.com/openai/deployments/gpt/chat/completions?api-version=2024-10-21";
    let host = "AZURE_OPENAI_ENDPOINT=https://me.openai.azure.com/";
    check(
        &[
            ("azure/gpt", host, "{}"),
            ("azure/gpt", &format!("{host} AZURE_OPENAI_API_VERSION=2024-10-21"), "{}"),
            ("azure/gpt", &format!("{host} AZURE_OPENAI_API_VERSION=preview"), "{}"),
            ("azure/gpt", &format!("{host}openai/v1/ AZURE_OPENAI_API_VERSION=2024-10-21"), "{}"),
            ("azure/gpt", "AZURE_OPENAI_ENDPOINT=http://me.openai.azure.com", "{}"),
            ("azure", host, "{}"),
            ("azure/gpt", "", "{}"),
            ("azure/gpt", "", &at("https://me.openai.azure.com/openai/v1")),
            (
                "azure/gpt",
                "",
                &at("https://me.services.ai.azure.com/openai/v1?api-version=preview"),
            ),
            ("azure/gpt", "", &at(deployment)),
            ("azure/gpt", "", &at("https://me.openai.azure.com/openai/deployments/other")),
            ("azure/gpt", "", &at("https://me.openai.azure.com?api-version=1&key=hunter2")),
            ("azure/gpt", "", &at("https://relay.example/azure")),
            (
                "azure/gpt",
                "AZURE_OPENAI_ENDPOINT=http://127.0.0.1:9 AZURE_OPENAI_API_VERSION=2024-10-21",
                "{}",
            ),
            (
                "mine/gpt",
                "",
                r#"{"mine":{"dialect":"openai-responses","base_url":"https://me.openai.azure.com?api-version=2025-04-01-preview","key":"env:K"}}"#,
            ),
        ],
        expect![[r#"
            azure gpt https://me.openai.azure.com/openai/v1/chat/completions Env(AZURE_OPENAI_API_KEY)
            azure gpt https://me.openai.azure.com/openai/deployments/gpt/chat/completions?api-version=2024-10-21 Env(AZURE_OPENAI_API_KEY)
            azure gpt https://me.openai.azure.com/openai/v1/chat/completions?api-version=preview Env(AZURE_OPENAI_API_KEY)
            azure gpt https://me.openai.azure.com/openai/v1/chat/completions Env(AZURE_OPENAI_API_KEY)
            Provider azure: plain HTTP would expose the key on the way to me.openai.azure.com; use https, or set providers.azure.base_url.
            No model of azure is chosen. Write azure/MODEL.
            Provider azure: it needs a base_url.
            azure gpt https://me.openai.azure.com/openai/v1/chat/completions Env(AZURE_OPENAI_API_KEY)
            azure gpt https://me.services.ai.azure.com/openai/v1/chat/completions?api-version=preview Env(AZURE_OPENAI_API_KEY)
            azure gpt https://me.openai.azure.com/openai/deployments/gpt/chat/completions?api-version=2024-10-21 Env(AZURE_OPENAI_API_KEY)
            Provider azure: its base URL needs `?api-version=` and a version at its end.
            Provider azure: its base URL must have no password and nothing after `?` or `#`.
            azure gpt https://relay.example/azure/chat/completions Env(AZURE_OPENAI_API_KEY)
            azure gpt http://127.0.0.1:9/openai/deployments/gpt/chat/completions?api-version=2024-10-21 Env(AZURE_OPENAI_API_KEY)
            mine gpt https://me.openai.azure.com/openai/responses?api-version=2025-04-01-preview Env(K)
        "#]],
    );
}

#[test]
fn only_openais_own_server_uses_the_responses_dialect_by_default() {
    check(
        &[
            ("openai", "OPENAI_BASE_URL=https://api.openai.com/v1/", "{}"),
            ("openai", "OPENAI_BASE_URL=https://api.openai.com/v1/responses", "{}"),
            ("openai", "", r#"{"openai":{"dialect":"openai-chat"}}"#),
            ("openai", "", r#"{"openai":{"base_url":"https://relay.example"}}"#),
            (
                "openai",
                "OPENAI_BASE_URL=https://relay.example",
                r#"{"openai":{"dialect":"openai-responses"}}"#,
            ),
            (
                "openai",
                "",
                r#"{"openai":{"dialect":"openai-responses","base_url":"https://relay.example/v1/responses"}}"#,
            ),
        ],
        expect![[r#"
            openai gpt-6.1-sol https://api.openai.com/v1/responses Env(OPENAI_API_KEY)
            openai gpt-6.1-sol https://api.openai.com/v1/responses Env(OPENAI_API_KEY)
            openai gpt-6.1-sol https://api.openai.com/v1/chat/completions Env(OPENAI_API_KEY)
            openai gpt-6.1-sol https://relay.example/v1/chat/completions Env(OPENAI_API_KEY)
            openai gpt-6.1-sol https://relay.example/v1/responses Env(OPENAI_API_KEY)
            openai gpt-6.1-sol https://relay.example/v1/responses Env(OPENAI_API_KEY)
        "#]],
    );
}

#[test]
fn wrong_base_urls_are_refused() {
    check(
        &[
            ("openai", "OPENAI_BASE_URL=http://relay.example/v1", "{}"),
            ("openai", "OPENAI_BASE_URL=https://me:hunter2@relay.example/v1", "{}"),
            ("openai", "OPENAI_BASE_URL=https://relay.example/v1?key=hunter2", "{}"),
            ("openai", "OPENAI_BASE_URL=file:///etc/passwd", "{}"),
            ("openai", "OPENAI_BASE_URL=relay.example", "{}"),
            ("openai", "", r#"{"openai":{"base_url":"http://relay.example/v1"}}"#),
        ],
        expect![[r#"
            Provider openai: plain HTTP would expose the key on the way to relay.example; use https, or set providers.openai.base_url.
            Provider openai: its base URL must have no password and nothing after `?` or `#`.
            Provider openai: its base URL must have no password and nothing after `?` or `#`.
            Provider openai: its base URL must begin with https:// or http://.
            Provider openai: its base URL cannot be read (relative URL without a base).
            openai gpt-6.1-sol http://relay.example/v1/chat/completions Env(OPENAI_API_KEY)
        "#]],
    );
}

#[test]
fn the_quirks_of_openai_apply_only_at_openais_and_azures_addresses() {
    let quirks = |variables: &'static str| {
        let env =
            move |name: &str| variables.strip_prefix(name)?.strip_prefix('=').map(str::to_owned);
        named("openai", &BTreeMap::new(), &env).unwrap().quirks.completion_tokens
    };
    assert!(quirks(""));
    assert!(quirks("OPENAI_BASE_URL=https://api.openai.com/v1/"));
    assert!(!quirks("OPENAI_BASE_URL=http://127.0.0.1:9/v1"));
    assert!(quirks("OPENAI_BASE_URL=https://me.openai.azure.com"));
}

#[test]
fn the_context_window_of_an_unknown_model_is_not_guessed() {
    let facts = |choice: &str| resolve(Some(choice), &BTreeMap::new(), &|_| None).unwrap().facts;
    assert_eq!(facts("anthropic").window, 1_000_000);
    assert_eq!(facts("lmstudio/llama-3.3").window, 0);
    assert_eq!(facts("ollama/llama-3.3").window, 65_536, "what it is told to give");
}

#[test]
fn a_built_in_provider_that_the_user_also_configures_is_listed_once() {
    let names = names(&users(r#"{"mine":{},"openai":{}}"#));
    assert_eq!(names.iter().filter(|name| *name == "openai").count(), 1);
    assert_eq!(names.last().map(String::as_str), Some("mine"));
}

/// The list of providers in the help has to name the current default models.
#[test]
fn the_help_names_the_default_model_of_each_provider() {
    let mut text = String::new();
    let help = include_str!("../../../doc/caliban.txt");
    for row in TABLE.iter().filter(|row| row.has_default()) {
        let model = row.default_model();
        let is_told =
            |line: &str| line.split_whitespace().take(3).eq([row.name, row.key, model.as_str()]);
        assert!(help.lines().any(is_told), "{} {model} is not in the help", row.name);
        text.push_str(&format!("{} {model}\n", row.name));
    }
    expect![[r#"
        anthropic claude-sonnet-5-5
        openai gpt-6.1-sol
        gemini gemini-3.8-flash
        openrouter anthropic/claude-sonnet-5.5
        groq openai/gpt-oss-120b
        deepseek deepseek-v4-pro
        mistral devstral-medium-latest
        xai grok-code-fast-1
        together openai/gpt-oss-120b
        cerebras gpt-oss-120b
    "#]]
    .assert_eq(&text);
}

/// A key in the output of a command is recognised only by its form, so the forms of all providers' keys have to be
/// known.
#[test]
fn each_provider_has_a_known_form_of_key_or_a_reason_for_having_none() {
    for row in TABLE.iter().filter(|row| !row.key.is_empty()) {
        let has_form = secret::FORMS.iter().any(|it| it.whose.contains(&row.name));
        let is_formless =
            secret::FORMLESS.iter().any(|(name, why)| *name == row.name && !why.is_empty());
        assert!(has_form != is_formless, "{}", row.name);
    }
    for (name, _) in secret::FORMLESS {
        assert!(TABLE.iter().any(|row| row.name == name), "{name}");
    }
}
