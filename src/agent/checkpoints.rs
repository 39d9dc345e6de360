//! Stores the content of files before a turn changes them, so that the turn can be rewound.

use crate::conversation::Conversation;
use crate::conversation::report::Level;
use crate::edit::{Proposal, Whole};
use crate::event::TurnId;
use crate::message::{Block, Role};
use crate::place::Place;
use crate::session::{Input, title};
use crate::store::checkpoints::{
    Blobs, Cause, Change, Checkpoints, Content, Kept, New, Origin, Said, Since, Staged, State,
};
use crate::text::{Text, cause};
use crate::tool::Arrival;
use crate::tool::git::head;
use std::collections::BTreeSet;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::timeout;

/// The longest wait for tasks of a turn that has ended, which still look for changes of a killed command.
const PATIENCE: Duration = Duration::from_secs(5);

/// A message of a [`Keeper`] to the agent.
pub(super) enum KeeperMessage {
    /// Files are about to be changed. `kept` says whether their content could be stored; `ids` gets the numbers of the
    /// changes.
    Begin { by: ChangedBy, new: Vec<New>, kept: io::Result<()>, ids: oneshot::Sender<Vec<u32>> },
    /// The change with this number was not made.
    Void(u32),
    /// The change with this number is on disk, with this content if that differs from the proposed content.
    Written(u32, Option<Kept>),
    /// The user rewound the turn with this title. `lines` has one line about each file. `is_undone` says whether the
    /// turns were also taken out of the conversation, by `/undo`.
    Rewound { title: String, lines: Vec<String>, is_undone: bool },
    /// A command of this turn did something that no rewind takes back, begins or has ended. `noted` is told the present
    /// moment when this is on disk.
    Note { of: TurnId, said: Said, noted: Option<oneshot::Sender<Since>> },
    /// The user has decided on all changes of a file, which a subagent made; see `Record::settle`.
    Settled(PathBuf, Option<Text>),
    /// Asks for the changes of the last turn.
    LastTurn(oneshot::Sender<LastTurn>),
}

pub(super) struct LastTurn {
    /// The changes, the latest first, and the contents that they need; `None` if the turn changed no file.
    pub(super) changes: Option<(Blobs, Vec<Change>)>,
    /// What the turn did that no rewind takes back.
    pub(super) notes: Vec<Said>,
}

/// The cause of a change.
#[derive(Clone)]
pub(super) enum ChangedBy {
    Turn(TurnId),
    /// A command that the model ran in this turn. `since` is when it began.
    Command {
        turn: TurnId,
        since: Since,
    },
    /// The user, by rewinding the turn with this title.
    Rewind(String),
}

/// A change of a file before it is made.
pub(super) struct Planned {
    pub(super) path: PathBuf,
    pub(super) to: Option<PathBuf>,
    /// The error says why the content is not known, as the end of a sentence about it.
    pub(super) before: Result<Content, String>,
    pub(super) after: Result<Content, String>,
    /// The file's permissions before and after the change, if they are known.
    pub(super) mode: Option<u32>,
    pub(super) new_mode: Option<u32>,
    pub(super) staged: Option<Staged>,
    /// The branch to which the change belongs; `None` stands for the branch that is checked out.
    pub(super) branch: Option<String>,
    /// Whether git has brought the later text, in commits of the branch that stayed checked out.
    pub(super) is_brought: bool,
    /// Whether the file may have the only copy of a text that a command has moved there.
    pub(super) is_moved: bool,
    /// The highest folder that a command has made for the file. For other changes it is found before they are made.
    pub(super) folder: Option<PathBuf>,
}

impl Planned {
    /// A change that leaves the permissions and git's index as they are.
    pub(super) fn new(path: PathBuf, before: Content, after: Content) -> Planned {
        Planned {
            path,
            to: None,
            before: Ok(before),
            after: Ok(after),
            mode: None,
            new_mode: None,
            staged: None,
            branch: None,
            is_brought: false,
            is_moved: false,
            folder: None,
        }
    }

    /// False for a change of the permissions or of git's index alone.
    pub(super) fn changes_content(&self) -> bool {
        self.to.is_some() || self.before.is_err() || self.before != self.after
    }
}

/// The record of all changes that turns made to files.
pub(super) struct Record {
    /// `None` until the checkpoints are first needed.
    checkpoints: Option<Checkpoints>,
    /// Whether the user was told that nothing can be stored.
    has_failed: bool,
    /// In a subagent: the parent's keeper, which stores the subagent's changes.
    lent: Option<Keeper>,
    /// Whether nothing is stored, because the session works in a worktree.
    is_apart: bool,
    messages: mpsc::UnboundedSender<KeeperMessage>,
    /// Each keeper has a receiver, so this is closed when no task can store any more.
    keepers: watch::Sender<()>,
}

