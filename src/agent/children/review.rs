//! A turn that waits only for the user's review of what subagents have changed. A message of the user ends this wait,
//! as it does for the turn's own edits: the subagents go on without the verdicts.

use super::{ChildCommand, Children, Whom};
use crate::conversation::Conversation;
use crate::event::Access;
use crate::session::{Input, Open, Session, State};

impl Children {
    /// Whether the turn waits only for the user's review of what subagents have changed.
    pub(in crate::agent) fn wait_for_review(&self, session: &Session) -> bool {
        let mut running = session.open().iter().filter(|it| it.state == State::Running).peekable();
        running.peek().is_some() && running.all(|it| self.is_reviewed(it))
    }

    /// Whether each subagent that works on the call waits only for the user's review.
    fn is_reviewed(&self, of: &Open) -> bool {
        let mut meant = self.all.iter().filter(|child| match &child.whom {
            Whom::Call(call) => *call == of.call.id,
            Whom::Worker(_) => matches!(of.access, Access::Workers(_)),
        });
        meant.clone().next().is_some() && meant.all(|child| child.is_reviewing)
    }

    /// Called when the user has sent a message instead of a review. Until the message goes with a request, no subagent
    /// with a task waits for a review. Workers still wait, because their coordinator goes on without them.
    pub(in crate::agent) fn leave_review(&mut self, conversation: &mut Conversation) {
        self.is_left = true;
        self.go_on(conversation);
    }

    /// Ends the waits for a review, as long as the user's message waits for the turn's next request.
    pub(super) fn go_on(&mut self, conversation: &mut Conversation) {
        self.is_left &= conversation.session.queue.iter().any(|it| it.steer);
        if !self.is_left {
            return;
        }
        let has_task = |whom: &Whom| matches!(whom, Whom::Call(_));
        for it in self.all.iter_mut().filter(|it| it.is_reviewing && has_task(&it.whom)) {
            it.is_reviewing = false;
            it.tell(ChildCommand::LeaveReview);
        }
        conversation.take(Input::LeaveReview);
    }
}
