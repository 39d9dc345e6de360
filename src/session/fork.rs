//! A copy of a conversation, whole or up to a message, that is independent of the original.

use super::{Input, Limits, Phase, Session, say};
use crate::event::HIGHEST;
use crate::message::{Block, ExcerptKind, Message, Note, Role, Usage};
use std::path::{Path, PathBuf};

/// The last turn that these messages began, at most `HIGHEST`, because a file may contain any number.
pub(super) fn last_turn(messages: &[Message]) -> Option<u32> {
    messages.iter().filter_map(|it| it.turn).max().map(|it| it.min(HIGHEST))
}

/// Where a copy ends. The user's last `after` prompts are left out. If `is_prompt` is true, the copy ends with the last
/// prompt that is kept; otherwise the messages up to the next prompt are kept too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cut {
    pub after: usize,
    pub is_prompt: bool,
}

impl Session {
    /// A session without messages, with the same model, limits and coordinator mode.
    #[must_use]
    pub fn emptied(self) -> Session {
        let Session { model, tuning, limits, measures, learned, workers, .. } = self;
        let limits = limits.anew();
        let mut emptied =
            Session { model, tuning, measures, learned, limits, ..Session::default() };
        emptied.keep_coordinating(&workers);
        emptied
    }

    /// Copies the conversation, whole or up to `cut`. No turn runs in the copy: a turn that runs in the original is
    /// broken off in the copy. Queue, reviews, grants and cost stay with the original.
    #[must_use]
    pub fn fork(&self, cut: Option<Cut>) -> Session {
        let mut copy = self.clone();
        copy.leave_workers_to_original();
        copy.step(Input::Part);
        copy.queue.clear();
        copy.held.clear();
        copy.notes.extend(reviews_stay(&copy.reviewing, &copy.root).map(Note::from));
        copy.reviewing.clear();
        copy.granted.clear();
        if let Some(parent) = &mut copy.parent {
            parent.is_copy = true;
        }
        if copy.running_jobs().next().is_some() {
            copy.notes.push(say::JOBS_STAY.into());
        }
        copy.jobs.retain(|_, it| !it.is_running());
        (copy.usage, copy.spent, copy.unpriced) = (Usage::default(), 0.0, false);
        copy.limits = Limits::default();
        let end = cut.map_or(copy.messages.len(), |it| copy.kept(it));
        if end < copy.messages.len() {
            copy.cut(end);
        }
        copy.phase = Phase::Idle;
        copy
    }

    /// How many messages the copy keeps.
    fn kept(&self, Cut { after, is_prompt }: Cut) -> usize {
        let prompts: Vec<usize> = self
            .messages
            .iter()
            .enumerate()
            .filter_map(|(at, it)| is_shown(it).then_some(at))
            .collect();
        let left_out = prompts.len().saturating_sub(after);
        if is_prompt {
            return left_out.checked_sub(1).map_or(0, |it| prompts[it] + 1);
        }
        prompts.get(left_out).copied().unwrap_or(self.messages.len())
    }

    fn cut(&mut self, end: usize) {
        self.go_back(end);
        // Sessions of an older version do not say which message began which turn.
        let prompts = self.messages.iter().filter(|it| is_shown(it)).count();
        let counted = u32::try_from(prompts).unwrap_or(u32::MAX);
        self.turns = last_turn(&self.messages).unwrap_or(counted);
    }
}

/// Whether the chat shows the message as a message of the user.
pub(super) fn is_shown(message: &Message) -> bool {
    use ExcerptKind::{Agents, Changes, Instructions, Result, Skills};
    message.role == Role::User
        && message.blocks.iter().any(|it| match it {
            Block::Text { text } => !text.trim().is_empty(),
            Block::Excerpt(it) => {
                !matches!(it.kind, Instructions | Skills | Agents | Changes | Result)
            }
            _ => false,
        })
}

/// What the model of a copied conversation is told about edits on which the user decides in the original.
fn reviews_stay(paths: &[PathBuf], root: &Path) -> Option<String> {
    let names: Vec<String> =
        paths.iter().map(|it| it.strip_prefix(root).unwrap_or(it).display().to_string()).collect();
    (!names.is_empty()).then(|| {
        format!(
            "The user still decides on edits of {} in the original of this conversation, and the verdict goes there. \
             Read these files before you rely on their text.",
            names.join(", ")
        )
    })
}
