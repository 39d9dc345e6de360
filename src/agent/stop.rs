//! How a turn ends that is not left to its end: what it had under way, and what became of that.

use super::Agent;
use crate::event::TurnId;
use crate::nvim::wire::ToNvim;
use crate::session::{Input, Phase};
use tokio::task::AbortHandle;

impl Agent {
    /// What edits that are on their way come to is known once the editor has let the last of them in, or none.
    pub(super) fn stop(&mut self) {
        self.withdrawn = self.preparing;
        if let (Some(_), Some(turn)) = (&self.proposing, self.setup.session.turn()) {
            self.landed.get_or_insert_default();
            return self.halt(turn);
        }
        let partial = self.partial.take();
        self.take(Input::Cancel { partial });
    }

    /// Some work of the turn has ended, its results are taken.
    pub(super) fn joined(&mut self) {
        if self.proposing.as_ref().is_some_and(AbortHandle::is_finished) {
            self.proposing = None;
            if let Some(landed) = self.landed.take() {
                self.take(Input::Stop { landed });
            }
        }
    }

    pub(super) fn result(&mut self, input: Input) {
        if let Input::Applied { files, .. } = &input {
            for (path, saved) in files {
                self.note_saved(path, *saved);
            }
        }
        match (&mut self.landed, input) {
            (Some(landed), input) => landed.push(input),
            (None, input @ Input::Applied { .. }) => self.judged(input),
            (None, input) => self.take(input),
        }
    }

    /// Ends all work of the turn: connections close, children are killed, the editor lets nothing more in.
    pub(super) fn abort(&mut self, turn: TurnId) {
        self.work.abort_all();
        self.sampling = None;
        self.proposing = None;
        self.landed = None;
        self.resting = None;
        self.retry_ms = None;
        self.halt(turn);
    }

    fn halt(&self, turn: TurnId) {
        let session = self.setup.id.clone();
        self.setup.editor.tell(ToNvim::Halt { session, turn: turn.0 });
    }

    /// The editor is going: everything is on disk when this returns. An interrupted turn stays in the journal,
    /// where the next start finds it.
    pub(super) fn quit(&mut self) {
        self.release();
        let partial = self.partial.take();
        let was_at_rest = self.setup.session.phase == Phase::Idle;
        let step = self.setup.session.step(Input::Leave { partial });
        self.work.abort_all();
        let Some(store) = &mut self.setup.store else { return };
        let saved = if self.setup.session.is_blank() {
            store.discard()
        } else if was_at_rest {
            store.settle(&self.setup.session)
        } else {
            store.append(&step.events, true)
        };
        if let Err(error) = saved {
            tracing::error!("the session could not be saved: {error}");
        }
    }
}
