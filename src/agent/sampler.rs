//! Sends requests to models, and takes in what a reply says about its model, cost and cache.

mod state;

pub(super) use state::{Cached, Lent, Sampler, Seen, Sent, Trial};

use super::agreed::Recipients;
use super::fitting::Fitting;
use super::models::{self, Models};
use super::turn::Turn;
use super::work;
use crate::context::{digest, request, size};
use crate::conversation::Conversation;
use crate::conversation::report::{Level, Report, Show};
use crate::edit::Format;
use crate::event::{Failure, Limit, Measure, Plan, Tuning, TurnId};
use crate::message::{Builtin, Reply, Request, Stop};
use crate::provider::endpoint::Chosen;
use crate::provider::lesson::Lesson;
use crate::provider::written::{self, Written};
use crate::session::{Input, Session};
use crate::store::measures;
use crate::store::tally::{Count, Tally};
use crate::tool::{Call, Desk};
use std::path::PathBuf;
use std::sync::Arc;

impl Sampler {
    pub(super) fn new(
        models: Models,
        titles: bool,
        tally: Option<PathBuf>,
        measures: Option<PathBuf>,
    ) -> Sampler {
        Sampler {
            models,
            titles,
            tally,
            measures,
            kept: None,
            sent: None,
            cached: None,
            hit: None,
            fitting: Fitting::default(),
            seen: Seen::default(),
            lent: None,
            recipients: Recipients::default(),
        }
    }

    /// The format in which a model writes its edits.
    pub(super) fn format(&self, model: &str) -> Format {
        self.models.resolve(model).map_or(Format::default(), |it| it.facts.edits)
    }

    pub(super) fn tally(&self, model: &str) -> Option<Tally> {
        let (file, format) = (self.tally.clone()?, self.format(model));
        Some(Tally { file, model: model.to_owned(), format })
    }

    /// The model and settings that a text chooses: a model's full name, settings like `thinking=high`, or both.
    /// Settings alone are for the current model. Claude Code's short names are models of the current provider.
    pub(super) fn chosen(&self, now: &Session, text: &str) -> Result<(Chosen, Tuning), String> {
        let (model, tuning) = Tuning::parse(text)?;
        Ok(match model {
            "" => (self.models.resolve(&now.model)?, tuning.or(now.tuning)),
            model => {
                let model = self.models.lengthened(&now.model, model)?;
                (self.models.resolve(&model)?, tuning)
            }
        })
    }

    /// Sends the conversation to its model.
    pub(super) fn sample(
        &mut self,
        conversation: &mut Conversation,
        desk: &Desk,
        work: &mut Turn,
        turn: TurnId,
    ) {
        desk.confinement.probe();
        let (provider, chosen) = match self.models.provider(&conversation.session.model) {
            Ok(found) => found,
            Err(failure) => return work.fail(turn, failure),
        };
        let base = self.models.request(&chosen, conversation.session.tuning);
        let searches = self.models.searches(&chosen)
            && conversation.session.lets_provider_search(&chosen.endpoint.host());
        let mut tools = desk.tools.specs(chosen.facts.edits);
        tools.retain(|it| !searches || it.name != Builtin::WebSearch.name());
        let thread = work::thread(&desk.root, &conversation.id);
        let tail = digest::of(&conversation.session);
        let base = Request { tools, searches, thread, tail, ..base };
        if conversation.session.limits.count_money() && chosen.facts.price.is_none() {
            conversation.tell_once(self.models.unpriced(&chosen));
        }
        conversation.read_outputs();
        let base = self.hiding(base);
        let request = request::build(&conversation.session, base);
        let request = Arc::new(self.fitted(&chosen, &conversation.session, request));
        self.sent = Some((provider.clone(), request.clone()));
        work.sample(turn, provider, request);
    }

    /// Makes the session's input from a failed request. If the error teaches something by which the request may succeed,
    /// remembers this and has the request repeated; `None` if this has begun already. The failure has the model that was
    /// asked, and the part of the reply that had arrived.
    pub(super) fn failed(
        &mut self,
        conversation: &mut Conversation,
        desk: &Desk,
        turn: TurnId,
        (mut failure, by, partial): (Failure, String, Option<Reply>),
    ) -> Option<Input> {
        if let Failure::Exceeds { limit: Limit::Bytes, said, .. } = failure {
            if self.keeps_to(conversation, &by, Limit::Bytes) {
                return Some(Input::Repeat { turn, told: None });
            }
            failure = Failure::TooLong { said, window: None, prompt: None };
        }
        if matches!(failure, Failure::TooLong { .. }) {
            failure = self.overflow(conversation, desk, turn, Some(failure)).err()??;
        }
        let had = |parameter| {
            self.sent.as_ref().is_some_and(|(_, sent)| !sent.without.contains(&parameter))
        };
        if let Failure::Unsupported { parameter, .. } = failure
            && partial.is_none()
            && had(parameter)
            && let Ok(chosen) = self.models.resolve(&by)
        {
            self.teach(conversation, &chosen, Lesson::LeaveOut(parameter));
            return Some(Input::Repeat { turn, told: None });
        }
        if let Failure::Exceeds { limit, .. } = failure
            && partial.is_none()
            && self.keeps_to(conversation, &by, limit)
        {
            return Some(Input::Repeat { turn, told: None });
        }
        Some(Input::Failed { turn, failure, by, partial, dice: work::dice() })
    }

