//! Asks the model for a title after the first turn, in one small request outside of the conversation. If the request
//! fails, the first line of the first message stays the title.

use super::Agent;
use super::aside::{Aside, Question};
use super::sampler::Sampler;
use crate::conversation::Conversation;
use crate::event::Named;
use crate::message::{Block, Reply, Role};
use crate::session::{Input, Session, title};
use crate::tool::Desk;
use tokio::sync::mpsc;

/// The most characters of the user's prompt, and of the reply, from which the model makes the title.
const PROMPT: usize = 2_000;
const REPLY: usize = 1_000;
/// The most tokens of the answer. A title has about a dozen tokens. The rest is room for models whose thinking cannot
/// be turned off.
const MAX_TOKENS: u32 = 1_000;

const SYSTEM: &str = "Write a title for the conversation that you are given: at most eight words, in the language of \
    the conversation, on one line. Answer with the title alone.";

/// Asks for a title of the conversation.
pub(super) fn ask(agent: &mut Agent) {
    let results = agent.turn.results();
    agent.sampler.ask_for_title(&agent.conversation, &agent.desk, results);
}

impl Sampler {
    /// Asks for a title, which is sent to `results`.
    fn ask_for_title(
        &mut self,
        conversation: &Conversation,
        desk: &Desk,
        results: mpsc::UnboundedSender<Input>,
    ) {
        let session = &conversation.session;
        let (true, Some(_)) = (self.titles, &conversation.store) else { return };
        let Some(prompt) = texts_of(session, Role::User).next() else { return };
        let Some(reply) = texts_of(session, Role::Assistant).last() else { return };
        let text = format!("{}\n\n---\n\n{}", clip(prompt, PROMPT), clip(reply, REPLY));
        let of = title(prompt);
        let may_send = self.recipients.allows(&self.models, session, &session.model);
        if session.title != of || session.limit_reached().is_some() || !may_send {
            return;
        }
        let question = Question { about: "title", system: SYSTEM, text, max_tokens: MAX_TOKENS };
        let Some(asked) = self.ask_aside(&session.model, &desk.root, question) else { return };
        tokio::spawn(async move {
            let Some(Aside { reply, cost }) = asked.await else { return };
            let (title, usage) = (title_in(&reply), reply.usage);
            // The agent may have ended meanwhile.
            let _ = results.send(Input::Name { of, named: Named { title, usage, cost } });
        });
    }
}

/// The texts of this role's messages.
fn texts_of(session: &Session, role: Role) -> impl DoubleEndedIterator<Item = &str> {
    let blocks =
        session.messages.iter().filter(move |it| it.role == role).flat_map(|it| &it.blocks);
    blocks.filter_map(|it| match it {
        Block::Text { text } if !text.trim().is_empty() => Some(text.as_str()),
        _ => None,
    })
}

fn clip(text: &str, chars: usize) -> String {
    text.chars().take(chars).collect()
}

/// The title in a reply, without quotes and marks around it; empty if there is none.
fn title_in(reply: &Reply) -> String {
    let texts = reply.blocks.iter().filter_map(|it| match it {
        Block::Text { text } => Some(text.as_str()),
        _ => None,
    });
    let around = |c: char| c.is_whitespace() || "\"'`*#_“”„«».".contains(c);
    let text: String = texts.collect();
    title(text.trim_matches(around)).trim_matches(around).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::{Stop, Usage};

    #[test]
    fn quotes_markdown_and_control_characters_are_removed_from_a_title() {
        let cases = [
            ("Fix the parser", "Fix the parser"),
            ("  **\"Fix the parser.\"**\n\nI chose it because", "Fix the parser"),
            ("# Fix\u{1b}[31m the\u{202e} parser", "Fix the parser"),
            ("«Исправить разбор»", "Исправить разбор"),
            ("", ""),
            ("\u{1b}[2J\n...", ""),
        ];
        for (text, expected) in cases {
            let blocks = vec![Block::Text { text: text.into() }];
            let (stop, usage) = (Stop::EndTurn, Usage::default());
            let reply = Reply { blocks, stop, usage, model: String::new(), by: String::new() };
            assert_eq!(title_in(&reply), expected, "{text:?}");
        }
    }
}
