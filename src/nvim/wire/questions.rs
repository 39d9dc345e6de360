//! The user's answers to the model's questions.

use crate::agent::Command;
use crate::event::SessionId;
use crate::message::CallId;
use crate::session::Response;
use serde::Deserialize;

/// What the user does with one of the model's questions.
#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Respond {
    pub session: SessionId,
    /// The call that asks.
    pub call: String,
    /// Which of the call's questions it is, from 0. If the user has already answered this question, nothing happens.
    pub question: u32,
    pub response: WireResponse,
    /// The options that are chosen, or the one that is marked, from 0.
    #[serde(default)]
    pub options: Vec<u32>,
    /// The user's own words.
    #[serde(default)]
    pub text: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum WireResponse {
    /// Marks an option, or removes its mark.
    Mark,
    Choose,
    /// Chooses the marked options.
    Done,
    /// Answers in the user's own words.
    Words,
    Skip,
    /// Removes the answer to the previous question, so that the user answers that question again.
    Back,
}

impl From<Respond> for (SessionId, Command) {
    fn from(it: Respond) -> (SessionId, Command) {
        let mut options: Vec<usize> = it.options.iter().map(|at| *at as usize).collect();
        options.sort_unstable();
        options.dedup();
        let response = match it.response {
            WireResponse::Mark => Response::Mark(options.first().copied().unwrap_or(usize::MAX)),
            WireResponse::Choose => Response::Choose(options),
            WireResponse::Done => Response::Done,
            WireResponse::Words => Response::Words(it.text),
            WireResponse::Skip => Response::Skip,
            WireResponse::Back => Response::Back,
        };
        let (call, question) = (CallId(it.call), it.question as usize);
        (it.session, Command::Respond { call, question, response })
    }
}
