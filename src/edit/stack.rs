//! Applies the calls of a reply in order, each to the result of the previous call, and makes proposals from the
//! results: for each file one proposal for its text, and one for its deletion or renaming.

use super::{Back, Change, Changed, Edit, Misfit, Part, Proposal, Refusal, Texts, apply};
use crate::message::CallId;
use crate::text::Text;
use std::path::Path;

pub struct Stack {
    /// The texts after the calls so far.
    texts: Texts,
    proposals: Vec<Proposal>,
}

/// How the changes of a file are proposed.
#[derive(Debug, Clone, Copy)]
pub struct Manner {
    /// Whether the text is written to disk as soon as it is in the buffer, before the review.
    pub at_once: bool,
    /// Whether the file is not text.
    pub is_binary: bool,
}

impl Stack {
    pub fn new(texts: Texts) -> Stack {
        Stack { texts, proposals: Vec::new() }
    }

    /// Applies all edits of a call, or none. Before the call's first edit of each file, `may` is asked whether the file
    /// may be changed. The last argument of `may` is true if no earlier call changed the file.
    pub fn push(
        &mut self,
        call: &CallId,
        edits: &[Edit],
        may: impl Fn(&Path, Option<&Text>, &Change, bool) -> Result<(), Misfit>,
        manner: impl Fn(&Path) -> Manner,
    ) -> Result<(), Box<Refusal>> {
        let Stack { texts, proposals } = self;
        let may = |path: &Path, now: Option<&Text>, change: &Change| {
            may(path, now, change, !proposals.iter().any(|it| it.path == *path))
        };
        for it in apply(texts, edits, may)? {
            let manner = manner(&it.path);
            self.join(call, it, manner);
        }
        Ok(())
    }

    /// The text of a file after the calls so far; `None` if there is no such file.
    pub fn text(&self, path: &Path) -> Option<&Text> {
        self.texts.get(path).and_then(Option::as_ref)
    }

    pub fn changes(&self, path: &Path) -> bool {
        self.proposals.iter().any(|it| it.path == *path)
    }

    pub fn proposals(mut self) -> Vec<Proposal> {
        for it in &mut self.proposals {
            if let Some(Some(text)) = self.texts.get(&it.path) {
                it.after.clone_from(text);
            }
        }
        self.proposals
    }

    fn join(&mut self, call: &CallId, changed: Changed, manner: Manner) {
        let Stack { texts, proposals } = self;
        let Changed { path, back, has_new_text, note, whole, .. } = changed;
        let part = |back, note| Part { call: call.clone(), back, note };
        let before = || back.before(texts.get(&path).cloned().flatten().unwrap_or_default());
        let proposal = |before, part, whole| Proposal {
            parts: vec![part],
            path: path.clone(),
            before,
            after: Text::default(),
            at_once: manner.at_once,
            whole,
            is_binary: manner.is_binary,
        };
        let of_file =
            whole.map(|it| proposal(before(), part(Back::default(), String::new()), Some(it)));
        if has_new_text {
            if let Some(known) = proposals.iter_mut().find(|it| it.path == path) {
                known.at_once &= manner.at_once;
                known.parts.push(part(back, note));
            } else {
                let before = before();
                proposals.push(proposal(before, part(back, note), None));
            }
        }
        proposals.extend(of_file);
    }
}
