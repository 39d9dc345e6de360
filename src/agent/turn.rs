//! The running turn: its tasks, and the results that wait while it is being stopped.

use super::children::team::Children;
use super::partial::Partial;
use super::{edits, work};
use crate::conversation::Conversation;
use crate::event::{Failure, TurnId};
use crate::message::{Reply, Request, ToolCall};
use crate::provider::{Provider, Sampled};
use crate::session::{Input, MAX_CALLS, Session};
use crate::tool::{Call, Calls, Desk};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, watch};
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::Instant;

/// If the provider sends no byte for this long, the user is told that nothing arrives.
const SILENCE: Duration = Duration::from_secs(5);

pub(super) struct Turn {
    /// The tasks of the turn: request, tool runs, proposals and pauses. Each sends a message at its end.
    work: JoinSet<()>,
    results: mpsc::UnboundedSender<Input>,
    samples: mpsc::UnboundedSender<(TurnId, Sampled)>,
    sampling: Option<AbortHandle>,
    /// The task that sends edits to the editor and waits until they are in buffers, and what tells it to end the
    /// formatters that it runs.
    proposing: Option<AbortHandle>,
    stopping: watch::Sender<bool>,
    resting: Option<AbortHandle>,
    /// The calls of the turn's last reply.
    pub(super) calls: Calls,
    /// The subagents that work on calls of the turn.
    pub(super) children: Children,
    /// The results that arrived after the user stopped the turn while edits were on their way to buffers. `None` if the
    /// turn is not being stopped.
    landed: Option<Vec<Input>>,
    /// The part of the running reply that has arrived.
    pub(super) partial: Partial,
    /// When the last byte of the running reply arrived, and whether the user was told that nothing arrives.
    last_activity: Instant,
    is_silent: bool,
}

/// The messages of a turn's tasks.
pub(super) struct Results {
    pub(super) inputs: mpsc::UnboundedReceiver<Input>,
    pub(super) samples: mpsc::UnboundedReceiver<(TurnId, Sampled)>,
}

impl Turn {
    pub(super) fn new(partial: Partial, children: Children) -> (Turn, Results) {
        let (results, inputs) = mpsc::unbounded_channel();
        let (samples, samples_end) = mpsc::unbounded_channel();
        let turn = Turn {
            work: JoinSet::new(),
            results,
            samples,
            sampling: None,
            proposing: None,
            stopping: watch::Sender::new(false),
            resting: None,
            calls: Calls::default(),
            children,
            landed: None,
            partial,
            last_activity: Instant::now(),
            is_silent: false,
        };
        (turn, Results { inputs, samples: samples_end })
    }

    /// The channel for results.
    pub(super) fn results(&self) -> mpsc::UnboundedSender<Input> {
        self.results.clone()
    }

    pub(super) fn sample(
        &mut self,
        turn: TurnId,
        provider: Arc<dyn Provider>,
        request: Arc<Request>,
    ) {
        let job = work::sample(provider, request, turn, self.samples.clone());
        self.sampling = Some(self.work.spawn(job));
    }

    /// Reports that a request could not be sent.
    pub(super) fn fail(&self, turn: TurnId, failure: Failure) {
        let _ = self.samples.send((turn, Sampled::Failed(failure)));
    }

    /// Reads the calls of a reply. Those beyond the limit of one reply are not read.
    pub(super) fn read(&mut self, session: &Session, desk: &Desk, reply: &Reply) -> Vec<Arc<Call>> {
        self.calls.read(desk, reply, MAX_CALLS, &edits::kept(session, reply))
    }

    pub(super) fn run(&mut self, job: work::Job, turn: TurnId, call: Arc<Call>) {
        self.work.spawn(work::run(job, turn, call));
    }

    pub(super) fn propose(&mut self, job: edits::Job, turn: TurnId, calls: &[ToolCall]) {
        let calls = calls.iter().map(|it| self.calls.of(&job.desk, it)).collect();
        self.stopping = watch::Sender::new(false);
        let stopped = self.stopping.subscribe();
        self.proposing = Some(self.work.spawn(edits::propose(job, turn, calls, stopped)));
    }

