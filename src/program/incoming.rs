//! Handles the messages to the program's loop, once the lanes are free that a message needs (see `lanes`).

use super::archive::Archive;
use super::commands;
use super::lanes::Lane;
use super::message::{Closed, Done, Incoming, Outcome};
use super::state::Program;
use crate::conversation::report::{Copy, Wish};
use crate::event::SessionId;
use crate::nvim::session_link::Handle;
use crate::nvim::wire::{Claim, FromNvim, Way};
use crate::provider::probe;

impl Incoming {
    pub(super) fn from_editor(message: FromNvim) -> Incoming {
        match commands::session_command(message) {
            Ok((session, command)) => Incoming::SessionCommand(session, Box::new(command)),
            Err(message) => Incoming::Editor(message),
        }
    }
}

impl Program {
    /// Handles a message. If a task works on a session that the message needs, the message waits for the end of the
    /// task.
    pub(super) fn step(&mut self, incoming: Incoming) {
        let lanes = self.lanes_of(&incoming);
        match self.lanes.admit(&lanes, incoming) {
            Some(Incoming::SessionCommand(session, command)) => {
                self.session_command(session, *command);
            }
            Some(Incoming::Editor(message)) => self.handle(*message),
            Some(Incoming::Wish(session, wish)) => self.wish(session, wish),
            Some(Incoming::Place(session, wanted)) => self.open_place(session, wanted),
            Some(Incoming::Trash(closed)) => self.trash(closed),
            Some(Incoming::TaskDone(done)) => self.done(done),
            None => (),
        }
    }

    /// Begins a task. Messages that need one of its lanes wait until the task ends.
    pub(super) fn begin<Work>(&mut self, lanes: Vec<Lane>, work: impl FnOnce(Archive) -> Work)
    where
        Work: Future<Output = Vec<Outcome>> + Send + 'static,
    {
        self.lanes.begin(&lanes);
        let (work, done) = (work(self.archive.clone()), self.done.clone());
        tokio::spawn(async move {
            // A task that panics ends too, without results.
            let outcomes = tokio::spawn(work).await.unwrap_or_default();
            // The send fails only when the program is ending.
            let _ = done.send(Done { lanes, outcomes });
        });
    }

    /// Begins a task that opens a session. The first such task also looks for a model server on this machine.
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

    /// Begins a task that opens a session and needs nothing but the disk.
    pub(super) fn open_on_thread(
        &mut self,
        lanes: Vec<Lane>,
        work: impl FnOnce(&Archive) -> Vec<Outcome> + Send + 'static,
    ) {
        self.begin_opening(lanes, |archive| async move { archive.on_thread(work).await });
    }

    fn done(&mut self, done: Done) {
        let waiting = self.lanes.end(&done.lanes);
        for outcome in done.outcomes {
            self.outcome(outcome);
        }
        for incoming in waiting {
            self.step(incoming);
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
                self.step(Incoming::from_editor(FromNvim::Open { session }));
            }
            Outcome::Local(local) => self.default_model(local),
            Outcome::Locked(session, holder) => self.offer(session, holder),
            Outcome::Untaken(session, why) => self.present_or_say(&session, why),
            Outcome::Leaving(session) => self.look_later(session),
            Outcome::Free(session) => self.step(Incoming::from_editor(FromNvim::Look { session })),
            Outcome::Renamed { session, to, was_last } => self.renamed(session, to, was_last),
            Outcome::Closed(closed) => self.step(Incoming::Trash(closed)),
            Outcome::Deleted { session, is_gone } => self.deleted(session, is_gone),
            Outcome::Branched { session, name, back } => self.branched(session, name, back),
            Outcome::Judged(session, verdicts) => {
                for verdict in verdicts {
                    self.verdict(&session, verdict);
                }
            }
            Outcome::Connected(connected) => self.connected(connected),
            Outcome::Placed(placed) => self.placed(*placed),
            Outcome::Left(left) => self.left_worktrees(left),
            Outcome::ChildEnded(session) => self.child_ended(session),
            Outcome::Notice(level, text) => self.notice(level, text),
        }
    }

    /// The lanes that have to be free before a message is handled.
    pub(super) fn lanes_of(&self, incoming: &Incoming) -> Vec<Lane> {
        let lanes: Vec<Option<Handle>> = match incoming {
            Incoming::SessionCommand(session, _) => vec![self.sessions.find(session)],
            Incoming::Editor(message) => return self.lanes_of_message(message),
            Incoming::Wish(_, Wish::New { .. }) | Incoming::Place(..) => {
                return vec![Lane::Unnamed];
            }
            Incoming::Wish(session, Wish::Rename { text }) => {
                vec![Some(*session), self.whose(text.trim())]
            }
            Incoming::Wish(session, Wish::Copy(Copy { name, .. })) => {
                vec![Some(*session), name.as_ref().and_then(|it| self.whose(it))]
            }
            Incoming::Wish(session, Wish::Branch(_)) => vec![Some(*session)],
            // A task without lanes has waited for another Neovim. Its session may have been opened here in the
            // meantime.
            Incoming::TaskDone(Done { lanes, outcomes }) if lanes.is_empty() => {
                let starts = outcomes.iter().filter_map(|it| match it {
                    Outcome::Start(start) => Some(self.sessions.named(&start.id)),
                    _ => None,
                });
                starts.collect()
            }
            Incoming::Trash(Closed { session, subagents, .. }) => {
                let all = std::iter::once(session).chain(subagents);
                all.map(|it| self.sessions.named(it)).collect()
            }
            Incoming::Wish(..) | Incoming::TaskDone(_) => Vec::new(),
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
            // In these messages the name means a session on disk, never the former name of a running session.
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

    /// The sessions that a settled review concerns: the one that the editor names, and the one that gets the verdict.
    pub(super) fn lanes_of_review(&self, session: &SessionId) -> [Option<Handle>; 2] {
        [self.sessions.find(session), self.judged_for(session)]
    }

    /// The session that has this name now.
    fn whose(&self, name: &str) -> Option<Handle> {
        self.sessions.named(&SessionId(name.to_owned()))
    }
}
