//! What the program does with sessions on the disk. Nothing of it runs in a loop that serves sessions: `apart` gives it
//! a thread.

use super::barred::Begin;
use super::news::{Outcome, Start};
use super::places;
use crate::conversation::report::{Copy, Level};
use crate::event::SessionId;
use crate::reach::Reach;
use crate::session::Session;
use crate::store::{Barred, Draft, Opened, Project};
use std::io;
use std::path::Path;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep};

/// The pause between two looks at a lock that another Neovim has.
const AGAIN: Duration = Duration::from_millis(20);

#[derive(Clone)]
pub(super) struct Archive {
    pub(super) project: Project,
    pub(super) reach: Reach,
}

/// A session that the user has turned to, and whether the disk may have something of it.
pub(super) type Noted = (SessionId, bool);

/// What was known when a session was asked for.
pub(super) struct Asked {
    /// The chat is to show it.
    pub(super) shown: bool,
    /// Another session is open, so that the user can be asked.
    pub(super) has_current: bool,
    /// Names of sessions that are open, or being opened.
    pub(super) taken: Vec<String>,
}

impl Archive {
    /// Does something with the disk in a thread of its own.
    pub(super) async fn apart<T: Default + Send + 'static>(
        &self,
        work: impl FnOnce(&Archive) -> T + Send + 'static,
    ) -> T {
        let archive = self.clone();
        tokio::task::spawn_blocking(move || work(&archive)).await.unwrap_or_default()
    }

    /// Opens a session. If another Neovim has it, that one is waited for.
    pub(super) async fn open_within(
        &self,
        id: &SessionId,
        patience: Duration,
    ) -> Result<Opened, Barred> {
        let deadline = Instant::now() + patience;
        loop {
            let wanted = id.clone();
            match self.apart(move |it| Some(it.project.open(&wanted))).await {
                Some(Err(Barred::Held(_))) if Instant::now() < deadline => sleep(AGAIN).await,
                Some(opened) => return opened,
                None => return Err(Barred::Io(io::Error::other("it could not be read"))),
            }
        }
    }

    /// Waits until nobody has a session any more. False if somebody still has it then.
    pub(super) async fn freed_within(&self, id: &SessionId, patience: Duration) -> bool {
        let deadline = Instant::now() + patience;
        while Instant::now() < deadline {
            sleep(AGAIN).await;
            let name = id.0.clone();
            if self.apart(move |it| !it.project.is_held(&name)).await {
                return true;
            }
        }
        false
    }

    /// A session with all that the disk says about it.
    pub(super) fn start(&self, id: SessionId, begin: Begin, shown: bool) -> Start {
        let others = self.project.names().len();
        let relative = || {
            let mut all = self.project.relatives().into_iter();
            all.find(|it| !it.names().is_empty()).map(|it| it.root().display().to_string())
        };
        Start {
            recorded: self.project.under_review(&id, &self.reach),
            unsent: match &begin {
                Begin::Reading(..) => self.project.unsent(&id),
                _ => Draft::default(),
            },
            is_kept: !self.project.is_free(&id.0),
            others,
            relative: if others == 0 { relative() } else { None },
            warning: places::warning(self.project.root()),
            barred: None,
            id,
            begin,
            shown,
        }
    }

    pub(super) fn started(&self, id: SessionId, begin: Begin, shown: bool) -> Vec<Outcome> {
        vec![Outcome::Start(Box::new(self.start(id, begin, shown)))]
    }

    /// A session that was asked for. If it is barred, it can be read, or a new one takes its place.
    pub(super) fn loaded(
        &self,
        id: SessionId,
        opened: Result<Opened, Barred>,
        asked: &Asked,
    ) -> Vec<Outcome> {
        let barred = match opened {
            Ok(opened) => return self.started(id, Begin::of(opened), asked.shown),
            Err(Barred::Newer(_)) => return self.read(id, asked.shown),
            Err(Barred::Held(holder)) if asked.has_current => {
                return vec![Outcome::Held(id, holder)];
            }
            Err(barred) => barred,
        };
        let (read, what) = self.salvage(&id, &barred);
        let (other, opened) = self.open_free(&id.0, &asked.taken);
        let (begin, so) = match (opened, read) {
            (Ok(mut opened), Some(mut read)) => {
                opened.store.keep_outputs(&mut read);
                let opened = Opened { session: Some(read), replayed: true, ..opened };
                (Begin::of(opened), format!("{what} continue in this new conversation, `{other}`."))
            }
            (Ok(opened), None) => {
                (Begin::of(opened), format!("This new conversation, `{other}`, is open instead."))
            }
            (Err(_), Some(read)) => {
                let so = format!("{what} continue in this new conversation, in memory only.");
                (Begin::InMemory(Box::new(read)), so)
            }
            (Err(_), None) => (
                Begin::in_memory(),
                "This new conversation is open instead, in memory only.".to_owned(),
            ),
        };
        let mut why = format!("{} {so}", barred.say(&id.0));
        let mut held = None;
        if let Barred::Held(holder) = barred {
            why.push_str(&format!(
                " `:Caliban resume {id}` offers to read that one, copy it or take it over."
            ));
            held = Some(Outcome::Held(id.clone(), holder));
        }
        let mut start = self.start(other, begin, asked.shown);
        start.barred = Some((id, why));
        [Outcome::Start(Box::new(start))].into_iter().chain(held).collect()
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
                format!("Its messages up to number {}", read.messages.len())
            }
            _ => "Its messages".to_owned(),
        };
        (read, what)
    }

    /// Opens a session under a name that nobody has. If another takes the name meanwhile, the next one is tried.
    pub(super) fn open_free(
        &self,
        base: &str,
        taken: &[String],
    ) -> (SessionId, Result<Opened, Barred>) {
        let mut taken = taken.to_vec();
        loop {
            let is_taken = |name: &str| taken.iter().any(|it| it.eq_ignore_ascii_case(name));
            let name = self.project.free_name(base, is_taken);
            let is_new = !is_taken(&name);
            let id = SessionId(name);
            match self.project.open(&id) {
                Err(Barred::Held(_)) if is_new => taken.push(id.0),
                opened => return (id, opened),
            }
        }
    }

    /// A session that this program may not change, for reading.
    pub(super) fn read(&self, id: SessionId, shown: bool) -> Vec<Outcome> {
        let why = match self.project.open(&id) {
            Ok(opened) => return self.started(id, Begin::of(opened), shown),
            Err(barred) => barred.say(&id.0),
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
                self.started(id, Begin::Reading(Box::new(session), why), shown)
            }
            Err(barred) => vec![Outcome::Notice(Level::Error, barred.say(&id.0))],
        }
    }

    /// A turn was interrupted: its session is brought to rest. Or it has reviews, which the editor takes up again once
    /// it is open, and tells of. Another Neovim's session is not interrupted.
    pub(super) fn look(&self, id: SessionId) -> Vec<Outcome> {
        let mut opened = match self.project.open(&id) {
            Ok(opened) => opened,
            Err(Barred::Held(_)) => return vec![Outcome::Leaving(id)],
            Err(_) => return Vec::new(),
        };
        let has_reviews = !self.project.under_review(&id, &self.reach).is_empty();
        let session = opened.session.as_ref().filter(|it| !it.is_blank());
        if session.is_some() && (opened.interrupted || has_reviews) {
            let text = "A turn was interrupted in this project. :Caliban shows it.".to_owned();
            let notice = (!has_reviews).then_some(Outcome::Notice(Level::Info, text));
            return self.started(id, Begin::of(opened), false).into_iter().chain(notice).collect();
        }
        if let Some(Err(error)) = session.map(|it| opened.store.settle(it)) {
            tracing::warn!("the journal could not be folded into the session's file: {error}");
        }
        Vec::new()
    }

    /// A copy of a session that another Neovim has. `root`: of another project that is the same repository.
    pub(super) fn fork(
        &self,
        of: SessionId,
        root: Option<&Path>,
        reads: bool,
        taken: &[String],
    ) -> Vec<Outcome> {
        let relatives = root.map(|_| self.project.relatives()).unwrap_or_default();
        let other = relatives.iter().find(|it| Some(it.root()) == root);
        match other.unwrap_or(&self.project).read(&of) {
            Ok((read, _)) => {
                let copy = Copy { session: Box::new(read.fork(None)), name: None };
                self.keep_copy((of, reads), copy, taken)
            }
            Err(barred) => vec![Outcome::Notice(Level::Error, barred.say(&of.0))],
        }
    }

    /// A copy without a name is opened under a free one. `of`: the session, and whether it can only be read here.
    pub(super) fn keep_copy(
        &self,
        (of, reads): (SessionId, bool),
        mut copy: Copy,
        taken: &[String],
    ) -> Vec<Outcome> {
        let (id, opened) = match &copy.name {
            None => self.open_free(&of.0, taken),
            Some(name) => {
                if let Some(taken) = self.like(name, taken) {
                    let text =
                        format!("A conversation `{taken}` exists already; nothing was saved.");
                    return vec![Outcome::Notice(Level::Warn, text)];
                }
                let id = SessionId(name.clone());
                let opened = self.project.open(&id);
                (id, opened)
            }
        };
        let mut opened = match opened {
            Ok(opened) => opened,
            Err(barred) => return vec![Outcome::Notice(Level::Error, barred.say(&id.0))],
        };
        opened.store.keep_outputs(&mut copy.session);
        let turns = copy.session.turns;
        if let Err(error) = self.project.copy_checkpoints(&of, &id, turns) {
            tracing::warn!("the copy cannot be rewound: {error}");
        }
        if copy.name.is_some() {
            let (level, text) = match opened.store.save(&copy.session) {
                Ok(()) => (Level::Info, format!("A copy is saved as `{id}`.")),
                Err(error) => (Level::Error, Barred::Io(error).say(&id.0)),
            };
            return vec![Outcome::Notice(level, text)];
        }
        (opened.session, opened.replayed) = (Some(*copy.session), true);
        let mut start = self.start(id, Begin::of(opened), true);
        // what stands in the composer there goes along
        start.barred = reads.then(|| (of, String::new()));
        vec![Outcome::Start(Box::new(start))]
    }

    /// Whose name this is, or looks like where a file system minds no case.
    pub(super) fn like(&self, name: &str, taken: &[String]) -> Option<String> {
        let open = taken.iter().find(|it| it.eq_ignore_ascii_case(name));
        open.cloned().or_else(|| self.project.like(name))
    }

    /// The name that a session is to get, or one that looks like it, if another has that.
    pub(super) fn clash(&self, of: &SessionId, to: &SessionId, taken: &[String]) -> Option<String> {
        self.like(&to.0, taken).filter(|it| *it != of.0 || of == to)
    }

    /// A session was renamed: whether it was the one to come back to. It is again, under its new name.
    pub(super) fn note_renamed(&self, of: SessionId, to: &SessionId, is_current: bool) -> bool {
        let was_last = is_current || self.project.last() == Some(of);
        if was_last {
            self.note(to, true);
        }
        was_last
    }

    /// Moves the files of a session that is closed into the trash. `was_open`: it had a chat here.
    pub(super) fn delete(&self, session: SessionId, was_open: bool) -> Vec<Outcome> {
        let (notice, is_gone) = match self.project.delete(&session) {
            Ok(()) => {
                let trash = self.project.dir().join("trash");
                let text = format!("`{session}` is in the trash: {}.", trash.display());
                (Outcome::Notice(Level::Info, text), true)
            }
            Err(barred) => (Outcome::Notice(Level::Error, barred.say(&session.0)), was_open),
        };
        vec![notice, Outcome::Deleted { session, is_gone }]
    }

    /// A session that another Neovim has taken over: here it can be read.
    pub(super) fn given_up(&self, id: SessionId, by: &str) -> Vec<Outcome> {
        let read = self.project.read(&id).map_or_else(|_| Session::default(), |it| it.0);
        let head = format!("The conversation `{id}` was taken over by another Neovim ({by}).");
        let why = format!(
            "{head} It is read-only here: /fork continues it in a copy, `:Caliban resume {id}` offers to take it \
             back."
        );
        let start = self.started(id, Begin::Reading(Box::new(read), why), false);
        [Outcome::Notice(Level::Warn, head)].into_iter().chain(start).collect()
    }

    /// Notes the session to come back to.
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

/// Notes each session that the user turns to, one after the other. Ends once the sender is dropped.
pub(super) async fn note(archive: Archive, mut inbox: mpsc::UnboundedReceiver<Noted>) {
    while let Some((id, is_kept)) = inbox.recv().await {
        archive.apart(move |it| it.note(&id, is_kept)).await;
    }
}
