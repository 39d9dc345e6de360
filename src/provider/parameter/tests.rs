//! Tests refusals of real servers, which come from documentation and from reports of users.

use super::*;
use proptest::prelude::*;
use serde_json::json;

fn chat() -> Value {
    json!({
        "model": "m", "messages": [{ "role": "user", "content": "temperature" }], "stream": true,
        "max_tokens": 100, "stream_options": { "include_usage": true }, "temperature": 0.2,
        "reasoning_effort": "low",
    })
}

fn responses() -> Value {
    json!({
        "model": "m", "stream": true, "store": false, "input": [], "max_output_tokens": 100,
        "reasoning": { "effort": "none", "summary": "auto" }, "temperature": 0.2,
        "include": ["reasoning.encrypted_content"], "prompt_cache_key": "k",
    })
}

fn anthropic() -> Value {
    let mark = json!({ "type": "ephemeral" });
    json!({
        "model": "m", "max_tokens": 100, "stream": true, "temperature": 0.2,
        "system": [{ "type": "text", "text": "s", "cache_control": mark }],
        "tools": [{ "name": "t", "input_schema": { "properties": { "cache_control": {} } }, "cache_control": mark }],
        "messages": [{ "role": "user", "content": [
            { "type": "tool_result", "content": [{ "type": "text", "text": "r", "cache_control": mark }] },
            { "type": "text", "text": "q", "cache_control": mark },
        ] }],
        "thinking": { "type": "adaptive", "display": "summarized" },
        "output_config": { "effort": "low" },
    })
}

fn gemini() -> Value {
    let config = json!({ "maxOutputTokens": 100, "thinkingConfig": { "thinkingLevel": "low" } });
    json!({ "contents": [], "generationConfig": config })
}

#[track_caller]
fn check(dialect: Dialect, body: &Value, refusal: &str, expected: &str) {
    let found = Sent::of(dialect, body).refused(refusal);
    let found = found.map_or("nothing", |it| name(dialect, it));
    assert_eq!(found, expected, "{refusal}");
}

#[test]
fn a_parameter_refused_by_chat_completions_is_recognised() {
    for (refusal, expected) in [
        (
            r#"{"error":{"message":"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.","type":"invalid_request_error","param":"max_tokens","code":"unsupported_parameter"}}"#,
            "max_tokens",
        ),
        (
            r#"{"error":{"message":"Unsupported value: 'temperature' does not support 0.2 with this model. Only the default (1) value is supported.","param":"temperature","code":"unsupported_value"}}"#,
            "temperature",
        ),
        (
            r#"{"error":{"message":"Function tools with reasoning_effort are not supported for gpt-5.5 in /v1/chat/completions. Please use /v1/responses instead.","param":"reasoning_effort","code":null}}"#,
            "reasoning_effort",
        ),
        // of Azure, with an old API version
        (
            r#"{"error":{"message":"Unrecognized request argument supplied: stream_options","type":"invalid_request_error","param":null,"code":null}}"#,
            "stream_options",
        ),
        // vLLM
        (
            r#"{"object":"error","message":"[{'type': 'extra_forbidden', 'loc': ('body', 'stream_options'), 'msg': 'Extra inputs are not permitted', 'input': {}}]","type":"BadRequestError","param":null,"code":400}"#,
            "stream_options",
        ),
        // Mistral
        (
            r#"{"object":"Error","message":{"detail":[{"type":"extra_forbidden","loc":["body","reasoning_effort"],"msg":"Extra inputs are not permitted","input":"low"}]},"type":"invalid_request_error","code":3001}"#,
            "reasoning_effort",
        ),
        ("Extra inputs are not permitted, field: 'stream_options', value: {}", "stream_options"),
        // LiteLLM
        (
            "litellm.UnsupportedParamsError: openai does not support parameters: ['reasoning_effort'], for model=gpt-4o. To drop these, set `litellm.drop_params=True`",
            "reasoning_effort",
        ),
        (
            "litellm.UnsupportedParamsError: gpt-5 models (including gpt-5-codex) don't support temperature=0.2. Only temperature=1 is supported.",
            "temperature",
        ),
        // Groq, xAI
        ("property 'reasoning_effort' is unsupported", "reasoning_effort"),
        ("Argument not supported on this model: reasoningEffort", "reasoning_effort"),
        // Of a model behind Bedrock. The parameters in the list are the accepted ones, so none of them is refused.
        (
            "thinking: unknown field `thinking`, expected one of `max_tokens`, `stream_options`, `temperature`",
            "nothing",
        ),
        (
            "Completions.create() got an unexpected keyword argument 'reasoning_effort'",
            "reasoning_effort",
        ),
        (
            r#"Invalid JSON payload received. Unknown name \"stream_options\": Cannot find field."#,
            "stream_options",
        ),
    ] {
        check(Dialect::OpenAiChat, &chat(), refusal, expected);
    }
}

