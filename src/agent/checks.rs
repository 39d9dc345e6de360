//! Verdicts wait for the diagnostics of their edits, a second or so: the model hears both at once. What the user
//! does meanwhile waits for nothing.

use super::Agent;
use crate::message::{CallId, ToolAnswer};
use crate::nvim::lsp;
use crate::nvim::wire::{CheckState, Checked};
use crate::session::Input;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

#[derive(Default)]
pub(super) struct Checks {
    /// What the editor looks into.
    awaited: BTreeSet<u32>,
    /// Verdicts, in the order in which they came.
    held: Vec<Input>,
    /// What was found, each with its file.
    found: Vec<(PathBuf, String)>,
}

impl Agent {
    pub(super) fn checked(&mut self, checked: &Checked) {
        match checked.state {
            CheckState::Awaited => {
                self.checks.awaited.insert(checked.id);
                return;
            }
            CheckState::Told => {
                let text = lsp::report(&self.setup.desk.root, checked);
                self.checks.found.push((checked.path.clone(), text));
            }
            CheckState::Dropped => (),
        }
        self.checks.awaited.remove(&checked.id);
        if self.checks.awaited.is_empty() {
            self.release();
        }
    }

    /// A verdict, which waits where something is being looked into.
    pub(super) fn judged(&mut self, input: Input) {
        self.checks.held.push(input);
        if self.checks.awaited.is_empty() {
            self.release();
        }
    }

    /// Tells what is held, with what was found so far.
    pub(super) fn release(&mut self) {
        let mut held = std::mem::take(&mut self.checks.held);
        for (path, text) in std::mem::take(&mut self.checks.found) {
            match held.iter_mut().rev().find_map(|it| answer_on(it, &path)) {
                Some(answer) => answer.text.push_str(&format!("\n{text}")),
                None => self.note(text),
            }
        }
        for input in held {
            self.take(input);
        }
    }

    /// An answer to no call joins the next request.
    fn note(&mut self, text: String) {
        let (id, summary) = (CallId(String::new()), String::new());
        let answer = ToolAnswer { id, text, failed: false, summary, output: None };
        self.take(Input::Applied { files: Vec::new(), answer });
    }
}

/// The last answer of a verdict on this file.
fn answer_on<'a>(input: &'a mut Input, path: &Path) -> Option<&'a mut ToolAnswer> {
    match input {
        Input::Reviewed { path: it, answers } if it == path => answers.last_mut(),
        Input::Applied { files, answer } if files.iter().any(|it| it.0 == path) => Some(answer),
        _ => None,
    }
}
