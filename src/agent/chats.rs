//! What becomes of a session as a whole: another name, a title, a copy.

use super::Agent;
use crate::context::slash::Slash;
use crate::event::SessionId;
use crate::nvim::screen::Show;
use crate::nvim::wire::{Level, Renamed, ToNvim};
use crate::session::{Cut, Input, Phase, Session};
use crate::tool::Workspace;
use std::sync::Arc;
use tokio::sync::oneshot;

/// What the program has an agent do with its session.
pub enum Act {
    /// Give it another name, which is free; `workspace` goes by it. Answers why not.
    Rename {
        to: SessionId,
        workspace: Arc<dyn Workspace>,
        done: oneshot::Sender<Result<(), String>>,
    },
    Title(String),
    Fork(Option<Cut>),
}

/// What an agent asks of the program.
pub enum Wish {
    New {
        name: Option<String>,
    },
    /// The user wants to choose a session, of those in which this stands.
    Sessions {
        text: String,
    },
    /// What the user wants it called: a name, or a title.
    Rename {
        text: String,
    },
    Copy(Copy),
    /// The user wants to choose a model from all there are.
    Models,
    /// The user wants to give a key.
    Connect {
        provider: Option<String>,
    },
}

/// A copy of a session, which the program is to keep.
pub struct Copy {
    pub session: Box<Session>,
    /// The user's word for it; it is not opened then.
    pub name: Option<String>,
}

impl Agent {
    pub(super) fn do_with_session(&mut self, act: Act) {
        match act {
            Act::Rename { to, workspace, done } => {
                let renamed = self.rename(to);
                if renamed.is_ok() {
                    self.setup.desk.workspace = workspace;
                }
                // The program waits for it.
                let _ = done.send(renamed);
            }
            Act::Title(title) => {
                self.notice(Level::Info, format!("Titled “{title}”."));
                self.take(Input::Title { title });
            }
            Act::Fork(cut) => self.fork(cut),
        }
    }

    /// `/rename`, `/fork`, `/save`.
    pub(super) fn slash_of_chats(&mut self, slash: Slash, rest: &str) {
        let text = rest.to_owned();
        match slash {
            Slash::Sessions => self.wish(Wish::Sessions { text }),
            Slash::Rename => self.wish(Wish::Rename { text }),
            Slash::Fork => self.fork(None),
            _ => self.copy(None, Some(text)),
        }
    }

    fn rename(&mut self, to: SessionId) -> Result<(), String> {
        if self.setup.session.phase != Phase::Idle {
            return Err("A turn is running. Stop it first (<C-c>), then rename.".to_owned());
        }
        if let Some(store) = &mut self.setup.store {
            store.rename(&self.setup.session, &to).map_err(|it| it.say(&to.0))?;
        }
        let session = std::mem::replace(&mut self.setup.id, to.clone());
        self.show(Show::Tell(ToNvim::Renamed(Renamed { session, to })));
        self.show_status();
        Ok(())
    }

    fn fork(&mut self, cut: Option<Cut>) {
        if self.setup.store.is_none() {
            let text = "This conversation is never saved: /save keeps a copy of it.";
            return self.notice(Level::Warn, text.into());
        }
        self.copy(cut, None);
    }

    fn copy(&self, cut: Option<Cut>, name: Option<String>) {
        let session = Box::new(self.setup.session.fork(cut));
        if session.is_blank() {
            let text = "Nothing has been said up to here that a copy could hold.";
            return self.notice(Level::Warn, text.into());
        }
        self.wish(Wish::Copy(Copy { session, name }));
    }

    pub(super) fn wish(&self, wish: Wish) {
        // The program outlives its agents, or is ending.
        let _ = self.setup.wishes.send((self.setup.id.clone(), wish));
    }
}
