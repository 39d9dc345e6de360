//! A session that cannot be opened as it is: another Neovim has it, or it is damaged or by a newer Caliban. It can be
//! read, copied, or taken over from the other.

use super::Program;
use crate::agent::{Command, Copy};
use crate::event::SessionId;
use crate::nvim::wire::{Claim, Held, Level, ToNvim, Way, Yield};
use crate::session::Session;
use crate::store::{self, Barred, Holder, Opened, Project};
use std::path::Path;
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::time::Instant;

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

/// What came of waiting for another Neovim's session.
pub(super) enum Waited {
    Taken(SessionId, Result<Box<Opened>, Barred>),
    /// Nobody has it any more: it may be looked at.
    Free(SessionId),
}

impl Program {
    /// Opens a session from disk; where it is barred, for reading, or a new one beside it.
    pub(super) async fn load(&mut self, id: SessionId) {
        let barred = match self.open_on_disk(&id, HANDOVER).await {
            Ok(opened) => return self.start(id, Begin::of(opened), None).await,
            Err(Barred::Newer(_)) => return self.read(id).await,
            Err(Barred::Held(holder)) if self.current.is_some() => return self.offer(id, holder),
            Err(barred) => barred,
        };
        let mut why = barred.say(&id.0);
        let other = self.free_name(&id.0);
        let (read, what) = self.salvage(&id, &barred);
        let (begin, so) = match (self.project.open(&other), read) {
            (Ok(mut opened), Some(mut read)) => {
                opened.store.keep_outputs(&mut read);
                let opened = Opened { session: Some(read), replayed: true, ..opened };
                (Begin::of(opened), format!("{what} goes on in this new one, `{other}`."))
            }
            (Ok(opened), None) => (Begin::of(opened), format!("This is a new one, `{other}`.")),
            (Err(_), Some(read)) => {
                let so = format!("{what} goes on in this one, in memory only.");
                (Begin::InMemory(Box::new(read)), so)
            }
            (Err(_), None) => (Begin::in_memory(), "This one goes on in memory only.".to_owned()),
        };
        why = format!("{why} {so}");
        let Barred::Held(holder) = barred else {
            return self.start(other, begin, Some((id, why))).await;
        };
        why.push_str(&format!(
            " `:Caliban resume {id}` offers to read that one, to copy it, or to take it over."
        ));
        self.start(other, begin, Some((id.clone(), why))).await;
        self.offer(id, holder);
    }

    /// What another one can go on with of a session that cannot be opened, and what to call that.
    fn salvage(&self, id: &SessionId, barred: &Barred) -> (Option<Session>, String) {
        let read = match barred {
            Barred::Damaged(_) => self.project.recover(id),
            // Perhaps nothing can be written there.
            Barred::Io(_) => self.project.read(id).ok().map(|it| it.0.fork(None)),
            _ => None,
        };
        let read = read.filter(|it| !it.is_blank());
        let what = match (&read, barred) {
            (Some(read), Barred::Damaged(_)) => {
                format!("What could be read of it, up to message {},", read.messages.len())
            }
            _ => "What was said in it".to_owned(),
        };
        (read, what)
    }

    async fn open_on_disk(&self, id: &SessionId, patience: Duration) -> Result<Opened, Barred> {
        open_within(self.project.clone(), id, patience).await
    }

    /// The editor asks the user, where that is no bother.
    fn offer(&self, session: SessionId, Holder { by, server }: Holder) {
        self.editor.tell(ToNvim::Held(Held { session, by, server }));
    }

    /// Shows a session that this program may not change.
    async fn read(&mut self, id: SessionId) {
        let why = match self.project.open(&id) {
            Ok(opened) => return self.start(id, Begin::of(opened), None).await,
            Err(barred) => barred.say(&id.0),
        };
        match self.project.read(&id) {
            Ok((session, unread)) => {
                let unread = match unread {
                    0 => String::new(),
                    1 => " One message of it is not understood and not shown.".to_owned(),
                    n => format!(" {n} messages of it are not understood and not shown."),
                };
                let why =
                    format!("{why}{unread} Here it can only be read: /fork goes on in a copy.");
                self.start(id, Begin::Reading(Box::new(session), why), None).await;
            }
            Err(barred) => self.notice(Level::Error, barred.say(&id.0)),
        }
    }

