//! Delays the verdict on an edit for about a second, until the diagnostics and the syntax errors after the edit are
//! known, so that the model gets all at once. A command of the user ends the delay.

use crate::conversation::Conversation;
use crate::message::{CallId, ToolAnswer};
use crate::session::Input;
use crate::tool::lsp::{Difference, Unparsed};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The state of one check after an edit: of the diagnostics, or of the syntax.
pub struct Check {
    /// The check's number.
    pub id: u32,
    pub looked: Looked,
}

pub enum Looked {
    /// The check has begun. The verdict on this file arrives later.
    Begun(PathBuf),
    Found(Difference),
    Unparsed(Unparsed),
    /// The editor has given the check up.
    Dropped,
}

#[derive(Default)]
pub(super) struct Checks {
    /// The ids of the checks that the editor has started and not yet answered.
    awaited: BTreeSet<u32>,
    /// The files with a check whose verdict has not come yet.
    due: BTreeSet<PathBuf>,
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
            Looked::Begun(path) => {
                self.awaited.insert(id);
                self.due.insert(path);
                return;
            }
            Looked::Found(it) => {
                let text = it.say(root);
                self.found.push((it.path, text));
            }
            Looked::Unparsed(it) => {
                let text = it.say(root);
                self.found.push((it.path, text));
            }
            Looked::Dropped => (),
        }
        self.awaited.remove(&id);
        self.pass(conversation);
    }

    /// Takes a verdict, and delays it while a check is under way.
    pub(super) fn judged(&mut self, conversation: &mut Conversation, input: Input) {
        self.due.retain(|path| !concerns(&input, path));
        self.verdicts.push(input);
        self.pass(conversation);
    }

    /// Passes the delayed verdicts on if no check is under way.
    fn pass(&mut self, conversation: &mut Conversation) {
        if self.awaited.is_empty() {
            self.flush(conversation);
        }
    }

    /// Passes all delayed verdicts on, with the results that have arrived until now.
    pub(super) fn release(&mut self, conversation: &mut Conversation) {
        self.due.clear();
        self.flush(conversation);
    }

    /// Passes the verdicts on with their results. A result that arrives before its verdict is kept for the verdict.
    fn flush(&mut self, conversation: &mut Conversation) {
        let mut verdicts = std::mem::take(&mut self.verdicts);
        let ready = self.found.extract_if(.., |(path, _)| !self.due.contains(path));
        for (path, text) in ready {
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

/// Adds the result of a check for which no delayed verdict is left. An answer with an empty call id goes to the model
/// with the next request.
fn note(conversation: &mut Conversation, text: String) {
    let answer = ToolAnswer::done(&CallId(String::new()), text, "");
    let (files, claims) = (Vec::new(), Vec::new());
    conversation.take(Input::Applied { files, answer, claims });
}

/// Whether a verdict is about this file.
fn concerns(input: &Input, path: &Path) -> bool {
    match input {
        Input::Reviewed { path: it, .. } => it == path,
        Input::Applied { files, .. } => files.iter().any(|it| it.0 == path),
        _ => false,
    }
}

/// The last answer in a verdict, if the verdict is about this file.
fn answer_on<'a>(input: &'a mut Input, path: &Path) -> Option<&'a mut ToolAnswer> {
    match input {
        it if !concerns(it, path) => None,
        Input::Reviewed { answers, .. } => answers.last_mut(),
        Input::Applied { answer, .. } => Some(answer),
        _ => None,
    }
}
