//! Fields in the messages of a session's file that this program does not know, because a person or another program has
//! written them. When the session is saved, an unknown field stays in its message.

use crate::message::Message;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The unknown fields of one message: the message's index, its blocks as this program writes them, the unknown fields
/// of the message itself, and those of each block.
#[derive(Debug)]
struct UnknownFields {
    at: usize,
    blocks: Value,
    own: Map<String, Value>,
    by_block: Vec<Map<String, Value>>,
}

#[derive(Debug, Default)]
pub(super) struct Unknown(Vec<UnknownFields>);

/// A message as it is written to the file: with its unknown fields, if it has any.
#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum Written<'a> {
    Ours(&'a Message),
    More(Value),
}

impl Unknown {
    pub(super) fn of(file: &[u8]) -> Unknown {
        let mut file: Value = serde_json::from_slice(file).unwrap_or_default();
        let messages = file.get_mut("messages").map(Value::take).unwrap_or_default();
        let messages = messages.as_array().into_iter().flatten().enumerate();
        Unknown(messages.filter_map(|(at, it)| unknown_fields(at, it)).collect())
    }

    /// The messages with their unknown fields. A message that has changed loses its unknown fields.
    pub(super) fn with<'a>(&self, messages: &'a [Message]) -> Vec<Written<'a>> {
        let mut all: Vec<Written> = messages.iter().map(Written::Ours).collect();
        for it in &self.0 {
            let more = messages.get(it.at).and_then(|message| it.add_to(message));
            if let (Some(more), Some(place)) = (more, all.get_mut(it.at)) {
                *place = Written::More(more);
            }
        }
        all
    }
}

impl UnknownFields {
    fn add_to(&self, message: &Message) -> Option<Value> {
        let mut value =
            serde_json::to_value(message).ok().filter(|it| it["blocks"] == self.blocks)?;
        for (block, more) in value["blocks"].as_array_mut()?.iter_mut().zip(&self.by_block) {
            block.as_object_mut()?.extend(more.clone());
        }
        value.as_object_mut()?.extend(self.own.clone());
        Some(value)
    }
}

/// The unknown fields of the message at this index; `None` if it has none.
fn unknown_fields(at: usize, stood: &Value) -> Option<UnknownFields> {
    let mut ours = serde_json::to_value(Message::deserialize(stood).ok()?).ok()?;
    if ours == *stood {
        return None;
    }
    let own = missing_fields(stood, &ours);
    let blocks = ours["blocks"].take();
    let pairs = stood["blocks"].as_array()?.iter().zip(blocks.as_array()?);
    let by_block = pairs.map(|(stood, ours)| missing_fields(stood, ours)).collect();
    Some(UnknownFields { at, blocks, own, by_block })
}

/// The fields of one object that the other does not have.
fn missing_fields(stood: &Value, ours: &Value) -> Map<String, Value> {
    let fields = stood.as_object().into_iter().flatten();
    let fields = fields.filter(|(name, _)| ours.get(name.as_str()).is_none());
    fields.map(|(name, value)| (name.clone(), value.clone())).collect()
}
