//! Sessions that cannot be opened: another Neovim has the session open, its file is damaged, or a newer Caliban wrote
//! the file. Such a session can be read, copied or taken over.

use super::archive::OpenRequest;
use super::lanes::Lane;
use super::message::{Outcome, Source};
use super::state::Program;
use crate::agent::Command;
use crate::conversation::report::Level;
use crate::event::SessionId;
use crate::nvim::wire::{Claim, Held, ToNvim, Way, Yield};
use crate::store::{self, Holder};
use std::time::Duration;

/// How long opening a session waits for another Neovim's lock: that Neovim may be about to end.
const HANDOVER: Duration = Duration::from_millis(500);

/// How long the program waits after it has asked the other Neovim to release the session, because that Neovim may be
/// busy.
const PATIENCE: Duration = Duration::from_secs(5);

impl Program {
    /// Opens a session from disk for writing. `Archive::loaded` says what happens if the session cannot be opened.
    pub(super) fn load(&mut self, id: SessionId) {
        let asked = self.open_request(false);
        let lanes = vec![Lane::Session(self.sessions.reserve(&id))];
        self.begin_opening(lanes, |archive| async move {
            let opened = archive.open_within(&id, HANDOVER).await;
            archive.on_thread(move |it| it.loaded(id, opened, &asked)).await
        });
    }

    /// The program's state that a task needs to open a session.
    pub(super) fn open_request(&self, shown: bool) -> OpenRequest {
        OpenRequest { shown, has_current: self.current.is_some(), taken: self.sessions.taken() }
    }

    /// Tells the editor to ask the user what to do about a session that another Neovim has open.
    pub(super) fn offer(&self, session: SessionId, Holder { by, server }: Holder) {
        self.editor.tell(ToNvim::Held(Held { session, by, server }));
    }

    /// Carries out the user's choice about a session that another Neovim has open: reads, copies or takes over the
    /// session.
    pub(super) fn claim(&mut self, Claim { session, way, root }: Claim) {
        if !store::is_name(&session.0) {
            return self.bad_name(&session.0);
        }
        let taken = self.sessions.taken();
        match way {
            Way::Read => {
                let lanes = vec![Lane::Session(self.sessions.reserve(&session))];
                self.open_on_thread(lanes, move |it| it.read(session, true));
            }
            Way::Fork => {
                let of = self.sessions.reserve(&session);
                let read_only = self.sessions.read_only(of);
                self.open_on_thread(vec![Lane::Session(of)], move |it| {
                    it.fork(session, root.as_deref(), read_only, &taken)
                });
            }
            Way::Take => self.take_over(session),
        }
    }

    /// Takes the session over from the other Neovim. The task gets no lane, so that a read-only chat of the session can
    /// be used meanwhile.
    fn take_over(&mut self, session: SessionId) {
        self.begin_opening(Vec::new(), |archive| async move {
            match archive.open_within(&session, PATIENCE).await {
                Ok(opened) => {
                    let source = Source::of(opened);
                    archive.on_thread(move |it| it.started(session, source, true)).await
                }
                Err(unavailable) => {
                    let text = format!(
                        "{} The other Neovim did not release the conversation.",
                        unavailable.say(&session.0)
                    );
                    vec![Outcome::Untaken(session, text)]
                }
            }
        });
    }

    /// Shows a session that was to be taken over, if it is open here meanwhile. Otherwise says why it could not be.
    pub(super) fn present_or_say(&self, session: &SessionId, why: String) {
        let open = self.sessions.named(session).filter(|it| !self.sessions.read_only(*it));
        match open.filter(|it| self.sessions.runs(*it)) {
            Some(open) => self.tell(open, Command::Present { show: true }),
            None => self.notice(Level::Warn, why),
        }
    }

    pub(super) fn look(&mut self, id: SessionId) {
        let is_open = self.sessions.named(&id).and_then(|it| self.sessions.agent(it)).is_some();
        if is_open || !store::is_name(&id.0) {
            return;
        }
        let lanes = vec![Lane::Session(self.sessions.reserve(&id))];
        self.open_on_thread(lanes, move |it| it.look(id));
    }

    /// Waits until the other Neovim has closed the session, at most `PATIENCE`. Then `look` checks the session, because
    /// that Neovim may have left a turn unfinished.
    pub(super) fn look_later(&mut self, session: SessionId) {
        self.begin(Vec::new(), |archive| async move {
            let is_free = archive.freed_within(&session, PATIENCE).await;
            is_free.then_some(Outcome::Free(session)).into_iter().collect()
        });
    }

    /// Gives a session to another Neovim: its turn is stopped, everything is saved, and here the session becomes
    /// read-only.
    pub(super) fn give_up(&mut self, Yield { session, by }: Yield) {
        let of = self.sessions.named(&session).filter(|it| !self.sessions.read_only(*it));
        let Some((of, agent)) = of.and_then(|it| Some((it, self.sessions.close(it)?))) else {
            return;
        };
        self.begin_opening(vec![Lane::Session(of)], |archive| async move {
            agent.closed().await;
            archive.on_thread(move |it| it.given_up(session, &by)).await
        });
    }
}
