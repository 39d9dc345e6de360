//! The text of a running reply, and the provider's searches before it. Both are saved in the journal, so that what the
//! user has seen survives a crash.

use crate::conversation::Conversation;
use crate::event::Delta;
use crate::message::{self, Block, Reply, Stop, Usage};

#[derive(Default)]
pub(super) struct Partial {
    /// The model that was asked, as `provider/model`.
    pub(super) by: String,
    blocks: Vec<Block>,
    /// What is not in the journal yet.
    unsaved: Vec<Block>,
}

impl Partial {
    /// Begins with blocks that are in the journal already.
    pub(super) fn of(by: String, blocks: Vec<Block>) -> Partial {
        Partial { by, blocks, unsaved: Vec::new() }
    }

    pub(super) fn is_empty(&self) -> bool {
        !self.blocks.iter().any(|it| matches!(it, Block::Text { .. }))
    }

    pub(super) fn gather(&mut self, delta: &Delta) {
        let more = match delta {
            Delta::Text(text) if !text.is_empty() => Block::Text { text: text.clone() },
            Delta::Searched(it) => Block::Searched(it.clone()),
            Delta::WasThought { bytes } => {
                return [&mut self.blocks, &mut self.unsaved]
                    .into_iter()
                    .for_each(|it| shorten(it, *bytes));
            }
            _ => return,
        };
        message::arrive(&mut self.blocks, more.clone());
        message::arrive(&mut self.unsaved, more);
    }

    /// Appends what is new to the journal.
    pub(super) fn save(&mut self, conversation: &mut Conversation) {
        let Some(store) = &mut conversation.store else { return };
        let unsaved = std::mem::take(&mut self.unsaved);
        let saved = unsaved.iter().try_for_each(|it| match it {
            Block::Text { text } => store.append_piece(text),
            Block::Searched(it) => store.append_search(it),
            _ => Ok(()),
        });
        if let Err(error) = saved {
            conversation.warn_of_disk(&error);
        }
    }

    /// Returns the blocks as a stopped reply, and forgets them. `None` if there is no text.
    pub(super) fn take(&mut self) -> Option<Reply> {
        let is_empty = self.is_empty();
        let Partial { by, blocks, .. } = std::mem::take(self);
        (!is_empty).then(|| Reply {
            blocks,
            stop: Stop::Cancelled,
            usage: Usage::default(),
            model: String::new(),
            by,
        })
    }
}

/// Removes the last bytes of the text at the end of these blocks.
fn shorten(blocks: &mut [Block], bytes: usize) {
    if let Some(Block::Text { text }) = blocks.last_mut() {
        let end = text.len().saturating_sub(bytes);
        if text.is_char_boundary(end) {
            text.truncate(end);
        }
    }
}
