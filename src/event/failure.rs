//! Why a model gave no reply, and the sentence for the user.

mod alone;

use crate::message::Parameter;
use crate::text::grouped;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Why a model gave no reply. Each case is one to which the program or the user reacts differently.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Failure {
    /// There is no API key for this provider. `variable` is the environment variable in which the key is expected.
    NoKey {
        provider: String,
        variable: String,
    },
    /// The command that should print this provider's key printed none. `why` says what happened.
    KeyCommand {
        provider: String,
        why: String,
    },
    /// The stored key for this provider cannot be read. `why` says what happened.
    StoredKey {
        provider: String,
        why: String,
    },
    /// A header that the user configured cannot be sent. `why` is a clause.
    Header {
        provider: String,
        name: String,
        why: String,
    },
    /// The user has not agreed to send the conversation to this provider.
    NotAgreed {
        to: String,
    },
    /// The program could not connect to this host. `why` is the system's message.
    Offline {
        host: String,
        why: String,
    },
    /// The proxy that this environment variable names could not pass on a request to this host. `address` is the
    /// proxy's, `why` is a clause.
    Proxy {
        variable: String,
        address: String,
        host: String,
        why: String,
    },
    Unauthorized {
        provider: String,
        said: String,
    },
    Quota {
        said: String,
    },
    RateLimited {
        after_ms: Option<u64>,
        #[serde(default, skip_serializing_if = "String::is_empty")]
        said: String,
    },
    /// The provider is overloaded.
    Overloaded {
        after_ms: Option<u64>,
        #[serde(default, skip_serializing_if = "String::is_empty")]
        said: String,
    },
    /// Another HTTP error that is likely to pass: of the provider, or of a proxy in front of it. `said` is the server's
    /// message.
    ServerError {
        status: u16,
        after_ms: Option<u64>,
        said: String,
    },
    /// The request is too long for the model. `window` is the most tokens that the provider says it takes in a request
    /// and its reply, `prompt` the tokens that it has counted in the request, each if the provider names it.
    TooLong {
        said: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        window: Option<u32>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        prompt: Option<u32>,
    },
    /// The model's window has no room for the system prompt and the tools, which take about `needed` tokens. `said` is
    /// the provider's message.
    SmallWindow {
        window: u32,
        needed: u32,
        said: String,
    },
    /// The request is still too long or too large, and nothing is left that Caliban could shorten by itself. `said` is the
    /// server's message.
    Unfit {
        said: String,
        /// The size of the request in kB, if a server refuses requests by their bytes.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        kilobytes: Option<u64>,
        biggest: Biggest,
        /// Whether the conversation is summarised already.
        is_compacted: bool,
    },
    /// The request exceeds another limit of the provider, or has an image that the provider cannot read. `said` is the
    /// provider's message.
    Exceeds {
        status: u16,
        said: String,
        limit: Limit,
    },
    UnknownModel {
        model: String,
        said: String,
    },
    /// The model, or the server that runs it, takes no tools.
    NoTools {
        model: String,
        said: String,
    },
    /// A filter of the provider refused what the conversation says.
    Filtered {
        said: String,
    },
    /// The provider refused the request. `said` is the provider's message.
    Rejected {
        status: u16,
        said: String,
    },
    /// The provider refused a thought that was sent back to it. `said` is the provider's message.
    Thoughts {
        status: u16,
        said: String,
    },
    /// The provider does not accept the parameter. `said` is the provider's message.
    Unsupported {
        status: u16,
        said: String,
        parameter: Parameter,
    },
    /// The stream ended before the reply was complete.
    Cut,
    /// The stream ended without a word.
    Empty,
    /// The provider ended the reply with an error. `said` is the provider's message.
    Broken {
        said: String,
    },
    /// The reply was longer than this limit.
    Endless {
        megabytes: u32,
    },
    /// No byte arrived for this many seconds.
    Stalled {
        seconds: u64,
    },
    /// The answer is not in the provider's protocol: HTML from a captive portal, or broken JSON.
    Protocol {
        said: String,
    },
}

