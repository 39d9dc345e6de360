//! Asks a model a question outside of the conversation. The request has no tools and no history. If it fails, the
//! conversation goes on.

use super::sampler::Sampler;
use super::work;
use crate::event::{SessionId, Tuning};
use crate::message::{Block, Effort, Message, Reply, Request, Role};
use crate::provider::key::Key;
use crate::provider::{Provider, Sampled};
use futures::StreamExt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// The longest wait for an answer.
const PATIENCE: Duration = Duration::from_secs(60);

pub(super) struct Question {
    /// The kind of question. Questions of one kind share a key for the provider's cache.
    pub(super) about: &'static str,
    pub(super) system: &'static str,
    pub(super) text: String,
    pub(super) max_tokens: u32,
}

pub(super) struct Aside {
    pub(super) reply: Reply,
    /// In USD; `None` if the price is not known.
    pub(super) cost: Option<f64>,
}

impl Sampler {
    /// Asks a model. Returns `None` without asking for the tour, which has no real model, and for servers on this
    /// machine: a local server keeps only one conversation in its cache, so after the question it would have to read
    /// the user's conversation again.
    pub(super) fn ask_aside(
        &mut self,
        model: &str,
        root: &Path,
        question: Question,
    ) -> Option<impl Future<Output = Option<Aside>> + use<>> {
        if self.models.is_tour(model) {
            return None;
        }
        let (provider, chosen) = self.models.provider(model).ok()?;
        if chosen.endpoint.key == Key::None || chosen.endpoint.is_local() {
            return None;
        }
        let Question { about, system, text, max_tokens } = question;
        let tuning = Tuning {
            thinking: Some(Effort::Off),
            max_output: Some(max_tokens),
            ..Tuning::default()
        };
        let request = Arc::new(Request {
            system: system.to_owned(),
            messages: vec![Message::new(Role::User, vec![Block::Text { text }])],
            thread: work::thread(root, &SessionId(about.to_owned())),
            ..self.models.request(&chosen, tuning)
        });
        let price = chosen.facts.price;
        Some(async move {
            let answered = tokio::time::timeout(PATIENCE, answer(provider, request, about));
            let reply = answered.await.ok()??;
            let usage = reply.usage;
            let cost = if usage.total() == 0 { Some(0.0) } else { price.map(|it| it.of(usage)) };
            Some(Aside { reply, cost })
        })
    }
}

async fn answer(provider: Arc<dyn Provider>, request: Arc<Request>, about: &str) -> Option<Reply> {
    let mut stream = provider.sample(request);
    while let Some(sampled) = stream.next().await {
        match sampled {
            Sampled::Delta(_) => (),
            Sampled::Done(reply) => return Some(reply),
            Sampled::Failed(failure) => {
                tracing::info!("no {about}: {failure}");
                return None;
            }
        }
    }
    None
}
