//! The messages about the plan that a model submits in plan mode.

use crate::agent::{Command, PlanAct, PlanWanted};
use crate::conversation::report::PlanShown;
use crate::event::{Mode, Reading, Remark, SessionId};
use crate::message::CallId;
use serde::{Deserialize, Serialize};

/// Something that the user does with the last plan of a session.
#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PlanMessage {
    pub session: SessionId,
    pub act: WirePlanAct,
    /// The call of the plan that the editor has; absent if it has none.
    pub call: Option<String>,
    /// The plan as it reads in the editor; absent if the editor does not have it.
    pub text: Option<String>,
    /// The user's comments on the plan.
    #[serde(default)]
    pub remarks: Vec<Remark>,
    /// For `accept`: the mode in which the work begins. Absent: the mode before plan mode.
    pub mode: Option<Mode>,
    /// For `change`: the user's words. For `save`: the file.
    #[serde(default)]
    pub words: String,
    /// For `save`: a file that exists is overwritten.
    #[serde(default)]
    pub force: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum WirePlanAct {
    /// Asks for the plan. The answer is `plan_opened`, or a sentence.
    Show,
    /// The user has edited the plan or commented on it.
    Keep,
    Accept,
    Change,
    Drop,
    Save,
}

/// A plan to show.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PlanOpened {
    pub session: SessionId,
    #[serde(flatten)]
    pub plan: PlanShown,
}

impl From<PlanMessage> for (SessionId, Command) {
    fn from(it: PlanMessage) -> (SessionId, Command) {
        let PlanMessage { session, act, call, text, remarks, mode, words, force } = it;
        let what = match act {
            WirePlanAct::Show => PlanWanted::Show,
            WirePlanAct::Keep => PlanWanted::Keep,
            WirePlanAct::Accept => PlanWanted::Accept(mode),
            WirePlanAct::Change => PlanWanted::Change(words),
            WirePlanAct::Drop => PlanWanted::Drop,
            WirePlanAct::Save => PlanWanted::Save { file: words, force },
        };
        let reading = text.map(|text| Reading { text, remarks });
        (session, Command::Plan(PlanAct { call: call.map(CallId), reading, what }))
    }
}
