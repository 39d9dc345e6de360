//! Items that requests replace by one line each, so that the conversation fits into the model's window.

use super::{Session, Step};
use crate::event::{Event, Item, Trim};
use crate::message::{Block, CallId, Excerpt, Message, Role};
use std::collections::HashSet;

impl Session {
    /// The excerpts in user messages, in order. An excerpt's number is its place in this list.
    pub fn excerpts(&self) -> impl Iterator<Item = &Excerpt> {
        excerpts(&self.messages)
    }

    /// The number of excerpts in the messages that a compaction has replaced, which requests do not contain.
    pub fn compacted_excerpts(&self) -> usize {
        excerpts(&self.messages[..self.beginning()]).count()
    }

    /// The items that are trimmed already.
    pub fn trimmed_items(&self) -> HashSet<&Item> {
        self.trimmed.iter().map(|it| &it.item).collect()
    }

    pub(super) fn trim(
        &mut self,
        mut items: Vec<Trim>,
        tokens: u64,
        told: String,
        step: &mut Step,
    ) {
        let trimmed = self.trimmed_items();
        let answered = self.answered_calls();
        let excerpts = self.excerpts().count();
        let mut taken = HashSet::new();
        items.retain(|Trim { item, line }| {
            let is_here = match item {
                Item::Call(id) => answered.contains(id),
                Item::Excerpt(at) => (*at as usize) < excerpts,
            };
            is_here
                && !line.trim().is_empty()
                && !trimmed.contains(item)
                && taken.insert(item.clone())
        });
        if !items.is_empty() {
            self.record(Event::Trimmed { items, tokens, told }, step);
        }
    }

    fn answered_calls(&self) -> HashSet<&CallId> {
        let blocks = self.messages.iter().flat_map(|it| &it.blocks);
        let answers = blocks.filter_map(|it| match it {
            Block::Answer(answer) => Some(&answer.id),
            _ => None,
        });
        answers.collect()
    }

    /// Forgets trimmed items whose messages were removed, because later items may get the same numbers and ids.
    pub(super) fn forget_removed_items(&mut self) {
        let answered: HashSet<CallId> = self.answered_calls().into_iter().cloned().collect();
        let excerpts = self.excerpts().count();
        self.trimmed.retain(|it| match &it.item {
            Item::Call(id) => answered.contains(id),
            Item::Excerpt(at) => (*at as usize) < excerpts,
        });
    }

    pub(super) fn apply_trim(&mut self, items: &[Trim], tokens: u64, told: &str) {
        self.trimmed.extend_from_slice(items);
        self.context = self.context.saturating_sub(tokens);
        self.say(Role::Note, vec![Block::Text { text: told.to_owned() }]);
    }
}

fn excerpts(messages: &[Message]) -> impl Iterator<Item = &Excerpt> {
    let said = messages.iter().filter(|it| it.role == Role::User);
    said.flat_map(|it| &it.blocks).filter_map(|it| match it {
        Block::Excerpt(it) => Some(it),
        _ => None,
    })
}
