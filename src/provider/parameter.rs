//! The parameters that can be left out of a request. Finds out which parameter a server refuses, and leaves it out. The
//! model, the messages and the tools are never left out.

mod images;

use super::dialect::Dialect;
use crate::message::Parameter;
use serde_json::Value;
use std::collections::BTreeSet;

/// Where a parameter is in a request.
#[derive(Debug)]
enum Place {
    /// At this JSON pointer of the body.
    At(&'static str),
    /// In any block of the system prompt, the tools and the messages.
    Marks,
    /// In the messages. To leave images out, the request is made again from the session.
    Images,
    /// In the list of tools. To leave the search out, the request is made again from the session.
    Search,
    /// The system prompt. To leave it out, the request is made again from the session.
    System,
    /// In a header, which is sent only if the body has a value at this JSON pointer.
    Header(&'static str),
}

#[derive(Debug)]
struct Row {
    dialect: Dialect,
    parameter: Parameter,
    place: Place,
    /// The parameter's name in the request, as shown to the user.
    name: &'static str,
    /// Other names for the parameter in refusals, in lower case.
    aliases: &'static [&'static str],
}

const fn row(
    dialect: Dialect,
    parameter: Parameter,
    pointer: &'static str,
    name: &'static str,
    aliases: &'static [&'static str],
) -> Row {
    Row { dialect, parameter, place: Place::At(pointer), name, aliases }
}

use Dialect::{Anthropic, Gemini, Ollama, OpenAiChat, OpenAiResponses};

const TABLE: [Row; 35] = [
    row(OpenAiChat, Parameter::MaxTokens, "/max_tokens", "max_tokens", &[]),
    row(
        OpenAiChat,
        Parameter::MaxCompletionTokens,
        "/max_completion_tokens",
        "max_completion_tokens",
        &[],
    ),
    row(OpenAiChat, Parameter::Temperature, "/temperature", "temperature", &[]),
    row(
        OpenAiChat,
        Parameter::Effort,
        "/reasoning_effort",
        "reasoning_effort",
        &["reasoningeffort", "reasoning.effort"],
    ),
    row(OpenAiChat, Parameter::Reasoning, "/reasoning", "reasoning", &["reasoning.effort"]),
    row(OpenAiChat, Parameter::Thinking, "/thinking", "thinking", &["thinking.type"]),
    row(
        OpenAiChat,
        Parameter::StreamOptions,
        "/stream_options",
        "stream_options",
        &["stream_options.include_usage", "include_usage"],
    ),
    Row {
        place: Place::Marks,
        ..row(OpenAiChat, Parameter::CacheControl, "", "cache_control", &[])
    },
    row(
        OpenAiResponses,
        Parameter::MaxOutputTokens,
        "/max_output_tokens",
        "max_output_tokens",
        &[],
    ),
    row(OpenAiResponses, Parameter::Temperature, "/temperature", "temperature", &[]),
    row(
        OpenAiResponses,
        Parameter::Effort,
        "/reasoning/effort",
        "reasoning.effort",
        &["reasoning_effort"],
    ),
    row(
        OpenAiResponses,
        Parameter::ReasoningSummary,
        "/reasoning/summary",
        "reasoning.summary",
        &["reasoning summaries"],
    ),
    row(OpenAiResponses, Parameter::Reasoning, "/reasoning", "reasoning", &[]),
    row(
        OpenAiResponses,
        Parameter::Include,
        "/include",
        "include",
        &["reasoning.encrypted_content", "encrypted content"],
    ),
    row(OpenAiResponses, Parameter::Store, "/store", "store", &[]),
    row(OpenAiResponses, Parameter::PromptCacheKey, "/prompt_cache_key", "prompt_cache_key", &[]),
    row(Anthropic, Parameter::Temperature, "/temperature", "temperature", &[]),
    row(Anthropic, Parameter::Thinking, "/thinking", "thinking", &["thinking.type"]),
    row(
        Anthropic,
        Parameter::ThinkingDisplay,
        "/thinking/display",
        "thinking.display",
        &["thinking.adaptive.display"],
    ),
    Row {
        place: Place::Header("/thinking/budget_tokens"),
        ..row(
            Anthropic,
            Parameter::InterleavedThinking,
            "",
            "anthropic-beta",
            &["interleaved-thinking-2025-05-14"],
        )
    },
    row(
        Anthropic,
        Parameter::Effort,
        "/output_config",
        "output_config",
        &["output_config.effort", "effort"],
    ),
    Row {
        place: Place::Marks,
        ..row(Anthropic, Parameter::CacheControl, "", "cache_control", &[])
    },
    row(
        Gemini,
        Parameter::Thinking,
        "/generationConfig/thinkingConfig",
        "thinkingConfig",
        &[
            "thinking_config",
            "thinkinglevel",
            "thinking_level",
            "thinking level",
            "thinkingbudget",
            "thinking_budget",
            "thinking budget",
            "thinking",
        ],
    ),
    row(Ollama, Parameter::Thinking, "/think", "think", &["thinking", "think value"]),
    system(OpenAiChat),
    system(Gemini),
    system(Ollama),
    images(Anthropic),
    images(OpenAiChat),
    images(OpenAiResponses),
    images(Gemini),
    images(Ollama),
    search(Anthropic, "web_search", &["web_search_20250305", "web search"]),
    search(OpenAiResponses, "web_search", &["web search", "web_search_call.action.sources"]),
    search(
        Gemini,
        "googleSearch",
        &[
            "google_search",
            "google search",
            "search grounding",
            "includeserversidetoolinvocations",
            "include_server_side_tool_invocations",
        ],
    ),
];

