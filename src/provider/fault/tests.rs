mod reported;
mod thoughts;
mod vendors;

use super::*;

fn failure(status: u16, body: &str) -> Failure {
    from_status(&Refusal {
        status,
        body,
        after_ms: None,
        provider: "them",
        model: "m-1",
        sent: &Sent::default(),
    })
}

#[track_caller]
fn check(status: u16, body: &str, expected: &str) {
    let shown = format!("{:?}", failure(status, body));
    assert!(shown.starts_with(expected), "{status} {body}: {shown}");
}

#[test]
fn anthropics_errors_are_classified() {
    let anthropic = |kind: &str, text: &str| {
        format!(
            r#"{{"type":"error","error":{{"type":"{kind}","message":"{text}"}},"request_id":"req_1"}}"#
        )
    };
    check(
        401,
        &anthropic("authentication_error", "invalid x-api-key"),
        r#"Unauthorized { provider: "them", said: "invalid x-api-key" }"#,
    );
    check(403, &anthropic("permission_error", "not for you"), "Unauthorized");
    check(402, &anthropic("billing_error", "pay"), r#"Quota { said: "pay" }"#);
    check(
        400,
        &anthropic("invalid_request_error", "Your credit balance is too low to access the API"),
        "Quota",
    );
    check(429, &anthropic("rate_limit_error", "slow down"), "RateLimited { after_ms: None");
    check(429, &anthropic("rate_limit_error", "enforced_spend_limit_reached"), "Quota");
    check(
        404,
        &anthropic("not_found_error", "model: claude-9"),
        r#"UnknownModel { model: "m-1", said: "model: claude-9" }"#,
    );
    check(529, &anthropic("overloaded_error", "Overloaded"), "Overloaded { after_ms: None");
    check(500, &anthropic("api_error", "Internal server error"), "ServerError { status: 500,");
    check(
        400,
        &anthropic("invalid_request_error", "messages.1: `tool_use` ids were found"),
        "Rejected { status: 400, said: \"messages.1",
    );
}

#[test]
fn errors_of_gemini_and_ollama_are_classified() {
    check(
        400,
        r#"[{"error":{"code":400,"message":"API key not valid. Pass a valid one.","status":"INVALID_ARGUMENT"}}]"#,
        "Unauthorized",
    );
    check(
        404,
        r#"{"error":"model 'm-1' not found"}"#,
        r#"UnknownModel { model: "m-1", said: "model 'm-1' not found" }"#,
    );
    check(
        500,
        r#"{"error":"model requires more system memory (9.1 GiB) than is available (5.2 GiB)"}"#,
        "Rejected { status: 500, said: \"model requires more",
    );
}

#[test]
fn errors_of_chat_completions_and_bodies_without_json_are_classified() {
    let openai = |code: &str, text: &str| {
        format!(
            r#"{{"error":{{"message":"{text}","type":"invalid_request_error","param":null,"code":"{code}"}}}}"#
        )
    };
    check(401, &openai("invalid_api_key", "Incorrect API key provided: sk-a***z"), "Unauthorized");
    check(429, &openai("insufficient_quota", "You exceeded your current quota"), "Quota");
    check(
        429,
        &openai("rate_limit_exceeded", "Limit reached. Please try again in 1.3s. Visit"),
        "RateLimited { after_ms: Some(1300)",
    );
    check(
        429,
        &openai("rate_limit_exceeded", "Please try again in 20ms."),
        "RateLimited { after_ms: Some(20)",
    );
    check(
        429,
        &openai("rate_limit_exceeded", "Please try again in 1m30.5s."),
        "RateLimited { after_ms: Some(90500)",
    );
    check(404, &openai("model_not_found", "The model `gpt-9` does not exist"), "UnknownModel");
    check(
        400,
        r#"{"error":{"message":"gpt-9 is not a valid model ID","code":400}}"#,
        "UnknownModel",
    );
    check(
        404,
        r#"{"error":"model 'qwen9' not found"}"#,
        r#"UnknownModel { model: "m-1", said: "model 'qwen9' not found" }"#,
    );
    check(404, "404 page not found", "Rejected { status: 404");
    check(
        422,
        r#"{"detail":"Extra inputs are not permitted"}"#,
        r#"Rejected { status: 422, said: "Extra inputs are not permitted" }"#,
    );
    check(408, "", r#"ServerError { status: 408, after_ms: None, said: "" }"#);
    check(
        502,
        "<html><head><title>502 Bad Gateway</title></head>",
        r#"ServerError { status: 502, after_ms: None, said: "502 Bad Gateway" }"#,
    );
    check(418, "", r#"Rejected { status: 418, said: "no details given" }"#);
    check(403, "<html><title>Just a moment...</title>", r#"Protocol { said: "Just a moment..." }"#);
}

#[test]
fn googles_quota_error_is_a_rate_limit_only_with_a_retry_delay() {
    let body = r#"[{"error":{"code":429,"message":"You exceeded your current quota","status":"RESOURCE_EXHAUSTED",
        "details":[{"@type":"x"},{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"37s"}]}}]"#;
    check(429, body, "RateLimited { after_ms: Some(37000)");
    check(429, &body.replace("37s", "never"), "Quota");
}

#[test]
fn requests_that_are_too_long_are_recognised_in_each_vendors_words() {
    for text in [
        "prompt is too long: 213462 tokens > 200000 maximum",
        "input is too long for requested model.",
        "input length and `max_tokens` exceed context limit: 190000 + 64000 > 200000",
        "Your input exceeds the context window of this model. Please adjust your input and try again.",
        "This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens.",
        "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).",
        "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
        "Please reduce the length of the messages or completion.",
        "This endpoint's maximum context length is 204800 tokens. However, you requested about 300000 tokens",
        "prompt token count of 150000 exceeds the limit of 128000",
        "the request exceeds the available context size. try increasing the context size or enable context shift",
        "tokens to keep from the initial prompt is greater than the context length",
        "Trying to keep the first 8000 tokens when context the overflows. However, the model is loaded with context length of only 4096",
        "invalid params, context window exceeds limit (2013)",
        "Invalid request: Your request exceeded model token limit: 262144 (requested: 300000)",
        "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
        "`inputs` tokens + `max_new_tokens` must be <= 8193. Given: 9000",
    ] {
        let body = serde_json::json!({ "error": { "message": text } }).to_string();
        check(400, &body, "TooLong");
    }
    check(413, "", "TooLong");
    check(400, r#"{"error":{"code":"context_length_exceeded","message":"no"}}"#, "TooLong");
    check(
        429,
        r#"{"error":{"message":"Request too large for gpt-5 on tokens per min (TPM): Limit 30000, Requested 50000"}}"#,
        "TooLong",
    );
    check(400, r#"{"error":{"message":"max_tokens: must be positive"}}"#, "Rejected");
}

#[test]
fn a_quoted_error_is_one_short_line_without_control_characters() {
    assert_eq!(snippet(" a\n\tb\u{1b}[31m c\0 "), "a b [31m c");
    assert_eq!(snippet(&"é ".repeat(900)).chars().count(), QUOTE + 1);
    assert_eq!(
        snippet(&format!("no: {} b", "[".repeat(900))),
        format!("no: {}… b", "[".repeat(WORD))
    );
}

#[test]
fn an_api_key_is_removed_from_every_text_of_a_failure() {
    let key = "sk-secret-1";
    let said = || format!("bad key {key}, really {key}");
    for failure in [
        Failure::NoKey { provider: said(), variable: said() },
        Failure::Offline { host: said(), why: said() },
        Failure::Unauthorized { provider: said(), said: said() },
        Failure::Quota { said: said() },
        Failure::RateLimited { after_ms: None, said: said() },
        Failure::Overloaded { after_ms: None, said: said() },
        Failure::Broken { said: said() },
        Failure::Filtered { said: said() },
        Failure::NoTools { model: said(), said: said() },
        Failure::TooLong { said: said(), window: None, prompt: None },
        Failure::UnknownModel { model: said(), said: said() },
        Failure::Rejected { status: 400, said: said() },
        Failure::Protocol { said: said() },
    ] {
        let shown = format!("{:?}", without_secrets(failure, &[Secret::given(key)]));
        assert!(!shown.contains(key) && shown.contains("[key], really [key]"), "{shown}");
    }
    assert_eq!(without_secrets(Failure::Cut, &[Secret::given(key)]), Failure::Cut);
}
