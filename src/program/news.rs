//! What comes to the program, which lanes it needs, and what its tasks come to.

use super::Program;
use super::archive::Archive;
use super::barred::Begin;
use super::connect::Connected;
use super::lanes::Lane;
use super::said;
use crate::agent::Command;
use crate::conversation::report::{Copy, Level, Wish};
use crate::event::SessionId;
use crate::nvim::reviews::Verdict;
use crate::nvim::voice::Handle;
use crate::nvim::wire::{Claim, FromNvim, Way};
use crate::provider::endpoint::Chosen;
use crate::provider::probe;
use crate::store::{Draft, Holder, Recorded};

/// All that comes to the program.
pub(super) enum News {
    /// The editor says something to a session, by the name that it knows.
    Told(SessionId, Box<Command>),
    /// The editor says something else.
    Said(Box<FromNvim>),
    /// A session wants something of the program.
    Wished(Handle, Wish),
    /// A task has ended.
    Done(Done),
}

impl News {
    pub(super) fn said(message: FromNvim) -> News {
        match said::command(message) {
            Ok((session, command)) => News::Told(session, Box::new(command)),
            Err(message) => News::Said(message),
        }
    }
}

/// What a task has come to, and the lanes that it had.
pub(super) struct Done {
    pub(super) lanes: Vec<Lane>,
    pub(super) outcomes: Vec<Outcome>,
}

/// One thing that a task has come to.
pub(super) enum Outcome {
    /// A session begins here.
    Start(Box<Start>),
    /// The session that was used last, if there was one.
    Last(Option<SessionId>),
    /// The model of a server on this machine, if one was found.
    Local(Option<Chosen>),
    /// Another Neovim has the session: the user is asked what to do.
    Held(SessionId, Holder),
    /// Another Neovim has the session, and may be on its way out.
    Leaving(SessionId),
    /// Nobody has the session any more: it may be looked at.
    Free(SessionId),
    /// `was_last`: the session was the one to come back to.
    Renamed {
        session: Handle,
        to: SessionId,
        was_last: bool,
    },
    /// The session is closed. `is_gone`: its chat goes too.
    Deleted {
        session: SessionId,
        is_gone: bool,
    },
    /// A review is settled, for which the editor names this session.
    Judged(SessionId, Vec<Verdict>),
    /// A key was tried.
    Connected(Connected),
    Notice(Level, String),
}

/// A session that is about to begin here, with all that the disk says about it.
pub(super) struct Start {
    pub(super) id: SessionId,
    pub(super) begin: Begin,
    /// The session that this one stands for, and why, where that is to be said.
    pub(super) barred: Option<(SessionId, String)>,
    /// The chat is to show it.
    pub(super) shown: bool,
    /// The reviews that the editor is to take up again.
    pub(super) recorded: Vec<Recorded>,
    /// What was typed where the session could only be read.
    pub(super) unsent: Draft,
    /// Something of it is on disk.
    pub(super) is_kept: bool,
    /// How many conversations the project has.
    pub(super) others: usize,
    /// Where else this repository has conversations, if it has none here.
    pub(super) relative: Option<String>,
    /// A warning about the project's folder.
    pub(super) warning: Option<String>,
}

impl Program {
    /// Does what comes, unless it is about a session that a task has: then it waits.
    pub(super) fn step(&mut self, news: News) {
        let lanes = self.lanes_of(&news);
        match self.lanes.admit(&lanes, news) {
            Some(News::Told(session, command)) => self.told(session, *command),
            Some(News::Said(message)) => self.handle(*message),
            Some(News::Wished(session, wish)) => self.wish(session, wish),
            Some(News::Done(done)) => self.done(done),
            None => (),
        }
    }

    /// Begins a task. What is about one of its lanes waits for the end of it.
    pub(super) fn begin<Work>(&mut self, lanes: Vec<Lane>, work: impl FnOnce(Archive) -> Work)
    where
        Work: Future<Output = Vec<Outcome>> + Send + 'static,
    {
        self.lanes.begin(&lanes);
        let (work, done) = (work(self.archive.clone()), self.done.clone());
        tokio::spawn(async move {
            // Also a task that dies of a fault of ours ends.
            let outcomes = tokio::spawn(work).await.unwrap_or_default();
            // The program waits for it, or is ending.
            let _ = done.send(Done { lanes, outcomes });
        });
    }

    /// Begins a task that opens a session. The first of them also looks for a model server on this machine.
    pub(super) fn begin_opening<Work>(
        &mut self,
        lanes: Vec<Lane>,
        work: impl FnOnce(Archive) -> Work,
    ) where
        Work: Future<Output = Vec<Outcome>> + Send + 'static,
    {
        let looks = self.looks_for_server();
        self.begin(lanes, |archive| {
            let work = work(archive);
            async move {
                let mut outcomes = work.await;
                if looks && outcomes.iter().any(|it| matches!(it, Outcome::Start(_))) {
                    let env = |name: &str| std::env::var(name).ok();
                    outcomes.insert(0, Outcome::Local(probe::probe(&env).await));
                }
                outcomes
            }
        });
    }

