//! The lines for the log of permissions: one line for each decision about a call.

use super::{Open, Session, State};
use crate::event::{Access, Grant, Ruling};
use crate::policy::{Decision, Reason};
use crate::rules::Verdict;

impl Session {
    /// The log line about a decision of the policy. `None` for a read that needs no consent, for a call that cannot run
    /// in any mode, and for a call that the user has just allowed.
    pub(super) fn decided(&self, it: &Open, decision: Decision<'_>) -> Option<String> {
        let what = it.access.label()?;
        let how = match decision {
            Decision::Allow if it.state == State::Allowed => return None,
            Decision::Allow if it.access.grant().is_some_and(|it| self.granted.contains(&it)) => {
                "allowed, because you allowed it for the session".to_owned()
            }
            Decision::Allow if it.judged.verdict == Some(Verdict::Allow) => {
                "allowed by a rule".to_owned()
            }
            Decision::Allow => format!("allowed in {} mode", self.mode),
            Decision::Ask(_) if matches!(it.access, Access::Edit { .. }) => {
                "for your review".to_owned()
            }
            Decision::Ask(_) => "asked".to_owned(),
            Decision::Deny(Reason::PlanMode) => "denied in plan mode".to_owned(),
            Decision::Deny(Reason::Rule(_)) => "denied by a rule".to_owned(),
            Decision::Deny(Reason::Never(_)) => return None,
        };
        let why =
            if it.judged.why.is_empty() { String::new() } else { format!(" ({})", it.judged.why) };
        Some(format!("{how}: {what}{why}"))
    }
}

/// The line about a command that the user put in place of the model's.
pub(super) fn changed(command: &str) -> String {
    format!("you changed it to: {}", Grant::Act(command.to_owned()).label())
}

/// The line about a call that would have asked the user in a turn that nobody attends.
pub(super) fn unattended(access: &Access) -> Option<String> {
    access.label().map(|what| format!("denied, because nobody was here to answer: {what}"))
}

/// The line about the user's answer to a question.
pub(super) fn ruled(access: &Access, ruling: &Ruling) -> Option<String> {
    let how = match ruling {
        Ruling::Once => "you allowed it once",
        Ruling::Session => "you allowed it for the session",
        Ruling::Denied { .. } => "you denied it",
    };
    access.label().map(|what| format!("{how}: {what}"))
}
