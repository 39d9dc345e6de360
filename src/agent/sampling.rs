//! Asking the model: the request goes out, the reply comes in, and both can be looked at.

use super::{Agent, models, work};
use crate::context::request;
use crate::event::{Delta, Failure, TurnId};
use crate::message::{Block, Reply, Request};
use crate::nvim::screen::Show;
use crate::nvim::wire::{Level, ToNvim};
use crate::provider::{Provider, Sampled};
use crate::session::{Input, MAX_CALLS, Phase};
use crate::store::tally::Count;
use crate::tool;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// So long without a byte, and the user is told that nothing comes.
const SILENCE: Duration = Duration::from_secs(5);

/// The request that went out last, and the door it went through.
pub(super) type Sent = (Arc<dyn Provider>, Arc<Request>);

/// When a running request was heard of last.
pub(super) struct Hearing {
    at: Instant,
    is_silent: bool,
}

impl Hearing {
    pub(super) fn new() -> Hearing {
        Hearing { at: Instant::now(), is_silent: false }
    }
}

impl Agent {
    pub(super) fn sampled(&mut self, turn: TurnId, sampled: Sampled) {
        let current =
            matches!(self.setup.session.phase, Phase::Sampling { turn: it, .. } if it == turn);
        if !current {
            return;
        }
        self.heard();
        match sampled {
            Sampled::Delta(Delta::Alive) => (),
            Sampled::Delta(delta) => {
                let is_first = self.partial.is_empty();
                self.partial.gather(&delta);
                self.show(Show::Delta(delta));
                if is_first && !self.partial.is_empty() {
                    self.show_status();
                }
            }
            Sampled::Done(mut reply) => {
                self.sampling = None;
                reply.by = std::mem::take(&mut self.partial).by;
                let reply = work::sound(reply, &self.setup.session);
                let plans = work::plans(&self.setup.desk, &reply);
                let touched = work::touched(&self.setup.desk, &reply, &plans);
                self.warn_of_model(&reply);
                self.warn_of_window(&reply);
                self.watch_cache(&reply);
                self.account(&reply);
                self.count_malformed(&reply);
                self.take(Input::Replied { turn, reply, plans });
                self.touch(&touched);
            }
            Sampled::Failed(failure) => self.failed(turn, failure),
        }
    }

    /// A call that cannot even be read is an edit that missed.
    fn count_malformed(&self, reply: &Reply) {
        let missed = reply.calls().take(MAX_CALLS);
        let missed = missed.filter(|it| tool::is_malformed_edit(it)).count();
        let count = Count { fitted: 0, missed: u64::try_from(missed).unwrap_or(0) };
        let Some(tally) = self.tally().filter(|_| missed > 0) else { return };
        tokio::task::spawn_blocking(move || tally.add(count));
    }

    fn failed(&mut self, turn: TurnId, failure: Failure) {
        self.sampling = None;
        let by = self.partial.by.clone();
        let partial = self.partial.take();
        self.take(Input::Failed { turn, failure, by, partial, dice: work::dice() });
    }

    /// What the reply cost, and how much of the request the provider knew.
    fn account(&mut self, reply: &Reply) {
        let usage = reply.usage;
        if usage.total() == 0 || self.setup.models.is_tour(&reply.by) {
            return;
        }
        self.hit = (usage.read() > 0)
            .then(|| u32::try_from(100 * usage.cache_read / usage.read()).unwrap_or(0));
        let price = self.setup.models.resolve(&reply.by).ok().and_then(|it| it.facts.price);
        self.take(Input::Spend { cost: price.map(|it| it.of(usage)) });
    }

    fn warn_of_model(&mut self, reply: &Reply) {
        // A deployment of Azure's is called what its owner likes.
        let chosen = self.setup.models.resolve(&self.setup.session.model);
        if chosen.is_ok_and(|it| it.endpoint.is_azure()) {
            return;
        }
        if let Some(text) = models::substituted(&self.setup.session.model, &reply.model)
            && !self.was_told(&text)
        {
            self.take(Input::Tell { text });
        }
    }

    fn warn_of_window(&mut self, reply: &Reply) {
        let Ok(chosen) = self.setup.models.resolve(&reply.by) else { return };
        let Some((_, request)) = &self.sent else { return };
        let Some(text) = models::truncated(&chosen, request, reply.usage) else { return };
        let mut said = self.setup.session.messages.iter().flat_map(|it| &it.blocks);
        if !said.any(|it| matches!(it, Block::Text { text: told } if *told == text)) {
            self.take(Input::Tell { text });
        }
    }

    pub(super) fn sample(&mut self, turn: TurnId) {
        self.retry_ms = None;
        self.partial = work::Partial::of(self.setup.session.model.clone(), String::new());
        if let Some(resting) = self.resting.take() {
            resting.abort();
        }
        let (provider, chosen) = match self.setup.models.provider(&self.setup.session.model) {
            Ok(found) => found,
            Err(failure) => {
                let _ = self.samples.send((turn, Sampled::Failed(failure)));
                return;
            }
        };
        let base = Request {
            tools: tool::specs(chosen.facts.edits),
            thread: work::thread(&self.setup.desk.root, &self.setup.id),
            ..self.setup.models.request(&chosen, self.setup.session.tuning)
        };
        self.read_outputs();
        let request = Arc::new(request::build(&self.setup.session, base));
        self.heard();
        self.sent = Some((provider.clone(), request.clone()));
        let samples = self.samples.clone();
        self.sampling = Some(self.work.spawn(work::sample(provider, request, turn, samples)));
    }

    /// When the silence of the running request is to be told, if it is not yet.
    pub(super) fn silence(&self) -> Option<Instant> {
        let listens = self.sampling.is_some() && !self.hearing.is_silent;
        listens.then(|| self.hearing.at + SILENCE)
    }

    pub(super) fn fell_silent(&mut self) {
        self.hearing.is_silent = true;
        self.show_status();
    }

    fn heard(&mut self) {
        let was = std::mem::replace(&mut self.hearing, Hearing::new());
        if was.is_silent {
            self.show_status();
        }
    }

    /// How long nothing has come, once that is worth telling.
    pub(super) fn silent_ms(&self) -> Option<u64> {
        let told = self.hearing.is_silent && self.sampling.is_some();
        told.then(|| u64::try_from(SILENCE.as_millis()).unwrap_or(0))
    }

    /// Shows the last request as it went out.
    pub(super) fn show_request(&self) {
        let shown = self.sent.as_ref().map(|(provider, request)| provider.shown(request));
        let (about, body) = match shown {
            Some(Some(shown)) => shown,
            Some(None) => return self.notice(Level::Info, "The tour sends nothing.".into()),
            None => {
                let text = "Nothing has been sent in this conversation since it was opened.";
                return self.notice(Level::Info, text.into());
            }
        };
        let session = self.setup.id.clone();
        let body = self.setup.models.without_keys(body);
        self.setup.editor.tell(ToNvim::Request { session, about, body });
    }
}