    /// Begins a task that opens a session, and has work with the disk alone.
    pub(super) fn open_apart(
        &mut self,
        lanes: Vec<Lane>,
        work: impl FnOnce(&Archive) -> Vec<Outcome> + Send + 'static,
    ) {
        self.begin_opening(lanes, |archive| async move { archive.apart(work).await });
    }

    fn done(&mut self, done: Done) {
        let waiting = self.lanes.end(&done.lanes);
        for outcome in done.outcomes {
            self.outcome(outcome);
        }
        for news in waiting {
            self.step(news);
        }
        for lane in done.lanes {
            if let Lane::Session(session) = lane
                && !self.lanes.is_busy(session)
            {
                self.sessions.settle(session);
            }
        }
    }

    fn outcome(&mut self, outcome: Outcome) {
        match outcome {
            Outcome::Start(start) => self.start(*start),
            Outcome::Last(last) => {
                let session = Some(last.unwrap_or_else(|| SessionId("main".into())));
                self.step(News::said(FromNvim::Open { session }));
            }
            Outcome::Local(local) => self.default_model(local),
            Outcome::Held(session, holder) => self.offer(session, holder),
            Outcome::Leaving(session) => self.look_later(session),
            Outcome::Free(session) => self.step(News::said(FromNvim::Look { session })),
            Outcome::Renamed { session, to, was_last } => self.renamed(session, to, was_last),
            Outcome::Deleted { session, is_gone } => self.deleted(session, is_gone),
            Outcome::Judged(session, verdicts) => {
                for verdict in verdicts {
                    self.verdict(&session, verdict);
                }
            }
            Outcome::Connected(connected) => self.connected(connected),
            Outcome::Notice(level, text) => self.notice(level, text),
        }
    }

    /// The lanes that have to be free for it.
    pub(super) fn lanes_of(&self, news: &News) -> Vec<Lane> {
        let lanes: Vec<Option<Handle>> = match news {
            News::Told(session, _) => vec![self.sessions.find(session)],
            News::Said(message) => return self.lanes_of_message(message),
            News::Wished(_, Wish::New { .. }) => return vec![Lane::Unnamed],
            News::Wished(session, Wish::Rename { text }) => {
                vec![Some(*session), self.whose(text.trim())]
            }
            News::Wished(session, Wish::Copy(Copy { name, .. })) => {
                vec![Some(*session), name.as_ref().and_then(|it| self.whose(it))]
            }
            // A task without lanes has waited for another Neovim.
            News::Done(Done { lanes, outcomes }) if lanes.is_empty() => {
                let starts = outcomes.iter().filter_map(|it| match it {
                    Outcome::Start(start) => Some(self.sessions.named(&start.id)),
                    _ => None,
                });
                starts.collect()
            }
            News::Wished(..) | News::Done(_) => Vec::new(),
        };
        lanes.into_iter().flatten().map(Lane::Session).collect()
    }

    fn lanes_of_message(&self, message: &FromNvim) -> Vec<Lane> {
        let lanes = match message {
            FromNvim::Open { session: None } if self.current.is_none() => {
                return vec![Lane::Unnamed];
            }
            FromNvim::New { .. } => return vec![Lane::Unnamed],
            FromNvim::Open { session: None } => vec![self.current],
            // These are about a name on the disk, not about a session that had it once.
            FromNvim::Open { session: Some(session) } | FromNvim::Look { session } => {
                vec![self.sessions.named(session)]
            }
            FromNvim::Claim(Claim { way: Way::Take, .. }) => Vec::new(),
            FromNvim::Claim(it) => vec![self.sessions.named(&it.session)],
            FromNvim::RenameSession(it) => {
                vec![self.sessions.find(&it.session), self.whose(it.name.trim())]
            }
            FromNvim::DeleteSession(it) => vec![self.sessions.named(&it.session)],
            FromNvim::Yield(it) => vec![self.sessions.named(&it.session)],
            FromNvim::ListModels { session } => vec![self.sessions.find(session)],
            FromNvim::Reviewed(it) => self.lanes_of_review(&it.session).into(),
            _ => Vec::new(),
        };
        lanes.into_iter().flatten().map(Lane::Session).collect()
    }

    /// The session that the editor names for a review, and the one that is told its verdict.
    pub(super) fn lanes_of_review(&self, session: &SessionId) -> [Option<Handle>; 2] {
        [self.sessions.find(session), self.judged_for(session)]
    }

    /// The session that has a name now.
    fn whose(&self, name: &str) -> Option<Handle> {
        self.sessions.named(&SessionId(name.to_owned()))
    }
}