const fn search(dialect: Dialect, name: &'static str, aliases: &'static [&'static str]) -> Row {
    Row { place: Place::Search, ..row(dialect, Parameter::Search, "", name, aliases) }
}

const fn system(dialect: Dialect) -> Row {
    let aliases = &[
        "system role",
        "'system' role",
        "'system'",
        "system message",
        "system messages",
        "system instruction",
        "developer instruction",
    ];
    Row { place: Place::System, ..row(dialect, Parameter::System, "", "system prompt", aliases) }
}

const fn images(dialect: Dialect) -> Row {
    let row = row(dialect, Parameter::Images, "", "images", images::ALIASES);
    Row { place: Place::Images, ..row }
}

/// Words before the name of a refused parameter, in lower case.
const BEFORE: [&str; 25] = [
    "unsupported parameter",
    "unsupported param",
    "unsupported argument",
    "unsupported value",
    "unsupported_parameter",
    "unsupported_value",
    "unknown parameter",
    "unknown_parameter",
    "unknown argument",
    "unknown field",
    "unknown name",
    "unrecognized request argument",
    "unrecognized field",
    "unexpected keyword argument",
    "unexpected value(s)",
    "extra inputs are not permitted",
    "does not support",
    "doesn't support",
    "don't support",
    "not supported on this model:",
    "must be verified to generate",
    "no endpoints found that support",
    "is not a",
    "is missing data required for",
    "could not process",
];

/// Words after the name of a refused parameter, in lower case.
const BEHIND: [&str; 18] = [
    "not supported",
    "unsupported",
    "does not support",
    "extra inputs are not permitted",
    "extra fields not permitted",
    "extra_forbidden",
    "not permitted",
    "only supported by",
    "may be provided",
    "not allowed",
    "was unexpected",
    "is deprecated",
    "is not enabled",
    "may only be set",
    "cannot find field",
    "unknown_parameter",
    "unrecognized",
    "'adaptive' found using 'type' does not match",
];

/// The most bytes between a parameter's name and the words that refuse it.
const GAP: usize = 40;
/// The most bytes of a refusal that are read, and how many bytes before and after a parameter's name are searched for
/// words that refuse it.
const LONGEST: usize = 64 << 10;
const AROUND: usize = 128;

/// Words after which a refusal lists the parameters that the server accepts.
const TAKEN: [&str; 2] = ["expected one of", "supported parameters are"];

/// The first names of paths to the messages and tools, which are never left out of a request.
const CONTENT: [&str; 4] = ["messages", "contents", "input", "tools"];

/// The parameters that a request has. A refusal can only be about one of these.
#[derive(Debug, Clone, Default)]
pub struct Sent(Vec<&'static Row>);

impl Sent {
    pub fn of(dialect: Dialect, body: &Value) -> Sent {
        Sent(TABLE.iter().filter(|row| row.dialect == dialect && row.is_in(body)).collect())
    }

    pub fn has(&self, parameter: Parameter) -> bool {
        self.0.iter().any(|row| row.parameter == parameter)
    }

    /// The parameter that a refusal names as not accepted.
    pub fn refused(&self, refusal: &str) -> Option<Parameter> {
        let text = beginning(refusal, LONGEST).to_lowercase();
        let end = TAKEN.iter().filter_map(|it| text.find(it)).min().unwrap_or(text.len());
        let text = &text[..end];
        let named = self.0.iter().flat_map(|row| {
            let own = row.name.to_lowercase();
            let names = row.aliases.iter().map(|it| (*it).to_owned()).chain([own]);
            names.filter_map(|name| {
                let in_content = matches!(row.place, Place::Marks | Place::Images | Place::Search);
                let gap = least_gap(text, &name, in_content)?;
                // if two names are equally close to words that refuse a parameter, the longer name counts
                Some((gap, usize::MAX - name.len(), row.parameter))
            })
        });
        named.min().map(|(_, _, parameter)| parameter)
    }
}

/// The smallest distance, in bytes, between a place of this name and words that refuse a parameter.
fn least_gap(text: &str, name: &str, in_content: bool) -> Option<usize> {
    let gap = |at: usize| {
        let end = at + name.len();
        let far = beginning(text, at.saturating_sub(AROUND)).len();
        let (before, behind) = (&text[far..at], beginning(&text[end..], AROUND));
        if !is_name(before, behind) || !in_content && is_of_content(before) {
            return None;
        }
        let ahead =
            BEFORE.iter().filter_map(|it| Some(before.len() - (before.rfind(it)? + it.len())));
        let after = BEHIND.iter().filter_map(|it| behind.find(it));
        ahead.chain(after).min().filter(|gap| *gap <= GAP)
    };
    text.match_indices(name).filter_map(|(at, _)| gap(at)).min()
}

/// The first `most` bytes of a text, or a few less, so that no character is cut.
fn beginning(text: &str, most: usize) -> &str {
    let mut end = most.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// Whether the text between `before` and `behind` is a whole name.
fn is_name(before: &str, behind: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    !before.ends_with(is_part) && !behind.starts_with(is_part)
}

/// Whether the name that follows is the end of a path into messages or tools, such as `messages.0.name`.
fn is_of_content(before: &str) -> bool {
    let is_path = |c: char| c.is_ascii_alphanumeric() || "_.[]".contains(c);
    let start = before.rfind(|c| !is_path(c)).map_or(0, |at| at + 1);
    let path = before.get(start..).unwrap_or_default();
    path.ends_with('.') && CONTENT.iter().any(|it| path.starts_with(it))
}

impl Row {
    fn is_in(&self, body: &Value) -> bool {
        match self.place {
            Place::At(pointer) | Place::Header(pointer) => body.pointer(pointer).is_some(),
            Place::Marks => is_marked(body),
            Place::System => {
                body["messages"][0]["role"] == "system" || body.get("systemInstruction").is_some()
            }
            Place::Images => images::are_in(body),
            Place::Search => searches(body),
        }
    }
}

/// Whether the tools of a request have the provider's own search of the web.
fn searches(body: &Value) -> bool {
    let mut tools = body["tools"].as_array().into_iter().flatten();
    tools.any(|it| {
        it["type"].as_str().is_some_and(|it| it.starts_with("web_search"))
            || it.get("googleSearch").is_some()
    })
}

/// The fields that contain blocks which may have a cache mark.
const BLOCKS: [&str; 4] = ["system", "tools", "messages", "content"];

fn is_marked(value: &Value) -> bool {
    value.get("cache_control").is_some()
        || BLOCKS.iter().any(|it| value[*it].as_array().is_some_and(|it| it.iter().any(is_marked)))
}

fn unmark(value: &mut Value) {
    value.as_object_mut().map(|it| it.shift_remove("cache_control"));
    for name in BLOCKS {
        let blocks = value.get_mut(name).and_then(Value::as_array_mut);
        blocks.into_iter().flatten().for_each(unmark);
    }
}

/// Removes these parameters from the body.
pub(super) fn leave_out(dialect: Dialect, without: &BTreeSet<Parameter>, body: &mut Value) {
    for row in TABLE.iter().filter(|row| row.dialect == dialect && without.contains(&row.parameter))
    {
        match row.place {
            Place::At(pointer) => remove(body, pointer),
            Place::Header(_) | Place::Images | Place::Search | Place::System => (),
            Place::Marks => unmark(body),
        }
    }
}

/// Removes the value at a pointer, and its parent if the parent becomes empty.
fn remove(body: &mut Value, pointer: &str) {
    let Some((parent, name)) = pointer.rsplit_once('/') else { return };
    let Some(object) = body.pointer_mut(parent).and_then(Value::as_object_mut) else { return };
    object.shift_remove(name);
    if object.is_empty() {
        remove(body, parent);
    }
}

/// The name of a parameter in a dialect's requests.
pub fn name(dialect: Dialect, parameter: Parameter) -> &'static str {
    let row = TABLE.iter().find(|row| row.dialect == dialect && row.parameter == parameter);
    row.map_or("", |row| row.name)
}

#[cfg(test)]
mod tests;
