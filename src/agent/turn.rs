//! The running turn: what it has under way, and what has come of it so far.

use super::partial::Partial;
use super::{edits, work};
use crate::event::{Failure, TurnId};
use crate::message::{Reply, Request, ToolCall};
use crate::provider::{Provider, Sampled};
use crate::session::Input;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::Instant;

/// So long without a byte, and the user is told that nothing comes.
const SILENCE: Duration = Duration::from_secs(5);

pub(super) struct Turn {
    /// The request, runs of tools, proposals and pauses. Each tells its end by a message.
    work: JoinSet<()>,
    results: mpsc::UnboundedSender<Input>,
    samples: mpsc::UnboundedSender<(TurnId, Sampled)>,
    sampling: Option<AbortHandle>,
    /// Edits on their way into the buffers.
    proposing: Option<AbortHandle>,
    resting: Option<AbortHandle>,
    /// The user has stopped the turn while edits were on their way: results that came since.
    landed: Option<Vec<Input>>,
    /// What has arrived of the running reply.
    pub(super) partial: Partial,
    /// When the running request was heard of last, and whether the user was told that nothing comes.
    last_activity: Instant,
    is_silent: bool,
}

/// What comes of a turn's work.
pub(super) struct Results {
    pub(super) inputs: mpsc::UnboundedReceiver<Input>,
    pub(super) samples: mpsc::UnboundedReceiver<(TurnId, Sampled)>,
}

impl Turn {
    pub(super) fn new(partial: Partial) -> (Turn, Results) {
        let (results, inputs) = mpsc::unbounded_channel();
        let (samples, samples_end) = mpsc::unbounded_channel();
        let turn = Turn {
            work: JoinSet::new(),
            results,
            samples,
            sampling: None,
            proposing: None,
            resting: None,
            landed: None,
            partial,
            last_activity: Instant::now(),
            is_silent: false,
        };
        (turn, Results { inputs, samples: samples_end })
    }

    /// Where results go.
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

    /// A request that cannot even be sent.
    pub(super) fn fail(&self, turn: TurnId, failure: Failure) {
        let _ = self.samples.send((turn, Sampled::Failed(failure)));
    }

    pub(super) fn run(&mut self, job: work::Job, turn: TurnId, call: ToolCall) {
        self.work.spawn(work::run(job, turn, call));
    }

    pub(super) fn propose(&mut self, job: edits::Job, turn: TurnId, calls: Vec<ToolCall>) {
        self.proposing = Some(self.work.spawn(edits::propose(job, turn, calls)));
    }

    pub(super) fn rest(&mut self, turn: TurnId, time: Duration) {
        let results = self.results();
        self.resting = Some(self.work.spawn(async move {
            tokio::time::sleep(time).await;
            let _ = results.send(Input::Rested { turn });
        }));
    }

    /// A model is about to be asked: no pause goes on, and nothing has come of its reply.
    pub(super) fn begin_reply(&mut self, model: &str) {
        if let Some(resting) = self.resting.take() {
            resting.abort();
        }
        self.partial = Partial::of(model.to_owned(), String::new());
        self.note_activity();
    }

    /// Some of the work has ended.
    pub(super) async fn ended(&mut self) {
        self.work.join_next().await;
    }

    pub(super) fn is_working(&self) -> bool {
        !self.work.is_empty()
    }

    pub(super) fn is_proposing(&self) -> bool {
        self.proposing.is_some()
    }

    /// The turn is to end once the edits that are on their way have entered or been turned away: until then its results
    /// are kept.
    pub(super) fn keep_results(&mut self) {
        self.landed.get_or_insert_default();
    }

    /// A result that is to be taken at once; `None` where the turn is about to end.
    pub(super) fn result(&mut self, input: Input) -> Option<Input> {
        match &mut self.landed {
            Some(landed) => {
                landed.push(input);
                None
            }
            None => Some(input),
        }
    }

    /// The kept results of a turn that is to end, once no edit is on its way any more.
    pub(super) fn landed(&mut self) -> Option<Vec<Input>> {
        if !self.proposing.as_ref().is_some_and(AbortHandle::is_finished) {
            return None;
        }
        self.proposing = None;
        self.landed.take()
    }

    /// The reply is there, or will not come: who was asked, and what came of a reply that did not end.
    pub(super) fn end_reply(&mut self) -> (String, Option<Reply>) {
        self.sampling = None;
        let by = self.partial.by.clone();
        (by, self.partial.take())
    }

    /// Ends all work: connections close, children are killed.
    pub(super) fn abort(&mut self) {
        self.work.abort_all();
        self.sampling = None;
        self.proposing = None;
        self.landed = None;
        self.resting = None;
    }

    /// Something came of the running request.
    pub(super) fn note_activity(&mut self) {
        self.last_activity = Instant::now();
        self.is_silent = false;
    }

    /// When the silence of the running request is to be told, if it is not yet.
    pub(super) fn silence(&self) -> Option<Instant> {
        let listens = self.sampling.is_some() && !self.is_silent;
        listens.then(|| self.last_activity + SILENCE)
    }

    pub(super) fn fell_silent(&mut self) {
        self.is_silent = true;
    }

    /// How long nothing has come, once that is worth telling.
    pub(super) fn silent_ms(&self) -> Option<u64> {
        let told = self.is_silent && self.sampling.is_some();
        told.then(|| u64::try_from(SILENCE.as_millis()).unwrap_or(0))
    }
}
