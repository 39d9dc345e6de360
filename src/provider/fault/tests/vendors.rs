//! Tests the error bodies that vendors send, and the failure that each becomes.

use super::thoughts;
use super::{Refusal, Sent, from_status};
use crate::provider::dialect::Asked;
use crate::provider::fault::in_stream;

/// The vendor, the HTTP status and the body of an error, and the beginning of the text of the failure that it becomes.
const ERRORS: &[(&str, u16, &str, &str)] = &[
    // requests that are too long
    (
        "anthropic",
        400,
        r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 213462 tokens > 200000 maximum"},"request_id":"req_1"}"#,
        "TooLong",
    ),
    (
        "anthropic",
        413,
        r#"{"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}"#,
        "TooLong",
    ),
    (
        "anthropic",
        400,
        r#"{"type":"error","error":{"type":"invalid_request_error","message":"max_tokens: 99999 > 64000, which is the maximum allowed number of output tokens for m"}}"#,
        "Exceeds",
    ),
    (
        "openai",
        400,
        r#"{"error":{"message":"This model's maximum context length is 128000 tokens.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}"#,
        "TooLong",
    ),
    (
        "openai",
        400,
        r#"{"error":{"message":"Your input exceeds the context window of this model. Please adjust your input and try again.","type":"invalid_request_error","param":"input","code":"context_length_exceeded"}}"#,
        "TooLong",
    ),
    (
        "azure",
        400,
        r#"{"error":{"message":"This model's maximum context length is 8192 tokens, however you requested 10346 tokens","type":"invalid_request_error","code":"context_length_exceeded"}}"#,
        "TooLong",
    ),
    (
        "gemini",
        400,
        r#"{"error":{"code":400,"message":"The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).","status":"INVALID_ARGUMENT"}}"#,
        "TooLong",
    ),
    (
        "xai",
        400,
        r#"{"code":"Client specified an invalid argument","error":"This model's maximum prompt length is 131072 but the request contains 537812 tokens."}"#,
        "TooLong",
    ),
    (
        "groq",
        413,
        r#"{"error":{"message":"Request too large for model `llama` in organization `o` on tokens per minute (TPM)","type":"tokens","code":"rate_limit_exceeded"}}"#,
        "TooLong",
    ),
    (
        "groq",
        400,
        r#"{"error":{"message":"Please reduce the length of the messages or completion.","type":"invalid_request_error","code":"context_length_exceeded"}}"#,
        "TooLong",
    ),
    (
        "openrouter",
        400,
        r#"{"error":{"message":"This endpoint's maximum context length is 204800 tokens. However, you requested about 300000 tokens","code":400,"metadata":{"provider_name":null}}}"#,
        "TooLong",
    ),
    (
        "deepseek",
        400,
        r#"{"error":{"message":"This model's maximum context length is 131072 tokens. However, you requested 140000 tokens","type":"invalid_request_error","param":null,"code":"invalid_request_error"}}"#,
        "TooLong",
    ),
    (
        "mistral",
        400,
        r#"{"object":"error","message":"Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length","type":"invalid_request_prompt_too_long","code":"3051"}"#,
        "TooLong",
    ),
    ("mistral", 400, "", "TooLong { said: \"\""),
    ("cerebras", 400, "", "TooLong"),
    ("cerebras", 413, "", "TooLong"),
    ("mine", 400, "", "Rejected"),
    (
        "together",
        422,
        r#"{"error":{"message":"`inputs` tokens + `max_new_tokens` must be <= 8193. Given: 9000","type":"invalid_request_error"}}"#,
        "TooLong",
    ),
    (
        "fireworks",
        400,
        r#"{"error":{"object":"error","type":"invalid_request_error","message":"The prompt is too long: 300000, model maximum context length: 131071"}}"#,
        "TooLong",
    ),
    (
        "moonshot",
        400,
        r#"{"error":{"message":"Invalid request: Your request exceeded model token limit: 262144 (requested: 300000)","type":"invalid_request_error"}}"#,
        "TooLong",
    ),
    (
        "minimax",
        400,
        r#"{"type":"error","error":{"type":"bad_request_error","message":"invalid params, context window exceeds limit (2013)"}}"#,
        "TooLong",
    ),
    ("zai", 400, r#"{"error":{"code":"1261","message":"Prompt exceeds max length"}}"#, "TooLong"),
    ("bedrock", 400, r#"{"message":"Input is too long for requested model."}"#, "TooLong"),
    (
        "bedrock",
        400,
        r#"{"message":"The model returned the following errors: input length and `max_tokens` exceed context limit: 190000 + 64000 > 200000"}"#,
        "TooLong",
    ),
    (
        "copilot",
        400,
        r#"{"error":{"message":"prompt token count of 150000 exceeds the limit of 128000","code":"model_max_prompt_tokens_exceeded"}}"#,
        "TooLong",
    ),
    (
        "dashscope",
        400,
        r#"{"error":{"code":"invalid_parameter_error","message":"<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 258048]","type":"invalid_request_error"}}"#,
        "TooLong",
    ),
    (
        "llamacpp",
        400,
        r#"{"error":{"code":400,"message":"the request exceeds the available context size, try increasing it","type":"exceed_context_size_error","n_prompt_tokens":9000,"n_ctx":4096}}"#,
        "TooLong",
    ),
    (
        "lmstudio",
        400,
        r#"{"error":"The number of tokens to keep from the initial prompt is greater than the context length."}"#,
        "TooLong",
    ),
    (
        "vllm",
        400,
        r#"{"object":"error","message":"The decoder prompt (length 40000) is longer than the maximum model length of 32768.","type":"BadRequestError","code":400}"#,
        "TooLong",
    ),
    (
        "ollama",
        400,
        r#"{"error":"prompt too long; exceeded max context length by 120 tokens"}"#,
        "TooLong",
    ),
    ("ollama", 500, r#"{"error":"the input length exceeds the context length"}"#, "TooLong"),
    // money and quota
    (
        "anthropic",
        400,
        r#"{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the Anthropic API."}}"#,
        "Quota",
    ),
    (
        "anthropic",
        400,
        r#"{"type":"error","error":{"type":"invalid_request_error","message":"You have reached your specified API usage limits. You will regain access on 2026-12-01."}}"#,
        "Quota",
    ),
    (
        "anthropic",
        429,
        r#"{"type":"error","error":{"type":"rate_limit_error","message":"enforced_spend_limit_reached"}}"#,
        "Quota",
    ),
    (
        "openai",
        429,
        r#"{"error":{"message":"You exceeded your current quota, please check your plan and billing details.","type":"insufficient_quota","code":"insufficient_quota"}}"#,
        "Quota",
    ),
    (
        "openai",
        400,
        r#"{"error":{"message":"Billing hard limit has been reached","type":"billing_limit_user_error","code":"billing_hard_limit_reached"}}"#,
        "Quota",
    ),
    (
        "openrouter",
        402,
        r#"{"error":{"message":"Insufficient credits. Add more using the website","code":402}}"#,
        "Quota",
    ),
    (
        "deepseek",
        402,
        r#"{"error":{"message":"Insufficient Balance","type":"unknown_error","code":"invalid_request_error"}}"#,
        "Quota",
    ),
    (
        "moonshot",
        429,
        r#"{"error":{"message":"Your account is suspended, please check your plan and billing details","type":"exceeded_current_quota_error"}}"#,
        "Quota",
    ),
    (
        "zai",
        429,
        r#"{"error":{"code":"1113","message":"Insufficient balance or no resource package. Please recharge."}}"#,
        "Quota",
    ),
    (
        "xai",
        403,
        r#"{"code":"The caller does not have permission to execute the specified operation","error":"Your team has either used all available credits or reached its monthly spending limit."}"#,
        "Quota",
    ),
    (
        "together",
        402,
        r#"{"error":{"message":"Credit limit exceeded","type":"credit_limit"}}"#,
        "Quota",
    ),
    (
        "huggingface",
        402,
        r#"{"error":"You have exceeded your monthly included credits for Inference Providers."}"#,
        "Quota",
    ),
    (
        "gemini",
        429,
        r#"{"error":{"code":429,"message":"Your prepayment credits are depleted.","status":"RESOURCE_EXHAUSTED"}}"#,
        "Quota",
    ),
    // rate limits
    (
        "anthropic",
        429,
        r#"{"type":"error","error":{"type":"rate_limit_error","message":"This request would exceed your organization's rate limit of 30,000 input tokens per minute"}}"#,
        "RateLimited { after_ms: None",
    ),
    (
        "openai",
        429,
        r#"{"error":{"message":"Rate limit reached for m in organization o on tokens per min (TPM): Limit 30000, Used 29000, Requested 2000. Please try again in 2s.","type":"tokens","code":"rate_limit_exceeded"}}"#,
        "RateLimited { after_ms: Some(2000)",
    ),
    (
        "azure",
        429,
        r#"{"error":{"code":"429","message":"Requests have exceeded call rate limit. Please retry after 20 seconds."}}"#,
        "RateLimited { after_ms: Some(20000)",
    ),
    (
        "gemini",
        429,
        r#"{"error":{"code":429,"message":"You exceeded your current quota. Please retry in 34.07s.","status":"RESOURCE_EXHAUSTED","details":[{"retryDelay":"34s"}]}}"#,
        "RateLimited { after_ms: Some(34000)",
    ),
    (
        "bedrock",
        429,
        r#"{"message":"Too many tokens, please wait before trying again."}"#,
        "RateLimited",
    ),
    (
        "mistral",
        429,
        r#"{"object":"error","message":"Service tier capacity exceeded for this model.","type":"service_tier_capacity_exceeded","code":"3505"}"#,
        "RateLimited",
    ),
    (
        "groq",
        429,
        r#"{"error":{"message":"Rate limit reached on tokens per day. Please try again in 7m12.5s.","type":"tokens","code":"rate_limit_exceeded"}}"#,
        "RateLimited { after_ms: Some(432500)",
    ),
    // overload
    (
        "anthropic",
        529,
        r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
        "Overloaded",
    ),
    (
        "openai",
        503,
        r#"{"error":{"message":"The engine is currently overloaded, please try again later","type":"server_error"}}"#,
        "Overloaded",
    ),
    (
        "gemini",
        503,
        r#"{"error":{"code":503,"message":"The model is overloaded. Please try again later.","status":"UNAVAILABLE"}}"#,
        "Overloaded",
    ),
    (
        "them",
        502,
        "<html><head><title>502 Bad Gateway</title></head></html>",
        "ServerError { status: 502,",
    ),
    (
        "them",
        503,
        r#"{"error":{"message":"Loading model","type":"unavailable_error","code":503}}"#,
        "ServerError { status: 503,",
    ),
    ("them", 504, "<html><title>504 Gateway Time-out</title></html>", "ServerError { status: 504,"),
    ("them", 524, "error code: 524", "ServerError { status: 524,"),
    ("them", 408, "", "ServerError { status: 408,"),
    // keys and permissions
    (
        "anthropic",
        401,
        r#"{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}"#,
        "Unauthorized",
    ),
    (
        "openrouter",
        401,
        r#"{"error":{"message":"No auth credentials found","code":401}}"#,
        "Unauthorized",
    ),
    (
        "gemini",
        400,
        r#"{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT"}}"#,
        "Unauthorized",
    ),
    (
        "gemini",
        403,
        r#"{"error":{"code":403,"message":"Permission denied","status":"PERMISSION_DENIED"}}"#,
        "Unauthorized",
    ),
    ("them", 403, "", "Unauthorized"),
    (
        "openai",
        403,
        r#"{"error":{"code":"unsupported_country_region_territory","message":"Country, region, or territory not supported","type":"request_forbidden"}}"#,
        "Rejected { status: 403",
    ),
    (
        "openrouter",
        403,
        r#"{"error":{"message":"Your chosen model requires moderation and your input was flagged","code":403}}"#,
        "Filtered",
    ),
    (
        "them",
        403,
        "<!DOCTYPE html><html><head><title>Just a moment...</title></head></html>",
        "Protocol { said: \"Just a moment...\" }",
    ),
    (
        "them",
        407,
        "<html><title>Proxy Authentication Required</title></html>",
        "Rejected { status: 407",
    ),
    // models
    (
        "anthropic",
        404,
        r#"{"type":"error","error":{"type":"not_found_error","message":"model: claude-9"}}"#,
        "UnknownModel",
    ),
    (
        "openai",
        404,
        r#"{"error":{"message":"The model `gpt-9` does not exist or you do not have access to it.","type":"invalid_request_error","code":"model_not_found"}}"#,
        "UnknownModel",
    ),
    (
        "gemini",
        404,
        r#"{"error":{"code":404,"message":"models/gemini-9 is not found for API version v1beta","status":"NOT_FOUND"}}"#,
        "UnknownModel",
    ),
    (
        "ollama",
        404,
        r#"{"error":"model \"llama9\" not found, try pulling it first"}"#,
        "UnknownModel",
    ),
    (
        "openrouter",
        404,
        r#"{"error":{"message":"No endpoints found for x/y.","code":404}}"#,
        "UnknownModel",
    ),
    (
        "openrouter",
        400,
        r#"{"error":{"message":"x/y is not a valid model ID","code":400}}"#,
        "UnknownModel",
    ),
    (
        "deepseek",
        400,
        r#"{"error":{"message":"Model Not Exist","type":"invalid_request_error","code":"invalid_request_error"}}"#,
        "UnknownModel",
    ),
    (
        "mistral",
        400,
        r#"{"object":"error","message":"Invalid model: x","type":"invalid_model","code":"1500"}"#,
        "UnknownModel",
    ),
    ("them", 404, "404 page not found", "Rejected { status: 404"),
];

#[test]
fn every_vendors_errors_are_classified() {
    for &(provider, status, body, expected) in ERRORS.iter().chain(thoughts::ERRORS) {
        let refusal = Refusal {
            status,
            body,
            after_ms: None,
            provider,
            model: "m-1",
            sent: &Sent::default(),
        };
        let shown = format!("{:?}", from_status(&refusal));
        assert!(shown.starts_with(expected), "{provider} {status} {body}: {shown}");
    }
}

/// Errors that arrive as events of a stream whose HTTP status is 200.
#[test]
fn an_error_within_a_stream_is_classified_by_its_type_or_code() {
    for (error, expected) in [
        (r#"{"type":"overloaded_error","message":"Overloaded"}"#, "Overloaded"),
        (r#"{"type":"api_error","message":"Internal server error"}"#, "ServerError { status: 500,"),
        (r#"{"code":502,"message":"Provider disconnected"}"#, "ServerError { status: 502,"),
        (r#"{"code":429,"message":"Rate limit exceeded"}"#, "RateLimited"),
        (r#"{"code":402,"message":"Insufficient credits"}"#, "Quota"),
        (
            r#"{"code":500,"type":"InternalServerError","message":"boom"}"#,
            "ServerError { status: 500,",
        ),
        (r#"{"type":"InternalServerError","message":"boom"}"#, "ServerError { status: 500,"),
        (r#"{"code":"server_is_overloaded","message":"later"}"#, "Overloaded"),
        (
            r#"{"code":"rate_limit_exceeded","message":"Please try again in 3s"}"#,
            "RateLimited { after_ms: Some(3000)",
        ),
        (r#"{"code":"insufficient_quota","message":"You exceeded your current quota"}"#, "Quota"),
        (r#"{"code":"context_length_exceeded","message":"no"}"#, "TooLong"),
        (r#"{"status":"UNAVAILABLE","message":"overloaded"}"#, "Overloaded"),
        (r#"{"status":"UNAVAILABLE","message":"down"}"#, "ServerError { status: 503,"),
        (r#"{"message":"the request exceeds the available context size"}"#, "TooLong"),
        (
            r#"{"type":"invalid_request_error","message":"Invalid `signature` in `thinking` block"}"#,
            "Thoughts { status: 400",
        ),
        (r#"{"message":"odd"}"#, "Broken { said: \"odd\" }"),
        (r#""the slot was lost""#, "Broken { said: \"the slot was lost\" }"),
        (r#"{"error":"the slot was lost"}"#, "Broken { said: \"the slot was lost\" }"),
        (r#"{"message":"invalid value for stop"}"#, "Rejected { status: 200"),
    ] {
        let failure = in_stream(&serde_json::from_str(error).unwrap(), &Asked::default());
        let shown = format!("{failure:?}");
        assert!(shown.starts_with(expected), "{error}: {shown}");
    }
}