impl Record {
    pub(super) fn new(
        lent: Option<Keeper>,
        is_apart: bool,
    ) -> (Record, mpsc::UnboundedReceiver<KeeperMessage>) {
        let (messages, messages_end) = mpsc::unbounded_channel();
        let keepers = watch::Sender::new(());
        let (checkpoints, has_failed) = (None, false);
        let record = Record { checkpoints, has_failed, lent, is_apart, messages, keepers };
        (record, messages_end)
    }

    /// The checkpoints; `None` for a conversation that is never saved.
    pub(super) fn checkpoints(&mut self, conversation: &Conversation) -> Option<&mut Checkpoints> {
        if self.checkpoints.is_none() && !self.is_apart {
            self.checkpoints = conversation.store.as_ref().map(crate::store::Store::checkpoints);
        }
        self.checkpoints.as_mut()
    }

    /// Called when the conversation is cleared.
    pub(super) fn clear(&mut self, conversation: &Conversation) {
        if let Some(all) = self.checkpoints(conversation) {
            let written = all.clear();
            self.warn(conversation, written);
        }
    }

    /// Forgets the loaded checkpoints because the session's files were renamed. They are loaded again when they are
    /// needed.
    pub(super) fn reread(&mut self) {
        self.checkpoints = None;
    }

    pub(super) fn keeper(&mut self, conversation: &Conversation) -> Option<Keeper> {
        if self.lent.is_some() {
            return self.lent.clone();
        }
        let blobs = self.checkpoints(conversation)?.blobs();
        let (root, messages) = (conversation.session.root.clone(), self.messages.clone());
        Some(Keeper { root, blobs, of: None, messages, _counted: self.keepers.subscribe() })
    }

    /// The keeper for a subagent that works in this turn.
    pub(super) fn lend(&mut self, conversation: &Conversation, turn: TurnId) -> Option<Keeper> {
        self.keeper(conversation).map(|it| Keeper { of: Some(turn), ..it })
    }

    /// The changes of the last turn, as soon as no task stores changes any more.
    pub(super) fn last_turn(&self) -> impl Future<Output = Option<LastTurn>> + use<> {
        let (keepers, messages) = (self.keepers.clone(), self.messages.clone());
        async move {
            let _ = timeout(PATIENCE, keepers.closed()).await;
            let (asked, answer) = oneshot::channel();
            let _ = messages.send(KeeperMessage::LastTurn(asked));
            answer.await.ok()
        }
    }

    /// The files that the session has changed.
    pub(super) fn touched_files(&mut self, conversation: &Conversation) -> Vec<PathBuf> {
        let changes = self.checkpoints(conversation).map(|it| it.changes()).unwrap_or_default();
        let paths: BTreeSet<&Place> =
            changes.iter().flat_map(|it| [Some(&it.path), it.to.as_ref()]).flatten().collect();
        paths.into_iter().map(|it| it.to_path_buf()).collect()
    }

    pub(super) fn take(&mut self, conversation: &mut Conversation, message: KeeperMessage) {
        let (prompt, turn) = (prompt(conversation), conversation.session.turns);
        let Some(all) = self.checkpoints(conversation) else { return };
        let written = match message {
            KeeperMessage::Begin { by, mut new, kept, ids } => {
                let origin = match &by {
                    ChangedBy::Turn(turn) => {
                        Origin { turn: turn.0, title: prompt, cause: Cause::Edit }
                    }
                    ChangedBy::Command { turn, .. } => {
                        Origin { turn: turn.0, title: prompt, cause: Cause::Command }
                    }
                    ChangedBy::Rewind(title) => {
                        Origin { turn, title: title.clone(), cause: Cause::Rewind }
                    }
                };
                let apart = match by {
                    ChangedBy::Command { since, .. } => all.set_apart(&origin, since, &mut new),
                    _ => Ok(()),
                };
                let (begun, written) = all.begin(&origin, new);
                // The task that waits for these numbers may have been stopped.
                let _ = ids.send(begun);
                kept.and(apart).and(written)
            }
            KeeperMessage::Settled(path, text) => {
                let branch = head::branch_in_file(&conversation.session.root);
                all.settle(&path, text.as_ref(), branch.as_deref())
            }
            KeeperMessage::Void(id) => all.alter(id, |it| it.state = State::Void),
            KeeperMessage::Written(id, after) => all.written(id, after),
            KeeperMessage::Rewound { title, lines, is_undone } => {
                return rewound(conversation, &title, &lines, is_undone);
            }
            KeeperMessage::Note { of, said, noted } => {
                let origin = Origin { turn: of.0, title: prompt, cause: Cause::Command };
                let written = all.note(&origin, said);
                // the task that waits may have been stopped
                let _ = noted.map(|it| it.send(all.since()));
                written
            }
            KeeperMessage::LastTurn(asked) => {
                let notes = all.notes_of(turn).map(|it| it.said.clone()).collect();
                let changes = self.of_last_turn(conversation);
                // the send fails only if the task that asked was stopped
                return drop(asked.send(LastTurn { changes, notes }));
            }
        };
        self.warn(conversation, written);
    }

