//! A model behind a door: a request in, a stream of what it says out. The dialects are decoders over
//! bytes and encoders of the neutral request, tested without a network; `http` is the only shell.

use crate::event::{Delta, Failure};
use crate::message::{Reply, Request};
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
