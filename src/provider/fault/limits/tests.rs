//! Tests the numbers and limits in errors that real servers send.

use super::*;
use std::fmt::Write;

/// The server, and an error for a request that is too long, with the window and the counted tokens that it names.
const LONG: &[(&str, &str, Option<u32>, Option<u32>)] = &[
    (
        "Anthropic",
        "prompt is too long: 213462 tokens > 200000 maximum",
        Some(200_000),
        Some(213_462),
    ),
    (
        "Anthropic, a small window",
        "prompt is too long: 31,024 tokens > 30,000 maximum",
        Some(30_000),
        Some(31_024),
    ),
    (
        "Bedrock",
        "The model returned the following errors: input length and `max_tokens` exceed context limit: 190000 + 64000 > 200000, decrease input length or `max_tokens` and try again",
        Some(200_000),
        Some(190_000),
    ),
    ("Bedrock, without numbers", "Input is too long for requested model.", None, None),
    (
        "OpenAI, Azure",
        "This model's maximum context length is 8192 tokens. However, your messages resulted in 10346 tokens. Please reduce the length of the messages.",
        Some(8192),
        Some(10_346),
    ),
    (
        "OpenAI, the Responses API",
        "Your input exceeds the context window of this model. Please adjust your input and try again.",
        None,
        None,
    ),
    (
        "vLLM 0.9",
        "This model's maximum context length is 16384 tokens. However, you requested 122946 tokens (112946 in the messages, 10000 in the completion). Please reduce the length of the messages or completion.",
        Some(16_384),
        Some(112_946),
    ),
    (
        "vLLM 0.11",
        "'max_tokens' or 'max_completion_tokens' is too large: 8192. This model's maximum context length is 8192 tokens and your request has 5932 input tokens (8192 > 8192 - 5932).",
        Some(8192),
        Some(5932),
    ),
    (
        "vLLM 0.15",
        "This model's maximum context length is 16384 tokens. However, you requested 4096 output tokens and your prompt contains at least 12289 input tokens, for a total of at least 16385 tokens.",
        Some(16_384),
        Some(12_289),
    ),
    (
        "vLLM, the prompt alone",
        "The decoder prompt (length 40000) is longer than the maximum model length of 32768. Make sure that `max_model_len` is no smaller than the number of text tokens.",
        Some(32_768),
        Some(40_000),
    ),
    ("vLLM, a negative rest", "max_tokens must be at least 1, got -186.", None, None),
    (
        "SGLang",
        "The input (61709 tokens) is longer than the model's context length (40960 tokens).",
        Some(40_960),
        Some(61_709),
    ),
    (
        "SGLang, with the reply",
        "Requested token count exceeds the model's maximum context length of 131072 tokens. You requested a total of 140000 tokens: 132000 tokens from the input messages and 8000 tokens for the completion.",
        Some(131_072),
        Some(132_000),
    ),
    (
        "OpenRouter",
        "This endpoint's maximum context length is 204800 tokens. However, you requested about 300000 tokens (298000 of text input, 2000 of tool input). Please reduce the length of either one.",
        Some(204_800),
        Some(298_000),
    ),
    (
        "DeepSeek",
        "This model's maximum context length is 1048576 tokens. However, you requested 1057726 tokens (993726 in the messages, 64000 in the completion).",
        Some(1_048_576),
        Some(993_726),
    ),
    (
        "Gemini",
        "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).",
        Some(1_048_575),
        Some(1_196_265),
    ),
    (
        "xAI",
        "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
        Some(131_072),
        Some(537_812),
    ),
    (
        "Mistral",
        "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
        Some(32_768),
        Some(40_000),
    ),
    (
        "Together, TGI",
        "`inputs` tokens + `max_new_tokens` must be <= 8193. Given: 9000 `inputs` tokens and 512 `max_new_tokens`",
        Some(8193),
        Some(9000),
    ),
    (
        "TGI, the prompt alone",
        "`inputs` must have less than 1024 tokens. Given: 1330",
        Some(1024),
        None,
    ),
    (
        "Fireworks",
        "The prompt is too long: 300000, model maximum context length: 131071",
        Some(131_071),
        Some(300_000),
    ),
    (
        "Moonshot",
        "Invalid request: Your request exceeded model token limit: 262144 (requested: 300000)",
        Some(262_144),
        Some(300_000),
    ),
    // the number is the error's code
    ("MiniMax", "invalid params, context window exceeds limit (2013)", None, None),
    (
        "Copilot",
        r#"{"error":{"message":"prompt token count of 150000 exceeds the limit of 128000","code":"model_max_prompt_tokens_exceeded"}}"#,
        Some(128_000),
        Some(150_000),
    ),
    (
        "DashScope",
        "<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 258048]",
        Some(258_048),
        None,
    ),
    (
        "llama.cpp",
        r#"{"error":{"code":400,"message":"the request exceeds the available context size, try increasing it","type":"exceed_context_size_error","n_prompt_tokens":14429,"n_ctx":8192}}"#,
        Some(8192),
        Some(14_429),
    ),
    (
        "llama.cpp, newer",
        r#"{"error":{"code":400,"message":"request (4390 tokens) exceeds the available context size (4096 tokens), try increasing it","type":"exceed_context_size_error"}}"#,
        Some(4096),
        Some(4390),
    ),
    ("llama.cpp, in the reply", "Context size has been exceeded.", None, None),
    ("llama-cpp-python", "Requested tokens (2285) exceed context window of 2048", Some(2048), None),
    (
        "LM Studio",
        "Trying to keep the first 15857 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens, which is not enough.",
        Some(4096),
        Some(15_857),
    ),
    (
        "LM Studio, another",
        "The number of tokens to keep from the initial prompt is greater than the context length (n_keep: 10247 >= n_ctx: 4096). Try to load the model with a larger context length.",
        Some(4096),
        Some(10_247),
    ),
    (
        "LM Studio, in the reply",
        "Reached context length of 4096 tokens with model (arch: qwen3vlmoe) that does not currently support mid-generation context overflow.",
        Some(4096),
        None,
    ),
    ("Ollama", "prompt too long; exceeded max context length by 120 tokens", None, None),
    (
        "Cohere",
        "too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 4292.",
        Some(4081),
        None,
    ),
    (
        "Cerebras",
        "Please reduce the length of the messages or completion. Current length is 8193 while limit is 8192",
        Some(8192),
        None,
    ),
    (
        "Groq, OpenAI: the tokens of a minute",
        "Request too large for model `llama` in organization `o` service tier `on_demand` on tokens per minute (TPM): Limit 6000, Requested 7412, please reduce your message size and try again.",
        Some(6000),
        None,
    ),
    (
        "watsonx",
        "the number of input tokens 5000 cannot exceed the total tokens limit 4096 for this model",
        Some(4096),
        Some(5000),
    ),
    ("TabbyAPI", "Prompt length 5000 is greater than max_seq_len 4096", Some(4096), None),
    (
        "LiteLLM",
        r#"litellm.ContextWindowExceededError: litellm.BadRequestError: OpenAIException - {"error":{"message":"This model's maximum context length is 32768 tokens. However, you requested 33000 tokens (24808 in the messages, 8192 in the completion)."}}"#,
        Some(32_768),
        Some(24_808),
    ),
];