    /// Called when the user has decided on all changes of a file. `text` is the file's text now; `None` if the file
    /// does not exist any more.
    pub(super) fn settle(&mut self, conversation: &Conversation, path: &Path, text: Option<&Text>) {
        if let Some(lent) = &self.lent {
            let settled = KeeperMessage::Settled(path.to_owned(), text.cloned());
            // the send fails if the parent has ended
            return drop(lent.messages.send(settled));
        }
        if let Some(all) = self.checkpoints(conversation) {
            let branch = head::branch_in_file(&conversation.session.root);
            let written = all.settle(path, text, branch.as_deref());
            self.warn(conversation, written);
        }
    }

    /// Tells the user once if the disk failed. The turn goes on.
    fn warn(&mut self, conversation: &Conversation, written: io::Result<()>) {
        if let Err(error) = written
            && !std::mem::replace(&mut self.has_failed, true)
        {
            let text = format!(
                "Caliban cannot store the files' earlier text ({}). From now on, turns cannot be rewound.",
                cause(&error)
            );
            conversation.notice(Level::Warn, text);
        }
    }
}

/// The first line of the user's last prompt.
fn prompt(conversation: &Conversation) -> String {
    let users = conversation.session.messages.iter().rev().filter(|it| it.role == Role::User);
    let texts = users.flat_map(|it| &it.blocks).filter_map(|it| match it {
        Block::Text { text } => Some(title(text)),
        _ => None,
    });
    texts.into_iter().find(|it| !it.is_empty()).unwrap_or_default()
}

/// Tells the user and the model about a rewind. The model gets a note with the next request. If `/undo` has taken the
/// turns out of the conversation, the model is told only if other notes may have told it of their changes.
fn rewound(conversation: &mut Conversation, title: &str, lines: &[String], is_undone: bool) {
    let what = lines.join("\n");
    let is_undone = is_undone && !conversation.session.has_told();
    conversation.notice(Level::Info, format!("Rewound: {}", lines.join(" · ")));
    conversation.take(match lines {
        [] => Input::Note { text: format!("There are no changes of “{title}” to take back.") },
        _ if is_undone => {
            Input::Tell { text: format!("You took back the changes since “{title}”:\n{what}") }
        }
        _ => Input::Note {
            text: format!("The user took back the changes of “{title}”:\n{what}")
        },
    });
}

/// Stores the contents of files before they change.
#[derive(Clone)]
pub(super) struct Keeper {
    root: PathBuf,
    pub(super) blobs: Blobs,
    /// For a subagent: the turn of its parent, to which its changes belong.
    of: Option<TurnId>,
    messages: mpsc::UnboundedSender<KeeperMessage>,
    _counted: watch::Receiver<()>,
}

impl Keeper {
    /// Stores the contents of files before and after these changes. The changes may be made when this returns. Returns
    /// the numbers of the changes, or no numbers if nothing could be stored.
    pub(super) async fn begin(&self, by: ChangedBy, planned: Vec<Planned>) -> Vec<u32> {
        let by = match (by, self.of) {
            (ChangedBy::Turn(_), Some(turn)) => ChangedBy::Turn(turn),
            (ChangedBy::Command { since, .. }, Some(turn)) => ChangedBy::Command { turn, since },
            (by, _) => by,
        };
        let blobs = self.blobs.clone();
        let branch = head::branch(&self.root, PATIENCE).await;
        let kept = tokio::task::spawn_blocking(move || {
            let mut failed = Ok(());
            let mut keep = |content: &Result<Content, String>| match content {
                Ok(content) => blobs.keep(content).unwrap_or_else(|error| {
                    let why = format!("could not be kept ({})", cause(&error));
                    failed = Err(error);
                    Kept::Lost(why)
                }),
                Err(why) => Kept::Lost(why.clone()),
            };
            let new = |it: Planned| New {
                before: keep(&it.before),
                after: keep(&it.after),
                mode: mode(&it),
                new_mode: it.new_mode,
                folder: it.folder.clone().or_else(|| folder(&it)),
                path: it.path,
                to: it.to,
                staged: it.staged,
                branch: it.branch.or_else(|| branch.clone()),
                is_brought: it.is_brought,
                is_moved: it.is_moved,
            };
            let new = planned.into_iter().map(new).collect::<Vec<_>>();
            (new, failed)
        });
        let Ok((new, kept)) = kept.await else { return Vec::new() };
        let (ids, begun) = oneshot::channel();
        let _ = self.messages.send(KeeperMessage::Begin { by, new, kept, ids });
        begun.await.unwrap_or_default()
    }

