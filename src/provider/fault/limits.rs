//! The limits that an error names in its text: the window of the model, the tokens that the server has counted, the most
//! tokens of a reply, the most images of a request and the most pixels of an image. Also tells that an image cannot be
//! read. Each form is in the documentation or source code of a server, or in a report of its users.

use crate::event::{Failure, Limit};
use crate::message::Parameter;

/// The fewest tokens that count as a window. A smaller number is a code, a status or a count of something else.
const LEAST_WINDOW: u32 = 256;
/// The most bytes of an error that are read.
const LONGEST: usize = 64 << 10;

/// The failure for a request that is too long. `named` adds the numbers.
pub(super) fn too_long(said: String) -> Failure {
    Failure::TooLong { said, window: None, prompt: None }
}

/// A form in lower case, without quotation marks. `#` is the number that is looked for, `*` any number, and a blank any
/// blanks or none.
type Form = &'static str;

/// The most tokens of a request together with its reply.
const WINDOW: &[Form] = &[
    "prompt is too long: * tokens > # maximum",
    "exceed context limit: * + * > #",
    "maximum context length is #",
    "maximum context length of #",
    "maximum context length: #",
    "with # maximum context length",
    "context length of only #",
    "context length is only #",
    "context length of #",
    "context length (# tokens",
    "context size (# tokens",
    "context window of #",
    "context window is #",
    "context size of #",
    "context size is #",
    "number of tokens allowed (#",
    "maximum prompt length is #",
    "exceeds the limit of #",
    "max_new_tokens must be <= #",
    "inputs must have less than # tokens",
    "model token limit: #",
    "total tokens limit #",
    "range of input length should be [*, #]",
    "maximum model length of #",
    "number of tokens in the prompt cannot exceed #",
    "while limit is #",
    "): limit #, requested *",
    "n_ctx: #",
    "n_ctx = #",
    "n_ctx (#",
    "max_model_len: #",
    "max_model_len = #",
    "max_model_len (#",
    "max_model_len of #",
    "max_seq_len: #",
    "max_seq_len = #",
    "max_seq_len (#",
    "max_seq_len #",
];

/// The tokens of the request that was refused, without the reply.
const PROMPT: &[Form] = &[
    "prompt is too long: # tokens",
    "prompt is too long: #, model maximum",
    "exceed context limit: # + *",
    "(# in the messages",
    "(# of text input",
    "messages resulted in # tokens",
    "request has # input tokens",
    "prompt contains at least # input tokens",
    "prompt contains # tokens",
    "request contains # tokens",
    "input token count (#)",
    "token count of # exceeds",
    "given: # inputs tokens",
    "(requested: #)",
    "n_prompt_tokens: #",
    "request (# tokens)",
    "the input (# tokens)",
    "keep the first # tokens",
    "n_keep: #",
    "prompt (length #)",
    "* tokens: # tokens from the input",
    "input tokens # cannot exceed",
];

/// Words for a request that is too long, beside those in the table of errors.
const TOO_LONG: &[&str] = &[
    "max_tokens must be at least 1, got -",
    "context size has been exceeded",
    "context length exceeded",
    "exceeds the context window",
    "greater than max_seq_len",
    "cannot exceed the total tokens limit",
    "reached context length of",
    "longer than the model's context length",
    "maximum context length",
    "exceed context window",
];

/// The most tokens of a reply.
const REPLY: &[Form] = &[
    "max_tokens: * > #, which is the maximum allowed number of output tokens",
    "supports at most # completion tokens",
    "supports at most # output tokens",
    "range of max_tokens is [*, #]",
    "range of max_tokens should be [*, #]",
    "max_tokens must be less than or equal to #",
    "max_completion_tokens must be less than or equal to #",
    "max tokens must be less than or equal to #",
    "max_tokens should be less than or equal to #",
    "maximum tokens you requested exceeds the model limit of #",
];

/// The same, where the number that is named is the first that is too large.
const REPLY_BELOW: &[Form] =
    &["maxoutputtokens value of * but the supported range is from * (inclusive) to # (exclusive)"];

/// The most images of a request.
const IMAGES: &[Form] = &[
    "too many images and documents: * + * > #",
    "too many images: * > #",
    "at most # image",
    "supports up to # image",
    "support up to # image",
    "maximum of # image",
    "maximum of # allowed per request",
    "max # image",
    "max is #",
    "max allowed is #",
    "maximum is #",
    "limit is #",
    "exceeds limit #",
    "exceeds the limit of #",
    "limit of # image",
    "exceeds the maximum of #",
    "exceed the maximum of #",
    "no more than # image",
    "up to # image",
    "only # image",
];

/// The same, where the number that is named is the first that is too large.
const IMAGES_BELOW: &[Form] = &["fewer than # image", "less than # image"];

/// Words for too many images.
const MANY: &[&str] = &["too many image", "number of images", "image count", "images in request"];

/// The most pixels of an image's width and height.
const SIDE: &[Form] = &[
    "max allowed size for many-image requests: # pixels",
    "exceed max allowed size: # pixels",
    "exceeds max allowed size: # pixels",
    "maximum image dimension of #",
    "image dimensions must be at most #",
];

