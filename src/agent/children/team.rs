//! The subagents and workers of a conversation, and their reports.

use super::worktrees::Outcome;
use crate::agent::command::{ChildCommand, Command, Wanted};
use crate::agent::setup::PlaceWanted;
use crate::conversation::Conversation;
use crate::conversation::report::Show;
use crate::event::{Grant, Mode, Offer, Recipient, Ruling, SessionId, TurnId, WorkerId};
use crate::message::{CallId, Usage};
use crate::session::{Input, WorkerInput};
use crate::tool::worktree::{Committed, Worktree};
use tokio::sync::{mpsc, oneshot};

pub(super) type Sender = mpsc::UnboundedSender<(Whom, News)>;

/// News of worktrees for the parent's agent.
pub(in crate::agent) enum Message {
    /// The subagent has ended, and its changes are on the branch.
    Committed(Box<Ended>),
    /// The changes have been proposed, as far as they can be.
    Proposed(Box<Ended>, Outcome),
    /// A sentence for the user.
    Told(String),
}

/// The worktree of a subagent that has ended.
pub(in crate::agent) struct Ended {
    pub(super) tree: Worktree,
    pub(super) committed: Committed,
    pub(super) whom: Whom,
    pub(in crate::agent) news: Sender,
    /// Receives what the parent's model is told, in lines.
    pub(super) done: oneshot::Sender<Vec<String>>,
}

/// The providers to which subagents want to send.
#[derive(Default)]
pub(super) struct Sending {
    /// The open questions, by their ids in the parent's conversation.
    pub(super) open: Vec<(CallId, Recipient)>,
    /// The user has agreed to these.
    pub(super) agreed: Vec<Recipient>,
    /// The user has refused these in a turn, and is asked again in the next.
    pub(super) refused: Vec<(Option<TurnId>, Recipient, Ruling)>,
}

pub(in crate::agent) struct Children {
    pub(super) places: mpsc::UnboundedSender<PlaceWanted>,
    pub(in crate::agent) news: mpsc::UnboundedSender<(Whom, News)>,
    pub(super) all: Vec<Child>,
    pub(super) sending: Sending,
    /// Whether the user has sent a message instead of reviewing what the subagents have changed.
    pub(super) is_left: bool,
}

/// How a parent identifies a subagent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::agent) enum Whom {
    /// The call on which the subagent works.
    Call(CallId),
    /// The worker that the subagent is.
    Worker(WorkerId),
}

pub(super) struct Child {
    pub(super) whom: Whom,
    pub(super) commands: mpsc::UnboundedSender<Command>,
    /// The subagent's session, once it is open.
    pub(super) session: Option<SessionId>,
    /// The open questions of the subagent: the id of each in this conversation, and the subagent's own call.
    pub(super) asked: Vec<(CallId, CallId)>,
    /// The parent's mode of which the subagent was told last. If `widest` is narrower, the subagent was told `widest`.
    pub(super) mode: Mode,
    /// The widest mode of the named agent that the subagent is.
    pub(super) widest: Mode,
    /// Whether the subagent waits only for the user's review.
    pub(super) is_reviewing: bool,
}

/// The reports of a subagent.
pub(in crate::agent) enum News {
    Began(SessionId),
    /// What the subagent does now, in one line, and the requests and tokens that it has used.
    Doing(String, u32, u64),
    /// Whether the subagent waits only for the user's review.
    Reviewing(bool),
    Asked {
        call: CallId,
        question: String,
        offer: Offer,
    },
    /// Why the user is asked about this call, in lines.
    Explained {
        call: CallId,
        lines: Vec<String>,
    },
    /// The question about this call needs no answer any more.
    Settled(CallId),
    /// A worker reports its progress.
    Noticed(String),
    Worktree(Message),
    Spent {
        usage: Usage,
        cost: Option<f64>,
    },
}

impl Children {
    pub(in crate::agent) fn new(
        places: mpsc::UnboundedSender<PlaceWanted>,
    ) -> (Children, mpsc::UnboundedReceiver<(Whom, News)>) {
        let (news, reports) = mpsc::unbounded_channel();
        let sending = Sending::default();
        (Children { places, news, all: Vec::new(), sending, is_left: false }, reports)
    }