    /// Does the same as `begin` for proposals.
    pub(super) async fn propose(&self, turn: TurnId, proposals: &[Proposal]) -> Vec<u32> {
        let mut planned = Vec::new();
        for it in proposals {
            planned.push(planned_of(it).await);
        }
        self.begin(ChangedBy::Turn(turn), planned).await
    }

    /// Notes whether the editor has made the proposed change, and with which text if it wrote the file.
    pub(super) async fn arrived(&self, id: u32, arrival: &Arrival) {
        let message = match arrival {
            Arrival::Entered { .. } => return,
            Arrival::Written { text: None, .. } => KeeperMessage::Written(id, None),
            Arrival::Written { text: Some(text), .. } => {
                let (blobs, text) = (self.blobs.clone(), text.clone());
                let kept = move || blobs.keep(&Content::Text(text));
                match tokio::task::spawn_blocking(kept).await {
                    Ok(Ok(kept)) => KeeperMessage::Written(id, Some(kept)),
                    _ => return,
                }
            }
            _ => KeeperMessage::Void(id),
        };
        let _ = self.messages.send(message);
    }

    pub(super) fn rewound(&self, title: String, lines: Vec<String>, is_undone: bool) {
        let _ = self.messages.send(KeeperMessage::Rewound { title, lines, is_undone });
    }

    /// Notes what a command did that no rewind takes back.
    pub(super) fn note(&self, turn: TurnId, said: Said) {
        let of = self.of.unwrap_or(turn);
        let _ = self.messages.send(KeeperMessage::Note { of, said, noted: None });
    }

    /// Notes that a command is about to run, and when. When this returns, the note is on disk.
    pub(super) async fn begun(&self, turn: TurnId) -> Since {
        let (of, (noted, since)) = (self.of.unwrap_or(turn), oneshot::channel());
        let message = KeeperMessage::Note { of, said: Said::Begun, noted: Some(noted) };
        // the agent may have ended, which records no change any more
        let is_sent = self.messages.send(message).is_ok();
        if is_sent { since.await.unwrap_or(Since::NEVER) } else { Since::NEVER }
    }

    pub(super) fn void(&self, id: u32) {
        let _ = self.messages.send(KeeperMessage::Void(id));
    }
}

/// The permissions of a file before its change. Those of a file that is to be deleted are looked at.
fn mode(it: &Planned) -> Option<u32> {
    let is_deleted = it.after == Ok(Content::Absent) && it.before != Ok(Content::Absent);
    if !is_deleted {
        return it.mode;
    }
    let there = std::fs::symlink_metadata(&it.path).ok().filter(std::fs::Metadata::is_file);
    there.map_or(it.mode, |it| Some(it.permissions().mode()))
}

/// The highest folder that has to be created for a file.
fn folder(it: &Planned) -> Option<PathBuf> {
    let is_made = it.to.is_some() || it.after != Ok(Content::Absent);
    let path = it.to.as_deref().unwrap_or(&it.path);
    let folders = path.ancestors().skip(1).take_while(|it| is_made && !it.exists());
    folders.last().map(Path::to_owned)
}

async fn planned_of(it: &Proposal) -> Planned {
    let text = |it: &Option<Text>| it.clone().map_or(Content::Absent, Content::Text);
    let (before, after, to) = match &it.whole {
        None => (Ok(text(&it.before)), Content::Text(it.after.clone()), None),
        Some(Whole::Rename { to }) => (Ok(Content::Absent), Content::Absent, Some(to.clone())),
        Some(Whole::Delete) => {
            let path = it.path.clone();
            let on_disk = tokio::task::spawn_blocking(move || Content::at(&path)).await;
            let on_disk = on_disk.unwrap_or_else(|error| Err(cause(&error)));
            // a buffer may have a later text than the disk, but only the disk has the bytes of other encodings
            let has_bytes = it.is_binary || matches!(on_disk, Ok(Content::Bytes(_)));
            (if has_bytes { on_disk } else { Ok(text(&it.before)) }, Content::Absent, None)
        }
    };
    Planned { to, before, ..Planned::new(it.path.clone(), Content::Absent, after) }
}
