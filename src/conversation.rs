//! One conversation: its session, and the channels by which the session is saved and shown. The events that follow from
//! an input are saved, then shown. The effects are carried out by the agent.

mod announce;
mod files;
pub mod ran;
mod redact;
pub mod report;

use crate::event::{Access, End, Event, Guarded, SessionId, TurnId};
use crate::message::{self, Block, CallId, Excerpt, Reply, Role};
use crate::session::{Effect, Input, Phase, Session};
use crate::store::Store;
use crate::text::cause;
use crate::tool::environment::Secrets;
use report::{Glance, Level, Report, Show, Status, Wish};
use std::collections::VecDeque;
use std::io;
use tokio::sync::{mpsc, watch};

/// Work for the agent that an input has caused.
pub enum Work {
    Effect(Effect),
    /// The first turn has ended, so the conversation may get a title.
    Title,
}

/// A pause before a failed request is sent again.
pub struct Retry {
    pub ms: u64,
    pub why: String,
}

/// The channels and secrets of a conversation.
pub struct Channels {
    pub screen: mpsc::UnboundedSender<Show>,
    pub wishes: mpsc::UnboundedSender<Wish>,
    /// Receives what the composer needs to know of the conversation.
    pub glance: watch::Sender<Glance>,
    /// API keys that are replaced in all texts from outside (see `redact`).
    pub secrets: Secrets,
}

pub struct Conversation {
    pub id: SessionId,
    pub session: Session,
    /// Where the conversation is saved; `None` if it is never saved or is read-only.
    pub store: Option<Store>,
    /// Why the conversation is read-only, and what the user can do about it.
    pub read_only: Option<String>,
    screen: mpsc::UnboundedSender<Show>,
    wishes: mpsc::UnboundedSender<Wish>,
    glance: watch::Sender<Glance>,
    secrets: Secrets,
    /// Work that the agent has not taken yet.
    work: VecDeque<Work>,
    /// The status that was shown last.
    status: Option<Status>,
    /// Whether the user was told that the conversation cannot be saved.
    disk_warned: bool,
    /// A command whose start could not be recorded on disk. The user is asked whether to run the command without the
    /// record.
    unrecorded: Option<CallId>,
    /// The last pause before a failed request was sent again.
    pub retry: Option<Retry>,
}

impl Conversation {
    pub fn new(
        id: SessionId,
        session: Session,
        store: Option<Store>,
        read_only: Option<String>,
        channels: Channels,
    ) -> Conversation {
        Conversation {
            id,
            session,
            store,
            read_only,
            screen: channels.screen,
            wishes: channels.wishes,
            glance: channels.glance,
            secrets: channels.secrets,
            work: VecDeque::new(),
            status: None,
            disk_warned: false,
            unrecorded: None,
            retry: None,
        }
    }

    /// Takes an input: saves and shows its events, and queues its effects for `next_work`.
    pub fn take(&mut self, mut input: Input) {
        redact::without_keys(&mut input, &self.secrets.known());
        if let Some(store) = &mut self.store {
            files::keep(store, &mut input);
        }
        let step = self.session.step(input);
        // the next request has the summary instead of the messages, so the summary has to be on disk first
        let is_compacted = step.events.iter().any(|it| matches!(it, Event::Compacted { .. }));
        let reaches_out = is_compacted || step.effects.iter().any(|it| self.reaches_out(it));
        let saved = self.save(&step.events, reaches_out);
        self.log_decisions(&step.decisions);
        let is_first = |it: &Event| matches!(it, Event::Ended { turn: TurnId(1), why: End::Done });
        let has_begun = step.events.iter().any(is_first);
        let asks = self.asks(&step.events);
        for event in step.events {
            if let Event::Retried { wait_ms, failure, .. } = &event {
                self.retry = Some(Retry { ms: *wait_ms, why: failure.brief() });
            }
            let announced = self.announcement(&event);
            self.show(Show::Event(event));
            if let Some(report) = announced {
                self.show(Show::Tell(report));
            }
        }
        if let Some(report) = asks {
            self.show(Show::Tell(report));
        }
        self.queue_effects(step.effects, saved.as_ref().err());
        if has_begun {
            self.work.push_back(Work::Title);
        }
    }

    /// Sends a failed request again now, without waiting for the end of the pause.
    pub fn try_again(&mut self) {
        if let Some(turn) = self.session.turn() {
            self.take(Input::Rested { turn });
        }
    }

