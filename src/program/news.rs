//! What comes to the program, which lanes it needs, and what its tasks come to.

use super::Program;
use super::barred::Begin;
use super::connect::Connected;
use super::lanes::Lane;
use crate::conversation::report::{Copy, Level, Wish};
use crate::event::SessionId;
use crate::nvim::reviews::Verdict;
use crate::nvim::wire::{Claim, FromNvim, Way};
use crate::provider::endpoint::Chosen;
use crate::provider::probe;
use crate::store::{self, Draft, Holder, Recorded};

/// All that comes to the program.
pub(super) enum News {
    /// The editor says something.
    Said(Box<FromNvim>),
    /// A session wants something of the program.
    Wished(SessionId, Wish),
    /// A task has ended.
    Done(Done),
}

impl News {
    pub(super) fn said(message: FromNvim) -> News {
        News::Said(Box::new(message))
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
        of: SessionId,
        to: SessionId,
        was_last: bool,
    },
    /// The session is closed. `is_gone`: its chat goes too.
    Deleted {
        session: SessionId,
        is_gone: bool,
    },
    /// A review is settled.
    Judged(Vec<Verdict>),
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
            Some(News::Said(message)) => self.handle(*message),
            Some(News::Wished(session, wish)) => self.wish(session, wish),
            Some(News::Done(done)) => self.done(done),
            None => (),
        }
    }

    /// Begins a task. What is about one of its lanes waits for the end of it.
    pub(super) fn begin(
        &mut self,
        lanes: Vec<Lane>,
        work: impl Future<Output = Vec<Outcome>> + Send + 'static,
    ) {
        self.lanes.begin(&lanes);
        let done = self.done.clone();
        tokio::spawn(async move {
            // Also a task that dies of a fault of ours ends.
            let outcomes = tokio::spawn(work).await.unwrap_or_default();
            // The program waits for it, or is ending.
            let _ = done.send(Done { lanes, outcomes });
        });
    }

    /// Begins a task that opens a session. The first of them also looks for a model server on this machine.
    pub(super) fn begin_opening(
        &mut self,
        lanes: Vec<Lane>,
        work: impl Future<Output = Vec<Outcome>> + Send + 'static,
    ) {
        let looks = self.looks_for_server();
        self.begin(lanes, async move {
            let mut outcomes = work.await;
            if looks && outcomes.iter().any(|it| matches!(it, Outcome::Start(_))) {
                let env = |name: &str| std::env::var(name).ok();
                outcomes.insert(0, Outcome::Local(probe::probe(&env).await));
            }
            outcomes
        });
    }

    fn done(&mut self, done: Done) {
        let waiting = self.lanes.end(&done.lanes);
        for outcome in done.outcomes {
            self.outcome(outcome);
        }
        for news in waiting {
            self.step(news);
        }
    }

    fn outcome(&mut self, outcome: Outcome) {
        match outcome {
            Outcome::Start(start) => self.start(*start),
            Outcome::Last(last) => {
                let session = Some(last.unwrap_or_else(|| SessionId("main".into())));
                self.step(News::said(FromNvim::Open { session }));
            }
            Outcome::Local(local) => drop(self.default_model(local)),
            Outcome::Held(session, holder) => self.offer(session, holder),
            Outcome::Leaving(session) => self.look_later(session),
            Outcome::Free(session) => self.step(News::said(FromNvim::Look { session })),
            Outcome::Renamed { of, to, was_last } => self.renamed(&of, &to, was_last),
            Outcome::Deleted { session, is_gone } => self.deleted(session, is_gone),
            Outcome::Judged(verdicts) => verdicts.into_iter().for_each(|it| self.verdict(it)),
            Outcome::Connected(connected) => self.connected(connected),
            Outcome::Notice(level, text) => self.notice(level, text),
        }
    }

    /// The lanes that have to be free for it.
    pub(super) fn lanes_of(&self, news: &News) -> Vec<Lane> {
        match news {
            News::Said(message) => self.lanes_of_message(message),
            News::Wished(session, wish) => self.lanes_of_wish(session, wish),
            // A task without lanes has waited for another Neovim.
            News::Done(Done { lanes, outcomes }) if lanes.is_empty() => {
                let starts = outcomes.iter().filter_map(|it| match it {
                    Outcome::Start(start) => Some(Lane::Session(start.id.clone())),
                    _ => None,
                });
                starts.collect()
            }
            News::Done(_) => Vec::new(),
        }
    }

    fn lanes_of_message(&self, message: &FromNvim) -> Vec<Lane> {
        match message {
            FromNvim::Open { session } => match session.as_ref().or(self.current.as_ref()) {
                Some(id) => vec![Lane::Session(id.clone())],
                None => vec![Lane::Unnamed],
            },
            FromNvim::New { .. } => vec![Lane::Unnamed],
            FromNvim::Claim(Claim { way: Way::Take, .. }) => Vec::new(),
            FromNvim::Look { session } | FromNvim::Claim(Claim { session, .. }) => {
                vec![Lane::Session(session.clone())]
            }
            FromNvim::RenameSession(it) => self.lanes_of_rename(&it.session, &it.name),
            FromNvim::Reviewed(it) => {
                let told = self.judged_for(&it.session);
                let lanes = [self.now(&it.session), told].map(|it| Lane::Session(it.clone()));
                lanes.into()
            }
            other => session(other).map(|it| self.lane(it)).into_iter().collect(),
        }
    }

    fn lanes_of_wish(&self, session: &SessionId, wish: &Wish) -> Vec<Lane> {
        match wish {
            Wish::New { .. } => vec![Lane::Unnamed],
            Wish::Rename { text } => self.lanes_of_rename(session, text),
            Wish::Copy(Copy { name, .. }) => {
                let copy = name.iter().map(|it| Lane::Session(SessionId(it.clone())));
                [self.lane(session)].into_iter().chain(copy).collect()
            }
            Wish::Sessions { .. } | Wish::Models | Wish::Connect { .. } | Wish::LeaveOut { .. } => {
                Vec::new()
            }
        }
    }

    fn lanes_of_rename(&self, session: &SessionId, text: &str) -> Vec<Lane> {
        let to = Some(text.trim()).filter(|it| store::is_name(it));
        let to = to.map(|it| Lane::Session(SessionId(it.to_owned())));
        [self.lane(session)].into_iter().chain(to).collect()
    }

    pub(super) fn lane(&self, session: &SessionId) -> Lane {
        Lane::Session(self.now(session).clone())
    }
}

