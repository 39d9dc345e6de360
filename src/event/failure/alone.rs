//! The advice after a failure in a run that nobody attends: there is no chat, and no key of an editor.

use super::{Biggest, Failure};

const OTHER: &str = "Choose another model with --model.";
const AGAIN: &str = "Run again.";
const LATER: &str = "Run again later, or choose another model with --model.";
const SHORTER: &str =
    "Give a shorter prompt or smaller files, or choose another model with --model.";

impl Failure {
    /// The sentences for a person who reads the result of a run: what happened, and what to do.
    pub fn alone(&self) -> String {
        let (what, _) = self.sentences();
        format!("{what} {}", self.alone_next())
    }

    fn alone_next(&self) -> &'static str {
        match self {
            Failure::NoKey { .. } => "Set this environment variable, then run again.",
            Failure::KeyCommand { .. } => "Run the key command by hand to see why, then run again.",
            Failure::StoredKey { .. } => "Set the key's environment variable, then run again.",
            Failure::Header { .. } => "Correct the header, then run again.",
            Failure::NotAgreed { .. } => "Choose a model of this provider with --model.",
            Failure::Offline { .. } => "Check the network or the address, then run again.",
            Failure::Proxy { .. } => {
                "Correct or unset this environment variable, or add the host to NO_PROXY, then run again."
            }
            Failure::Unauthorized { .. } => "Correct the key, then run again.",
            Failure::Quota { .. } => {
                "Add credit to the account, wait until the limit is renewed, or choose another model with --model."
            }
            Failure::NoTools { .. } => {
                "Choose another model with --model, or set `calls = 'text'` for this model, so that it writes its calls \
                 as text."
            }
            Failure::Filtered { .. } => {
                "Write the prompt in other words, or choose another model with --model."
            }
            Failure::RateLimited { .. }
            | Failure::Overloaded { .. }
            | Failure::ServerError { .. }
            | Failure::Broken { .. } => LATER,
            Failure::SmallWindow { .. } => {
                "Start the server with a larger context, or choose another model with --model."
            }
            Failure::Unfit { biggest: Biggest::Fixed, kilobytes: Some(_), .. } => {
                "Most of it are Caliban's instructions and tools: raise the size of requests that this server takes \
                 (nginx: client_max_body_size), or choose another model with --model."
            }
            Failure::TooLong { .. } | Failure::Unfit { .. } => SHORTER,
            Failure::UnknownModel { .. } => OTHER,
            Failure::Rejected { .. }
            | Failure::Thoughts { .. }
            | Failure::Exceeds { .. }
            | Failure::Unsupported { .. } => {
                "Correct the part of the request that the provider names, or choose another model with --model."
            }
            Failure::Cut | Failure::Empty | Failure::Stalled { .. } => AGAIN,
            Failure::Endless { .. } => "The text before the cut is kept.",
            Failure::Protocol { .. } => "Check the provider's address.",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_advice_of_a_run_names_nothing_of_a_chat() {
        let said = String::new;
        let all = [
            Failure::NoKey { provider: said(), variable: said() },
            Failure::StoredKey { provider: said(), why: said() },
            Failure::Header { provider: said(), name: said(), why: said() },
            Failure::NotAgreed { to: said() },
            Failure::Unauthorized { provider: said(), said: said() },
            Failure::Quota { said: said() },
            Failure::NoTools { model: said(), said: said() },
            Failure::Filtered { said: said() },
            Failure::RateLimited { after_ms: Some(9_000_000), said: said() },
            Failure::TooLong { said: said(), window: None, prompt: None },
            Failure::SmallWindow { window: 1, needed: 1, said: said() },
            Failure::Unfit {
                said: said(),
                kilobytes: None,
                biggest: Biggest::Conversation,
                is_compacted: true,
            },
            Failure::UnknownModel { model: said(), said: said() },
            Failure::Rejected { status: 400, said: said() },
            Failure::Cut,
            Failure::Endless { megabytes: 1 },
        ];
        for it in all {
            let text = it.alone();
            for word in ["/compact", "/new", "/undo", "/connect", ":Caliban", "Neovim", "end again"]
            {
                assert!(!text.contains(word), "{text}");
            }
        }
    }
}