/// The part of a request that has most of its bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Biggest {
    /// The system prompt, the tools and the project's instructions.
    Fixed,
    Images,
    /// The newest message, with what is attached to it.
    Message,
    Conversation,
}

/// A limit that a provider's error names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// The most tokens of a reply for which a request may ask.
    Reply(u32),
    /// The most images of a request; 0 if the provider names no number.
    Images(u32),
    /// The bytes of a request, of which its images have a part. The provider names no number that counts.
    Bytes,
    /// The most pixels of an image's width and height.
    Side(u32),
    /// There is an image that the provider cannot read. The provider does not say which.
    Image,
}

impl Failure {
    /// Whether the failure may pass by itself, so that the same request may succeed soon.
    pub fn is_passing(&self) -> bool {
        match self {
            Failure::RateLimited { .. }
            | Failure::Overloaded { .. }
            | Failure::ServerError { .. } => self.after_ms().is_none_or(|ms| ms <= LONGEST_WAIT),
            Failure::Cut | Failure::Empty | Failure::Broken { .. } => true,
            _ => false,
        }
    }

    /// How long the provider asks to wait, in milliseconds.
    pub fn after_ms(&self) -> Option<u64> {
        match self {
            Failure::RateLimited { after_ms, .. }
            | Failure::Overloaded { after_ms, .. }
            | Failure::ServerError { after_ms, .. } => *after_ms,
            _ => None,
        }
    }

    /// What happened, without the provider's message and without advice.
    pub fn brief(&self) -> String {
        self.words().0
    }

    /// The sentences for the user: what happened, and what to do.
    pub fn sentences(&self) -> (String, &'static str) {
        let (mut what, said, next) = self.words();
        let said = said.trim().trim_end_matches('.');
        if !said.is_empty() {
            what.push_str(&format!(": \u{201c}{said}\u{201d}"));
        }
        (what + ".", next)
    }
}

/// The sentences for the user in one line.
impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (what, next) = self.sentences();
        write!(f, "{what} {next}")
    }
}

/// The longest wait, in milliseconds, after which the program repeats a request by itself. If the provider asks for a
/// longer wait, the user decides.
const LONGEST_WAIT: u64 = 120_000;

const CUT: &str = "The connection ended in the middle of the answer";
const EMPTY: &str = "The server's answer was empty";
const PROXY: &str =
    "Correct or unset this environment variable, or add the host to NO_PROXY, then restart Neovim.";
const USED_UP: &str = "The account's quota or credit is used up";
const RENEWED: &str = "Add credit to the account, wait until the limit is renewed, or choose another model with :Caliban \
                       model.";
const NO_TOOLS: &str = "Choose another model with :Caliban model, or set `calls = 'text'` for this model, so that it \
                        writes its calls as text (:help caliban-calls-as-text).";
const FILTERED: &str = "The provider's filter refused the conversation";
const OTHER_WORDS: &str = "Take the last message back with /undo and write it in other words, or choose another model \
                           with :Caliban model.";
const OVERLOADED: &str = "The provider is overloaded";
const BROKEN: &str = "The provider broke off the answer with an error";
const TOO_LONG: &str = "The conversation is too long for the model";
const FOREIGN: &str = "The server's answer does not follow the provider's protocol";
const SHORTER: &str = "Make the conversation shorter with /compact, send a shorter message, or start a new \
                           conversation with /new.";
const UNFIT: &str = "The request is too long for the model";
const LARGER: &str =
    "Start the server with a larger context, or choose another model with :Caliban model.";
const LATER: &str = "Wait a little, then send again.";
const MUCH_LATER: &str = "Send again after that time, or choose another model with :Caliban model.";

const STORE: &str = "Store the key again with /connect.";

const KEPT: &str = "The text before the cut is kept. To go on without that text, begin a new conversation with /new.";

fn rejected(status: u16) -> String {
    format!("The provider rejected the request ({status})")
}

fn stalled(seconds: u64) -> String {
    format!("The provider sent nothing for {seconds} s")
}

fn endless(megabytes: u32) -> String {
    format!("The reply was cut off at {megabytes} MB, and its calls were not run")
}