    /// Takes an input while the session is being opened. Nothing is shown yet, and the input's effects are not carried
    /// out.
    pub fn recall(&mut self, input: Input) {
        let step = self.session.step(input);
        // if the events cannot be saved, the user is told, and the session goes on in memory
        let _ = self.save(&step.events, false);
    }

    /// Ends the conversation. When this returns, everything is on disk. `partial` is the part of a reply that had
    /// arrived. An interrupted turn stays in the journal, where the next start finds it.
    pub fn leave(&mut self, partial: Option<Reply>) {
        let was_at_rest = self.session.phase == Phase::Idle;
        let step = self.session.step(Input::Leave { partial });
        let Some(store) = &mut self.store else { return };
        let saved = if self.session.is_blank() {
            store.discard()
        } else if was_at_rest {
            store.settle(&self.session)
        } else {
            store.append(&step.events, true)
        };
        if let Err(error) = saved {
            tracing::error!("the session could not be saved: {error}");
        }
    }

    /// The next piece of work for the agent.
    pub fn next_work(&mut self) -> Option<Work> {
        self.work.pop_front()
    }

    /// Queues effects for `next_work`. A command whose start could not be recorded on disk waits for the user's answer;
    /// other effects do not need the record.
    fn queue_effects(&mut self, effects: Vec<Effect>, unsaved: Option<&io::Error>) {
        let mut waiting = None;
        for effect in effects {
            match (effect, unsaved) {
                (Effect::Run { turn, call, .. }, Some(why))
                    if self.acts(&call.id) && self.unrecorded.as_ref() != Some(&call.id) =>
                {
                    self.unrecorded = Some(call.id.clone());
                    waiting = Some(Input::Unrecorded { turn, call: call.id, why: cause(why) });
                }
                (effect, _) => self.work.push_back(Work::Effect(effect)),
            }
        }
        if let Some(input) = waiting {
            self.take(input);
        }
    }

    /// Adds lines to the log of permissions.
    pub fn log_decisions(&self, decisions: &[String]) {
        if let Some(store) = &self.store
            && let Err(error) = store.log_decisions(decisions)
        {
            tracing::error!("the log of permissions could not be written: {error}");
        }
    }

    /// Whether the events before this effect have to be safe on disk, even if the power fails, before the effect is
    /// carried out.
    fn reaches_out(&self, effect: &Effect) -> bool {
        match effect {
            Effect::Run { call, .. } => self.acts(&call.id),
            Effect::Propose { .. } => true,
            _ => false,
        }
    }

    /// Whether an open call may change something, as a command does.
    fn acts(&self, call: &CallId) -> bool {
        self.session.open().iter().any(|it| it.call.id == *call && it.access.acts())
    }

    /// The read for which an open call needs consent, with its paths. A call runs only after the user has consented.
    pub fn agreed(&self, call: &CallId) -> Option<Guarded> {
        let open = self.session.open().iter().find(|it| it.call.id == *call);
        match &open?.access {
            Access::Guarded(it) => Some(it.clone()),
            _ => None,
        }
    }

    /// The locked paths that the command of an open call may change, because the user has consented.
    pub fn unlocked(&self, call: &CallId) -> Vec<String> {
        let open = self.session.open().iter().find(|it| it.call.id == *call);
        match open.map(|it| &it.access) {
            Some(Access::Act { unlocked, .. }) => unlocked.clone(),
            _ => Vec::new(),
        }
    }

    /// The unsaved files that the question about an open call has named, as the user sees them.
    pub fn named_unsaved(&self, call: &CallId) -> &[String] {
        let open = self.session.open().iter().find(|it| it.call.id == *call);
        open.map_or(&[], |it| &it.named_unsaved)
    }

    /// Saves events: in the journal while a turn runs, otherwise by writing the whole session's file. An error means
    /// that not all events are on disk; the user has been told.
    fn save(&mut self, events: &[Event], sync: bool) -> io::Result<()> {
        let Some(store) = &mut self.store else { return Ok(()) };
        if events.is_empty() {
            return Ok(());
        }
        let saved = store.record(&self.session, events, sync);
        match &saved {
            Ok(()) => self.disk_warned &= self.session.phase != Phase::Idle,
            Err(error) => self.warn_of_disk(error),
        }
        self.tell_of_edit();
        saved
    }

    pub fn save_whole(&mut self) {
        if let Some(store) = &mut self.store
            && let Err(error) = store.save(&self.session)
        {
            self.warn_of_disk(&error);
        }
        self.tell_of_edit();
    }

