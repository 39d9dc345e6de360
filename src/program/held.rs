//! A session that cannot be opened as it is: another Neovim has it, or it is damaged or by a newer Caliban. It can be
//! read, copied, or taken over from the other.

use super::Program;
use super::archive::{Archive, Asked};
use super::lanes::Lane;
use super::news::Outcome;
use crate::agent::Command;
use crate::conversation::report::Level;
use crate::event::SessionId;
use crate::nvim::wire::{Claim, Held, ToNvim, Way, Yield};
use crate::session::Session;
use crate::store::{self, Holder, Opened};
use std::time::Duration;
use tokio::sync::oneshot;

/// How long the holder of a session's lock is waited for: it may be on its way out.
const HANDOVER: Duration = Duration::from_millis(500);

/// How long, once it was asked to let go: its user may be in the middle of something.
const PATIENCE: Duration = Duration::from_secs(5);

/// How a session begins here.
pub(super) enum Begin {
    Opened(Box<Opened>),
    /// Perhaps with what could be read of a session that cannot be opened.
    InMemory(Box<Session>),
    /// For reading alone; why, and what to do.
    Reading(Box<Session>, String),
}

impl Begin {
    pub(super) fn of(opened: Opened) -> Begin {
        Begin::Opened(Box::new(opened))
    }

    /// Nothing has been said in it.
    pub(super) fn in_memory() -> Begin {
        Begin::InMemory(Box::default())
    }
}

impl Program {
    /// Opens a session from disk; where it is barred, for reading, or a new one beside it.
    pub(super) fn load(&mut self, id: SessionId) {
        let (archive, asked) = (self.archive.clone(), self.asked(false));
        self.begin_opening(vec![Lane::Session(id.clone())], async move {
            let opened = archive.open_within(&id, HANDOVER).await;
            archive.apart(move |it| it.loaded(id, opened, &asked)).await
        });
    }

    /// What a task has to know that opens a session.
    pub(super) fn asked(&self, shown: bool) -> Asked {
        Asked { shown, has_current: self.current.is_some(), taken: self.taken() }
    }

    /// The editor asks the user, where that is no bother.
    pub(super) fn offer(&self, session: SessionId, Holder { by, server }: Holder) {
        self.editor.tell(ToNvim::Held(Held { session, by, server }));
    }

    /// What the user wants of a session that another Neovim has.
    pub(super) fn claim(&mut self, Claim { session, way, root }: Claim) {
        if !store::is_name(&session.0) {
            return self.bad_name(&session.0);
        }
        let archive = self.archive.clone();
        let lanes = vec![Lane::Session(session.clone())];
        match way {
            Way::Read => self.begin_opening(lanes, async move {
                archive.apart(move |it| it.read(session, true)).await
            }),
            Way::Fork => {
                let (taken, reads) = (self.taken(), self.readers.contains(&session));
                let fork = move |it: &Archive| it.fork(&session, root.as_deref(), reads, &taken);
                self.begin_opening(lanes, async move { archive.apart(fork).await });
            }
            // The session may be open for reading here, and goes on meanwhile.
            Way::Take => self.begin_opening(Vec::new(), async move {
                match archive.open_within(&session, PATIENCE).await {
                    Ok(opened) => {
                        let begin = Begin::of(opened);
                        archive.apart(move |it| it.started(session, begin, true)).await
                    }
                    Err(barred) => {
                        let text =
                            format!("{} That Neovim did not release it.", barred.say(&session.0));
                        vec![Outcome::Notice(Level::Warn, text)]
                    }
                }
            }),
        }
    }

    pub(super) fn look(&mut self, id: SessionId) {
        if !store::is_name(&id.0) || self.agents.contains_key(&id) {
            return;
        }
        let archive = self.archive.clone();
        self.begin_opening(vec![Lane::Session(id.clone())], async move {
            archive.apart(move |it| it.look(id)).await
        });
    }

    /// The Neovim that has a session may be on its way out, its turn cut off.
    pub(super) fn look_later(&mut self, session: SessionId) {
        let archive = self.archive.clone();
        self.begin(Vec::new(), async move {
            let is_free = archive.freed_within(&session, PATIENCE).await;
            is_free.then_some(Outcome::Free(session)).into_iter().collect()
        });
    }

    /// Another Neovim takes a session over: its turn is stopped, all is on disk, and here it can only be read.
    pub(super) fn give_up(&mut self, Yield { session, by }: Yield) {
        let id = self.now(&session).clone();
        if self.readers.contains(&id) {
            return;
        }
        let Some(agent) = self.agents.remove(&id) else { return };
        let _ = agent.send(Command::Stop);
        let _ = agent.send(Command::Quit(oneshot::channel().0));
        let archive = self.archive.clone();
        self.begin_opening(vec![Lane::Session(id.clone())], async move {
            agent.closed().await;
            archive.apart(move |it| it.given_up(id, &by)).await
        });
    }
}