#[test]
fn an_error_about_a_value_or_a_missing_field_refuses_no_parameter() {
    for (refusal, expected) in [
        ("max_tokens is too large: 32000. This model supports at most 4096 tokens", "nothing"),
        ("Unsupported parameter: 'tools' is not supported with this model.", "nothing"),
        ("Unknown parameter: 'messages[0].temperature'.", "nothing"),
        ("'max_completion_tokens' is not supported, use 'max_tokens'", "nothing"),
        ("temperatures are not supported; max_tokens_to_sample is not supported", "nothing"),
        ("", "nothing"),
    ] {
        check(Dialect::OpenAiChat, &chat(), refusal, expected);
    }
}

#[test]
fn a_parameter_refused_by_responses_is_recognised() {
    for (dialect, body, refusal, expected) in [
        (
            OpenAiResponses,
            responses(),
            "Unsupported parameter: max_output_tokens",
            "max_output_tokens",
        ),
        (
            OpenAiResponses,
            responses(),
            r#"{"error":{"message":"Unsupported value: 'none' is not supported with the 'gpt-5' model.","param":"reasoning.effort","code":"unsupported_value"}}"#,
            "reasoning.effort",
        ),
        (
            OpenAiResponses,
            responses(),
            "Your organization must be verified to generate reasoning summaries.",
            "reasoning.summary",
        ),
        (
            OpenAiResponses,
            responses(),
            "Unknown parameter: 'reasoning.summary'.",
            "reasoning.summary",
        ),
        (
            OpenAiResponses,
            responses(),
            "Unsupported parameter: 'reasoning' with this model.",
            "reasoning",
        ),
        (
            OpenAiResponses,
            responses(),
            "Encrypted content is not supported with this model.",
            "include",
        ),
        (
            OpenAiResponses,
            responses(),
            "prompt_cache_key: Extra inputs are not permitted",
            "prompt_cache_key",
        ),
        (OpenAiResponses, responses(), "Unknown parameter: 'store'.", "store"),
        (OpenAiResponses, responses(), "Unknown parameter: 'input[2].phase'.", "nothing"),
    ] {
        check(dialect, &body, refusal, expected);
    }
}

#[test]
fn a_parameter_refused_by_anthropic_or_a_strict_proxy_is_recognised() {
    let thinking = json!({ "thinking": { "type": "enabled", "budget_tokens": 2048 } });
    for (dialect, body, refusal, expected) in [
        (
            Anthropic,
            anthropic(),
            "system.0.cache_control: Extra inputs are not permitted",
            "cache_control",
        ),
        (
            Anthropic,
            anthropic(),
            "messages.13.content.0.thinking.cache_control: Extra inputs are not permitted",
            "cache_control",
        ),
        (
            Anthropic,
            anthropic(),
            "thinking.adaptive.display: Extra inputs are not permitted",
            "thinking.display",
        ),
        (
            Anthropic,
            anthropic(),
            "thinking: Input tag 'adaptive' found using 'type' does not match any of the expected tags: 'disabled', 'enabled'",
            "thinking",
        ),
        (Anthropic, anthropic(), "adaptive thinking is not supported on this model", "thinking"),
        (
            Anthropic,
            anthropic(),
            "This model does not support the effort parameter.",
            "output_config",
        ),
        (Anthropic, anthropic(), "`temperature` is deprecated for this model.", "temperature"),
        (
            Anthropic,
            anthropic(),
            "messages.1.content.0.thinking: Extra inputs are not permitted",
            "nothing",
        ),
        (
            Anthropic,
            anthropic(),
            "messages.1.content.0: Input tag 'thinking' found using 'type' does not match any of the expected tags: 'text'",
            "nothing",
        ),
        (Anthropic, anthropic(), "max_tokens: Field required", "nothing"),
        (
            Anthropic,
            thinking,
            "Unexpected value(s) `interleaved-thinking-2025-05-14` for the `anthropic-beta` header.",
            "anthropic-beta",
        ),
    ] {
        check(dialect, &body, refusal, expected);
    }
}

