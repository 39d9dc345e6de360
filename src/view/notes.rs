//! Sentences for the user in the chat: notices, notes for the model (reworded so that they address the user), and the
//! lines that mark compactions.

use super::blocks::{Block, Content, Shape, View};
use super::team::HELD;
use super::{Part, lines, second_person};
use crate::event::{Event, Mode, Tuning};
use crate::message::{Excerpt, ExcerptKind};
use crate::session::{self, is_for_both, is_held};
use serde_json::Value;

/// The user's sentence about another system prompt.
pub(super) const RENEWED: &str =
    "The system prompt was replaced. The model reads the whole conversation again.";

/// The fields of a worker's hand-off as the user reads them. The line above the hand-off says its status.
const HAND_OFF: [(&str, &str); 4] = [
    ("what_was_done", ""),
    ("evidence", "Evidence: "),
    ("unresolved_risks", "Risks: "),
    ("exact_next_step", "Next: "),
];

/// The result of a worker for the user: the fields of its hand-off that say something, in place of their JSON.
fn handed(text: &str) -> String {
    let Some((from, to)) = text.find("\n{").zip(text.rfind("\n}")).filter(|it| it.0 < it.1) else {
        return text.to_owned();
    };
    let (json, after) = text[from..].split_at(to + 2 - from);
    let Ok(fields) = serde_json::from_str::<Value>(json) else { return text.to_owned() };
    let mut shown = text[..from].to_owned();
    for (field, words) in HAND_OFF {
        let said = fields[field].as_str().map(str::trim).unwrap_or_default();
        if !said.is_empty() {
            shown.push_str(&format!("\n{words}{said}"));
        }
    }
    shown + after
}

impl View {
    /// Shows a note for the user. A note with a hand-off is shown as a compaction.
    pub(super) fn told(&mut self, blocks: &[Part]) {
        if let [Part::Text { text: told }, Part::Notice { text: handoff, .. }] = blocks {
            return self.boundary(told, handoff);
        }
        for block in blocks {
            if let Part::Text { text } = block {
                self.notice(text);
            }
        }
    }

    /// Shows the progress or the result of trimming or compaction.
    pub(super) fn shortened(&mut self, event: &Event) {
        match event {
            Event::Trimmed { told, .. } | Event::Uncompacted { told } => self.notice(told),
            Event::Compacting { told, .. } => {
                // if the reply was too long for the model, it is requested again
                self.take_back();
                self.notice(told);
            }
            Event::Compacted { handoff, .. } => self.boundary(&handoff.told, &handoff.text),
            Event::NotCompacted { why, .. } => self.notice(why),
            _ => (),
        }
    }

    /// Removes the lines of an empty chat, because the conversation begins.
    pub(super) fn end_intro(&mut self) {
        let intro = self.blocks.first().filter(|it| it.shape == Shape::Intro);
        if intro.is_some_and(Block::is_shown) {
            self.remove(0);
        }
    }

    fn boundary(&mut self, told: &str, handoff: &str) {
        let (told, handoff) = (lines::clean(told).replace('\n', " "), lines::clean(handoff));
        let at = self.push(Shape::Boundary, Content::Boundary { told, handoff, open: false });
        self.blocks[at].done = true;
    }

    /// Tells the user which instructions, skills or changes go with a request.
    pub(super) fn instructed<'a>(&mut self, files: impl IntoIterator<Item = &'a Excerpt>) {
        for it in files {
            match it.kind {
                ExcerptKind::Instructions => {
                    self.notice(&format!("Instructions: {}", lines::sized(it)));
                }
                ExcerptKind::Result => self.notice(&handed(&it.text)),
                ExcerptKind::Skills => self.notice("The skills have changed: /skills lists them."),
                ExcerptKind::Agents => self.notice("The agents have changed: /agents lists them."),
                ExcerptKind::Changes => {
                    let path = lines::clean(&it.path).replace('\n', " ");
                    self.notice(&match &*it.text {
                        session::MAY_DIFFER => {
                            format!("The model is told that {path} may have changed.")
                        }
                        text if text.ends_with(session::NOT_KNOWN) => {
                            format!("The model is told that {path} has changed, but not how.")
                        }
                        _ => format!("The model is told what changed in {path}."),
                    });
                }
                _ => (),
            }
        }
    }

    /// Shows a note of this moment. A subagent's orders are not for the user.
    pub(super) fn noted_now(&mut self, text: &str) {
        if text != session::SUBAGENT {
            self.notice(&second_person::worded(text));
        }
    }

    /// Shows a note for the model to the user, unless the chat says the same in other words.
    pub(super) fn noted(&mut self, text: &str) {
        if is_held(text) {
            self.notice(HELD);
        } else if text != session::SUBAGENT && is_for_both(text) {
            self.notice(&second_person::worded(text));
        }
    }

    /// Shows a list. Keys no longer act on the items of the lists above it.
    pub(super) fn list(&mut self, text: &str, items: u32) {
        for at in 0..self.blocks.len() {
            if let Content::List { lines, .. } = &mut self.blocks[at].content {
                self.blocks[at].content = Content::Lines(std::mem::take(lines));
                self.changed(at);
            }
        }
        let at = self.push(Shape::Notice, Content::List { lines: lines::notice(text), items });
        self.blocks[at].done = true;
    }

    pub(super) fn model_chosen(&mut self, model: &str, tuning: Tuning) {
        if tuning.is_empty() {
            self.notice(&format!("Model: {model}."));
        } else {
            self.notice(&format!("Model: {model}, {tuning}."));
        }
    }

    pub(super) fn mode_chosen(&mut self, mode: Mode) {
        self.notice(&format!("Mode {mode}: {}.", mode.means()));
    }

    pub(super) fn notice(&mut self, text: &str) {
        self.push_lines(Shape::Notice, lines::notice(text));
    }
}
