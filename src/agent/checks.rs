//! Delays the verdict on an edit for about a second, until the diagnostics after the edit are known, so that the model
//! gets both at once. A command of the user ends the delay.

use crate::conversation::Conversation;
use crate::message::{CallId, ToolAnswer};
use crate::session::Input;
use crate::tool::lsp::Difference;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The state of one check of the diagnostics after an edit.
pub struct Check {
    /// The check's number.
    pub id: u32,
    pub looked: Looked,
}

pub enum Looked {
    Begun,
    Found(Difference),
    /// The check was given up.
    Dropped,
}

#[derive(Default)]
pub(super) struct Checks {
    /// The ids of the checks that the editor has started and not yet answered.
    awaited: BTreeSet<u32>,
    /// The delayed verdicts, in the order in which they arrived.
    verdicts: Vec<Input>,
    /// The results of finished checks, each with its file.
    found: Vec<(PathBuf, String)>,
}

impl Checks {
    /// Takes in the state of a check. `root` is the project's folder.
    pub(super) fn checked(&mut self, conversation: &mut Conversation, root: &Path, check: Check) {
        let Check { id, looked } = check;
        match looked {
            Looked::Begun => {
                self.awaited.insert(id);
                return;
            }
            Looked::Found(it) => {
                let text = it.say(root);
                self.found.push((it.path, text));
            }
            Looked::Dropped => (),
        }
        self.awaited.remove(&id);
        if self.awaited.is_empty() {
            self.release(conversation);
        }
    }

    /// Takes a verdict, and delays it while a check is under way.
    pub(super) fn judged(&mut self, conversation: &mut Conversation, input: Input) {
        self.verdicts.push(input);
        if self.awaited.is_empty() {
            self.release(conversation);
        }
    }

    /// Passes all delayed verdicts on, with the results that have arrived so far.
    pub(super) fn release(&mut self, conversation: &mut Conversation) {
        let mut verdicts = std::mem::take(&mut self.verdicts);
        for (path, text) in std::mem::take(&mut self.found) {
            match verdicts.iter_mut().rev().find_map(|it| answer_on(it, &path)) {
                Some(answer) => answer.text.push_str(&format!("\n{text}")),
                None => note(conversation, text),
            }
        }
        for input in verdicts {
            conversation.take(input);
        }
    }
}

/// Adds a result without a verdict: an answer with an empty call id goes with the next request.
fn note(conversation: &mut Conversation, text: String) {
    let answer = ToolAnswer::done(&CallId(String::new()), text, "");
    conversation.take(Input::Applied { files: Vec::new(), answer });
}

/// The last answer of a verdict on this file.
fn answer_on<'a>(input: &'a mut Input, path: &Path) -> Option<&'a mut ToolAnswer> {
    match input {
        Input::Reviewed { path: it, answers } if it == path => answers.last_mut(),
        Input::Applied { files, answer } if files.iter().any(|it| it.0 == path) => Some(answer),
        _ => None,
    }
}
