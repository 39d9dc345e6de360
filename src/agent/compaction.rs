//! Asks a model for the summary of a conversation's first part. The request is not part of the conversation and has no
//! tools.

use super::fitting;
use super::sampler::Sampler;
use super::turn::Turn;
use super::work;
use crate::context::compact::{self, Plan};
use crate::conversation::Conversation;
use crate::event::{Failure, Handoff, Limit, SessionId, Tuning, TurnId};
use crate::message::{Block, Effort, Message, Reply, Request, Role, Usage};
use crate::provider::endpoint::Chosen;
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
/// The fewest tokens for which a question asks.
const LEAST: u32 = 512;

/// What is asked for.
struct Asked {
    turn: TurnId,
    plan: Plan,
    focus: String,
    /// Whether the turns become a line each if the model writes no summary.
    drops: bool,
}

struct Job {
    asked: Asked,
    provider: Arc<dyn Provider>,
    /// The request without the question.
    base: Request,
    /// The most tokens of the conversation that the question contains.
    room: u64,
    price: Option<Price>,
}

impl Sampler {
    /// Asks `model` for the summary, and sends the result to the agent. `focus` is what the user wants the summary to
    /// keep. If `model` is empty, no model is asked, and the turns become a line each.
    pub(super) fn compact(
        &mut self,
        conversation: &mut Conversation,
        desk: &Desk,
        work: &mut Turn,
        (turn, model, focus): (TurnId, String, String),
    ) {
        let results = work.results();
        let way = self.fitting.take_way(!model.is_empty(), &conversation.session);
        let made = match fitting::plan(&self.models, conversation, desk, way) {
            Err(why) => Err(why),
            Ok(plan) if !way.asks => {
                plan.dropped("the conversation was still too long").map_err(|why| unfit(&why))
            }
            Ok(plan) => match self.models.provider(&model) {
                Err(failure) => dropped(&plan, way.drops, &brief(&failure)).ok_or(failed(&failure)),
                Ok(found) => {
                    let job = self.job(desk, found, Asked { turn, plan, focus, drops: way.drops });
                    return work.compact(job.run(results));
                }
            },
        };
        let (usage, cost) = (Usage::default(), Some(0.0));
        // the agent may have ended meanwhile
        let _ = results.send(match made {
            Ok(handoff) => Input::Compacted { turn, handoff, usage, cost },
            Err(why) => Input::NotCompacted { turn, why, is_lasting: true, usage, cost },
        });
    }

    fn job(
        &self,
        desk: &Desk,
        (provider, chosen): (Arc<dyn Provider>, Chosen),
        asked: Asked,
    ) -> Job {
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
        Job { asked, provider, base, room: Plan::room(window), price: chosen.facts.price }
    }
}

impl Job {
    async fn run(mut self, results: mpsc::UnboundedSender<Input>) {
        let turn = self.asked.turn;
        let (mut tries, mut halvings) = (1, 0);
        let (usage, result, is_lasting) = loop {
            match self.ask().await {
                Ok(reply) => {
                    let handoff = self.asked.plan.handoff(&reply);
                    break (
                        reply.usage,
                        handoff.or_else(|why| self.instead(&why, unfit(&why))),
                        true,
                    );
                }
                Err(Failure::TooLong { window, .. }) if halvings < HALVINGS => {
                    halvings += 1;
                    self.shrink(window);
                }
                Err(Failure::Unsupported { parameter, .. })
                    if self.base.without.insert(parameter) => {}
                Err(Failure::Exceeds { limit: Limit::Reply(most), .. })
                    if most < self.base.max_tokens =>
                {
                    self.base.max_tokens = most;
                }
                Err(failure) if failure.is_passing() && tries < TRIES => {
                    let wait = failure.after_ms().unwrap_or(500 << tries);
                    tokio::time::sleep(Duration::from_millis(wait)).await;
                    tries += 1;
                }
                Err(failure) => {
                    let result = self.instead(&brief(&failure), failed(&failure));
                    break (Usage::default(), result, is_lasting(&failure));
                }
            }
        };
        let cost = if usage.total() == 0 { Some(0.0) } else { self.price.map(|it| it.of(usage)) };
        // the agent may have ended meanwhile
        let _ = results.send(match result {
            Ok(handoff) => Input::Compacted { turn, handoff, usage, cost },
            Err(why) => Input::NotCompacted { turn, why, is_lasting, usage, cost },
        });
    }

    /// Makes the next question shorter, after one that was too long. `window` is what the error names.
    fn shrink(&mut self, window: Option<u32>) {
        self.room = self.room.min(self.asked.plan.tokens) / 2;
        self.base.max_tokens = (self.base.max_tokens / 2).max(LEAST);
        if let Some(window) = window.map(u64::from) {
            self.room = self.room.min(Plan::room(window));
            self.base.max_tokens = self.base.max_tokens.min(compact::most(window)).max(LEAST);
        }
    }

    /// The hand-off without a summary, if the conversation has to become shorter; otherwise the sentence.
    fn instead(&self, why: &str, sentence: String) -> Result<Handoff, String> {
        dropped(&self.asked.plan, self.asked.drops, why).ok_or(sentence)
    }

    async fn ask(&self) -> Result<Reply, Failure> {
        let text = self.asked.plan.question(&self.asked.focus, self.room);
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

fn dropped(plan: &Plan, drops: bool, why: &str) -> Option<Handoff> {
    drops.then(|| plan.dropped(why).ok()).flatten()
}

/// Whether the same request is likely to fail again, other than after a failure of the network or the account.
fn is_lasting(failure: &Failure) -> bool {
    matches!(
        failure,
        Failure::TooLong { .. }
            | Failure::Rejected { .. }
            | Failure::Unsupported { .. }
            | Failure::Exceeds { .. }
            | Failure::Endless { .. }
            | Failure::Protocol { .. }
    )
}

/// What happened, as a clause.
fn brief(failure: &Failure) -> String {
    let text = failure.brief();
    let mut rest = text.chars();
    rest.next().map_or_else(String::new, |it| it.to_lowercase().chain(rest).collect())
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