    /// Takes in what a reply says about its model, the model's window, its cost and the provider's cache.
    pub(super) fn replied(
        &mut self,
        conversation: &mut Conversation,
        reply: &Reply,
        calls: &[Arc<Call>],
    ) {
        self.warn_of_model(conversation, reply);
        self.warn_of_window(conversation, reply);
        self.fitting.fits();
        self.unlearn_window(conversation, &reply.by, reply.usage.read());
        self.accepted(conversation);
        self.watch_cache(reply);
        self.account(conversation, reply);
        self.count_malformed(conversation, calls);
    }

    /// Makes the session's input from a reply.
    pub(super) fn input(&self, turn: TurnId, reply: Reply, plans: Vec<Plan>) -> Input {
        let is_whole = matches!(reply.stop, Stop::EndTurn | Stop::StopSequence | Stop::ToolUse);
        let tools = self.sent.as_ref().filter(|_| is_whole).map(|(_, sent)| &*sent.tools);
        let written = written::in_reply(&reply, tools.unwrap_or_default());
        match written.into_iter().next() {
            Some(Written { tool, .. }) => Input::Wrote { turn, reply, tool },
            None => Input::Replied { turn, reply, plans },
        }
    }

    /// Counts edit calls with malformed arguments as edits that did not fit.
    fn count_malformed(&self, conversation: &Conversation, calls: &[Arc<Call>]) {
        let missed = calls.iter().filter(|it| it.is_malformed_edit()).count();
        let count = Count { fitted: 0, missed: u64::try_from(missed).unwrap_or(0) };
        let Some(tally) = self.tally(&conversation.session.model).filter(|_| missed > 0) else {
            return;
        };
        tokio::task::spawn_blocking(move || tally.add(count));
    }

    /// Adds the cost of a reply, notes the size of its request, and computes how much of the request came from the
    /// provider's cache.
    pub(super) fn account(&mut self, conversation: &mut Conversation, reply: &Reply) {
        let usage = reply.usage;
        if usage.total() == 0 || self.models.is_tour(&reply.by) {
            return;
        }
        self.hit = (usage.read() > 0)
            .then(|| u32::try_from(size::percent(usage.cache_read, usage.read())).unwrap_or(0));
        if let (Some((_, sent)), true) = (&self.sent, usage.read() > 0) {
            let measure = Measure { tokens: usage.read(), bytes: size::of_request(sent) };
            conversation.take(Input::Measure { model: reply.by.clone(), measure });
            // a chat that is never saved writes nothing
            if conversation.store.is_some() {
                self.keep(&reply.by, measure);
            }
        }
        let price = self.models.resolve(&reply.by).ok().and_then(|it| it.facts.price);
        conversation.take(Input::Spend { cost: price.map(|it| it.of(usage)) });
    }

    /// Keeps a measure for other conversations, unless the one kept before says almost the same.
    fn keep(&mut self, model: &str, measure: Measure) {
        let is_near = |kept: &(String, Measure)| kept.0 == model && kept.1.is_near(measure);
        if self.kept.as_ref().is_some_and(is_near) {
            return;
        }
        let Some(file) = self.measures.clone() else { return };
        let model = model.to_owned();
        self.kept = Some((model.clone(), measure));
        tokio::task::spawn_blocking(move || measures::keep(&file, model, measure));
    }

    fn warn_of_model(&self, conversation: &mut Conversation, reply: &Reply) {
        // The owner of an Azure deployment chooses the deployment's name, so the name does not tell the model.
        let chosen = self.models.resolve(&conversation.session.model);
        if chosen.is_ok_and(|it| it.endpoint.is_azure()) {
            return;
        }
        if let Some(text) = models::substituted(&conversation.session.model, &reply.model)
            && !conversation.was_told(&text)
        {
            conversation.take(Input::Tell { text });
        }
    }

    fn warn_of_window(&self, conversation: &mut Conversation, reply: &Reply) {
        let Ok(chosen) = self.models.resolve(&reply.by) else { return };
        let Some((_, request)) = &self.sent else { return };
        let truncated = models::truncated(&chosen, request, reply.usage);
        conversation
            .tell_once(truncated.or_else(|| models::dropped_tools(&chosen, request, reply)));
    }

    /// Shows the last request as it was sent.
    pub(super) fn show_request(&self, conversation: &Conversation) {
        let shown = self.sent.as_ref().map(|(provider, request)| provider.shown(request));
        let text = match shown {
            Some(Some((about, body))) => {
                let body = self.models.without_keys(body);
                return conversation.show(Show::Now(Report::Request { about, body }));
            }
            Some(None) => "The tour sends no requests.",
            None => "Nothing has been sent in this conversation since it was opened.",
        };
        conversation.notice(Level::Info, text.into());
    }
}
