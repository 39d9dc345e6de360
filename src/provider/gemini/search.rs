//! Reads Google's own searches of the web from the parts of a reply and from its grounding.

use super::NAME;
use crate::message::{Block, Message, Searched};
use serde_json::Value;

/// Whether a message has a search.
pub(super) fn is_in(message: &Message) -> bool {
    message.blocks.iter().any(|it| match it {
        Block::Raw { provider, value } => provider == NAME && value.get("toolCall").is_some(),
        _ => false,
    })
}

/// The search whose result is this part. `blocks` are the blocks before it. `None` for other parts.
pub(super) fn of(part: &Value, blocks: &[Block]) -> Option<Searched> {
    let response = part.get("toolResponse")?;
    let calls = blocks.iter().rev().filter_map(|it| match it {
        Block::Raw { value, .. } => value.get("toolCall"),
        _ => None,
    });
    let call = calls.into_iter().find(|it| it["id"] == response["id"]);
    Some(Searched::new(&call.map(|it| queries(&it["args"]["queries"])).unwrap_or_default()))
}

/// Adds the pages on which a reply is based to the reply's last search. If the reply has no search, adds one.
pub(super) fn ground(grounding: &Value, blocks: &mut Vec<Block>) {
    let pages = grounding["groundingChunks"].as_array().map(Vec::as_slice).unwrap_or_default();
    let asked = queries(&grounding["webSearchQueries"]);
    if pages.is_empty() && asked.is_empty() {
        return;
    }
    if !blocks.iter().any(|it| matches!(it, Block::Searched(_))) {
        blocks.push(Block::Searched(Searched::new(&asked)));
    }
    let last = blocks.iter_mut().rev().find_map(|it| match it {
        Block::Searched(it) => Some(it),
        _ => None,
    });
    let Some(last) = last else { return };
    for page in pages.iter().map(|it| &it["web"]) {
        let field = |name: &str| page[name].as_str().unwrap_or_default();
        last.add(field("title"), field("uri"));
    }
}

fn queries(list: &Value) -> String {
    let all = list.as_array().into_iter().flatten().filter_map(Value::as_str);
    all.collect::<Vec<_>>().join("; ")
}
