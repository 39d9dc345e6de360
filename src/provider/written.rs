//! Calls that a model writes into its text, as open models do when their server does not know their format. A call
//! counts only if it is whole and names a tool of the request, and if it is no example in a code block or between
//! backticks.

mod bare;
mod cursor;
pub(super) mod described;
mod python;
mod tagged;
pub(super) mod taken;

pub use tagged::Written;

use crate::message::{Block, Reply, ToolSpec};
use tagged::{FORMS, tagged};

/// The calls in a text, in order.
pub fn find(text: &str, tools: &[ToolSpec]) -> Vec<Written> {
    let found = tagged(text, tools);
    if found.is_empty() { bare::find(text, tools) } else { found }
}

/// The calls in the texts of a reply without calls.
pub fn in_reply(reply: &Reply, tools: &[ToolSpec]) -> Vec<Written> {
    if reply.calls().next().is_some() {
        return Vec::new();
    }
    let texts = reply.blocks.iter().filter_map(|it| match it {
        Block::Text { text } => Some(text),
        _ => None,
    });
    texts.flat_map(|it| find(it, tools)).collect()
}

/// The place from which a text may be a call, as far as it has arrived, and whether the beginning of a call is there as
/// a whole. `is_first` says whether the text begins a line.
fn may_begin(text: &str, is_first: bool) -> Option<(usize, bool)> {
    let at_line = |at: usize| match text[..at].rsplit_once('\n') {
        Some((_, line)) => line.trim().is_empty(),
        None => is_first && text[..at].trim().is_empty(),
    };
    let bare = bare::BEGINS.iter().filter_map(|begin| {
        let at = text.match_indices(begin).map(|it| it.0).find(|it| at_line(*it))?;
        Some((at, true))
    });
    let tagged = FORMS.iter().filter_map(|(begin, ..)| Some((text.find(begin)?, true)));
    let all = FORMS.iter().map(|it| it.0).chain(bare::BEGINS);
    let cut = all.filter_map(|begin| {
        let mut ends = (1..begin.len()).rev().filter(|it| begin.is_char_boundary(*it));
        ends.find(|it| text.ends_with(&begin[..*it])).map(|it| (text.len() - it, false))
    });
    bare.chain(tagged).chain(cut).min_by_key(|it| it.0)
}

#[cfg(test)]
mod tests;