/// Words for an image that cannot be read, or that is too large.
const IMAGE: &[&str] = &[
    "could not process image",
    "unable to process input image",
    "failed to process image",
    "failed to load image",
    "failed to decode image",
    "unable to decode image",
    "cannot identify image file",
    "image is not valid",
    "not a valid image",
    "represent a valid image",
    "invalid image.",
    "invalid image data",
    "invalid image format",
    "image data is invalid",
    "unsupported image format",
    "unsupported image type",
    "unsupported image media type",
    "uploaded an unsupported image",
    "image: unknown format",
    "image exceeds",
    "image is too large",
    "image too large",
    "maximum allowed total pixels",
    "maximum image size",
    "image does not match the provided media type",
    "image.source.base64",
];

/// Adds to a failure what the error's text teaches: the numbers of a request that is too long, and another limit that
/// the request exceeds. `body` is the error's whole text, and
/// `has_images` says whether the request has images.
pub(super) fn named(failure: Failure, status: u16, body: &str, has_images: bool) -> Failure {
    let said = match &failure {
        Failure::TooLong { said, .. }
        | Failure::Rejected { said, .. }
        | Failure::Unsupported { said, .. }
        | Failure::ServerError { said, .. } => said.clone(),
        _ => return failure,
    };
    let text = plain(body);
    let by_bytes = status == 413 && has_images && !says(&text, &["token", "context", "prompt"]);
    let limit = limit(&text, &failure, has_images);
    if let Some(limit) = limit.or(by_bytes.then_some(Limit::Bytes)) {
        return Failure::Exceeds { status, said, limit };
    }
    let is_too_long = match failure {
        Failure::TooLong { .. } => true,
        Failure::Rejected { .. } | Failure::ServerError { .. } => says(&text, TOO_LONG),
        _ => false,
    };
    if !is_too_long {
        return failure;
    }
    let window = first(&text, WINDOW).filter(|it| *it >= LEAST_WINDOW);
    Failure::TooLong { said, window, prompt: first(&text, PROMPT) }
}

fn limit(text: &str, failure: &Failure, has_images: bool) -> Option<Limit> {
    let below = |it: u32| it.saturating_sub(1);
    if has_images && text.contains("image") {
        let most = first(text, IMAGES).or_else(|| first(text, IMAGES_BELOW).map(below));
        let is_size = says(text, &["pixels", " mb", "bytes"]);
        if let Some(side) = first(text, SIDE) {
            return Some(Limit::Side(side));
        }
        match most {
            // the model takes no images at all
            Some(0) => return None,
            Some(most) if !is_size => return Some(Limit::Images(most)),
            _ if says(text, MANY) && !is_size => return Some(Limit::Images(0)),
            _ => (),
        }
        if says(text, IMAGE) {
            return Some(Limit::Image);
        }
    }
    // a window that is too small for the prompt and this reply is one of `WINDOW`
    if matches!(failure, Failure::TooLong { .. }) && first(text, WINDOW).is_some() {
        return None;
    }
    let most = first(text, REPLY).or_else(|| first(text, REPLY_BELOW).map(below));
    let is_other =
        matches!(failure, Failure::Unsupported { parameter, .. } if !is_length(*parameter));
    most.filter(|it| *it > 0 && !is_other).map(Limit::Reply)
}

fn is_length(parameter: Parameter) -> bool {
    matches!(
        parameter,
        Parameter::MaxTokens | Parameter::MaxCompletionTokens | Parameter::MaxOutputTokens
    )
}

fn says(text: &str, words: &[&str]) -> bool {
    words.iter().any(|it| text.contains(it))
}

/// The beginning of an error in lower case, without quotation marks and backslashes.
fn plain(body: &str) -> String {
    let mut end = body.len().min(LONGEST);
    while !body.is_char_boundary(end) {
        end -= 1;
    }
    body[..end].to_lowercase().chars().filter(|it| !"\"'`\\".contains(*it)).collect()
}

/// The number in the first form that the text has.
fn first(text: &str, forms: &[Form]) -> Option<u32> {
    forms.iter().find_map(|it| number_in(text, it))
}

/// The number at the form's `#`.
fn number_in(text: &str, form: Form) -> Option<u32> {
    let at = form.find(['#', '*']).unwrap_or(form.len());
    // the form is tried wherever its first word is
    let word = form[..at].split(' ').find(|it| !it.is_empty());
    match word {
        Some(word) if form.starts_with(word) => {
            text.match_indices(word).find_map(|(at, _)| matched(&text[at..], form))
        }
        // a form that begins with a number
        _ => text
            .char_indices()
            .filter(|(at, it)| {
                it.is_ascii_digit() && !text[..*at].ends_with(|it: char| it.is_ascii_digit())
            })
            .find_map(|(at, _)| matched(&text[at..], form)),
    }
}

/// The number at the form's `#` if the text begins with the form.
fn matched(mut text: &str, form: Form) -> Option<u32> {
    let mut found = None;
    for c in form.chars() {
        match c {
            ' ' => text = text.trim_start(),
            '#' | '*' => {
                text = text.trim_start();
                let end = text.find(|it: char| !it.is_ascii_digit() && it != ',' && it != '_');
                let digits = text[..end.unwrap_or(text.len())].trim_end_matches([',', '_']);
                let number = digits.chars().filter(char::is_ascii_digit).collect::<String>();
                let number = number.parse().ok()?;
                if c == '#' {
                    found = Some(number);
                }
                text = &text[digits.len()..];
            }
            c => text = text.strip_prefix(c)?,
        }
    }
    found
}

#[cfg(test)]
mod tests;
