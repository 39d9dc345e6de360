//! What a decoder of an answer knows of the request, and what it does.

use crate::message::{Block, CallId, Request, Role, ToolSpec};
use crate::provider::Sampled;
use crate::provider::parameter::Sent;
use crate::provider::sse::Frame;
use crate::provider::written::taken::Taken;
use serde_json::Value;
use std::collections::{HashMap, HashSet};

/// The facts about a request that a decoder of its answer needs.
#[derive(Debug, Clone, Default)]
pub struct Asked {
    /// The endpoint's name, for error messages.
    pub provider: String,
    pub model: String,
    /// The parameters of the request. A refusal may name one of them.
    pub sent: Sent,
    seed: u64,
    taken: HashSet<String>,
    made: u32,
    /// The queries of the provider's searches whose results may come in this reply, by the searches' ids.
    queries: HashMap<String, String>,
    /// The tools, if the model writes its calls as text.
    written: Vec<ToolSpec>,
}

impl Asked {
    /// Calls that arrive without an id get an id made from `seed`, which should be different for each request.
    pub fn new(provider: &str, request: &Request, seed: u64) -> Asked {
        let taken =
            request.messages.iter().flat_map(|message| &message.blocks).filter_map(|block| {
                match block {
                    Block::Call(call) => Some(call.id.0.clone()),
                    _ => None,
                }
            });
        let last = request.messages.iter().rev().take_while(|it| it.role == Role::Assistant);
        let queries = last.flat_map(|it| &it.blocks).filter_map(|block| match block {
            Block::Raw { value, .. } if value["type"] == "server_tool_use" => Some((
                value["id"].as_str()?.to_owned(),
                value["input"]["query"].as_str()?.to_owned(),
            )),
            _ => None,
        });
        Asked {
            provider: provider.to_owned(),
            model: request.model.clone(),
            sent: Sent::default(),
            seed,
            taken: taken.collect(),
            made: 0,
            queries: queries.collect(),
            written: if request.calls_as_text { request.tools.clone() } else { Vec::new() },
        }
    }

    /// What takes the calls out of the text, if the model writes them there.
    pub(in crate::provider) fn taken(&self) -> Option<Taken> {
        (!self.written.is_empty()).then(|| Taken::new(self.written.clone(), self.seed))
    }

    /// The query of a search that the provider began in the reply before this one.
    pub(in crate::provider) fn query(&self, id: &str) -> Option<&str> {
        self.queries.get(id).map(String::as_str)
    }

    /// The id that a call gets in the conversation: the provider's id, or a new one if the provider's is missing or has
    /// been used before.
    pub(in crate::provider) fn claim(&mut self, given: &str) -> CallId {
        let mut id = given.to_owned();
        while id.is_empty() || self.taken.contains(&id) {
            self.made += 1;
            id = format!("call_{:016x}_{}", self.seed, self.made);
        }
        self.taken.insert(id.clone());
        CallId(id)
    }
}

/// Turns the frames (events or lines) of one dialect's answer into values.
pub(in crate::provider) trait Decoder: Send {
    /// Adds the content of the frame to `out`. Nothing follows a `Done` or `Failed`.
    fn read(&mut self, frame: Frame<'_>, out: &mut Vec<Sampled>);
    /// Called if the bytes ended without `Done` or `Failed`. Returns the reply if it was complete, otherwise the
    /// failure.
    fn end(&mut self) -> Sampled;
    /// Adds the content of an answer that came as one JSON value instead of a stream. Most dialects send the same
    /// fields in both.
    fn whole(&mut self, value: &Value, out: &mut Vec<Sampled>) {
        let parts = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
        for part in parts {
            self.read(Frame { event: "", data: &part.to_string() }, out);
        }
    }
    /// The request that is answered.
    fn asked(&self) -> &Asked;
}
