//! Compaction: later requests begin with a summary of the conversation's first part. This file begins, ends and undoes
//! compactions.

use super::{Effect, Input, Phase, Session, Step, say};
use crate::event::{Compaction, End, Event, Handoff, TurnId};
use crate::message::{Block, Input as Given, Message, Role, ToolCall, Usage};
use serde_json::Value;
use std::path::PathBuf;

impl Session {
    /// The index of the first message that requests contain, not counting the system prompt.
    pub fn beginning(&self) -> usize {
        let first = self.messages.first().map_or(0, |it| usize::from(it.role == Role::System));
        let at = self.compaction().map_or(0, |it| it.at);
        first.max(at).min(self.messages.len())
    }

    /// The last compaction, if requests begin with its hand-off.
    pub fn compaction(&self) -> Option<&Compaction> {
        // in a session's file that was edited, the compaction may name a note without a hand-off
        self.compactions.last().filter(|it| self.handoff_in(it.note).is_some())
    }

    /// The text with which requests begin, if the conversation was compacted.
    pub fn handoff(&self) -> Option<&str> {
        self.compactions.last().and_then(|it| self.handoff_in(it.note))
    }

    fn handoff_in(&self, note: usize) -> Option<&str> {
        let note = self.messages.get(note).filter(|it| it.role == Role::Note)?;
        note.blocks.iter().find_map(|it| match it {
            Block::Notice { text, .. } if !text.trim().is_empty() => Some(text.as_str()),
            _ => None,
        })
    }

    /// The index of the first message that a compaction keeps. This is the model's last reply if the reply has calls,
    /// otherwise the message after the reply. The model has not seen the prompts and the answers from there on.
    pub fn boundary(&self) -> usize {
        let from = self.beginning();
        let last = self.messages[from..].iter().rposition(|it| it.role == Role::Assistant);
        last.map_or(from, |at| from + at + usize::from(!has_calls(&self.messages[from + at])))
    }

    /// Handles the inputs that make later requests shorter, or longer again.
    pub(super) fn shorten(&mut self, input: Input, step: &mut Step) {
        match input {
            Input::Trim { items, tokens, told } => self.trim(items, tokens, told, step),
            Input::Compact { model, focus, told } => self.compact(model, focus, told, step),
            Input::Compacted { turn, handoff, usage, cost } => {
                self.compacted(turn, handoff, (usage, cost), step);
            }
            Input::NotCompacted { turn, why, is_lasting, usage, cost } => {
                self.not_compacted(turn, (why, is_lasting), (usage, cost), step);
            }
            Input::Uncompact { told } => self.uncompact(told, step),
            _ => (),
        }
    }

    fn compact(&mut self, model: String, focus: String, told: String, step: &mut Step) {
        let turn = match self.phase {
            Phase::Idle => TurnId(self.turns),
            Phase::Sampling { turn, .. } => turn,
            _ => return,
        };
        if self.limit_reached().is_some() {
            return;
        }
        self.record(Event::Compacting { turn, told }, step);
        step.effects.push(Effect::Compact { turn, model, focus });
    }

    fn compacted(
        &mut self,
        turn: TurnId,
        handoff: Handoff,
        (usage, cost): (Usage, Option<f64>),
        step: &mut Step,
    ) {
        let is_whole = handoff.at <= self.messages.len() && !handoff.text.trim().is_empty();
        if self.is_compacting(turn) && is_whole {
            self.record(Event::Compacted { turn, handoff, usage, cost }, step);
            self.proceed(turn, step);
        }
    }

    fn not_compacted(
        &mut self,
        turn: TurnId,
        (why, is_lasting): (String, bool),
        (usage, cost): (Usage, Option<f64>),
        step: &mut Step,
    ) {
        if self.is_compacting(turn) {
            self.record(Event::NotCompacted { turn, why, is_lasting, usage, cost }, step);
            self.proceed(turn, step);
        }
    }

    /// Undoes the last compaction, while no turn runs.
    fn uncompact(&mut self, told: String, step: &mut Step) {
        if self.phase == Phase::Idle && !self.compactions.is_empty() {
            self.record(Event::Uncompacted { told }, step);
        }
    }

    /// Ends a compaction that the user began while no turn ran. Returns false if none runs.
    pub(super) fn leave_compaction(&mut self, why: &End, step: &mut Step) -> bool {
        let Phase::Compacting { turn, requests: None } = self.phase else { return false };
        step.effects.push(Effect::Abort { turn });
        let (why, usage, cost) = (say::compaction_ended(why), Usage::default(), Some(0.0));
        let is_lasting = false;
        self.record(Event::NotCompacted { turn, why, is_lasting, usage, cost }, step);
        true
    }

    fn is_compacting(&self, of: TurnId) -> bool {
        matches!(self.phase, Phase::Compacting { turn, .. } if turn == of)
    }

