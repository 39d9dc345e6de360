//! A title by the model, once the first turn has ended: one small request beside the conversation, whose failure nobody
//! hears of. Until then, and without it, the first line of the first message is the title.

use super::{Agent, work};
use crate::event::{Named, SessionId, Tuning};
use crate::message::{Block, Effort, Message, Reply, Request, Role};
use crate::provider::key::Key;
use crate::provider::{Provider, Sampled};
use crate::session::{Input, Session, title};
use futures::StreamExt;
use std::sync::Arc;
use std::time::Duration;

/// Characters of the prompt and of the reply that the model is shown: it is to name them, not to know them.
const PROMPT: usize = 2_000;
const REPLY: usize = 1_000;
/// A title has a dozen tokens; the rest is for models that cannot be kept from thinking.
const MAX_TOKENS: u32 = 1_000;
const PATIENCE: Duration = Duration::from_secs(60);

const SYSTEM: &str = "Give the conversation that you are shown a title of at most eight words, in its own language, on one \
     line. Answer with the title alone.";

impl Agent {
    pub(super) fn ask_for_title(&mut self) {
        let session = &self.setup.session;
        let (true, Some(_)) = (self.setup.titles, &self.setup.store) else { return };
        let Some(prompt) = said(session, Role::User).next() else { return };
        let Some(reply) = said(session, Role::Assistant).last() else { return };
        let text = format!("{}\n\n---\n\n{}", clip(prompt, PROMPT), clip(reply, REPLY));
        let (of, model) = (title(prompt), session.model.clone());
        if session.title != of || self.setup.models.is_tour(&model) {
            return;
        }
        let Ok((provider, chosen)) = self.setup.models.provider(&model) else { return };
        // A server on this machine keeps one conversation in mind, and would read this one anew.
        if chosen.endpoint.key == Key::None || chosen.endpoint.is_local() {
            return;
        }
        let tuning = Tuning {
            thinking: Some(Effort::Off),
            max_output: Some(MAX_TOKENS),
            ..Tuning::default()
        };
        let request = Arc::new(Request {
            system: SYSTEM.to_owned(),
            messages: vec![Message::new(Role::User, vec![Block::Text { text }])],
            thread: work::thread(&self.setup.desk.root, &SessionId("title".to_owned())),
            ..self.setup.models.request(&chosen, tuning)
        });
        let (results, price) = (self.results.clone(), chosen.facts.price);
        tokio::spawn(async move {
            let asked = tokio::time::timeout(PATIENCE, ask(provider, request));
            let Ok(Some(reply)) = asked.await else { return };
            let (title, usage) = (given(&reply), reply.usage);
            let cost = if usage.total() == 0 { Some(0.0) } else { price.map(|it| it.of(usage)) };
            // The agent may have ended meanwhile.
            let _ = results.send(Input::Name { of, named: Named { title, usage, cost } });
        });
    }
}

async fn ask(provider: Arc<dyn Provider>, request: Arc<Request>) -> Option<Reply> {
    let mut stream = provider.sample(request);
    while let Some(sampled) = stream.next().await {
        match sampled {
            Sampled::Delta(_) => (),
            Sampled::Done(reply) => return Some(reply),
            Sampled::Failed(failure) => {
                tracing::info!("no title: {failure}");
                return None;
            }
        }
    }
    None
}

/// What this role has said in words.
fn said(session: &Session, role: Role) -> impl DoubleEndedIterator<Item = &str> {
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

/// The title in a reply, without what models put around one; empty where there is none.
fn given(reply: &Reply) -> String {
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
    fn a_title_is_taken_out_of_what_stands_around_it() {
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
            assert_eq!(given(&reply), expected, "{text:?}");
        }
    }
}
