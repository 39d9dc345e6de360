//! Asks a model for the summary of a conversation's first part. The request is not part of the conversation and has no
//! tools.

use super::fitting;
use super::sampler::Sampler;
use super::turn::Turn;
use super::work;
use crate::context::compact::{self, Plan};
use crate::conversation::Conversation;
use crate::event::{Failure, SessionId, Tuning, TurnId};
use crate::message::{Block, Effort, Message, Reply, Request, Role, Usage};
use crate::provider::facts::Price;
use crate::provider::{Provider, Sampled};
use crate::session::Input;
use crate::tool::Desk;
use futures::StreamExt;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;

/// The most requests for one summary, the first included. A request is repeated only after a failure that may pass by
/// itself.
const TRIES: u32 = 4;
/// If the question is too long for the model, the conversation in it is cut to half, at most this many times.
const HALVINGS: u32 = 3;

struct Job {
    turn: TurnId,
    plan: Plan,
    focus: String,
    provider: Arc<dyn Provider>,
    /// The request without the question.
    base: Request,
    /// The most tokens of the conversation that the question contains.
    room: u64,
    price: Option<Price>,
}

impl Sampler {
    /// Asks `model` for the summary, and sends the result to the agent. `focus` is what the user wants the summary to
    /// keep.
    pub(super) fn compact(
        &mut self,
        conversation: &mut Conversation,
        desk: &Desk,
        work: &mut Turn,
        (turn, model, focus): (TurnId, String, String),
    ) {
        let results = work.results();
        match self.job(conversation, desk, (turn, &model, focus)) {
            Ok(job) => work.compact(job.run(results)),
            Err(why) => {
                let (usage, cost) = (Usage::default(), Some(0.0));
                let _ = results.send(Input::NotCompacted { turn, why, usage, cost });
            }
        }
    }

    fn job(
        &mut self,
        conversation: &mut Conversation,
        desk: &Desk,
        (turn, model, focus): (TurnId, &str, String),
    ) -> Result<Job, String> {
        let plan = fitting::plan(&self.models, conversation, desk)?;
        let (provider, chosen) = self.models.provider(model).map_err(|why| failed(&why))?;
        let window = u64::from(chosen.facts.window);
        let tuning = Tuning {
            thinking: Some(Effort::Off),
            max_output: Some(compact::most(window)),
            ..Tuning::default()
        };
        let base = Request {
            system: compact::SYSTEM.to_owned(),
            thread: work::thread(&desk.root, &SessionId("compaction".to_owned())),
            ..self.models.request(&chosen, tuning)
        };
        let (room, price) = (Plan::room(window), chosen.facts.price);
        Ok(Job { turn, plan, focus, provider, base, room, price })
    }
}

impl Job {
    async fn run(mut self, results: mpsc::UnboundedSender<Input>) {
        let turn = self.turn;
        let (mut tries, mut halvings) = (1, 0);
        let (usage, result) = loop {
            match self.ask().await {
                Ok(reply) => {
                    break (reply.usage, self.plan.handoff(&reply).map_err(|why| unfit(&why)));
                }
                Err(Failure::TooLong { .. }) if halvings < HALVINGS => {
                    halvings += 1;
                    self.room = self.room.min(self.plan.tokens) / 2;
                }
                Err(Failure::Unsupported { parameter, .. })
                    if self.base.without.insert(parameter) => {}
                Err(failure) if failure.is_passing() && tries < TRIES => {
                    let wait = failure.after_ms().unwrap_or(500 << tries);
                    tokio::time::sleep(Duration::from_millis(wait)).await;
                    tries += 1;
                }
                Err(failure) => break (Usage::default(), Err(failed(&failure))),
            }
        };
        let cost = if usage.total() == 0 { Some(0.0) } else { self.price.map(|it| it.of(usage)) };
        // the agent may have ended meanwhile
        let _ = results.send(match result {
            Ok(handoff) => Input::Compacted { turn, handoff, usage, cost },
            Err(why) => Input::NotCompacted { turn, why, usage, cost },
        });
    }

    async fn ask(&self) -> Result<Reply, Failure> {
        let text = self.plan.question(&self.focus, self.room);
        let messages = vec![Message::new(Role::User, vec![Block::Text { text }])];
        let mut stream = self.provider.sample(Arc::new(Request { messages, ..self.base.clone() }));
        while let Some(sampled) = stream.next().await {
            match sampled {
                Sampled::Delta(_) => (),
                Sampled::Done(reply) => return Ok(reply),
                Sampled::Failed(failure) => return Err(failure),
            }
        }
        Err(Failure::Cut)
    }
}

fn unfit(why: &str) -> String {
    format!("Not compacted: {why}. The conversation goes on as it was; /compact tries again.")
}

fn failed(failure: &Failure) -> String {
    format!(
        "Not compacted. {}. The conversation goes on as it was; /compact tries again.",
        failure.brief()
    )
}
