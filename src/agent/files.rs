//! The user's files: the texts that the model knows, the content before each turn changed it, checks of diagnostics,
//! and files that are not saved.

use super::checkpoints::{Keeper, KeeperMessage, Record};
use super::checks::{Check, Checks, Looked};
use super::children::worktrees::Worktrees;
use super::command::Decided;
use super::known::{self, Cause, Known, Observation, Tracker};
use super::todo::Todo;
use super::turn::Turn;
use super::{edits, work};
use crate::conversation::Conversation;
use crate::conversation::report::Level;
use crate::event::TurnId;
use crate::session::Input;
use crate::store::tally::Tally;
use crate::tool::{self, Call, Desk};
use std::path::{Path, PathBuf};
use tokio::sync::mpsc;

pub(super) struct Files {
    pub(super) known: Known,
    pub(super) record: Record,
    pub(super) checks: Checks,
    pub(super) todo: Todo,
    /// The worktrees of subagents whose changes are under review.
    pub(super) worktrees: Worktrees,
    /// Files whose accepted text is in the buffer but not on disk.
    unsaved: Vec<PathBuf>,
}

/// The messages of tasks that work with files.
pub(super) struct Changes {
    pub(super) observations: mpsc::UnboundedReceiver<Observation>,
    pub(super) keeper_messages: mpsc::UnboundedReceiver<KeeperMessage>,
}

impl Files {
    /// `lent` is the keeper of a subagent's parent.
    pub(super) fn new(lent: Option<Keeper>, is_apart: bool) -> (Files, Changes) {
        let (known, observations) = Known::new();
        let (record, keeper_messages) = Record::new(lent, is_apart);
        let files = Files {
            known,
            record,
            checks: Checks::default(),
            todo: Todo::default(),
            worktrees: Worktrees::default(),
            unsaved: Vec::new(),
        };
        (files, Changes { observations, keeper_messages })
    }