#[test]
fn a_parameter_refused_by_gemini_or_ollama_is_recognised() {
    for (dialect, body, refusal, expected) in [
        (
            Gemini,
            gemini(),
            r#"Invalid JSON payload received. Unknown name \"thinkingLevel\" at 'generation_config.thinking_config': Cannot find field."#,
            "thinkingConfig",
        ),
        (Gemini, gemini(), "Thinking level is not supported for this model.", "thinkingConfig"),
        (Ollama, json!({ "think": true }), r#"\"qwen2.5:3b\" does not support thinking"#, "think"),
        (Ollama, json!({ "think": true }), r#"\"gemma:2b\" does not support tools"#, "nothing"),
    ] {
        check(dialect, &body, refusal, expected);
    }
}

fn left(dialect: Dialect, parameters: &[Parameter], mut body: Value) -> Value {
    leave_out(dialect, &parameters.iter().copied().collect(), &mut body);
    body
}

#[test]
fn leaving_out_a_refused_parameter_changes_nothing_else() {
    let body = left(Anthropic, &[Parameter::CacheControl], anthropic());
    let text = body.to_string();
    assert_eq!(
        text,
        anthropic().to_string().replace(r#","cache_control":{"type":"ephemeral"}"#, "")
    );
    assert!(text.contains(r#""cache_control":{}"#), "a tool's own argument stays");
    let body = left(OpenAiResponses, &[Parameter::ReasoningSummary], responses());
    assert_eq!(body["reasoning"], json!({ "effort": "none" }));
    let both = [Parameter::ReasoningSummary, Parameter::Effort];
    assert_eq!(left(OpenAiResponses, &both, responses()).get("reasoning"), None);
    let body = left(Gemini, &[Parameter::Thinking], gemini());
    assert_eq!(body["generationConfig"], json!({ "maxOutputTokens": 100 }));
    assert_eq!(left(OpenAiChat, &[Parameter::Store], chat()), chat());
}

#[test]
fn a_parameter_that_was_left_out_cannot_be_refused_again() {
    let bodies = [
        (OpenAiChat, chat()),
        (OpenAiResponses, responses()),
        (Anthropic, anthropic()),
        (Gemini, gemini()),
    ];
    for (dialect, body) in bodies {
        for row in Sent::of(dialect, &body).0 {
            let rest = Sent::of(dialect, &left(dialect, &[row.parameter], body.clone()));
            let is_left = rest.0.iter().any(|it| it.parameter == row.parameter);
            assert!(!is_left, "{}", row.name);
        }
    }
}

/// This would take minutes if each name were compared with the whole text.
#[test]
fn only_the_beginning_of_a_very_long_refusal_is_read() {
    let (first, last) = ("thinking is not supported. ", "é thinking é ".repeat(2 << 20));
    check(Anthropic, &anthropic(), &last, "nothing");
    check(Anthropic, &anthropic(), &format!("{first}{last}"), "thinking");
    check(Anthropic, &anthropic(), &format!("{last}{first}"), "nothing");
}

proptest! {
    /// Whatever a server says, the request keeps its model, messages and tools.
    #[test]
    fn no_refusal_removes_the_model_the_messages_or_the_tools(said in ".{0,200}", at in 0..40_usize) {
        let phrase = BEFORE.iter().chain(&BEHIND).nth(at).copied().unwrap_or_default();
        for (dialect, body) in [(OpenAiChat, chat()), (Anthropic, anthropic()), (OpenAiResponses, responses())] {
            for name in ["messages", "tools", "model", "system", "stream", "input", "store", "thinking"] {
                let refusal = format!("{said} {phrase} {name} {phrase}");
                let Some(parameter) = Sent::of(dialect, &body).refused(&refusal) else { continue };
                let left = left(dialect, &[parameter], body.clone());
                for kept in ["model", "messages", "input", "tools", "stream", "system"] {
                    prop_assert_eq!(left.get(kept).is_some(), body.get(kept).is_some());
                }
            }
        }
    }
}
