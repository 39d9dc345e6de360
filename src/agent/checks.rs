//! Verdicts wait for the diagnostics of their edits, a second or so: the model hears both at once. What the user
//! does meanwhile waits for nothing.

use crate::conversation::Conversation;
use crate::message::{CallId, ToolAnswer};
use crate::session::Input;
use crate::tool::lsp::Difference;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// What became of a look into the diagnostics that an edit changed.
pub struct Check {
    /// Of the look.
    pub id: u32,
    pub looked: Looked,
}

pub enum Looked {
    Begun,
    Found(Difference),
    /// Nobody looks any more.
    Dropped,
}

#[derive(Default)]
pub(super) struct Checks {
    /// What the editor looks into.
    awaited: BTreeSet<u32>,
    /// Verdicts, in the order in which they came.
    verdicts: Vec<Input>,
    /// What was found, each with its file.
    found: Vec<(PathBuf, String)>,
}

impl Checks {
    /// `root`: the project's.
    pub(super) fn checked(&mut self, to: &mut Conversation, root: &Path, check: Check) {
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
            self.release(to);
        }
    }

    /// A verdict, which waits where something is being looked into.
    pub(super) fn judged(&mut self, to: &mut Conversation, input: Input) {
        self.verdicts.push(input);
        if self.awaited.is_empty() {
            self.release(to);
        }
    }

    /// Tells what is verdicts, with what was found so far.
    pub(super) fn release(&mut self, to: &mut Conversation) {
        let mut verdicts = std::mem::take(&mut self.verdicts);
        for (path, text) in std::mem::take(&mut self.found) {
            match verdicts.iter_mut().rev().find_map(|it| answer_on(it, &path)) {
                Some(answer) => answer.text.push_str(&format!("\n{text}")),
                None => note(to, text),
            }
        }
        for input in verdicts {
            to.take(input);
        }
    }
}

/// An answer to no call joins the next request.
fn note(to: &mut Conversation, text: String) {
    let answer = ToolAnswer::done(&CallId(String::new()), text, "");
    to.take(Input::Applied { files: Vec::new(), answer });
}

/// The last answer of a verdict on this file.
fn answer_on<'a>(input: &'a mut Input, path: &Path) -> Option<&'a mut ToolAnswer> {
    match input {
        Input::Reviewed { path: it, answers } if it == path => answers.last_mut(),
        Input::Applied { files, answer } if files.iter().any(|it| it.0 == path) => Some(answer),
        _ => None,
    }
}
