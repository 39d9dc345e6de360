//! Models behind one trait, `Provider`, which turns a request into a stream of values. The dialects encode requests and
//! decode the bytes of answers, and are tested without a network. Only `http` does input and output.

pub mod sse;
mod lines;
pub mod fault;
mod amount;
mod code;
mod thoughts;
pub mod written;
pub mod dialect;
pub mod parameter;
pub mod lesson;
mod anthropic;
mod openai_chat;
mod gemini;
mod openai_responses;
mod ollama;
pub mod reading;
mod secret;
pub mod key;
pub mod stored;
pub mod facts;
mod effort;
mod azure;
pub mod endpoint;
pub mod http;
pub mod prefix;
mod tail;
mod system;
pub mod probe;
pub mod tour;
#[cfg(test)]
mod recut;
#[cfg(test)]
mod mangled;
#[cfg(test)]
mod sample_request;
#[cfg(test)]
mod sample_images;

use crate::event::{Delta, Failure};
use crate::message::{Block, Image, Message, Reply, Request, ToolAnswer};
use base64::prelude::{BASE64_STANDARD as STANDARD, Engine as _};
use futures::stream::BoxStream;
use serde_json::Value;
use std::sync::Arc;

/// A value that a model sends while it answers. Exactly one `Done` or `Failed` ends the stream.
#[derive(Debug, Clone, PartialEq)]
pub enum Sampled {
    Delta(Delta),
    Done(Reply),
    Failed(Failure),
}

/// A model, or several models of one endpoint, that answers requests. Dropping the returned stream closes the
/// connection.
pub trait Provider: Send + Sync {
    fn sample(&self, request: Arc<Request>) -> BoxStream<'static, Sampled>;

    /// How a request is sent, for the user to read: a line with its address and headers, without the key, and its exact
    /// body, indented. `None` if the provider sends no requests.
    fn shown(&self, request: &Request) -> Option<(String, String)>;
}

/// The text of a block that a dialect sends unchanged. `None` for other blocks, and for blank blocks, which providers
/// refuse.
fn plain_text(block: &Block) -> Option<&str> {
    match block {
        Block::Text { text } if !text.trim().is_empty() => Some(text),
        _ => None,
    }
}

/// A JSON object of these fields, which are moved into it. `json!` would copy them, which takes long for large values.
fn object<const N: usize>(fields: [(&str, Value); N]) -> Value {
    fields.into_iter().map(|(name, it)| (name.to_owned(), it)).collect()
}

/// The content of an image in base64. `None` if the image's file was not read; requests leave such an image out.
fn base64(image: &Image) -> Option<String> {
    image.bytes().map(|it| STANDARD.encode(it))
}

/// An image as a `data:` URL that contains the image itself.
fn data_url(image: &Image) -> Option<String> {
    base64(image).map(|it| format!("data:{};base64,{it}", image.media()))
}

/// The images of all tool answers in a message, in order, for dialects in which tool answers cannot contain images.
fn answered_images(message: &Message) -> impl Iterator<Item = &Image> {
    message.blocks.iter().flat_map(|it| match it {
        Block::Answer(answer) => answer.images.as_slice(),
        _ => &[],
    })
}

/// The text before the images of tool answers, for dialects in which these images follow the answers.
const RESULTS: &str = "The images of the results above, in their order:";

/// The text of an answer. A blank answer becomes `(no output)`, because some providers refuse a blank one.
fn answer_text(answer: &ToolAnswer) -> &str {
    if answer.text.trim().is_empty() { "(no output)" } else { &answer.text }
}