    pub(super) fn compact(&mut self, job: impl Future<Output = ()> + Send + 'static) {
        self.work.spawn(job);
    }

    /// Runs the work of a subagent as a task of the turn.
    pub(super) fn attend(&mut self, job: impl Future<Output = ()> + Send + 'static) {
        self.work.spawn(job);
    }

    pub(super) fn rest(&mut self, turn: TurnId, time: Duration) {
        let results = self.results();
        self.resting = Some(self.work.spawn(async move {
            tokio::time::sleep(time).await;
            let _ = results.send(Input::Rested { turn });
        }));
    }

    /// Prepares for a new request: ends the wait before a retry, and forgets the previous reply's text.
    pub(super) fn begin_reply(&mut self, model: &str) {
        if let Some(resting) = self.resting.take() {
            resting.abort();
        }
        self.partial = Partial::of(model.to_owned(), Vec::new());
        self.note_activity();
    }

    /// Completes when one of the tasks has ended.
    pub(super) async fn ended(&mut self) {
        self.work.join_next().await;
    }

    pub(super) fn is_working(&self) -> bool {
        !self.work.is_empty()
    }

    /// Begins the call that ends the turn (such as a plan), once only reviews are open and no edit is on its way to the
    /// editor.
    pub(super) fn settle(&self, conversation: &mut Conversation) {
        if let Some(turn) = conversation.session.turn()
            && conversation.session.awaits_last_call()
            && !self.is_working()
        {
            conversation.take(Input::Landed { turn });
        }
    }

    pub(super) fn is_proposing(&self) -> bool {
        self.proposing.is_some()
    }

    /// From now on keeps results back: the user has stopped the turn, and it ends once the editor has taken or refused
    /// the edits on their way to buffers.
    pub(super) fn keep_results(&mut self) {
        self.landed.get_or_insert_default();
        self.stopping.send_replace(true);
    }

    /// Returns a result that can be used at once. Returns `None` if the result is kept back because the turn is being
    /// stopped.
    pub(super) fn result(&mut self, input: Input) -> Option<Input> {
        match &mut self.landed {
            Some(landed) => {
                landed.push(input);
                None
            }
            None => Some(input),
        }
    }

    /// Called when a task of the turn has ended and its results have been taken. If the turn is being stopped and no
    /// edit is on its way to a buffer any more, passes on the results that were kept back.
    pub(super) fn land(&mut self, conversation: &mut Conversation) {
        if !self.proposing.as_ref().is_some_and(AbortHandle::is_finished) {
            return;
        }
        self.proposing = None;
        if let Some(landed) = self.landed.take() {
            conversation.take(Input::Stop { landed });
        }
    }

    /// Ends the running reply. Returns the model that was asked, and the part of the reply that had arrived.
    pub(super) fn end_reply(&mut self) -> (String, Option<Reply>) {
        self.sampling = None;
        let by = self.partial.by.clone();
        (by, self.partial.take())
    }

    /// Aborts all tasks: connections close, child processes are killed.
    pub(super) fn abort(&mut self) {
        self.work.abort_all();
        self.sampling = None;
        self.proposing = None;
        self.landed = None;
        self.resting = None;
    }

    /// Notes that bytes of the running reply have arrived.
    pub(super) fn note_activity(&mut self) {
        self.last_activity = Instant::now();
        self.is_silent = false;
    }

    /// When to tell the user that nothing arrives; `None` if no request runs or the user has been told.
    pub(super) fn silence(&self) -> Option<Instant> {
        let listens = self.sampling.is_some() && !self.is_silent;
        listens.then(|| self.last_activity + SILENCE)
    }

    pub(super) fn fell_silent(&mut self) {
        self.is_silent = true;
    }

    /// For how many milliseconds the provider has sent no byte; `None` unless the user has been told that nothing
    /// arrives.
    pub(super) fn silent_ms(&self) -> Option<u64> {
        let told = self.is_silent && self.sampling.is_some();
        told.then(|| u64::try_from(SILENCE.as_millis()).unwrap_or(0))
    }
}
