//! The program's work on session files. This work blocks, so it runs through `on_thread`, outside of the program's
//! loop.

use super::message::{Outcome, Source, Start};
use crate::conversation::report::{Branch, Copy, Level};
use crate::event::SessionId;
use crate::nvim::session_link::Handle;
use crate::reach::Reach;
use crate::session::{Input, Session};
use crate::site::places;
use crate::store::{Draft, Opened, Project, Unavailable};
use std::io;
use std::path::Path;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep};

/// The pause between two checks whether another Neovim still holds the session's lock.
const AGAIN: Duration = Duration::from_millis(20);

#[derive(Clone)]
pub(super) struct Archive {
    pub(super) project: Project,
    pub(super) reach: Reach,
}

/// A session that the user has turned to, and whether it may have files on disk.
pub(super) type Noted = (SessionId, bool);

/// The program's state when it was asked to open a session.
pub(super) struct OpenRequest {
    /// Whether the chat shows the session when it is opened.
    pub(super) shown: bool,
    /// Whether another session is open, so that the editor has a chat in which to ask the user what to do.
    pub(super) has_current: bool,
    /// The names of sessions that are open or being opened.
    pub(super) taken: Vec<String>,
}

impl Archive {
    /// Runs blocking work on a thread. If the work panics, the result is the default.
    pub(super) async fn on_thread<T: Default + Send + 'static>(
        &self,
        work: impl FnOnce(&Archive) -> T + Send + 'static,
    ) -> T {
        let archive = self.clone();
        tokio::task::spawn_blocking(move || work(&archive)).await.unwrap_or_default()
    }

    /// Opens a session. If another Neovim has it open, waits at most `patience` for it.
    pub(super) async fn open_within(
        &self,
        id: &SessionId,
        patience: Duration,
    ) -> Result<Opened, Unavailable> {
        let deadline = Instant::now() + patience;
        loop {
            let wanted = id.clone();
            match self.on_thread(move |it| Some(it.project.open(&wanted))).await {
                Some(Err(Unavailable::Locked(_))) if Instant::now() < deadline => {
                    sleep(AGAIN).await;
                }
                Some(opened) => return opened,
                None => return Err(Unavailable::Io(io::Error::other("it could not be read"))),
            }
        }
    }

    /// Waits until no Neovim has the session open. Returns false if another Neovim still has it after `patience`.
    pub(super) async fn freed_within(&self, id: &SessionId, patience: Duration) -> bool {
        let deadline = Instant::now() + patience;
        while Instant::now() < deadline {
            sleep(AGAIN).await;
            let name = id.0.clone();
            if self.on_thread(move |it| !it.project.is_locked(&name)).await {
                return true;
            }
        }
        false
    }

    /// A session that is about to begin, with the facts about it that are stored on disk.
    pub(super) fn start(&self, id: SessionId, source: Source, shown: bool) -> Start {
        let others = self.project.names().iter().filter(|it| **it != id.0).count();
        let relative = || {
            let mut all = self.project.relatives().into_iter();
            all.find(|it| !it.names().is_empty()).map(|it| it.root().display().to_string())
        };
        Start {
            recorded: self.project.under_review(&id, &self.reach),
            unsent: match &source {
                Source::ReadOnly(..) => self.project.unsent(&id),
                _ => Draft::default(),
            },
            is_kept: !self.project.is_free(&id.0),
            others,
            relative: if others == 0 { relative() } else { None },
            warning: places::warning(self.project.root()),
            agent: None,
            in_place_of: None,
            id,
            source,
            shown,
        }
    }

    pub(super) fn started(&self, id: SessionId, source: Source, shown: bool) -> Vec<Outcome> {
        vec![Outcome::Start(Box::new(self.start(id, source, shown)))]
    }

    /// The result of opening a session. A file of a newer version opens read-only. If another Neovim has the session
    /// open, the user is asked what to do; if no chat is open in which to ask, an empty new session opens first. If the
    /// file is damaged or cannot be opened for writing, a new session opens, with the messages that could be read.
    pub(super) fn loaded(
        &self,
        id: SessionId,
        opened: Result<Opened, Unavailable>,
        asked: &OpenRequest,
    ) -> Vec<Outcome> {
        let unavailable = match opened {
            Ok(opened) => return self.started(id, Source::of(opened), asked.shown),
            Err(Unavailable::Newer(_)) => return self.read(id, asked.shown),
            Err(Unavailable::Locked(holder)) if asked.has_current => {
                return vec![Outcome::Locked(id, holder)];
            }
            Err(unavailable) => unavailable,
        };
        let (read, what) = self.salvage(&id, &unavailable);
        let (other, opened) = self.project.open_free(&id.0, &asked.taken);
        let (source, so) = match (opened, read) {
            (Ok(mut opened), Some(mut read)) => {
                opened.store.keep_outputs(&mut read);
                let opened = Opened { session: Some(read), replayed: true, ..opened };
                (
                    Source::of(opened),
                    format!("{what} were copied to this new conversation, `{other}`."),
                )
            }
            (Ok(opened), None) => {
                (Source::of(opened), format!("This new conversation, `{other}`, is open instead."))
            }
            (Err(_), Some(read)) => {
                let so = format!(
                    "{what} were copied to this new conversation, which is in memory only."
                );
                (Source::InMemory(Box::new(read)), so)
            }
            (Err(_), None) => (
                Source::in_memory(),
                "This new conversation is open instead, in memory only.".to_owned(),
            ),
        };
        let mut why = format!("{} {so}", unavailable.say(&id.0));
        let mut locked = None;
        if let Unavailable::Locked(holder) = unavailable {
            why.push_str(&format!(
                " `:Caliban resume {id}` offers to read that conversation, to copy it or to take it over."
            ));
            locked = Some(Outcome::Locked(id.clone(), holder));
        }
        let mut start = self.start(other, source, asked.shown);
        start.in_place_of = Some((id, why));
        [Outcome::Start(Box::new(start))].into_iter().chain(locked).collect()
    }

    /// The part of an unavailable session that a new session can continue, and a noun phrase for it (`Its messages`).
    fn salvage(&self, id: &SessionId, unavailable: &Unavailable) -> (Option<Session>, String) {
        let read = match unavailable {
            Unavailable::Damaged(_) => self.project.recover(id),
            // The folder may be read-only while the file can be read.
            Unavailable::Io(_) => self.project.read(id).ok().map(|it| it.0.fork(None)),
            _ => None,
        };
        let read = read.filter(|it| !it.is_blank());
        let what = match (&read, unavailable) {
            (Some(read), Unavailable::Damaged(_)) => {
                format!("Its messages up to number {}", read.messages.len())
            }
            _ => "Its messages".to_owned(),
        };
        (read, what)
    }

    /// Opens a session that this program may not change, read-only.
    pub(super) fn read(&self, id: SessionId, shown: bool) -> Vec<Outcome> {
        let why = match self.project.open(&id) {
            Ok(opened) => return self.started(id, Source::of(opened), shown),
            Err(unavailable) => unavailable.say(&id.0),
        };
        match self.project.read(&id) {
            Ok((session, unread)) => {
                let unread = match unread {
                    0 => String::new(),
                    1 => " 1 message in it has an unknown form and is not shown.".to_owned(),
                    n => format!(" {n} messages in it have an unknown form and are not shown."),
                };
                let why =
                    format!("{why}{unread} It is read-only here: /fork continues it in a copy.");
                self.started(id, Source::ReadOnly(Box::new(session), why), shown)
            }
            Err(unavailable) => vec![Outcome::Notice(Level::Error, unavailable.say(&id.0))],
        }
    }

    /// Opens a session in the background if its turn was interrupted, in order to end that turn, or if it has reviews
    /// that the editor has to reopen. A session that another Neovim has open does not count as interrupted.
    pub(super) fn look(&self, id: SessionId) -> Vec<Outcome> {
        let mut opened = match self.project.open(&id) {
            Ok(opened) => opened,
            Err(Unavailable::Locked(_)) => return vec![Outcome::Leaving(id)],
            Err(_) => return Vec::new(),
        };
        let has_reviews = !self.project.under_review(&id, &self.reach).is_empty();
        if let Some(session) = opened.session.as_mut().filter(|it| it.subagent_of().is_some()) {
            session.step(Input::Leave { partial: None });
            let settled = opened.store.settle(session);
            return settled.map(|()| Vec::new()).unwrap_or_default();
        }
        let session = opened.session.as_ref().filter(|it| !it.is_blank());
        if session.is_some() && (opened.interrupted || has_reviews) {
            let text = "A turn was interrupted in this project. :Caliban shows the conversation."
                .to_owned();
            let notice = (!has_reviews).then_some(Outcome::Notice(Level::Info, text));
            return self.started(id, Source::of(opened), false).into_iter().chain(notice).collect();
        }
        if let Some(Err(error)) = session.map(|it| opened.store.settle(it)) {
            tracing::warn!("the journal could not be merged into the session file: {error}");
        }
        Vec::new()
    }

    /// Copies a session that another Neovim has open. If the session belongs to another folder of the same repository,
    /// `root` is that folder.
    pub(super) fn fork(
        &self,
        of: SessionId,
        root: Option<&Path>,
        read_only: bool,
        taken: &[String],
    ) -> Vec<Outcome> {
        let relatives = root.map(|_| self.project.relatives()).unwrap_or_default();
        let other = relatives.iter().find(|it| Some(it.root()) == root);
        match other.unwrap_or(&self.project).read(&of) {
            Ok((read, _)) => {
                let copy = Copy { session: Box::new(read.fork(None)), name: None };
                self.keep_copy((of, read_only), copy, taken)
            }
            Err(unavailable) => vec![Outcome::Notice(Level::Error, unavailable.say(&of.0))],
        }
    }

    /// Saves a copy of a session. A copy without a name gets a free name and is opened. `of` is the original session.
    /// `read_only` says whether the original is read-only in this Neovim.
    pub(super) fn keep_copy(
        &self,
        (of, read_only): (SessionId, bool),
        mut copy: Copy,
        taken: &[String],
    ) -> Vec<Outcome> {
        let (id, opened) = match &copy.name {
            None => self.project.open_free(&of.0, taken),
            Some(name) => {
                if let Some(taken) = self.like(name, taken) {
                    let text =
                        format!("A conversation `{taken}` already exists; nothing was saved.");
                    return vec![Outcome::Notice(Level::Warn, text)];
                }
                let id = SessionId(name.clone());
                let opened = self.project.open(&id);
                (id, opened)
            }
        };
        let mut opened = match opened {
            Ok(opened) => opened,
            Err(unavailable) => return vec![Outcome::Notice(Level::Error, unavailable.say(&id.0))],
        };
        if copy.name.is_none() {
            let text = format!("This is a copy of `{of}`, which stays as it is.");
            copy.session.step(Input::Tell { text });
        }
        opened.store.keep_outputs(&mut copy.session);
        let turns = copy.session.turns;
        if let Err(error) = self.project.copy_checkpoints(&of, &id, turns) {
            tracing::warn!("the copy cannot be rewound: {error}");
        }
        self.copy_plan(&of, &id);
        if copy.name.is_some() {
            let (level, text) = match opened.store.save(&copy.session) {
                Ok(()) => (Level::Info, format!("A copy is saved as `{id}`.")),
                Err(error) => (Level::Error, Unavailable::Io(error).say(&id.0)),
            };
            return vec![Outcome::Notice(level, text)];
        }
        (opened.session, opened.replayed) = (Some(*copy.session), true);
        let mut start = self.start(id, Source::of(opened), true);
        // the text in the original's composer moves to the copy
        start.in_place_of = read_only.then(|| (of, String::new()));
        vec![Outcome::Start(Box::new(start))]
    }

    /// Saves a copy of a session under a free name. If the session is never saved, the copy begins in memory, in the
    /// background.
    pub(super) fn keep_branch(
        &self,
        (session, of): (Handle, SessionId),
        Branch { session: mut copy, in_memory, back }: Branch,
        taken: &[String],
    ) -> Vec<Outcome> {
        let text = format!("This copy is `{of}` as it was before `/undo`.");
        copy.step(Input::Tell { text });
        copy.step(Input::Title { title: before_undo(&copy.title) });
        if in_memory {
            let is_taken = |name: &str| taken.iter().any(|it| it.eq_ignore_ascii_case(name));
            let name = SessionId(self.project.free_name(&of.0, is_taken));
            let start = self.start(name.clone(), Source::InMemory(copy), false);
            return vec![
                Outcome::Start(Box::new(start)),
                Outcome::Branched { session, name, back },
            ];
        }
        let (name, opened) = self.project.open_free(&of.0, taken);
        let saved = opened.and_then(|mut opened| {
            opened.store.keep_outputs(&mut copy);
            opened.store.save(&copy).map_err(Unavailable::Io)
        });
        if let Err(unavailable) = saved {
            let text = format!("{} The conversation was not taken back.", unavailable.say(&name.0));
            return vec![Outcome::Notice(Level::Error, text)];
        }
        if let Err(error) = self.project.copy_checkpoints(&of, &name, copy.turns) {
            tracing::warn!("the copy cannot be rewound: {error}");
        }
        self.copy_plan(&of, &name);
        vec![Outcome::Branched { session, name, back }]
    }

    fn copy_plan(&self, from: &SessionId, to: &SessionId) {
        if let Err(error) = self.project.copy_plan(from, to) {
            tracing::warn!("the copy has the plan without the user's edits: {error}");
        }
    }

    /// The existing name that equals this name except for upper and lower case, because some file systems ignore case.
    pub(super) fn like(&self, name: &str, taken: &[String]) -> Option<String> {
        let open = taken.iter().find(|it| it.eq_ignore_ascii_case(name));
        open.cloned().or_else(|| self.project.like(name))
    }

    /// The existing name, if any, because of which the session `of` cannot be renamed to `to`.
    pub(super) fn clash(&self, of: &SessionId, to: &SessionId, taken: &[String]) -> Option<String> {
        self.like(&to.0, taken).filter(|it| *it != of.0 || of == to)
    }

    /// If the renamed session is the one that opens when Neovim starts, stores its new name and returns true.
    pub(super) fn note_renamed(&self, of: SessionId, to: &SessionId, is_current: bool) -> bool {
        let was_last = is_current || self.project.last() == Some(of);
        if was_last {
            self.note(to, true);
        }
        was_last
    }

    /// Moves the files of a closed session, and of its closed subagents, to the trash. `was_open` says whether the
    /// session was open here.
    pub(super) fn delete(
        &self,
        session: SessionId,
        was_open: bool,
        subagents: Vec<SessionId>,
    ) -> Vec<Outcome> {
        if let Err(unavailable) = self.project.delete(&session) {
            let notice = Outcome::Notice(Level::Error, unavailable.say(&session.0));
            return vec![notice, Outcome::Deleted { session, is_gone: was_open }];
        }
        let mut notices = Vec::new();
        let mut gone = Vec::new();
        for it in subagents {
            match self.project.delete(&it) {
                Ok(()) => gone.push(it),
                Err(unavailable) => {
                    notices.push(Outcome::Notice(Level::Error, unavailable.say(&it.0)));
                }
            }
        }
        let with = match gone.len() {
            0 => "is".to_owned(),
            1 => "and its subagent's conversation are".to_owned(),
            n => format!("and the {n} conversations of its subagents are"),
        };
        let trash = self.project.dir().join("trash");
        let text = format!("`{session}` {with} in the trash: {}.", trash.display());
        notices.push(Outcome::Notice(Level::Info, text));
        let gone = gone.into_iter().chain([session]);
        notices
            .into_iter()
            .chain(gone.map(|it| Outcome::Deleted { session: it, is_gone: true }))
            .collect()
    }

    /// Opens a session read-only, because another Neovim has taken the session over.
    pub(super) fn given_up(&self, id: SessionId, by: &str) -> Vec<Outcome> {
        let read = self.project.read(&id).map_or_else(|_| Session::default(), |it| it.0);
        let head = format!("The conversation `{id}` was taken over by another Neovim ({by}).");
        let why = format!(
            "{head} It is read-only here: /fork continues it in a copy, `:Caliban resume {id}` offers to take it \
             back."
        );
        let start = self.started(id, Source::ReadOnly(Box::new(read), why), false);
        [Outcome::Notice(Level::Warn, head)].into_iter().chain(start).collect()
    }

    /// Stores on disk which session opens when Neovim starts.
    pub(super) fn note(&self, id: &SessionId, is_kept: bool) {
        self.project.note_hints();
        if is_kept
            && !self.project.is_free(&id.0)
            && let Err(error) = self.project.set_last(id)
        {
            tracing::warn!("the last session could not be noted: {error}");
        }
    }
}

/// Stores the name of each session that the user turns to, in order. Ends when the sender is dropped.
pub(super) async fn note(archive: Archive, mut inbox: mpsc::UnboundedReceiver<Noted>) {
    while let Some((id, is_kept)) = inbox.recv().await {
        archive.on_thread(move |it| it.note(&id, is_kept)).await;
    }
}

/// The title of a copy that was made before the user took a conversation back.
fn before_undo(title: &str) -> String {
    const WORDS: &str = "before /undo: ";
    format!("{WORDS}{}", title.strip_prefix(WORDS).unwrap_or(title))
}
