//! A plan that the model has submitted, and the user's decision on it.

use super::Mode;
use crate::message::CallId;
use serde::{Deserialize, Serialize};

/// The last plan of a conversation. The file `name.plan.md` beside the session's file has the text (see `store::plan`).
/// Without this file, the text is that of the call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Submitted {
    /// The call that submitted the plan.
    pub call: CallId,
    pub stage: PlanStage,
}

/// The state of the user's decision on a plan.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum PlanStage {
    /// The plan waits for the user's decision.
    #[default]
    Waiting,
    /// The user has sent the plan back to be changed.
    SentBack,
    Approved,
}

/// The user's decision on a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlanVerdict {
    /// The work begins in this mode.
    Approve {
        mode: Mode,
    },
    SendBack,
    Drop,
}

impl PlanVerdict {
    /// The words at the right end of the call's line in the chat.
    pub fn words(self) -> &'static str {
        match self {
            PlanVerdict::Approve { .. } => "approved",
            PlanVerdict::SendBack => "sent back",
            PlanVerdict::Drop => "dropped",
        }
    }
}

/// The plan of a conversation, and the mode to which the conversation returns after plan mode.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Planning {
    /// The last plan; `None` if the model has submitted none, or if the user has dropped it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last: Option<Submitted>,
    /// The mode before plan mode.
    #[serde(default, skip_serializing_if = "Mode::is_default")]
    pub before: Mode,
}

impl Planning {
    pub fn is_empty(&self) -> bool {
        *self == Planning::default()
    }

    /// The call of the plan that waits for the user's decision.
    pub fn waiting(&self) -> Option<&CallId> {
        self.last.as_ref().filter(|it| it.stage == PlanStage::Waiting).map(|it| &it.call)
    }
}

/// A plan as it reads now, with the user's edits and comments.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reading {
    pub text: String,
    pub remarks: Vec<Remark>,
}

/// A comment of the user's on lines of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Remark {
    /// The first and the last line, counted from 1.
    pub first: u32,
    pub last: u32,
    pub text: String,
}
