//! The events of a conversation that scripts can wait for: `User` autocommands in Neovim.

use super::Conversation;
use super::report::Report;
use crate::event::Event;
use crate::message::{Block, CallId};
use crate::session;
use crate::text::unseen;
use std::collections::BTreeMap;

/// The most characters of a question that a script gets.
const QUESTION: usize = 4000;

impl Conversation {
    /// The announcement of an event, if it has one.
    pub(super) fn announcement(&self, event: &Event) -> Option<Report> {
        let mut data = BTreeMap::new();
        let name = match event {
            Event::Prompted { .. } => "CalibanTurnStart",
            Event::Ended { why, .. } => {
                data.insert("why", session::ending(why).unwrap_or_default());
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
        Some(Report::Event { name, data })
    }

    /// The name of a call's tool.
    fn tool_of(&self, id: &CallId) -> String {
        let blocks = self.session.messages.iter().rev().flat_map(|it| &it.blocks);
        let call = blocks.filter_map(|it| match it {
            Block::Call(call) if call.id == *id => Some(call.tool.clone()),
            _ => None,
        });
        call.take(1).collect()
    }
}

/// A question for scripts, short enough not to slow the editor down.
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