    /// Called after a compaction, whether it succeeded or not. Sends the request that waited for the compaction, or the
    /// next message of the queue.
    fn proceed(&mut self, turn: TurnId, step: &mut Step) {
        if self.phase == Phase::Idle {
            return self.prompt_next(step);
        }
        self.go_on(turn, step);
    }

    /// Applies the events that make requests shorter, or longer again.
    pub(super) fn apply_shorter(&mut self, event: &Event) {
        match event {
            Event::Trimmed { items, tokens, told } => self.apply_trim(items, *tokens, told),
            Event::Compacting { turn, told } => self.apply_compacting(*turn, told),
            Event::Compacted { handoff, usage, cost, .. } => {
                self.apply_compacted(handoff, *usage, *cost);
            }
            Event::NotCompacted { why, is_lasting, usage, cost, .. } => {
                self.fruitless = self.fruitless.saturating_add(u32::from(*is_lasting));
                self.apply_not_compacted(why, *usage, *cost);
            }
            Event::Uncompacted { told } => self.apply_uncompacted(told),
            _ => (),
        }
    }

    fn apply_compacting(&mut self, turn: TurnId, told: &str) {
        let requests = match self.phase {
            Phase::Sampling { requests, .. } | Phase::Resting { requests, .. } => Some(requests),
            _ => None,
        };
        self.phase = Phase::Compacting { turn, requests };
        self.say(Role::Note, vec![Block::Text { text: told.to_owned() }]);
    }

    fn apply_compacted(&mut self, handoff: &Handoff, usage: Usage, cost: Option<f64>) {
        let Handoff { at, summary, text, saved, told, left_out } = handoff.clone();
        let note = self.messages.len();
        self.forget_texts_before(at);
        self.compactions.push(Compaction { at, note, summary, saved, left_out });
        self.context = self.context.saturating_sub(saved);
        self.keeps_whole = false;
        self.fruitless = 0;
        self.say(Role::Note, vec![Block::Text { text: told }, Block::Notice { text, call: None }]);
        self.end_compaction(usage, cost);
    }

    /// Forgets the files that no message from `at` on names: the model no longer has their texts, so it has to read
    /// them before it overwrites them.
    fn forget_texts_before(&mut self, at: usize) {
        let Session { known, gone, messages, reviewing, root, .. } = self;
        let later = messages.get(at..).unwrap_or_default();
        let is_kept = |path: &PathBuf, _: &mut String| {
            let name = path.strip_prefix(&*root).unwrap_or(path).to_string_lossy();
            reviewing.contains(path) || is_named(&name, later, |it| it == name)
        };
        known.retain(is_kept);
        gone.retain(is_kept);
    }

    fn apply_not_compacted(&mut self, why: &str, usage: Usage, cost: Option<f64>) {
        self.say(Role::Note, vec![Block::Text { text: why.to_owned() }]);
        self.end_compaction(usage, cost);
    }

    fn end_compaction(&mut self, usage: Usage, cost: Option<f64>) {
        self.usage += usage;
        self.spend(cost);
        self.phase = match self.phase {
            Phase::Compacting { turn, requests: Some(requests) } => {
                Phase::Sampling { turn, requests, tries: 1 }
            }
            _ => Phase::Idle,
        };
    }

    fn apply_uncompacted(&mut self, told: &str) {
        if let Some(Compaction { saved, .. }) = self.compactions.pop() {
            self.context = self.context.saturating_add(saved).min(1 << 52);
        }
        self.keeps_whole = true;
        self.say(Role::Note, vec![Block::Text { text: told.to_owned() }]);
    }

    /// Adjusts the indices in the compactions after a system message was added or removed at the beginning.
    pub(super) fn move_compactions(&mut self, had_system: bool) {
        let has_system = self.messages.first().is_some_and(|it| it.role == Role::System);
        let moved = |it: usize| match (had_system, has_system) {
            (false, true) => it.saturating_add(1),
            (true, false) => it.saturating_sub(1),
            _ => it,
        };
        for it in &mut self.compactions {
            (it.at, it.note) = (moved(it.at), moved(it.note));
        }
    }
}

/// Whether one of these messages has an excerpt with a path for which `is_path` is true, or a call whose arguments
/// contain the name.
pub(super) fn is_named(name: &str, messages: &[Message], is_path: impl Fn(&str) -> bool) -> bool {
    let escaped = Value::from(name).to_string();
    let escaped = escaped.trim_matches('"');
    messages.iter().flat_map(|it| &it.blocks).any(|it| match it {
        Block::Excerpt(it) => is_path(&it.path),
        Block::Call(ToolCall { input: Given::Json(given), .. }) => {
            given.to_string().contains(escaped)
        }
        _ => false,
    })
}

fn has_calls(message: &Message) -> bool {
    message.blocks.iter().any(|it| matches!(it, Block::Call(_)))
}
