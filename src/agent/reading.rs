//! The plan that the user reads, and the decision on it.

use crate::event::{PlanVerdict, Reading};
use crate::message::CallId;

/// The plan of a conversation, with the user's edits and comments.
#[derive(Default)]
pub(super) struct Plan {
    /// The call of the plan that `reading` has.
    pub(super) call: Option<CallId>,
    pub(super) reading: Reading,
}

/// The user's decision on a plan, on its way to the model.
pub(super) struct Decided {
    pub(super) call: CallId,
    pub(super) verdict: PlanVerdict,
}