fn small_window(window: u32, needed: u32) -> String {
    format!(
        "The model takes at most {} tokens, and Caliban's instructions and tools alone have about {}",
        grouped(window.into()),
        grouped(needed.into()),
    )
}

fn too_large(kilobytes: u64) -> String {
    format!(
        "The request of {} kB is too large for the provider, or for a server on the way to it",
        grouped(kilobytes)
    )
}

/// What to do about a request that Caliban cannot shorten by itself.
fn unfit(biggest: Biggest, is_compacted: bool, is_by_bytes: bool) -> &'static str {
    match (biggest, is_compacted, is_by_bytes) {
        (Biggest::Fixed, _, true) => {
            "Most of it are Caliban's instructions and tools: raise the size of requests that this server takes (nginx: \
             client_max_body_size), or choose another model with :Caliban model."
        }
        (Biggest::Fixed, _, false) => LARGER,
        (Biggest::Images, ..) => {
            "Most of it are images: take the last message back with /undo and attach smaller ones or fewer, or start a \
             new conversation with /new."
        }
        (Biggest::Message, ..) => {
            "Most of it is the last message: take it back with /undo, and attach less or write less."
        }
        (Biggest::Conversation, false, _) => SHORTER,
        (Biggest::Conversation, true, true) => {
            "The conversation is summarised already: start a new one with /new, or raise the size of requests that this \
             server takes (nginx: client_max_body_size)."
        }
        (Biggest::Conversation, true, false) => {
            "The conversation is summarised already: send a shorter message, start a new conversation with /new, or \
             choose a model with a larger window with :Caliban model."
        }
    }
}

/// The sentence for an HTTP status of an error that is likely to pass.
fn server_error(status: u16) -> String {
    match status {
        408 => "The provider waited too long for the request (408)".into(),
        500 => "The provider had an internal error (500)".into(),
        502 => "A gateway got no valid answer from the provider (502)".into(),
        503 => "The provider is not available at the moment (503)".into(),
        504 => "A gateway waited too long for the provider's answer (504)".into(),
        _ => format!("The provider's server failed ({status})"),
    }
}

impl Failure {
    /// The parts of the sentence for the user: what happened, the provider's message, and what to do.
    fn words(&self) -> (String, &str, &'static str) {
        match self {
            Failure::NoKey { .. }
            | Failure::KeyCommand { .. }
            | Failure::StoredKey { .. }
            | Failure::Header { .. }
            | Failure::NotAgreed { .. } => self.not_sent(),
            Failure::Offline { host, why } => (
                format!("No connection to {host}: {why}"),
                "",
                "Check the network or the address, then send again.",
            ),
            Failure::Proxy { variable, address, host, why } => (
                format!("No connection to {host} through the proxy {address} ({variable}): {why}"),
                "",
                PROXY,
            ),
            Failure::Unauthorized { provider, said } => {
                (format!("{provider} refused the key"), said, "Check the key, then send again.")
            }
            Failure::Quota { said } => (USED_UP.into(), said, RENEWED),
            Failure::NoTools { model, said } => {
                (format!("The model `{model}` takes no tools"), said, NO_TOOLS)
            }
            Failure::Filtered { said } => (FILTERED.into(), said, OTHER_WORDS),
            Failure::RateLimited { .. }
            | Failure::Overloaded { .. }
            | Failure::ServerError { .. } => self.not_now(),
            Failure::TooLong { said, .. } => (TOO_LONG.into(), said, SHORTER),
            Failure::Unfit { said, kilobytes, biggest, is_compacted } => (
                kilobytes.map_or_else(|| UNFIT.into(), too_large),
                said,
                unfit(*biggest, *is_compacted, kilobytes.is_some()),
            ),
            Failure::SmallWindow { window, needed, said } => {
                (small_window(*window, *needed), said, LARGER)
            }
            Failure::UnknownModel { model, said } => (
                format!("The model `{model}` is not available"),
                said,
                "Choose another model with :Caliban model.",
            ),
            Failure::Rejected { status, said }
            | Failure::Thoughts { status, said }
            | Failure::Exceeds { status, said, .. }
            | Failure::Unsupported { status, said, .. } => (
                rejected(*status),
                said,
                "Correct the part of the request that the provider names, or start a new conversation with /new.",
            ),
            Failure::Cut => (CUT.into(), "", "Send again to continue."),
            Failure::Empty => (EMPTY.into(), "", "Send again to retry."),
            Failure::Broken { said } => (BROKEN.into(), said, LATER),
            Failure::Endless { megabytes } => (endless(*megabytes), "", KEPT),
            Failure::Stalled { seconds } => (stalled(*seconds), "", "Send again to retry."),
            Failure::Protocol { said } => (FOREIGN.into(), said, "Check the provider's address."),
        }
    }

