//! A text that a message carries as an excerpt is not sent again if the model has the same text already.

use super::Session;
use crate::event::{Item, Queued};
use crate::message::{Block, Excerpt, ExcerptKind};

/// The note that replaces a text which the model has already.
const SAME: &str = "same text as when it was last sent, so not sent again";
const SAME_IMAGE: &str = "same image as when it was last sent, so not sent again";

impl Session {
    /// The earlier excerpt with the text, if this excerpt in the message at this index has only the note that its text
    /// is the same as before.
    pub(super) fn repeated(&self, at: usize, excerpt: &Excerpt) -> Option<&Excerpt> {
        let blocks = self.messages[..=at].iter().rev().flat_map(|it| it.blocks.iter().rev());
        let mut earlier = blocks.filter_map(|it| match it {
            Block::Excerpt(it) if has_label_of(it, excerpt) && !it.text.is_empty() => Some(it),
            _ => None,
        });
        if [SAME, SAME_IMAGE].contains(&&*excerpt.note) { earlier.next() } else { None }
    }

    /// The message as the model gets it. If the text of an excerpt is equal to the last text that the model got under
    /// the same label (the same path and lines), a note replaces the text.
    pub(super) fn without_repeats(&self, mut message: Queued) -> Queued {
        let mut shown: Vec<Option<&Excerpt>> = self.excerpts().map(Some).collect();
        // requests do not contain the texts from before the compaction
        let compacted = self.compacted_excerpts().min(shown.len());
        shown[..compacted].fill(None);
        for trimmed in &self.trimmed {
            let Item::Excerpt(at) = trimmed.item else { continue };
            if let Some(it) = shown.get_mut(at as usize) {
                *it = None;
            }
        }
        let shown: Vec<&Excerpt> = shown.into_iter().flatten().collect();
        for at in 0..message.context.len() {
            let (before, rest) = message.context.split_at_mut(at);
            let excerpt = &mut rest[0];
            let all = before.iter().rev().chain(shown.iter().rev().copied());
            let mut last = all.filter(|it| has_label_of(it, excerpt) && !it.text.is_empty());
            let is_same = |it: &Excerpt| {
                let (one, other) = (it, &*excerpt);
                (&one.text, &one.note, &one.image) == (&other.text, &other.note, &other.image)
            };
            if may_repeat(excerpt) && last.next().is_some_and(is_same) {
                let note = if excerpt.image.take().is_some() { SAME_IMAGE } else { SAME };
                excerpt.text.clear();
                note.clone_into(&mut excerpt.note);
            }
        }
        message
    }
}

fn has_label_of(one: &Excerpt, other: &Excerpt) -> bool {
    (one.kind, &one.path, one.lines) == (other.kind, &other.path, other.lines)
}

/// Whether a note may replace the text: the note is shorter, and the text is not something that the user says.
fn may_repeat(excerpt: &Excerpt) -> bool {
    use ExcerptKind::{Answers, Command, Hunk, Plan, Remark, Skill};
    let is_added = !matches!(excerpt.kind, Hunk | Skill | Command | Answers | Plan | Remark);
    is_added && (excerpt.text.len() > SAME.len() || excerpt.image.is_some())
}