    /// What the user wants of a session that another Neovim has.
    pub(super) async fn claim(&mut self, Claim { session, way, root }: Claim) {
        if !store::is_name(&session.0) {
            return self.bad_name(&session.0);
        }
        match way {
            Way::Read => {
                self.shows_next = true;
                self.read(session).await;
                self.shows_next = false;
            }
            Way::Fork => match self.project_at(root.as_deref()).read(&session) {
                Ok((read, _)) => {
                    let copy = Copy { session: Box::new(read.fork(None)), name: None };
                    self.keep_copy(session, copy).await;
                }
                Err(barred) => self.notice(Level::Error, barred.say(&session.0)),
            },
            Way::Take => {
                let (project, waited) = (self.project.clone(), self.waited.clone());
                tokio::spawn(async move {
                    let opened = open_within(project, &session, PATIENCE).await;
                    // The program waits for it, or is ending.
                    let _ = waited.send(Waited::Taken(session, opened.map(Box::new)));
                });
            }
        }
    }

    /// Another project that is the same repository, else this one.
    fn project_at(&self, root: Option<&Path>) -> Project {
        let mut relatives = root.map(|_| self.project.relatives()).unwrap_or_default().into_iter();
        relatives.find(|it| Some(it.root()) == root).unwrap_or_else(|| self.project.clone())
    }

    /// The Neovim that has a session may be on its way out, its turn cut off.
    pub(super) fn look_later(&self, session: SessionId) {
        let (project, waited) = (self.project.clone(), self.waited.clone());
        let deadline = Instant::now() + PATIENCE;
        tokio::spawn(async move {
            while Instant::now() < deadline {
                tokio::time::sleep(Duration::from_millis(20)).await;
                if !project.is_held(&session.0) {
                    // The program waits for it, or is ending.
                    return drop(waited.send(Waited::Free(session)));
                }
            }
        });
    }

    pub(super) async fn waited(&mut self, waited: Waited) {
        let (session, opened) = match waited {
            Waited::Taken(session, opened) => (session, opened),
            Waited::Free(session) => return self.look(session).await,
        };
        match opened {
            Ok(opened) => {
                self.shows_next = true;
                self.start(session, Begin::Opened(opened), None).await;
                self.shows_next = false;
            }
            Err(barred) => {
                let text = format!("{} It was not let go of.", barred.say(&session.0));
                self.notice(Level::Warn, text);
            }
        }
    }

    /// Another Neovim takes a session over: its turn is stopped, all is on disk, and here it can only be read.
    pub(super) async fn give_up(&mut self, Yield { session, by }: Yield) {
        let id = self.now(&session).clone();
        if self.readers.contains(&id) {
            return;
        }
        let Some(agent) = self.agents.remove(&id) else { return };
        let _ = agent.send(Command::Stop);
        let _ = agent.send(Command::Quit(oneshot::channel().0));
        agent.closed().await;
        let read = self.project.read(&id).map_or_else(|_| Session::default(), |it| it.0);
        let why = format!(
            "The conversation `{id}` was taken over by another Neovim ({by}). Here it can only be read: /fork goes on \
             in a copy, `:Caliban resume {id}` offers to take it back."
        );
        self.notice(
            Level::Warn,
            format!("The conversation `{id}` was taken over by another Neovim ({by})."),
        );
        self.start(id, Begin::Reading(Box::new(read), why), None).await;
    }
}

async fn open_within(
    project: Project,
    id: &SessionId,
    patience: Duration,
) -> Result<Opened, Barred> {
    let deadline = Instant::now() + patience;
    loop {
        match project.open(id) {
            Err(Barred::Held(_)) if Instant::now() < deadline => {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            opened => return opened,
        }
    }
}