/// The session that a message is about, by the name that the editor knows.
fn session(message: &FromNvim) -> Option<&SessionId> {
    match message {
        FromNvim::Send { session, .. }
        | FromNvim::Unqueue { session, .. }
        | FromNvim::SendHeld { session, .. }
        | FromNvim::Draft { session, .. }
        | FromNvim::Stop { session }
        | FromNvim::Rule { session, .. }
        | FromNvim::Toggle { session, .. }
        | FromNvim::Retry { session }
        | FromNvim::Model { session, .. }
        | FromNvim::Mode { session, .. }
        | FromNvim::Request { session }
        | FromNvim::Look { session } => Some(session),
        FromNvim::RenameSession(it) => Some(&it.session),
        FromNvim::ForkSession(it) => Some(&it.session),
        FromNvim::DeleteSession(it) => Some(&it.session),
        FromNvim::ExportSession(it) => Some(&it.session),
        FromNvim::Rewind(it) => Some(&it.session),
        FromNvim::Permissions(it) => Some(&it.session),
        FromNvim::Claim(it) => Some(&it.session),
        FromNvim::Yield(it) => Some(&it.session),
        FromNvim::Reviewed(it) => Some(&it.session),
        FromNvim::Checked(it) => Some(&it.session),
        FromNvim::Open { session } => session.as_ref(),
        FromNvim::Hello(_)
        | FromNvim::New { .. }
        | FromNvim::Models { .. }
        | FromNvim::Connect { .. }
        | FromNvim::Key { .. }
        | FromNvim::ListSessions(_)
        | FromNvim::Arrived(_)
        | FromNvim::Found(_) => None,
    }
}