    /// Tells the user if another program has changed the session's file while the session was open here.
    fn tell_of_edit(&mut self) {
        if let Some(path) = self.store.as_mut().and_then(Store::edited) {
            let text = format!(
                "The file of this conversation changed while the conversation was open here. The changed text is \
                 kept as {}.",
                path.display()
            );
            self.notice(Level::Warn, text);
        }
    }

    /// Tells the user once that the conversation cannot be saved and goes on in memory. The winbar shows this from then
    /// on.
    pub fn warn_of_disk(&mut self, error: &io::Error) {
        if !std::mem::replace(&mut self.disk_warned, true) {
            let path = self.store.as_ref().map(Store::path).unwrap_or_default();
            let text = format!(
                "The conversation cannot be saved to {} ({}). It goes on in memory only.",
                path.display(),
                cause(error)
            );
            self.notice(Level::Error, text);
        }
    }

    /// Whether the conversation is in memory only, because it is never saved or could not be saved.
    pub fn is_unsaved(&self) -> bool {
        self.store.is_none() && self.read_only.is_none() || self.disk_warned
    }

    pub fn show(&self, show: Show) {
        // a send fails only when the editor is gone: the screen lives as long as the agent
        let _ = self.screen.send(show);
    }

    /// Shows a status, and updates the `Glance`, if the status differs from the last one.
    pub fn show_status(&mut self, status: Status) {
        if self.status.as_ref() != Some(&status) {
            self.status = Some(status.clone());
            self.show(Show::Tell(Report::Status(status)));
            self.show_glance();
        }
    }

    /// Whether this is the status that was shown last.
    pub fn has_shown(&self, status: &Status) -> bool {
        self.status.as_ref() == Some(status)
    }

    fn show_glance(&self) {
        self.glance.send_if_modified(|it| {
            let known = self.session.known.keys();
            let is_new = !it.known.iter().eq(known.clone());
            if is_new {
                *it = Glance { known: known.cloned().collect() };
            }
            is_new
        });
    }

    /// Makes sure that the next status is shown.
    pub fn forget_status(&mut self) {
        self.status = None;
    }

    pub fn wish(&self, wish: Wish) {
        // a send fails only when the program is ending
        let _ = self.wishes.send(wish);
    }

    /// The channel to the screen, for tasks that outlive a message.
    pub fn screen(&self) -> mpsc::UnboundedSender<Show> {
        self.screen.clone()
    }

    pub fn notice(&self, level: Level, text: String) {
        self.show(Show::Now(Report::Notice { level, text }));
    }

    /// Gives a message back to the user, with the reason.
    pub fn bounce(&self, text: String, mut context: Vec<Excerpt>, why: String) {
        let text = message::typed(text, &context);
        context.retain(|it| !it.is_made());
        self.show(Show::Now(Report::Bounce { text, context, why }));
    }

    pub fn refuse_while_running(&self) {
        self.notice(Level::Warn, "A turn is running. Stop it first (<C-c>).".into());
    }

    /// Adds sentences for the user, except those that the conversation already has.
    pub fn tell_once(&mut self, texts: impl IntoIterator<Item = String>) {
        for text in texts {
            let mut said = self.session.messages.iter().flat_map(|it| &it.blocks);
            if !said.any(|it| matches!(it, Block::Text { text: told } if *told == text)) {
                self.take(Input::Tell { text });
            }
        }
    }

    /// Whether the chat's last messages include this text, so that opening the session again does not repeat it.
    pub fn was_told(&self, text: &str) -> bool {
        self.session.messages.iter().rev().take(3).any(|it| {
            it.blocks.iter().any(|it| matches!(it, Block::Text { text: told } if told == text))
        })
    }

    /// The system prompt; empty if there is none.
    pub fn system(&self) -> &str {
        let first = self.session.messages.first();
        match first.filter(|it| it.role == Role::System).map(|it| &it.blocks[..]) {
            Some([Block::Text { text }, ..]) => text,
            _ => "",
        }
    }

    /// Reads the long outputs and images that have not been read yet.
    pub fn read_outputs(&mut self) {
        let Some(store) = &self.store else { return };
        let outputs = files::missing(store.read_outputs(&mut self.session), "long output");
        let images = files::missing(store.read_images(&mut self.session), "image");
        for text in outputs.into_iter().chain(images) {
            self.take(Input::Tell { text });
        }
    }
}
