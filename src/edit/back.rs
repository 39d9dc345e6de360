//! Restores a text as it was before some edits. Keeps only the text that the edits replaced, not a copy of the whole
//! text.

use crate::text::Text;
use std::ops::Range;

/// A range of bytes of a text, and the text that replaces it.
pub(super) type Splice = (Range<usize>, String);

/// One step for each edit, in the order of the edits. The steps are applied from the last to the first. Empty if no
/// edit changed the text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Back(Vec<Step>);

/// How one edit is undone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Step {
    /// Ranges of the text after the edit, each with the text that the edit replaced there. The ranges ascend and do not
    /// overlap.
    Places(Vec<Splice>),
    /// The whole text before the edit; `None` if there was no file.
    Whole(Option<Text>),
}

impl Back {
    /// A `Back` that restores this text, whatever the edits did.
    pub fn to(text: Option<Text>) -> Back {
        Back(vec![Step::Whole(text)])
    }

    /// Adds the step for one more edit.
    pub(super) fn push(&mut self, step: Step) {
        match step {
            Step::Places(places) if places.is_empty() => (),
            step => self.0.push(step),
        }
    }

    /// The text before the edits; `None` if there was no file.
    pub(super) fn before(&self, after: Text) -> Option<Text> {
        let mut text = Some(after);
        for step in self.0.iter().rev() {
            match (step, &mut text) {
                (Step::Whole(before), text) => text.clone_from(before),
                (Step::Places(places), Some(text)) => drop(splice(&mut text.content, places)),
                (Step::Places(_), None) => (),
            }
        }
        text
    }

    /// Whether the edits changed the text. A single edit always does; several edits may cancel each other.
    pub(super) fn is_changed(&self, after: &Text) -> bool {
        match &self.0[..] {
            [] => false,
            [Step::Places(_)] => true,
            [Step::Whole(before)] => before.as_ref() != Some(after),
            _ => self.before(after.clone()).as_ref() != Some(after),
        }
    }
}

/// Applies changes that ascend and do not overlap. Returns the changes that undo them, or `None` if the text stays the
/// same.
pub(super) fn splice(content: &mut String, splices: &[Splice]) -> Option<Vec<Splice>> {
    if let [(bytes, new)] = splices {
        let stood = &content[bytes.start..bytes.end];
        if stood == new {
            return None;
        }
        let stood = vec![(bytes.start..bytes.start + new.len(), stood.to_owned())];
        content.replace_range(bytes.start..bytes.end, new);
        return Some(stood);
    }
    let mut out = String::with_capacity(content.len());
    let mut stood = Vec::with_capacity(splices.len());
    let mut from = 0;
    for (bytes, new) in splices {
        out.push_str(&content[from..bytes.start]);
        let at = out.len();
        out.push_str(new);
        stood.push((at..out.len(), content[bytes.start..bytes.end].to_owned()));
        from = bytes.end;
    }
    out.push_str(&content[from..]);
    if out == *content {
        return None;
    }
    *content = out;
    Some(stood)
}
