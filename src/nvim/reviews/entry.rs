//! A proposal that was sent to the editor.

use crate::edit::Proposal;
use crate::message::CallId;
use crate::nvim::session_link::Handle;
use crate::text::Text;
use crate::tool::Arrival;
use std::sync::Arc;
use tokio::sync::oneshot;

pub(super) struct Entry {
    pub(super) session: Handle,
    pub(super) proposal: Box<Proposal>,
    pub(super) waiter: Option<oneshot::Sender<Arrival>>,
    /// The last text of the file that the model has got since the proposal.
    pub(super) known: Option<Arc<Text>>,
    /// Whether the user has decided on the proposal. After an undo or redo in the buffer, the user may decide again.
    pub(super) is_settled: bool,
}

impl Entry {
    pub(super) fn concerns(&self, call: &CallId) -> bool {
        self.proposal.parts.iter().any(|part| part.call == *call)
    }
}
