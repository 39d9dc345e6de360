//! Tests errors that people have reported: which kind each is, whether the request is repeated, and that the sentence for
//! the user has the provider's own words.

use super::{Failure, Refusal, Sent, from_status};

/// The HTTP status and the body of an error, the kind of failure, and whether another try soon may succeed.
const REPORTED: &[(u16, &str, Kind, bool)] = &[
    // the request is longer than the window
    (
        400,
        r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 1284668 tokens > 1000000 maximum"}}"#,
        Kind::TooLong,
        false,
    ),
    (
        400,
        r#"{"object":"error","message":"This model's maximum context length is 16384 tokens. However, you requested 122946 tokens (112946 in the messages, 10000 in the completion).","code":400}"#,
        Kind::TooLong,
        false,
    ),
    (
        500,
        r#"{"error":{"code":500,"message":"the request exceeds the available context size. try increasing the context size or enable context shift","type":"exceed_context_size_error","n_prompt_tokens":1407,"n_ctx":256}}"#,
        Kind::TooLong,
        false,
    ),
    (
        500,
        r#"{"error":{"code":500,"message":"Context size has been exceeded.","type":"server_error"}}"#,
        Kind::TooLong,
        false,
    ),
    (
        400,
        r#"{"object":"error","message":"max_tokens must be at least 1, got -1277.","type":"BadRequestError"}"#,
        Kind::TooLong,
        false,
    ),
    (
        400,
        r#"{"error":"Requested tokens (1088) exceed context window of 512"}"#,
        Kind::TooLong,
        false,
    ),
    (400, r#"{"message":"Input is too long for requested model."}"#, Kind::TooLong, false),
    (
        413,
        r#"{"error":{"message":"Request too large for model `llama-3.3-70b` in organization `org_1` on tokens per minute (TPM): Limit 6000, Requested 7000, please reduce your message size and try again.","code":"rate_limit_exceeded"}}"#,
        Kind::TooLong,
        false,
    ),
    (
        400,
        r#"{"error":{"message":"Too many tokens in the prompt: the model takes 32768","type":"invalid_request_error"}}"#,
        Kind::TooLong,
        false,
    ),
    // a limit of a minute
    (
        429,
        r#"{"message":"Too many tokens, please wait before trying again."}"#,
        Kind::RateLimited,
        true,
    ),
    (
        200,
        r#"{"error":{"message":"ThrottlingException: Too many tokens, please wait before trying again."}}"#,
        Kind::RateLimited,
        true,
    ),
    (
        400,
        r#"{"__type":"ThrottlingException","message":"Too many requests, please wait before trying again."}"#,
        Kind::RateLimited,
        true,
    ),
    (
        429,
        r#"{"type":"error","error":{"type":"rate_limit_error","message":"This request would exceed your account's rate limit. Please try again later."}}"#,
        Kind::RateLimited,
        true,
    ),
    (
        429,
        r#"[{"error":{"code":429,"message":"Resource exhausted. Please try again later. Please refer to the documentation for more details.","status":"RESOURCE_EXHAUSTED"}}]"#,
        Kind::RateLimited,
        true,
    ),
    (
        429,
        r#"{"error":{"message":"Provider returned error","code":429,"metadata":{"raw":"deepseek/deepseek-r1:free is temporarily rate-limited upstream. Please retry shortly."}}}"#,
        Kind::RateLimited,
        true,
    ),
    (
        429,
        r#"{"error":{"message":"Quota exceeded for aiplatform.googleapis.com/generate_content_requests_per_minute_per_project_per_base_model with base model: gemini-pro.","code":429}}"#,
        Kind::RateLimited,
        true,
    ),
    (
        429,
        r#"[{"error":{"code":429,"message":"You exceeded your current quota, please check your plan and billing details.","status":"RESOURCE_EXHAUSTED","details":[{"violations":[{"quotaId":"GenerateContentInputTokensPerModelPerMinute-FreeTier"}]},{"retryDelay":"37s"}]}}]"#,
        Kind::RateLimited,
        true,
    ),
    (
        200,
        r#"{"error":{"message":"Worker local total request limit reached (33/32)"}}"#,
        Kind::RateLimited,
        true,
    ),
    (
        503,
        r#"{"error":{"message":"The model is overloaded. Please try again later.","code":503,"status":"UNAVAILABLE"}}"#,
        Kind::Overloaded,
        true,
    ),
    // a limit of an hour, a day or a plan
    (
        429,
        r#"{"error":{"message":"Rate limit exceeded: free-models-per-day. Add 10 credits to unlock 1000 free model requests per day","code":429,"metadata":{"headers":{"X-RateLimit-Limit":"50","X-RateLimit-Remaining":"0"}}}}"#,
        Kind::Quota,
        false,
    ),
    (
        429,
        r#"[{"error":{"code":429,"message":"You exceeded your current quota, please check your plan and billing details.","status":"RESOURCE_EXHAUSTED","details":[{"violations":[{"quotaId":"GenerateRequestsPerMinutePerProjectPerModel-FreeTier"},{"quotaId":"GenerateRequestsPerDayPerProjectPerModel-FreeTier"}]},{"retryDelay":"37s"}]}}]"#,
        Kind::Quota,
        false,
    ),
    (
        429,
        r#"{"error":{"message":"Rate limit reached for model `llama-3.3-70b-versatile` in organization `org_1` service tier `on_demand` on tokens per day (TPD): Limit 100000, Used 97050, Requested 3619. Please try again in 9m38.016s.","type":"tokens","code":"rate_limit_exceeded"}}"#,
        Kind::RateLimited,
        false,
    ),
    (
        429,
        r#"{"message":"Too many tokens per day, please wait before trying again."}"#,
        Kind::Quota,
        false,
    ),
    (
        429,
        r#"{"error":{"message":"Sorry, you've exceeded your weekly rate limit. Please review the Terms of Service.","code":"user_weekly_rate_limited"}}"#,
        Kind::Quota,
        false,
    ),
    (
        429,
        r#"{"error":{"type":"usage_limit_reached","message":"The usage limit has been reached","plan_type":"plus"}}"#,
        Kind::Quota,
        false,
    ),
    (
        429,
        r#"{"error":{"message":"You have reached your 5-hour limit.","type":"rate_limit_error"}}"#,
        Kind::Quota,
        false,
    ),
    (
        429,
        r#"{"type":"FreeUsageLimitError","message":"Rate limit exceeded. Please try again later."}"#,
        Kind::Quota,
        false,
    ),
    (
        429,
        r#"{"error":{"code":"insufficient_quota","message":"Free allocated quota exceeded.","type":"insufficient_quota"}}"#,
        Kind::Quota,
        false,
    ),
    (
        403,
        r#"{"message":"You've reached your daily limit requests for the 'free' plan."}"#,
        Kind::Quota,
        false,
    ),
    // no money
    (
        402,
        r#"{"error":{"message":"This request requires more credits, or fewer max_tokens. You requested up to 32000 tokens, but can only afford 12048.","code":402}}"#,
        Kind::Quota,
        false,
    ),
    (
        402,
        r#"{"error":{"message":"Insufficient Balance","type":"unknown_error","code":"invalid_request_error"}}"#,
        Kind::Quota,
        false,
    ),
    (
        400,
        r#"{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the Anthropic API."}}"#,
        Kind::Quota,
        false,
    ),
    (
        400,
        r#"{"code":"Arrearage","message":"Access denied, please make sure your account is in good standing."}"#,
        Kind::Quota,
        false,
    ),
    (
        429,
        r#"{"error":{"message":"You exceeded your current quota, please check your plan and billing details.","type":"insufficient_quota","code":"insufficient_quota"}}"#,
        Kind::Quota,
        false,
    ),
    // no tools
    (
        400,
        r#"{"error":{"message":"stablelm2:latest does not support tools","type":"api_error","param":null,"code":null}}"#,
        Kind::NoTools,
        false,
    ),
    (
        404,
        r#"{"error":{"message":"No endpoints found that support tool use. Try disabling \"read\". To learn more about provider routing, visit the documentation.","code":404}}"#,
        Kind::NoTools,
        false,
    ),
    (
        500,
        r#"{"error":{"code":500,"message":"tools param requires --jinja flag","type":"server_error"}}"#,
        Kind::NoTools,
        false,
    ),
    (
        500,
        r#"{"code":500,"message":"Unsupported param: tools","type":"server_error"}"#,
        Kind::NoTools,
        false,
    ),
    (
        400,
        r#"{"object":"error","message":"\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set","type":"BadRequestError","code":400}"#,
        Kind::NoTools,
        false,
    ),
    (
        400,
        r#"[{"error":{"code":400,"message":"Function calling is not enabled for models/gemma-3-27b-it","status":"INVALID_ARGUMENT"}}]"#,
        Kind::NoTools,
        false,
    ),
    (
        400,
        r#"{"error":{"message":"`tool calling` is not supported with this model","type":"invalid_request_error"}}"#,
        Kind::NoTools,
        false,
    ),
    // a filter
    (
        400,
        r#"{"type":"error","error":{"type":"invalid_request_error","message":"Output blocked by content filtering policy"}}"#,
        Kind::Filtered,
        false,
    ),
    (
        400,
        r#"{"error":{"message":"The response was filtered due to the prompt triggering Azure OpenAI's content management policy.","code":"content_filter"}}"#,
        Kind::Filtered,
        false,
    ),
    (
        400,
        r#"{"code":"data_inspection_failed","message":"Output data may contain inappropriate content."}"#,
        Kind::Filtered,
        false,
    ),
    (
        403,
        r#"{"error":{"message":"Your input was flagged by moderation","code":403}}"#,
        Kind::Filtered,
        false,
    ),
    // words that sound like another kind
    (
        400,
        r#"{"error":{"message":"Invalid value for `context_window`: expected an integer"}}"#,
        Kind::Rejected,
        false,
    ),
    (
        400,
        r#"{"error":{"message":"max_tokens: too many tokens asked for in one reply, at most 8192"}}"#,
        Kind::Rejected,
        false,
    ),
    (
        401,
        r#"{"error":{"message":"Your API key has no access to this plan","code":"invalid_api_key"}}"#,
        Kind::Unauthorized,
        false,
    ),
    (
        404,
        r#"{"error":{"message":"No endpoints found for qwen/qwen9.","code":404}}"#,
        Kind::UnknownModel,
        false,
    ),
    (
        500,
        "data: {\"error\":{\"message\":\"engine died\",\"code\":500}}\n\ndata: [DONE]\n\n",
        Kind::ServerError,
        true,
    ),
    (502, "error: the upstream closed the connection\n\n", Kind::ServerError, true),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    TooLong,
    RateLimited,
    Overloaded,
    Quota,
    NoTools,
    Filtered,
    Rejected,
    Unauthorized,
    UnknownModel,
    ServerError,
}

#[test]
fn reported_errors_are_told_apart_and_keep_the_providers_words() {
    assert!(REPORTED.len() >= 40);
    let mut wrong = Vec::new();
    for &(status, body, kind, passes) in REPORTED {
        let refusal = Refusal {
            status,
            body,
            after_ms: None,
            provider: "them",
            model: "m-1",
            sent: &Sent::default(),
        };
        let failure = from_status(&refusal);
        let shown = format!("{failure:?}");
        let name: String = shown.chars().take_while(char::is_ascii_alphabetic).collect();
        if name != format!("{kind:?}") || failure.is_passing() != passes {
            wrong.push(format!("{kind:?}, passes {passes}: {shown}\n  {body}"));
        }
        let said = failure.to_string();
        let parts = body.split(['"', '\\', '\n']);
        let parts = parts.filter(|it| it.contains(' ') && !it.starts_with("data:"));
        let words = parts.max_by_key(|it| it.len()).unwrap_or_default();
        let beginning: String = words.trim_start_matches("error: ").chars().take(40).collect();
        if !said.contains(beginning.trim_end_matches('.')) {
            wrong.push(format!("without the words {beginning:?}: {said}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn no_sentence_about_a_failure_lacks_its_advice() {
    for &(status, body, ..) in REPORTED {
        let refusal = Refusal {
            status,
            body,
            after_ms: None,
            provider: "them",
            model: "m-1",
            sent: &Sent::default(),
        };
        let failure: Failure = from_status(&refusal);
        assert!(!failure.sentences().1.is_empty(), "{failure:?}");
    }
}
