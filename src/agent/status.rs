//! What the winbar and scripts are told.

use super::{Agent, Event, Show};
use crate::message::{Block, CallId};
use crate::nvim::wire::{Status, ToNvim, WireQueued};
use crate::session::{Phase, State};
use crate::text::unseen;
use crate::view::grouped;
use std::collections::BTreeMap;

/// The most characters of a question that a script gets.
const QUESTION: usize = 4000;

impl Agent {
    pub(super) fn show_status(&mut self) {
        let status = self.status_now();
        if self.status.as_ref() != Some(&status) {
            self.status = Some(status.clone());
            self.show(Show::Tell(ToNvim::Status(status)));
        }
    }

    fn status_now(&self) -> Status {
        let session = &self.setup.session;
        let (phase, waiting_for) = self.phase();
        let running = session.open().iter().find(|it| it.state == State::Running);
        let chosen = self.setup.models.resolve(&session.model).ok();
        Status {
            session: self.setup.id.clone(),
            phase,
            waiting_for,
            turn: session.turns,
            tool: running.map(|it| it.call.tool.clone()),
            model: session.model.clone(),
            mode: session.mode,
            tour: self.setup.models.is_tour(&session.model),
            unsaved: self.setup.store.is_none() && self.setup.reads.is_none() || self.disk_warned,
            input: session.usage.read(),
            output: session.usage.output,
            cached: session.usage.cache_read,
            context: session.context,
            window: chosen.map_or(0, |it| u64::from(it.facts.window)),
            queue: session.queue.iter().map(|it| WireQueued::of(it, session)).collect(),
            retry_ms: self.retry_ms.filter(|_| matches!(session.phase, Phase::Resting { .. })),
            silent_ms: self.silent_ms(),
            hit: self.hit,
            cost: (session.spent > 0.0).then_some(session.spent),
            unpriced: session.unpriced,
        }
    }

    /// What the conversation has used, for the user.
    pub(super) fn usage(&self) -> String {
        let session = &self.setup.session;
        let chosen = self.setup.models.resolve(&session.model).ok();
        let window = chosen.map_or(0, |it| u64::from(it.facts.window));
        let usage = session.usage;
        let read = usage.read();
        let mut text = format!("Tokens of this conversation:\nin       {}", grouped(read));
        if let Some(share) = (100 * usage.cache_read).checked_div(read).filter(|it| *it > 0) {
            text.push_str(&format!(", cached {} ({share} %)", grouped(usage.cache_read)));
        }
        text.push_str(&format!(
            "\nout      {}\ncontext  {}",
            grouped(usage.output),
            grouped(session.context)
        ));
        if let Some(share) = (100 * session.context).checked_div(window) {
            text.push_str(&format!(" of {} ({share} %)", grouped(window)));
        }
        let spent = match session.spent {
            0.0..0.01 => "<$0.01".to_owned(),
            spent => format!("${spent:.2}"),
        };
        let cost = match (session.spent > 0.0, session.unpriced) {
            (true, false) => spent,
            (true, true) => format!("{spent}, and what replies of no known price cost"),
            (false, true) => "not known".to_owned(),
            (false, false) => "none".to_owned(),
        };
        text + &format!("\ncost     {cost}")
    }

    fn phase(&self) -> (&'static str, Option<&'static str>) {
        let session = &self.setup.session;
        match &session.phase {
            Phase::Idle => ("idle", None),
            Phase::Sampling { .. } if self.partial.is_empty() => ("sending", None),
            Phase::Sampling { .. } => ("streaming", None),
            Phase::Resting { .. } => ("retrying", None),
            Phase::Acting { open, .. } => {
                let running = open.iter().any(|it| it.state == State::Running);
                if session.asking().is_some() {
                    ("asking", Some("permission"))
                } else if running {
                    ("running", None)
                } else {
                    ("reviewing", Some("review"))
                }
            }
        }
    }

    /// The `User` autocommand of an event, if it has one.
    pub(super) fn announcement(&self, event: &Event) -> Option<ToNvim> {
        let mut data = BTreeMap::from([("session", self.setup.id.0.clone())]);
        let name = match event {
            Event::Prompted { .. } => "CalibanTurnStart",
            Event::Ended { why, .. } => {
                let failed = crate::session::ending(why).unwrap_or_default();
                data.insert("why", failed);
                "CalibanTurnEnd"
            }
            Event::Started { call, .. } => {
                data.insert("call", call.0.clone());
                data.insert("tool", self.tool_of(call));
                "CalibanToolStart"
            }
            Event::Answered { answer, .. } => {
                data.insert("call", answer.id.0.clone());
                data.insert("tool", self.tool_of(&answer.id));
                data.insert("failed", answer.failed.to_string());
                "CalibanToolEnd"
            }
            Event::Asked { call, question, .. } => {
                data.insert("call", call.0.clone());
                data.insert("question", brief(question));
                "CalibanAsk"
            }
            _ => return None,
        };
        Some(ToNvim::Event { name, data })
    }

    fn tool_of(&self, id: &CallId) -> String {
        let blocks = self.setup.session.messages.iter().rev().flat_map(|it| &it.blocks);
        let call = blocks.filter_map(|it| match it {
            Block::Call(call) if call.id == *id => Some(call.tool.clone()),
            _ => None,
        });
        call.take(1).collect()
    }
}

/// A question as scripts get it: short enough not to hold up the editor that shows it.
fn brief(question: &str) -> String {
    let question = unseen::exact(question);
    match question.char_indices().nth(QUESTION) {
        Some((at, _)) => {
            let more = question[at..].chars().count();
            format!("{}… ({more} more characters)", &question[..at])
        }
        None => question.into_owned(),
    }
}
