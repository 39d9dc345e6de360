//! Decisions about calls, in words: the lines for the log of permissions, and the answer to the user who asks how a
//! command would be decided.

use super::{Open, Session, State};
use crate::event::{Access, Grant, Mode, Remote, Ruling, in_one_line};
use crate::message::CallId;
use crate::policy::{self, Decision, Reason};
use crate::rules::{Judgement, Verdict};

/// The most lines about the parts of a command that the user is asked about.
const PARTS: usize = 200;
/// The most characters of a line that explains a question.
const WIDE: usize = 400;

impl Session {
    /// The log line about a decision of the policy. `None` for a read that needs no consent, and for a call that the
    /// user has just allowed.
    pub(super) fn decided(&self, it: &Open, decision: Decision<'_>) -> Option<String> {
        if let Decision::Deny(Reason::Never(why) | Reason::Invalid(why)) = decision {
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
            unlocked: Vec::new(),
        };
        let judged = self.judged(&access);
        let said = match policy::decide(self.mode, &self.granted, &judged, &access) {
            Decision::Allow => {
                let how = self.allowed(&access, &judged);
                return format!("The command runs without a question: {how}.");
            }
            Decision::Ask(_) => "The command needs your consent.",
            Decision::Deny(Reason::PlanMode) => "The command does not run in plan mode.",
            Decision::Deny(_) => "The command does not run.",
        };
        format!("{said} {}", judged.why).trim_end().to_owned()
    }
}

impl Session {
    /// Explains the open question about a call, in lines: which rule of the mode leads to the question, and for each
    /// part of a command which permission rule decides. `None` if there is no such question.
    pub fn explained(&self, call: &CallId) -> Option<Vec<String>> {
        let it = self.asking().filter(|it| it.call.id == *call)?;
        let parts = match &it.access {
            Access::Act { command, .. } | Access::Format { command, .. } => {
                self.rules.explain(command)
            }
            Access::Fetch { host, .. } | Access::Search { host, .. } => {
                vec![self.rules.explain_page(host)]
            }
            Access::Remote(it) => vec![self.rules.explain_remote(&it.name)],
            _ => Vec::new(),
        };
        let more = parts.len().saturating_sub(PARTS);
        let more = (more > 0).then(|| format!("… and {more} more"));
        let lines = std::iter::once(self.cause(it)).chain(parts.into_iter().take(PARTS));
        let short = |it: String| it.replace('\n', " ").chars().take(WIDE).collect();
        Some(lines.chain(more).map(short).collect())
    }

    /// Why a call of this kind needs the user's consent in this mode, whatever its arguments are.
    fn cause(&self, it: &Open) -> String {
        let mode = self.mode;
        let is_closed = !it.judged.opens.is_empty() && it.judged.unruled.is_empty();
        match &it.access {
            _ if matches!(it.state, State::Asking { is_unrecorded: true }) => {
                "A command whose start could not be recorded needs your consent, whatever the rules say.".into()
            }
            Access::Act { outside: Some(_), .. } => {
                "In every mode, a command outside of the sandbox needs your consent, whatever the permission rules \
                 say.".into()
            }
            Access::Act { unlocked, .. } if !unlocked.is_empty() => {
                "In every mode, a git command needs your consent before it changes files that commands may not change, \
                 whatever the permission rules say."
                    .into()
            }
            Access::Act { .. } if is_closed => {
                "In auto mode, a command needs your consent before it connects to a host, once untrusted text may \
                 have come into this conversation."
                    .into()
            }
            Access::Act { .. } if !it.judged.opens.is_empty() => {
                let hosts = it.judged.unruled.join(", ");
                format!("In every mode, a command needs your consent before it connects to a host that no rule opens: \
                         {hosts}.")
            }
            Access::Act { .. } if mode == Mode::Auto && it.judged.leak.is_some() => {
                "In auto mode, a command that sends something needs your consent, once untrusted text may have \
                 come into this conversation."
                    .into()
            }
            Access::Act { .. } | Access::Format { .. } if mode == Mode::Auto => {
                if it.judged.is_contained {
                    "In auto mode, a command needs your consent if a permission rule requires it for a part of the \
                     command.".into()
                } else {
                    "In auto mode, a command needs your consent without a full sandbox (:checkhealth caliban), unless \
                     permission rules allow each part of it."
                        .into()
                }
            }
            Access::Act { .. } | Access::Format { .. } => {
                format!("In {mode} mode, a command needs your consent, unless permission rules allow each part of it.")
            }
            Access::Input { .. } => {
                format!("In {mode} mode, input to a job needs your consent. No permission rule allows it.")
            }
            Access::Fetch { .. } | Access::Search { .. } => cause_of_request(mode, &it.judged),
            Access::Remote(called) => cause_of_remote(mode, called, &it.judged),
            _ => "In every mode, a tool needs your consent before it looks at a protected file or at one outside of \
                  the project.".into(),
        }
    }
}

/// Why a request to the web needs the user's consent in this mode.
fn cause_of_request(mode: Mode, judged: &Judgement) -> String {
    if judged.leak.is_some() && mode == Mode::Auto {
        return "In auto mode, a request to the web needs your consent, once untrusted text may have come into this \
                conversation."
            .into();
    }
    format!(
        "In {mode} mode, a request to the web needs your consent, unless a permission rule allows the host."
    )
}

/// Why a tool of a server needs the user's consent in this mode.
fn cause_of_remote(mode: Mode, called: &Remote, judged: &Judgement) -> String {
    if judged.leak.is_some() && mode == Mode::Auto {
        return "In auto mode, a tool of a server needs your consent, once untrusted text may have come into this \
                conversation."
            .into();
    }
    if mode == Mode::Plan && !called.only_reads {
        return "In plan mode, a tool of a server needs your consent for each call, unless its server says that it only \
                reads."
            .into();
    }
    format!(
        "In {mode} mode, a tool of a server needs your consent, unless a permission rule allows it."
    )
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
