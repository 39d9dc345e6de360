//! The messages of the user that wait for the model.

use super::{Event, Excerpt, Phase, Queued, Session, Step};

impl Session {
    pub(super) fn send(
        &mut self,
        text: String,
        context: Vec<Excerpt>,
        steer: bool,
        step: &mut Step,
    ) {
        let is_empty = text.trim().is_empty() && context.is_empty();
        if !is_empty {
            let id = self.next_id();
            let steer = steer && self.phase != Phase::Idle;
            let message = Queued { id, text, context, steer };
            self.record(Event::Queued { message }, step);
        }
        match self.turn() {
            None => self.prompt_next(step),
            Some(turn) if !is_empty && self.awaits_review_only() => {
                self.leave_review(turn, step);
            }
            Some(turn) if !is_empty && steer && self.awaits_workers() => {
                self.leave_workers(turn, step);
            }
            Some(_) => (),
        }
    }

    /// The id of the next message in the queue.
    pub(super) fn next_id(&self) -> u32 {
        self.queued.checked_add(1).unwrap_or_else(|| self.unused_id())
    }

    /// An id that no message in the queue has. A message that was read from a file may already have the highest
    /// possible id.
    fn unused_id(&self) -> u32 {
        let is_unused = |id: &u32| self.queue.iter().all(|it| it.id != *id);
        (1..=u32::MAX).find(is_unused).unwrap_or(0)
    }

    pub(super) fn take_back(&mut self, id: u32, step: &mut Step) {
        if let Some(message) = self.queue.iter().find(|it| it.id == id).cloned() {
            self.record(Event::Unqueued { id }, step);
            self.reopen(&message, step);
        }
    }
}
