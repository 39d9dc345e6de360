//! The text of a running reply. It is saved in the journal, so that what the user has seen survives a crash.

use crate::conversation::Conversation;
use crate::event::Delta;
use crate::message::{Block, Reply, Searched, Stop, Usage};

#[derive(Default)]
pub(super) struct Partial {
    /// The model that was asked, as `provider/model`.
    pub(super) by: String,
    text: String,
    /// The provider's searches, on which the text may rest.
    searched: Vec<Searched>,
    /// The number of bytes that are in the journal.
    saved: usize,
}

impl Partial {
    /// Starts with the text that the journal has.
    pub(super) fn of(by: String, text: String) -> Partial {
        Partial { by, saved: text.len(), text, searched: Vec::new() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    pub(super) fn gather(&mut self, delta: &Delta) {
        match delta {
            Delta::Text(text) => self.text.push_str(text),
            Delta::Searched(it) => self.searched.push(it.clone()),
            _ => (),
        }
    }

    /// Appends the new text to the journal.
    pub(super) fn save(&mut self, conversation: &mut Conversation) {
        let Some(store) = &mut conversation.store else { return };
        if self.saved < self.text.len() {
            let saved = std::mem::replace(&mut self.saved, self.text.len());
            if let Err(error) = store.append_piece(&self.text[saved..]) {
                conversation.warn_of_disk(&error);
            }
        }
    }

    /// Returns the text as a stopped reply, and forgets it.
    pub(super) fn take(&mut self) -> Option<Reply> {
        let Partial { by, text, searched, .. } = std::mem::take(self);
        let searched = searched.into_iter().map(Block::Searched);
        (!text.is_empty()).then(|| Reply {
            blocks: searched.chain([Block::Text { text }]).collect(),
            stop: Stop::Cancelled,
            usage: Usage::default(),
            model: String::new(),
            by,
        })
    }
}
