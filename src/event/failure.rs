//! Why a model gave no reply, and the sentence that tells the user.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Why a model gave no reply, told apart where the program or the user would act differently.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Failure {
    /// No key for this provider: the variable that would hold it.
    NoKey {
        provider: String,
        variable: String,
    },
    /// The command that would print this provider's key did not: what became of it.
    KeyCommand {
        provider: String,
        why: String,
    },
    /// The key that the user gave for this provider is not to be had: what became of it.
    StoredKey {
        provider: String,
        why: String,
    },
    /// A header that the user wants sent is not to be had: what is wrong with it, as a clause.
    Header {
        provider: String,
        name: String,
        why: String,
    },
    /// No connection: the host, and what the system said.
    Offline {
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
    },
    Overloaded {
        after_ms: Option<u64>,
    },
    TooLong {
        said: String,
    },
    UnknownModel {
        model: String,
        said: String,
    },
    /// The provider refused the request: its own words.
    Rejected {
        status: u16,
        said: String,
    },
    /// The provider refused a thought that was sent back to it: its own words.
    Thoughts {
        status: u16,
        said: String,
    },
    /// The stream ended before the reply did.
    Cut,
    /// The reply grew beyond this limit.
    Endless {
        megabytes: u32,
    },
    /// No byte for this long.
    Stalled {
        seconds: u64,
    },
    /// Not the provider's protocol: HTML from a portal, broken JSON.
    Protocol {
        said: String,
    },
}

impl Failure {
    /// Whether asking again unchanged can help, and soon.
    pub fn is_passing(&self) -> bool {
        match self {
            Failure::RateLimited { after_ms } | Failure::Overloaded { after_ms } => {
                after_ms.is_none_or(|ms| ms <= LONGEST_WAIT)
            }
            Failure::Cut => true,
            _ => false,
        }
    }
}

/// One sentence for the user: what happened, and what to do.
impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (what, said, next) = self.words();
        f.write_str(&what)?;
        let said = said.trim().trim_end_matches('.');
        if !said.is_empty() {
            write!(f, ": \u{201c}{said}\u{201d}")?;
        }
        write!(f, ". {next}")
    }
}

/// Longest wait that is counted down rather than told, in milliseconds (reference: harness.md §11.2).
const LONGEST_WAIT: u64 = 120_000;

const CUT: &str = "The connection ended in the middle of the answer";
const FOREIGN: &str = "What answered does not speak the provider's protocol";
const LATER: &str = "Wait a little, then send again.";
const MUCH_LATER: &str = "Send again then, or choose another model with :Caliban model.";

const KEPT: &str =
    "The text up to that point is kept. To go on without it, begin a new conversation with /new.";

fn endless(megabytes: u32) -> String {
    format!("The reply was cut off at {megabytes} MB, and its calls were not run")
}

/// What a provider cannot do now, and how long it asks to wait where that is long.
fn not_now(what: &str, after_ms: Option<u64>) -> (String, &'static str, &'static str) {
    match after_ms.filter(|ms| *ms > LONGEST_WAIT).map(|ms| ms.div_ceil(60_000)) {
        None => (what.to_owned(), "", LATER),
        Some(minutes @ 0..120) => {
            (format!("{what}: it asks to wait {minutes} min"), "", MUCH_LATER)
        }
        Some(minutes) => {
            let hours = minutes.div_ceil(60);
            (format!("{what}: it asks to wait {hours} h"), "", MUCH_LATER)
        }
    }
}

impl Failure {
    /// What happened, what the other side said of it, and what to do.
    fn words(&self) -> (String, &str, &'static str) {
        match self {
            Failure::NoKey { provider, variable } => (
                format!("No key for {provider}: {variable} is not set"),
                "",
                "Give one with /connect, or set it and restart Neovim.",
            ),
            Failure::KeyCommand { provider, why } => (
                format!("No key for {provider}: the key command {why}"),
                "",
                "Run it by hand to see why, then send again.",
            ),
            Failure::StoredKey { provider, why } => {
                (format!("No key for {provider}: it {why}"), "", "Give it again with /connect.")
            }
            Failure::Header { provider, name, why } => (
                format!("The header `{name}` for {provider} cannot be sent: {why}"),
                "",
                "Set it right and restart Neovim.",
            ),
            Failure::Offline { host, why } => (
                format!("No connection to {host}: {why}"),
                "",
                "Check the network or the address, then send again.",
            ),
            Failure::Unauthorized { provider, said } => {
                (format!("{provider} refused the key"), said, "Check the key, then send again.")
            }
            Failure::Quota { said } => (
                "The account's quota or credit is used up".into(),
                said,
                "Top it up, or choose another model with :Caliban model.",
            ),
            Failure::RateLimited { after_ms } => not_now("Rate limited by the provider", *after_ms),
            Failure::Overloaded { after_ms } => not_now("The provider is overloaded", *after_ms),
            Failure::TooLong { said } => (
                "The conversation is too long for the model".into(),
                said,
                "Start a new one with /new.",
            ),
            Failure::UnknownModel { model, said } => (
                format!("The model `{model}` is not to be had"),
                said,
                "Choose another with :Caliban model.",
            ),
            Failure::Rejected { status, said } | Failure::Thoughts { status, said } => (
                format!("The provider rejected the request ({status})"),
                said,
                "Change what it names, or start a new conversation with /new.",
            ),
            Failure::Cut => (CUT.into(), "", "Send again to go on."),
            Failure::Endless { megabytes } => (endless(*megabytes), "", KEPT),
            Failure::Stalled { seconds } => {
                (format!("The provider sent nothing for {seconds} s"), "", "Send again to retry.")
            }
            Failure::Protocol { said } => (FOREIGN.into(), said, "Check the provider's address."),
        }
    }
}
