//! `AGENTS.md` and its like: what a conversation begins with, what joins it once a folder is touched, and what
//! the disk has that the conversation has not.

use super::Agent;
use crate::context::instructions::{self, Found};
use crate::message::{Block, Excerpt, ExcerptKind, Role};
use crate::session::Input;
use crate::view;
use std::path::PathBuf;

impl Agent {
    /// The instructions that a new conversation would begin with.
    pub(super) fn gathered(&self) -> Found {
        self.setup.places.as_ref().map(instructions::gather).unwrap_or_default()
    }

    /// How the instructions that the conversation began with differ from these, in a sentence.
    pub(super) fn outdated(&self, now: &[Excerpt]) -> Option<String> {
        let first = self.setup.session.messages.first().filter(|it| it.role == Role::System);
        let blocks = first.into_iter().flat_map(|it| &it.blocks);
        let had: Vec<&Excerpt> = blocks
            .filter_map(|it| match it {
                Block::Excerpt(it) if it.kind == ExcerptKind::Instructions => Some(it),
                _ => None,
            })
            .collect();
        instructions::changed(&had, now)
    }

    /// Says once when a file changes whose old text the conversation has.
    pub(super) fn watch_instructions(&mut self) {
        let outdated = self.outdated(&self.gathered().files);
        if outdated != self.outdated {
            self.outdated.clone_from(&outdated);
            self.tell_once(outdated);
        }
    }

    /// Takes along the instructions of folders that are touched first, or whose file has changed since.
    pub(super) fn touch(&mut self, touched: &[PathBuf]) {
        let Some(places) = &self.setup.places else { return };
        let Found { mut files, problems } = instructions::nested(places, touched);
        files.retain(|it| {
            let had = self
                .setup
                .session
                .given(ExcerptKind::Instructions)
                .filter(|had| had.path == it.path)
                .last();
            had.is_none_or(|had| had.text != it.text)
        });
        self.tell_once(problems);
        if !files.is_empty() {
            self.take(Input::Instruct { files });
        }
    }

    /// Sentences for the user, but for those that the conversation has already.
    pub(super) fn tell_once(&mut self, texts: impl IntoIterator<Item = String>) {
        for text in texts {
            let mut said = self.setup.session.messages.iter().flat_map(|it| &it.blocks);
            if !said.any(|it| matches!(it, Block::Text { text: told } if *told == text)) {
                self.take(Input::Tell { text });
            }
        }
    }

    /// The instructions that the model has, for the user; empty where there are none.
    pub(super) fn list_of_instructions(&self) -> String {
        let lines: Vec<String> = self
            .setup
            .session
            .given(ExcerptKind::Instructions)
            .map(|it| format!("\n  {}", view::sized(it)))
            .collect();
        if lines.is_empty() {
            return String::new();
        }
        format!("\nInstructions, in the order in which the model reads them:{}", lines.concat())
    }
}
