//! The events of a conversation that scripts can wait for: `User` autocommands in Neovim.

use super::Conversation;
use super::report::{Report, Show};
use crate::event::{Access, Event, Matter, WorkerId};
use crate::message::{Block, Builtin, CallId, Input, ToolCall};
use crate::session;
use crate::text::unseen;
use std::collections::BTreeMap;

/// The most characters of a question that scripts get.
const QUESTION: usize = 4000;

impl Conversation {
    /// Tells scripts that the session is open and shown.
    pub fn announce(&self) {
        self.show(Show::Tell(Report::Event { name: "CalibanSession", data: BTreeMap::new() }));
    }

    /// The report that tells scripts about this event; `None` if scripts cannot wait for such an event.
    pub(super) fn announcement(&self, event: &Event) -> Option<Report> {
        let mut data = BTreeMap::new();
        let name = match event {
            Event::Prompted { .. } => "CalibanTurnStart",
            Event::Ended { why, .. } => {
                data.insert("why", session::ending(why).unwrap_or_default());
                "CalibanTurnEnd"
            }
            Event::Started { call, .. } => {
                self.name(call, &mut data);
                "CalibanToolStart"
            }
            Event::Answered { answer, .. } => {
                self.name(&answer.id, &mut data);
                data.insert("failed", answer.failed.to_string());
                if !answer.failed {
                    self.read_by(&answer.id, &mut data);
                }
                "CalibanToolEnd"
            }
            Event::Asked { call, question, .. }
            | Event::Limited { id: call, question, .. }
            | Event::Consulted { id: call, question, .. } => {
                self.subject(call, event, &mut data);
                data.insert("call", call.0.clone());
                data.insert("question", brief(question));
                "CalibanAsk"
            }
            Event::PlanSubmitted { call, .. } => {
                self.name(call, &mut data);
                data.insert("kind", "plan".to_owned());
                data.insert("question", brief("Carry out this plan?"));
                "CalibanAsk"
            }
            _ => return None,
        };
        Some(Report::Event { name, data })
    }

    /// The report that tells scripts about the model's questions, if these events have ended the turn with questions.
    pub(super) fn asks(&self, events: &[Event]) -> Option<Report> {
        let has_ended = events.iter().any(|it| matches!(it, Event::Ended { .. }));
        let (call, inquiry) = self.session.inquiry().filter(|_| has_ended)?;
        let mut data = BTreeMap::from([("kind", "question".to_owned())]);
        self.name(call, &mut data);
        data.insert("question", brief(&inquiry.text()));
        Some(Report::Event { name: "CalibanAsk", data })
    }

    /// Adds to `data` the subagent that asks a question, and the number of the worker that the subagent is.
    fn asker(&self, id: &CallId, data: &mut BTreeMap<&'static str, String>) {
        let Some(name) = id.subagent() else { return };
        data.insert("subagent", name.to_owned());
        let is_asker = |it: &&WorkerId| {
            let worker = &self.session.workers.all[*it];
            worker.session.as_ref().is_some_and(|it| it.0 == name)
        };
        if let Some(worker) = self.session.workers.all.keys().find(is_asker) {
            data.insert("worker", worker.to_string());
        }
    }

    /// Adds to `data` what a question is about. Names of one kind are joined by newlines.
    fn subject(&self, id: &CallId, event: &Event, data: &mut BTreeMap<&'static str, String>) {
        data.insert("kind", kind(event).to_owned());
        if let Event::Consulted { about: Matter::Subagent, .. } = event {
            self.asker(id, data);
        }
        let Some(it) = self.session.open().iter().find(|it| it.call.id == *id) else { return };
        self.name(id, data);
        data.insert("always", it.judged.always.clone());
        data.insert("why", brief(&it.judged.why));
        match &it.access {
            Access::Act { command, outside, background, .. } => {
                data.insert("kind", "command".to_owned());
                data.insert("command", brief(command));
                data.insert("background", background.to_string());
                data.insert("outside", outside.is_some().to_string());
                data.insert("paths", brief(&it.judged.touched.files.join("\n")));
                data.insert("hosts", brief(&it.judged.touched.hosts.join("\n")));
                data.insert("opens", brief(&it.judged.opens.join("\n")));
            }
            Access::Format { command, path } => {
                data.insert("kind", "command".to_owned());
                data.insert("command", brief(command));
                data.insert("paths", brief(path));
            }
            Access::Input { command, text, .. } => {
                data.insert("kind", "input".to_owned());
                data.insert("command", brief(command));
                data.insert("input", brief(text));
            }
            Access::Fetch { url, host } => {
                data.insert("kind", "page".to_owned());
                data.insert("url", brief(url));
                data.insert("hosts", brief(host));
            }
            Access::Search { query, host } => {
                data.insert("kind", "search".to_owned());
                data.insert("query", brief(query));
                data.insert("hosts", brief(host));
            }
            Access::Remote(it) => {
                data.insert("kind", "server".to_owned());
                data.insert("server", brief(&it.server));
                data.insert("input", brief(&it.arguments));
            }
            Access::Guarded(read) => {
                let paths: Vec<&str> = read.all().map(|it| it.path.as_str()).collect();
                data.insert("kind", "file".to_owned());
                data.insert("paths", brief(&paths.join("\n")));
            }
            Access::Read
            | Access::Edit { .. }
            | Access::Ask { .. }
            | Access::Delegate { .. }
            | Access::Workers(_)
            | Access::Plan
            | Access::Never(_)
            | Access::Invalid(_) => (),
        }
    }

    /// Adds to `data` the id of a call and the name of its tool.
    fn name(&self, id: &CallId, data: &mut BTreeMap<&'static str, String>) {
        let tool = self.call(id).map(|it| it.tool.clone());
        data.insert("call", id.0.clone());
        data.insert("tool", tool.unwrap_or_default());
    }

    fn call(&self, id: &CallId) -> Option<&ToolCall> {
        let mut blocks = self.session.messages.iter().rev().flat_map(|it| &it.blocks);
        blocks.find_map(|it| match it {
            Block::Call(call) if call.id == *id => Some(call),
            _ => None,
        })
    }

    /// Adds to `data` the file and the lines that a call has read.
    fn read_by(&self, id: &CallId, data: &mut BTreeMap<&'static str, String>) {
        let Some(call) = self.call(id).filter(|it| it.is_of(Builtin::Read)) else { return };
        let Input::Json(args) = &call.input else { return };
        let Some(path) = args["path"].as_str() else { return };
        let first = args["offset"].as_u64().unwrap_or(1).max(1);
        data.insert("path", brief(path));
        data.insert("first", first.to_string());
        if let Some(count) = args["limit"].as_u64() {
            data.insert("last", (first.saturating_add(count).saturating_sub(1)).to_string());
        }
    }
}

/// The question as scripts get it, shortened so that it does not slow the editor down.
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

/// The kind of a question's subject, for scripts.
fn kind(event: &Event) -> &'static str {
    match event {
        Event::Limited { .. } => "limit",
        Event::Consulted { about: Matter::Instructions, .. } => "instructions",
        Event::Consulted { about: Matter::Rules, .. } => "rules",
        Event::Consulted { about: Matter::Subagent, .. } => "subagent",
        Event::Consulted { about: Matter::Recipient, .. } => "recipient",
        Event::Consulted { about: Matter::Port, .. } => "port",
        _ => "call",
    }
}
