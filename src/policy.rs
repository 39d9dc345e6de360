//! Decides whether a call may begin, by the mode and by the user's permissions. No other code judges calls.

use crate::event::{Access, Grant, Guarded, Mode};
use crate::text::unseen::exact;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision<'a> {
    Allow,
    /// The user decides.
    Ask(Question<'a>),
    Deny(Reason<'a>),
}

/// A question to the user, and when it is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Question<'a> {
    /// Asked before a read that needs the user's consent.
    Read(&'a Guarded),
    /// Asked before a command runs.
    Run(&'a str),
    /// Asked before a page of the web is fetched.
    Fetch(&'a str),
    /// Asked after an edit of these files is in the buffers; the review itself is the question.
    Review(&'a [String]),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason<'a> {
    /// Not allowed in any mode. The text tells the model why.
    Never(&'a str),
    PlanMode,
}

pub fn decide<'a>(mode: Mode, grants: &[Grant], access: &'a Access) -> Decision<'a> {
    let is_granted = || access.grant().is_some_and(|it| grants.contains(&it));
    match access {
        Access::Never(why) => Decision::Deny(Reason::Never(why)),
        Access::Edit { .. } | Access::Act { .. } if mode == Mode::Plan => {
            Decision::Deny(Reason::PlanMode)
        }
        Access::Read => Decision::Allow,
        Access::Edit { .. } if mode == Mode::AutoEdit => Decision::Allow,
        Access::Edit { paths } => Decision::Ask(Question::Review(paths)),
        Access::Guarded(_) | Access::Act { .. } | Access::Fetch { .. } if is_granted() => {
            Decision::Allow
        }
        Access::Fetch { url, .. } => Decision::Ask(Question::Fetch(url)),
        Access::Guarded(it) => Decision::Ask(Question::Read(it)),
        Access::Act { command } => Decision::Ask(Question::Run(command)),
    }
}

impl Question<'_> {
    /// The sentence for the chat. `None` for an edit, because its review is the question.
    pub fn text(self) -> Option<String> {
        Some(match self {
            Question::Read(Guarded { tool, path, is_outside, why }) => {
                let place = if *is_outside { ", outside the project" } else { "" };
                let why = why.as_ref().map(|it| format!(" It {it}.")).unwrap_or_default();
                format!("Let {tool} look at `{path}`{place}?{why}")
            }
            // the whole command, with invisible characters spelt out
            Question::Run(command) => match exact(command.trim_end()) {
                lines if lines.contains('\n') => format!("Run this?\n{lines}"),
                line => format!("Run `{line}`?"),
            },
            Question::Fetch(url) => format!("Fetch `{}`?", exact(url)),
            Question::Review(_) => return None,
        })
    }
}

#[cfg(test)]
mod tests;