    /// Like `words`, for a request that was not sent.
    fn not_sent(&self) -> (String, &str, &'static str) {
        match self {
            Failure::NoKey { provider, variable } => (
                format!("No key for {provider}: {variable} is not set"),
                "",
                "Give a key with /connect, or set this environment variable and restart Neovim.",
            ),
            Failure::KeyCommand { provider, why } => (
                format!("No key for {provider}: the key command {why}"),
                "",
                "Run the key command by hand to see why, then send again.",
            ),
            Failure::StoredKey { provider, why } => {
                (format!("No key for {provider}: the stored key {why}"), "", STORE)
            }
            Failure::Header { provider, name, why } => (
                format!("The header `{name}` for {provider} cannot be sent: {why}"),
                "",
                "Correct the header and restart Neovim.",
            ),
            Failure::NotAgreed { to } => (
                format!("Not sent: you have not agreed to send this conversation to {to}"),
                "",
                "Choose a model of this provider with :Caliban model, or with --model in a run.",
            ),
            _ => (String::new(), "", ""),
        }
    }

    /// Like `words`, for a failure that is likely to pass. Includes the wait that the provider asks for, if it is long.
    fn not_now(&self) -> (String, &str, &'static str) {
        let (what, said) = match self {
            Failure::RateLimited { said, .. } => {
                ("Rate limited by the provider".into(), said.as_str())
            }
            Failure::Overloaded { said, .. } => (OVERLOADED.into(), said.as_str()),
            Failure::ServerError { status, said, .. } => (server_error(*status), said.as_str()),
            _ => (OVERLOADED.into(), ""),
        };
        match self.after_ms().filter(|ms| *ms > LONGEST_WAIT).map(|ms| ms.div_ceil(60_000)) {
            None => (what, said, LATER),
            Some(minutes @ 0..120) => {
                (format!("{what}: the next request may be sent in {minutes} min"), said, MUCH_LATER)
            }
            Some(minutes) => {
                let hours = minutes.div_ceil(60);
                (format!("{what}: the next request may be sent in {hours} h"), said, MUCH_LATER)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The advice follows what was tried and what is big.
    #[test]
    fn no_advice_is_given_that_was_followed_or_that_would_not_help() {
        for (biggest, part) in [
            (Biggest::Fixed, "instructions and tools"),
            (Biggest::Images, "images"),
            (Biggest::Message, "last message"),
            (Biggest::Conversation, "conversation"),
        ] {
            for (is_compacted, kilobytes) in
                [(false, None), (true, None), (false, Some(40)), (true, Some(40))]
            {
                let said = "413 Request Entity Too Large".to_owned();
                let failure = Failure::Unfit { said, kilobytes, biggest, is_compacted };
                let (what, next) = failure.sentences();
                let names_compact = biggest == Biggest::Conversation && !is_compacted;
                assert_eq!(next.contains("/compact"), names_compact, "{next}");
                assert!(next.contains(part) || next == LARGER, "{next}");
                assert_eq!(what.contains("40 kB"), kilobytes.is_some(), "{what}");
                let is_servers = matches!(biggest, Biggest::Fixed) || names_compact != is_compacted;
                assert!(!next.contains("nginx") || kilobytes.is_some() && is_servers, "{next}");
            }
        }
    }
}