    pub(super) fn tracker<'a>(
        &'a mut self,
        conversation: &'a mut Conversation,
        desk: &'a Desk,
    ) -> Tracker<'a> {
        Tracker { known: &mut self.known, conversation, desk }
    }

    /// Takes in the user's decisions on a file's changes. If the file may be read only with consent and the model does
    /// not know its text, the model is not shown the text, because a review that was stored on disk may be forged.
    pub(super) fn decided(
        &mut self,
        conversation: &mut Conversation,
        desk: &Desk,
        decided: Decided,
    ) {
        let Decided { mut answers, mut claims, path, saved, text } = decided;
        self.note_saved(conversation, &desk.root, &path, saved);
        // a conversation that was emptied does not hear of edits that it never made
        let count = answers.len();
        answers.retain(|it| conversation.session.has_made(&it.id));
        claims.retain(|it| conversation.session.has_made(&it.call));
        if answers.is_empty() && count > 0 {
            let shown = desk.shown(&path);
            let text = format!(
                "No model hears of your decision on {shown}: the conversation with the edit is gone."
            );
            conversation.notice(Level::Info, text);
            return conversation.take(Input::Reviewed { path, answers, claims });
        }
        self.worktrees.decided(answers.iter().map(|it| &it.id));
        if text.is_some() || !answers.is_empty() {
            self.record.settle(conversation, &path, text.as_ref());
        }
        if self.known.may_be_told(desk, &path) {
            self.tracker(conversation, desk).settled(&path, text);
        } else {
            let shown = desk.shown(&path);
            for it in &mut answers {
                it.text = format!(
                    "The user decided on your changes to {shown} ({}). Its text is not shown here: call `read`, \
                     which asks the user.",
                    it.summary
                );
            }
        }
        self.checks.judged(conversation, Input::Reviewed { path, answers, claims });
    }

    /// Takes in the state of a check after an edit.
    pub(super) fn checked(
        &mut self,
        conversation: &mut Conversation,
        desk: &Desk,
        mut check: Check,
    ) {
        if let Looked::Unparsed(it) = &mut check.looked
            && !self.known.may_be_told(desk, &it.path)
        {
            it.hide_text();
        }
        self.checks.checked(conversation, &desk.root, check);
    }

    /// Notes whether a file's accepted text has been written to disk.
    pub(super) fn note_saved(
        &mut self,
        conversation: &mut Conversation,
        root: &Path,
        path: &Path,
        saved: bool,
    ) {
        self.unsaved.retain(|it| *it != path);
        if !saved {
            self.unsaved.push(path.to_owned());
        }
        let paths = self.unsaved.iter().map(|it| tool::path::show(root, it)).collect();
        conversation.take(Input::Unsaved { paths });
    }

    /// Before a request: looks at the files on disk of which its verdicts speak. Returns false if it speaks of none.
    /// `Input::Stood` has the result.
    pub(super) fn look_again(
        &self,
        conversation: &Conversation,
        desk: &Desk,
        turn: &mut Turn,
        of: TurnId,
    ) -> bool {
        let paths = conversation.session.claimed();
        if paths.is_empty() {
            return false;
        }
        let mut watched = self.known.watched(&conversation.session, desk);
        watched.retain(|it| it.is_in(&paths));
        let (workspace, results) = (desk.workspace.clone(), turn.results());
        let observations = self.known.observations();
        turn.attend(async move {
            let looks = known::look(&*workspace, &watched).await;
            let files = workspace.standings(paths.into_iter().collect()).await;
            // what has changed is taken in before the words about the disk are made
            let _ = observations.send(Observation::Looked(Cause::User, looks, Vec::new()));
            let _ = results.send(Input::Stood { turn: Some(of), files });
        });
        true
    }

    /// Everything that a read or a command needs.
    pub(super) fn run(
        &mut self,
        conversation: &Conversation,
        desk: &Desk,
        turn: &Turn,
        call: &Call,
    ) -> work::Job {
        let named = conversation.named_unsaved(call.id());
        let agreed = |it: &&PathBuf| named.contains(&tool::path::show(&desk.root, it));
        let keeper = if call.acts() { self.record.keeper(conversation) } else { None };
        work::Job {
            desk: Desk {
                agreed: conversation.agreed(call.id()),
                confinement: desk.confinement.clone().unlocking(conversation.unlocked(call.id())),
                ..desk.clone()
            },
            results: turn.results(),
            observations: self.known.observations(),
            watched: if call.changes() {
                self.known.watched(&conversation.session, desk)
            } else {
                Vec::new()
            },
            unsaved: self.unsaved.clone(),
            agreed: self.unsaved.iter().filter(agreed).cloned().collect(),
            keeper: keeper.map(|it| (it, self.record.touched_files(conversation))),
        }
    }

    /// For a worker: the files that the model knows, which are compared before and after the worker's work.
    pub(super) fn watched(
        &self,
        conversation: &Conversation,
        desk: &Desk,
        turn: &Turn,
    ) -> work::Job {
        work::Job {
            desk: desk.clone(),
            results: turn.results(),
            observations: self.known.observations(),
            watched: self.known.watched(&conversation.session, desk),
            unsaved: Vec::new(),
            agreed: Vec::new(),
            keeper: None,
        }
    }

    /// Everything that these edits need.
    pub(super) fn propose(
        &mut self,
        conversation: &Conversation,
        desk: &Desk,
        turn: &Turn,
        at_once: bool,
        tally: Option<Tally>,
    ) -> edits::Job {
        edits::Job {
            desk: desk.clone(),
            results: turn.results(),
            observations: self.known.observations(),
            known: conversation.session.known.clone(),
            at_once,
            unattended: conversation.session.is_unattended(),
            agreed: conversation.session.formatters(),
            post: conversation.session.subagent_of().and_then(|it| it.post.clone()),
            tally,
            keeper: self.record.keeper(conversation),
        }
    }
}
