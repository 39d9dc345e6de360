//! The errors with which vendors refuse thoughts that were sent back to them.

/// The vendor, the HTTP status and the body of an error, and the beginning of the text of the failure that it becomes.
pub(super) const ERRORS: &[(&str, u16, &str, &str)] = &[
    (
        "anthropic",
        400,
        r#"{"type":"error","error":{"type":"invalid_request_error","message":"messages.1.content.0: The block is bound to a different conversation"}}"#,
        "Thoughts { status: 400",
    ),
    (
        "anthropic",
        400,
        r#"{"type":"error","error":{"type":"invalid_request_error","message":"messages.1.content.0: Invalid `signature` in `thinking` block"}}"#,
        "Thoughts { status: 400",
    ),
    (
        "anthropic",
        400,
        r#"{"type":"error","error":{"type":"invalid_request_error","message":"messages.3.content.2: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. These blocks must remain as they were in the original response."}}"#,
        "Thoughts { status: 400",
    ),
    (
        "anthropic",
        400,
        r#"{"type":"error","error":{"type":"invalid_request_error","message":"messages.1: The final block in an assistant message cannot be `thinking`."}}"#,
        "Thoughts { status: 400",
    ),
    (
        "anthropic",
        400,
        r#"{"type":"error","error":{"type":"invalid_request_error","message":"messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `text`."}}"#,
        "Thoughts { status: 400",
    ),
    (
        "openai",
        400,
        r#"{"error":{"message":"Item 'rs_1' of type 'reasoning' was provided without its required following item.","type":"invalid_request_error"}}"#,
        "Thoughts { status: 400",
    ),
    (
        "openai",
        400,
        r#"{"error":{"message":"The encrypted content for item rs_1 could not be verified. Reason: Encrypted content could not be decrypted or parsed.","type":"invalid_request_error","param":null,"code":"invalid_encrypted_content"}}"#,
        "Thoughts { status: 400",
    ),
    (
        "gemini",
        400,
        r#"[{"error":{"code":400,"message":"Thought signature is not valid.","status":"INVALID_ARGUMENT"}}]"#,
        "Thoughts { status: 400",
    ),
    (
        "gemini",
        400,
        r#"{"error":{"code":400,"message":"Function call is missing a thought_signature in functionCall parts.","status":"INVALID_ARGUMENT"}}"#,
        "Rejected { status: 400",
    ),
    (
        "openrouter",
        400,
        r#"{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":\"messages.1.content.0: Invalid `signature` in `thinking` block\"}}","provider_name":"Anthropic"}}}"#,
        "Thoughts { status: 400, said: \"Provider returned error: messages.1.content.0: Invalid `signature`",
    ),
    (
        "openrouter",
        400,
        r#"{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"no JSON at all"}}}"#,
        "Rejected { status: 400, said: \"Provider returned error: no JSON at all\" }",
    ),
];