#[test]
fn the_window_and_the_counted_tokens_are_read_from_errors_of_many_servers() {
    let mut wrong = String::new();
    for (server, said, window, prompt) in LONG {
        let failures = [
            too_long((*said).to_owned()),
            Failure::Rejected { status: 400, said: (*said).to_owned() },
        ];
        let expected =
            Failure::TooLong { said: (*said).to_owned(), window: *window, prompt: *prompt };
        let found = named(failures[0].clone(), 400, said, false);
        if found != expected {
            let _ = writeln!(wrong, "{server}: {found:?}");
        }
        // an error that names the window is recognised even if the table of errors does not know its words
        let names_window = TOO_LONG.iter().any(|it| plain(said).contains(it));
        let found = named(failures[1].clone(), 400, said, false);
        if names_window && found != expected {
            let _ = writeln!(wrong, "{server}, as a rejection: {found:?}");
        }
    }
    assert_eq!(wrong, "");
}

/// The server, an error, and the limit that it names.
const OTHERS: &[(&str, &str, Option<Limit>)] = &[
    (
        "Anthropic",
        "max_tokens: 99999 > 64000, which is the maximum allowed number of output tokens for claude",
        Some(Limit::Reply(64_000)),
    ),
    (
        "OpenAI",
        "max_tokens is too large: 32000. This model supports at most 16384 completion tokens, whereas you provided 32000.",
        Some(Limit::Reply(16_384)),
    ),
    (
        "DeepSeek",
        "Invalid max_tokens value, the valid range of max_tokens is [1, 8192]",
        Some(Limit::Reply(8192)),
    ),
    (
        "Groq",
        "`max_tokens` must be less than or equal to `8192`, the maximum value for `max_tokens` is less than the `context_window` for this model",
        Some(Limit::Reply(8192)),
    ),
    ("DashScope", "Range of max_tokens should be [1, 16384]", Some(Limit::Reply(16_384))),
    (
        "Vertex",
        "Unable to submit request because it has a maxOutputTokens value of 65536 but the supported range is from 1 (inclusive) to 8193 (exclusive).",
        Some(Limit::Reply(8192)),
    ),
    (
        "Bedrock",
        "The maximum tokens you requested exceeds the model limit of 4096. Try again with a maximum tokens value that is lower than 4096.",
        Some(Limit::Reply(4096)),
    ),
    (
        "Cohere",
        "too many tokens: max tokens must be less than or equal to 4096, the maximum output for this model - received 8000.",
        Some(Limit::Reply(4096)),
    ),
    (
        "Anthropic",
        "messages.0.content.101: too many images and documents: 110 + 0 > 100",
        Some(Limit::Images(100)),
    ),
    ("vLLM", "At most 5 image(s) may be provided in one request.", Some(Limit::Images(5))),
    ("vLLM, newer", "At most 1 image(s) may be provided in one prompt.", Some(Limit::Images(1))),
    (
        "Copilot",
        "Too many images in request: 11 images provided, but the model supports a maximum of 10 images.",
        Some(Limit::Images(10)),
    ),
    (
        "Groq",
        "Too many images provided. This model supports up to 5 images",
        Some(Limit::Images(5)),
    ),
    (
        "a proxy",
        "request contains 52 images, exceeding the maximum of 50 allowed per request",
        Some(Limit::Images(50)),
    ),
    ("another proxy", "too many images in the message, max allowed is 16", Some(Limit::Images(16))),
    ("a third", "Image count 5 exceeds limit 4 per request.", Some(Limit::Images(4))),
    ("OpenAI", "Too many images in request. Max is 500.", Some(Limit::Images(500))),
    (
        "Gemini",
        "Please use fewer than 3600 images in your request to models/gemini",
        Some(Limit::Images(3599)),
    ),
    ("without a number", "Too many images in your request", Some(Limit::Images(0))),
    (
        "Anthropic",
        "messages.88.content.1.image.source.base64.data: At least one of the image dimensions exceed max allowed size for many-image requests: 2000 pixels",
        Some(Limit::Side(2000)),
    ),
    (
        "Anthropic",
        "messages.1.content.0.image.source.base64.data: At least one of the image dimensions exceed max allowed size: 8000 pixels",
        Some(Limit::Side(8000)),
    ),
    ("Anthropic", "Could not process image", Some(Limit::Image)),
    (
        "Anthropic",
        "messages.1.content.0.image.source.base64: image exceeds 5 MB maximum: 6000000 bytes > 5242880 bytes",
        Some(Limit::Image),
    ),
    ("Gemini", "Unable to process input image. Please retry or report in", Some(Limit::Image)),
    ("Gemini", "Provided image is not valid.", Some(Limit::Image)),
    ("OpenAI", "Invalid image.", Some(Limit::Image)),
    (
        "OpenAI",
        "You uploaded an unsupported image. Please make sure your image is valid.",
        Some(Limit::Image),
    ),
    (
        "OpenAI",
        "The image data you provided does not represent a valid image. Please check your input and try again.",
        Some(Limit::Image),
    ),
    ("Ollama", "failed to process inputs: image: unknown format", Some(Limit::Image)),
    ("llama.cpp", "Failed to load image or audio file", Some(Limit::Image)),
    ("vLLM", "cannot identify image file <_io.BytesIO object at 0x7f>", Some(Limit::Image)),
    (
        "Volcengine",
        "Image 0 failed: Image exceeds the maximum allowed total pixels. Current dimensions: 4634x12324 = 57109416 pixels. Maximum allowed: 36000000 pixels.",
        Some(Limit::Image),
    ),
    // these models take no images at all, which is another failure
    ("vLLM", "At most 0 image(s) may be provided in one request.", None),
    ("Ollama", "this model is missing data required for image input", None),
    ("OpenRouter", "No endpoints found that support image input", None),
    ("OpenAI", "Invalid content type. image_url is only supported by certain models.", None),
    (
        "llama.cpp",
        "image input is not supported - hint: if this is unexpected, you may need to provide the mmproj",
        None,
    ),
    ("another request", "tools.0.name: String should match pattern", None),
];

