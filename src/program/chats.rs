//! The sessions of the project as a whole: which there are, and what becomes of one.

use super::Program;
use crate::nvim::wire::{SessionRow, Sessions, ToNvim, WhereOpen};
use crate::store::Listed;
use std::collections::HashSet;

impl Program {
    /// Tells the editor which sessions there are, or in which of them a text stands.
    pub(super) fn list_sessions(&self, text: String) {
        let (project, editor) = (self.project.clone(), self.editor.clone());
        let here: HashSet<String> = self.agents.keys().map(|it| it.0.clone()).collect();
        tokio::task::spawn_blocking(move || {
            let text = text.trim().to_owned();
            let found = if text.is_empty() { project.list() } else { project.find(&text) };
            let sessions = found.into_iter().map(|it| listed(it, &here)).collect();
            editor.tell(ToNvim::Sessions(Sessions { text, sessions }));
        });
    }
}

fn listed(it: Listed, here: &HashSet<String>) -> SessionRow {
    let open = match (here.contains(&it.name), it.held) {
        (true, _) => WhereOpen::Here,
        (false, true) => WhereOpen::Elsewhere,
        (false, false) => WhereOpen::Nowhere,
    };
    let Listed { name, title, age, bytes, turns, held: _, problem, line } = it;
    SessionRow { name, title, age: age.as_secs(), bytes, turns, open, problem, line }
}
