//! A model behind a door: a request in, a stream of what it says out. The dialects are decoders over
//! bytes and encoders of the neutral request, tested without a network; `http` is the only shell.

pub mod sse;
pub mod fault;
pub mod dialect;
mod anthropic;
mod openai_chat;
pub mod key;
pub mod limits;
pub mod endpoint;
pub mod http;
pub mod probe;
pub mod tour;
#[cfg(test)]
mod recut;
#[cfg(test)]
mod sample_request;

use crate::event::{Delta, Failure};
use crate::message::{Block, Excerpt, Reply, Request, ToolAnswer};
use futures::stream::BoxStream;

/// What a model sends while it answers. Exactly one `Done` or `Failed` ends the stream.
#[derive(Debug, Clone, PartialEq)]
pub enum Sampled {
    Delta(Delta),
    Done(Reply),
    Failed(Failure),
}

/// Something that answers requests. Dropping the stream closes the connection.
pub trait Provider: Send + Sync {
    fn sample(&self, request: Request) -> BoxStream<'static, Sampled>;
}

/// The text by which any dialect sends this block; `None` for blocks with a form of their own (calls,
/// answers, reasoning, raw) and for blank ones, which providers refuse.
pub fn plain_text(block: &Block) -> Option<String> {
    let text = match block {
        Block::Text { text } | Block::Notice { text } => text.clone(),
        Block::Excerpt(excerpt) => labelled(excerpt),
        Block::Thinking { .. } | Block::Call(_) | Block::Answer(_) | Block::Raw { .. } => {
            return None;
        }
    };
    (!text.trim().is_empty()).then_some(text)
}

/// An answer as the model reads it; a blank one, which some providers refuse, says that it is.
fn answer_text(answer: &ToolAnswer) -> &str {
    if answer.text.trim().is_empty() { "(no output)" } else { &answer.text }
}

fn labelled(excerpt: &Excerpt) -> String {
    let lines =
        excerpt.lines.map(|(first, last)| format!(" lines=\"{first}-{last}\"")).unwrap_or_default();
    let end = if excerpt.text.is_empty() || excerpt.text.ends_with('\n') { "" } else { "\n" };
    format!("<excerpt path=\"{}\"{lines}>\n{}{end}</excerpt>", excerpt.path, excerpt.text)
}