#[test]
fn a_request_with_images_that_is_too_large_is_so_by_bytes_unless_the_error_names_tokens() {
    let check = |said: &str, has_images: bool, limit: Option<Limit>| {
        let failure = super::too_long(said.to_owned());
        let found = match named(failure, 413, said, has_images) {
            Failure::Exceeds { limit, .. } => Some(limit),
            _ => None,
        };
        assert_eq!(found, limit, "{said}");
    };
    for said in [
        "Request exceeds the maximum size",
        "413 Request Entity Too Large",
        "",
        "Payload too large",
    ] {
        check(said, true, Some(Limit::Bytes));
        check(said, false, None);
    }
    for said in ["Request too large for gpt-5 on tokens per min", "Maximum context length exceeded"]
    {
        check(said, true, None);
    }
}

#[test]
fn limits_of_replies_and_images_are_read_from_errors_of_many_servers() {
    let mut wrong = String::new();
    for (server, said, limit) in OTHERS {
        let failure = Failure::Rejected { status: 400, said: (*said).to_owned() };
        let found = match named(failure, 400, said, true) {
            Failure::Exceeds { limit, .. } => Some(limit),
            _ => None,
        };
        if found != *limit {
            let _ = writeln!(wrong, "{server}: {said}: {found:?}");
        }
    }
    assert_eq!(wrong, "");
}

#[test]
fn an_error_that_passes_by_itself_and_names_no_limit_stays_as_it_is() {
    let said = "The image service is at capacity, the limit is 5 requests".to_owned();
    let failure = Failure::ServerError { status: 500, after_ms: None, said: said.clone() };
    assert_eq!(named(failure.clone(), 500, &said, false), failure);
    let failure = Failure::RateLimited { after_ms: None, said: String::new() };
    assert_eq!(
        named(failure.clone(), 429, "maximum context length is 8192 tokens", false),
        failure
    );
}
