//! Decisions about calls, in words: the lines for the log of permissions, and the answer to the user who asks how a
//! command would be decided.

use super::{Open, Session, State};
use crate::event::{Access, Grant, Ruling, in_one_line};
use crate::policy::{self, Decision, Reason};
use crate::rules::{Judgement, Verdict};

impl Session {
    /// The log line about a decision of the policy. `None` for a read that needs no consent, and for a call that the user
    /// has just allowed.
    pub(super) fn decided(&self, it: &Open, decision: Decision<'_>) -> Option<String> {
        if let Decision::Deny(Reason::Never(why)) = decision {
            return Some(format!("refused: {}", in_one_line(&format!("{} ({why})", it.call.tool))));
        }
        let what = it.access.label()?;
        let how = match decision {
            Decision::Allow if it.state == State::Allowed => return None,
            Decision::Allow => self.allowed(&it.access, &it.judged),
            Decision::Ask(_) if matches!(it.access, Access::Edit { .. }) => {
                "for your review".to_owned()
            }
            Decision::Ask(_) => "asked".to_owned(),
            Decision::Deny(Reason::PlanMode) => "denied in plan mode".to_owned(),
            Decision::Deny(_) => "denied by a rule".to_owned(),
        };
        let why =
            if it.judged.why.is_empty() { String::new() } else { format!(" ({})", it.judged.why) };
        Some(format!("{how}: {what}{why}"))
    }

    /// Why the policy allows a call, in words.
    fn allowed(&self, access: &Access, judged: &Judgement) -> String {
        if access.is_granted(&self.granted) {
            "allowed, because you allowed it for the session".to_owned()
        } else if judged.verdict == Some(Verdict::Allow) {
            "allowed by a rule".to_owned()
        } else {
            format!("allowed in {} mode", self.mode)
        }
    }

    /// Tells the user how a command of the model would be decided now.
    pub fn foreseen(&self, command: &str) -> String {
        let access = Access::Act {
            command: command.to_owned(),
            outside: None,
            background: false,
            hosts: Vec::new(),
        };
        let judged = self.judged(&access);
        let said = match policy::decide(self.mode, &self.granted, &judged, &access) {
            Decision::Allow => {
                let how = self.allowed(&access, &judged);
                return format!("The command runs without a question: {how}.");
            }
            Decision::Ask(_) => "The command asks.",
            Decision::Deny(Reason::PlanMode) => "The command does not run in plan mode.",
            Decision::Deny(_) => "The command does not run.",
        };
        format!("{said} {}", judged.why).trim_end().to_owned()
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