    /// Called when a turn was aborted, which has stopped its subagents. Withdraws the subagents' questions.
    pub(in crate::agent) fn forget(&mut self, conversation: &mut Conversation) {
        let asked = self.all.drain(..).flat_map(|it| it.asked).collect::<Vec<_>>();
        self.withdraw(conversation, asked.into_iter().map(|it| it.0));
    }

    /// Tells the subagents the mode of their parent, if it has changed, and forgets those whose work is over.
    pub(in crate::agent) fn follow(&mut self, conversation: &mut Conversation) {
        self.go_on(conversation);
        if self.all.is_empty() {
            return;
        }
        let session = &conversation.session;
        let mode = session.mode;
        let open: Vec<CallId> = session.running_children().map(|it| it.call.id.clone()).collect();
        let workers: Vec<WorkerId> = session.workers.running().map(|it| it.0).collect();
        let runs = |it: &Child| match &it.whom {
            Whom::Call(call) => open.contains(call),
            Whom::Worker(worker) => workers.contains(worker),
        };
        let (left, ended) = self.all.drain(..).partition(runs);
        self.all = left;
        for it in self.all.iter_mut().filter(|it| it.mode != mode) {
            it.mode = mode;
            it.tell(ChildCommand::Follow(mode.min(it.widest)));
        }
        let asked = ended.into_iter().flat_map(|it: Child| it.asked);
        self.withdraw(conversation, asked.map(|it| it.0));
    }

    /// Sends a command to a worker. Returns false if the worker has no session yet or has ended.
    pub(in crate::agent) fn tell(&self, worker: WorkerId, told: ChildCommand) -> bool {
        let child = self.all.iter().find(|it| it.whom == Whom::Worker(worker));
        let Some(child) = child.filter(|it| it.session.is_some()) else { return false };
        child.tell(told);
        true
    }

    /// Ends a worker that has no session yet.
    pub(in crate::agent) fn quit(&self, worker: WorkerId) {
        if let Some(child) = self.all.iter().find(|it| it.whom == Whom::Worker(worker)) {
            let _ = child.commands.send(Command::Quit(oneshot::channel().0));
        }
    }

    /// Revokes a permission in all subagents.
    pub(in crate::agent) fn revoke(&self, grant: &Grant) {
        for it in &self.all {
            it.tell(ChildCommand::Revoke(grant.clone()));
        }
    }

    /// Ends the subagents if a spending limit is reached.
    pub(super) fn end_at_limit(&self, conversation: &Conversation) {
        let Some(reached) = conversation.session.limit_reached() else { return };
        for it in &self.all {
            it.tell(ChildCommand::End(format!("the spending limit is reached: {reached}")));
        }
    }

    /// Notes whether a worker waits for the user.
    pub(super) fn note_wait(&self, conversation: &mut Conversation, of: &Whom) {
        let child = self.all.iter().find(|it| it.whom == *of);
        if let (&Whom::Worker(worker), Some(child)) = (of, child) {
            let waits = child.is_reviewing || !child.asked.is_empty();
            conversation.take(Input::Worker(WorkerInput::Waits { worker, waits }));
        }
    }

    /// Has the subagent that asked this question explain the question. Returns false if no subagent asked it.
    pub(in crate::agent) fn explain(&self, id: &CallId) -> bool {
        let asked = |it: &Child| it.asked.iter().find(|it| it.0 == *id).map(|it| it.1.clone());
        let found = self.all.iter().find_map(|it| Some((it, asked(it)?)));
        let Some((child, call)) = found else { return false };
        let _ = child.commands.send(Command::Permissions(Wanted::Why(call)));
        true
    }
}

impl Child {
    /// Shows in the parent's conversation why the user is asked about a call of the subagent.
    pub(super) fn explained(&self, conversation: &Conversation, call: &CallId, lines: Vec<String>) {
        if let Some((id, _)) = self.asked.iter().find(|it| it.1 == *call) {
            conversation.show(Show::Explained { call: id.clone(), lines });
        }
    }

    pub(in crate::agent) fn tell(&self, told: ChildCommand) {
        // the send fails if the subagent has ended
        let _ = self.commands.send(Command::Child(told));
    }
}
