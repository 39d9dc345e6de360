//! The words of vendors that tell one kind of error from another, from their documentation and from real errors. No
//! single everyday word decides: a limit of tokens may be the window, a minute's limit or a day's.

/// Rows of words, all in lower case. A message means what a table is about if it has all words of one row. `|` divides
/// words of which one suffices.
pub(super) type Table = [&'static [&'static str]];

/// Whether a message, in lower case, means what a table is about.
pub(super) fn says(message: &str, table: &Table) -> bool {
    let has = |word: &str| word.split('|').any(|it| message.contains(it));
    table.iter().any(|row| row.iter().all(|it| has(it)))
}

/// A request that does not fit the model's window.
pub(super) const TOO_LONG: &Table = &[
    &["prompt is too long|prompt too long|input is too long|conversation is too long"],
    &["prompt exceeds max length|maximum prompt length|maximum allowed input length"],
    &["input length and `max_tokens` exceed|input length exceeds|range of input length should be"],
    &[
        "context_length_exceeded|context length exceeded|model_context_window_exceeded|exceed_context_size",
    ],
    &["context window", "exceed|too long|too large|too small|does not fit|longer|maximum|limit"],
    &["context size", "exceed"],
    &["exceeded max context length|exceeds the context length|greater than the context length"],
    &["maximum context length|model's context length|longer than the maximum model length"],
    &["context the overflows"],
    &["reduce the length of the messages|reduce your message size"],
    &["input token count|prompt token count|requested tokens", "exceed"],
    &["too large for model with|exceeded model token limit"],
    &["too many tokens|token limit exceeded", "context|prompt|input|model|message|maximum"],
    &["max_new_tokens` must be <="],
    &["max_tokens must be at least 1", "got -"],
    &["request_too_large|request too large"],
];

/// A limit that passes within minutes.
pub(super) const THROTTLE: &Table = &[
    &["rate limit|rate_limit|ratelimit|too many requests|throttl|request limit reached"],
    &["too many tokens", "wait|later"],
    &["tokens per min|requests per min|per minute|(tpm)|(rpm)", "limit|quota|exceed"],
    &["resource exhausted|resource has been exhausted|resource_exhausted"],
    &["please wait before trying again|slow_down"],
];

/// A limit of an hour, a day or a plan: another try soon after fails again.
pub(super) const LASTING: &Table = &[
    &[LIMITED, "per day|per-day|perday|daily|(rpd)|(tpd)"],
    &[LIMITED, "per hour|hourly|5-hour|five-hour"],
    &[LIMITED, "per week|weekly|per month|monthly"],
    &[
        LIMITED,
        "usage limit|usage_limit|plan limit|current plan|free plan|'free' plan|subscription",
    ],
    &["free allocated quota|freeusagelimiterror|free quota"],
    &["too many tokens per day|tokens per day"],
];

const LIMITED: &str = "limit|quota|exceed|exhausted|too many|used up";

/// Used-up money or quota.
pub(super) const QUOTA: &Table = &[
    &[
        "insufficient_quota|insufficient credits|insufficient balance|insufficient account balance|insufficient funds",
    ],
    &["enforced_spend_limit|spend limit|spending limit|api usage limits|credit limit exceeded"],
    &["credit balance", "low|insufficient|negative|exhausted"],
    &[
        "prepayment credits|included credits|all available credits|requires more credits|out of credits|no credits",
    ],
    &["exceeded your current quota|exceeded_current_quota"],
    &["billing_|billing hard limit"],
    &["account is in arrears|arrearage|in good standing"],
];

/// A filter of the provider that has refused what the request or the answer says.
pub(super) const FILTERED: &Table = &[
    &["content management policy|content filtering policy|content_policy_violation|content policy"],
    &["usage policy|usage policies|acceptable use", "violat|flagged|not allowed|blocked"],
    &["data_inspection_failed|datainspectionfailed|inappropriate content|content exists risk"],
    &["flagged", "moderation|input|prompt|content"],
    &["prompt was blocked|response was blocked|blocked by safety|safety system"],
];

/// A model or a server that takes no tools.
pub(super) const NO_TOOLS: &Table = &[
    &["does not support tools|does not support tool|not support tool use|doesn't support tools"],
    &["support tool use", "no endpoints found"],
    &[
        "does not support function calling|function calling is not enabled|function calling is not supported",
    ],
    &[
        "tool calling|tool use|tool_calls|`tools`|'tools'|tools",
        "is not supported|are not supported|not enabled",
    ],
    &["unsupported param: tools|tools param requires|requires --jinja"],
    &["tool choice requires|--enable-auto-tool-choice"],
];

/// Ollama's words for a model or a window that is too large for the machine. Waiting does not help then.
pub(super) const NO_ROOM: &Table = &[&["system memory|resource limitations"]];

/// A provider that is overloaded.
pub(super) const OVERLOADED: &Table =
    &[&["overload|slow_down|high demand|at capacity|no capacity"]];

/// A request that was refused because of the key, and not because of the region or the content.
pub(super) const KEY: &Table = &[&["key|permission|auth|token|credential|access"]];

/// A request that is not valid, in an error without a status.
pub(super) const INVALID: &Table = &[&[
    "invalid|unsupported|not supported|unknown parameter|bad request|must be|is required|unrecognized",
]];

/// The words with which Anthropic, `OpenAI` and Gemini refuse a thought or a thought's signature.
pub(super) const THOUGHTS: &Table = &[
    &["bound to a different conversation"],
    &["`signature` in `thinking`|thinking.signature"],
    &["blocks cannot be modified|latest assistant message cannot be modified"],
    &["invalid_encrypted_content|could not be decrypted|could not be verified"],
    &["thought signature|thought_signature is not valid|thought_signature' (type_bytes)"],
    &["final block in an assistant message cannot be|must start with a thinking block"],
    &["expected `thinking` or `redacted_thinking`|of type 'reasoning' was provided without"],
];

/// An unknown model.
pub(super) const NO_MODEL: &Table = &[
    &["model_not_found|is not a valid model|invalid model|model not exist|unknown model"],
    &["no endpoints found"],
];
