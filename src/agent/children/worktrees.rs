//! Subagents that work in git worktrees of their own: how a subagent begins there, what becomes of its changes when it
//! has ended, and when its worktree is removed.

mod proposing;

use super::progress::Progress;
use super::team::{Ended, Message, News, Sender, Whom};
use crate::agent::checkpoints::Record;
use crate::agent::command::Command;
use crate::agent::setup::Setup;
use crate::context::instructions::Places;
use crate::conversation::Conversation;
use crate::message::CallId;
use crate::session::Input;
use crate::tool::disk::Disk;
use crate::tool::worktree::{Change, Committed, Worktree};
use crate::tool::{Desk, path};
pub(super) use proposing::Outcome;

use proposing::Merge;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::sync::{mpsc, oneshot};

/// The worktree of a running subagent. If this is dropped before `finish`, the subagent is ended, and the worktree is
/// kept if it has changes.
pub(super) struct Apart {
    parts: Option<Parts>,
    project: PathBuf,
}

struct Parts {
    tree: Worktree,
    /// The channel to the subagent.
    commands: mpsc::UnboundedSender<Command>,
    title: String,
    whom: Whom,
    news: Sender,
}

/// Worktrees whose changes wait for the user's review.
#[derive(Default)]
pub(in crate::agent) struct Worktrees {
    all: Vec<Settling>,
    /// The number of subagents whose changes are being proposed, and the calls that the user has decided on meanwhile.
    proposing: usize,
    decided: BTreeSet<CallId>,
}

struct Settling {
    tree: Worktree,
    commit: String,
    /// The calls on which the user has not decided.
    waits: BTreeSet<CallId>,
    /// Whether the branch has changes that the user's files lack.
    keeps_branch: bool,
    whom: Whom,
    news: Sender,
    /// The lines for the parent's model, and the channel for them; `None` once they were sent.
    told: Option<(oneshot::Sender<Vec<String>>, Vec<String>)>,
}

impl Apart {
    /// Makes a worktree of the project, and has the subagent that `setup` describes work there. The error is a
    /// sentence.
    pub(super) async fn begin(
        setup: &mut Setup,
        commands: mpsc::UnboundedSender<Command>,
        title: &str,
        (whom, news): (Whom, Sender),
    ) -> Result<Apart, String> {
        let (project, name) = (setup.desk.root.clone(), setup.id.0.clone());
        let (made, given) = oneshot::channel();
        let root = project.clone();
        // a worktree whose subagent is stopped meanwhile is removed again
        tokio::spawn(async move {
            let tree = Worktree::create(&root, &name).await;
            if let Err(Ok(tree)) = made.send(tree) {
                let _ = tree.remove(None).await;
            }
        });
        let tree = given.await.map_err(|_| "Caliban is ending.".to_owned())??;
        move_in(setup, tree.folder());
        let parts = Parts { tree, commands, title: title.to_owned(), whom, news };
        Ok(Apart { parts: Some(parts), project })
    }

    /// Called when the subagent's turn has ended. Proposes its changes to the user.
    pub(super) async fn finish(mut self, progress: &mut Progress) {
        let Some(parts) = self.parts.take() else { return };
        let (done, told) = oneshot::channel();
        tokio::spawn(end(parts, progress.changed(), done));
        let lines = told.await.unwrap_or_default();
        progress.comes_back(&self.project, lines);
    }
}

impl Drop for Apart {
    fn drop(&mut self) {
        if let Some(parts) = self.parts.take() {
            tokio::spawn(end(parts, Vec::new(), oneshot::channel().0));
        }
    }
}

/// Has a subagent read and write in a worktree. Its reads and edits go to the disk, and its commands write nowhere
/// else.
fn move_in(setup: &mut Setup, folder: &Path) {
    let desk = &mut setup.desk;
    let project = std::mem::replace(&mut desk.root, folder.to_owned());
    desk.project = Some(project);
    desk.reach = desk.reach.at(folder);
    desk.workspace = Arc::new(Disk { root: folder.to_owned(), is_apart: true });
    desk.confinement = desk.confinement.clone().apart();
    desk.tools = desk.tools.without_servers();
    let moved = |it: Places| Places {
        root: folder.to_owned(),
        cwd: folder.to_owned(),
        reach: desk.reach.clone(),
        ..it
    };
    setup.instructions.places = setup.instructions.places.take().map(moved);
    // a rewind of the parent's turn undoes the changes in the project, not those in the worktree
    setup.inherited.keeper = None;
    setup.inherited.is_apart = true;
}

/// What a subagent is told about its worktree.
pub(super) fn note(folder: &Path) -> String {
    format!(
        "You work in a git worktree of your own, {}, created from the last commit: what the user has not committed is \
         not there. Edits are written at once. When you end, everything that you changed is committed and proposed to \
         the user, so do not commit. Files that git ignores, such as installed packages and build results, are not there.",
        folder.display()
    )
}

/// Ends a subagent, and commits what it has changed. The parent proposes the changes if it still waits for them.
async fn end(parts: Parts, edited: Vec<PathBuf>, done: oneshot::Sender<Vec<String>>) {
    let Parts { tree, commands, title, whom, news } = parts;
    let (sent, ended) = oneshot::channel();
    let _ = commands.send(Command::Stop);
    let _ = commands.send(Command::Quit(sent));
    // fails if the subagent has ended already
    let _ = ended.await;
    let tell = |text: String| drop(news.send((whom.clone(), News::Worktree(Message::Told(text)))));
    match tree.commit(&title, &edited).await {
        Ok(None) => {
            let folder = tree.folder().to_owned();
            if let Err(why) = tree.remove(None).await {
                tell(format!("The worktree {} was not removed. {why}", folder.display()));
            }
            let _ = done.send(vec!["[It changed nothing in its worktree.]".to_owned()]);
        }
        Ok(Some(committed)) if done.is_closed() => {
            tell(kept(&tree, &committed));
        }
        Ok(Some(committed)) => {
            let ended = Ended { tree, committed, whom: whom.clone(), news: news.clone(), done };
            let ended = Box::new(ended);
            // the send fails if the parent has ended; the next start then finds the worktree
            let _ = news.send((whom, News::Worktree(Message::Committed(ended))));
        }
        Err(why) => {
            let folder = tree.folder().display().to_string();
            tell(format!(
                "The subagent's changes could not be committed. {why} They are in {folder}."
            ));
            let _ = done.send(vec![format!(
                "[Its changes could not be committed, so they are not proposed: {why} They are in {folder}.]"
            )]);
        }
    }
}

/// The sentence for the user about a worktree that is kept.
fn kept(tree: &Worktree, committed: &Committed) -> String {
    format!(
        "The subagent's changes were not proposed. They are on the branch {} ({}), and its worktree is {}.",
        tree.branch(),
        committed.stat,
        tree.folder().display()
    )
}

/// Handles a message about a worktree.
pub(super) fn take(
    conversation: &mut Conversation,
    desk: &Desk,
    (record, worktrees): (&mut Record, &mut Worktrees),
    message: Message,
) {
    match message {
        Message::Told(text) => conversation.take(Input::Tell { text }),
        // the parent was stopped meanwhile
        Message::Committed(ended) if ended.done.is_closed() => {
            let text = kept(&ended.tree, &ended.committed);
            conversation.take(Input::Tell { text });
        }
        Message::Committed(ended) => {
            worktrees.proposing += 1;
            let keeper = record.keeper(conversation);
            let may = rulings(conversation, &desk.root, &ended.committed);
            let turn = conversation.session.turn().unwrap_or_default();
            let merge = Merge { desk: desk.clone(), keeper, turn, may };
            tokio::spawn(async move {
                let outcome = merge.propose(&ended.tree, &ended.committed).await;
                let (whom, news) = (ended.whom.clone(), ended.news.clone());
                let _ = news.send((whom, News::Worktree(Message::Proposed(ended, outcome))));
            });
        }
        Message::Proposed(ended, outcome) => {
            let Ended { tree, committed, whom, news, done } = *ended;
            let lines = outcome.lines(&tree.branch(), &committed);
            if let Some(text) = outcome.left_for_user(&tree.branch()) {
                conversation.take(Input::Tell { text });
            }
            worktrees.proposing -= 1;
            let waits = outcome.waits.difference(&worktrees.decided).cloned().collect();
            if worktrees.proposing == 0 {
                worktrees.decided.clear();
            }
            let keeps_branch = outcome.keeps_branch();
            let commit = committed.commit;
            let mut settling = Settling {
                tree,
                commit,
                waits,
                keeps_branch,
                whom,
                news,
                told: Some((done, lines)),
            };
            // the parent goes on once the worktree is removed, or at once if the user has to decide first
            if !settling.waits.is_empty() {
                settling.tell();
            }
            worktrees.all.push(settling);
            worktrees.settle();
        }
    }
}

/// Whether each changed file is written at once. The error says why its change may not be proposed.
fn rulings(
    conversation: &Conversation,
    root: &Path,
    committed: &Committed,
) -> Vec<Result<bool, String>> {
    let one = |it: &Change| {
        let paths = it.from.iter().chain([&it.path]);
        let paths = paths.map(|it| path::unmistakable(root, &root.join(it)));
        conversation.session.writes_at_once_from_worktree(paths.collect())
    };
    committed.changes.iter().map(one).collect()
}

impl Worktrees {
    /// The user has decided on the changes of these calls.
    pub(in crate::agent) fn decided<'a>(&mut self, calls: impl Iterator<Item = &'a CallId>) {
        for call in calls {
            for it in &mut self.all {
                it.waits.remove(call);
            }
            if self.proposing > 0 {
                self.decided.insert(call.clone());
            }
        }
        self.settle();
    }

    /// Removes the worktrees whose changes are all decided.
    fn settle(&mut self) {
        for it in self.all.extract_if(.., |it| it.waits.is_empty()) {
            tokio::spawn(it.end());
        }
    }
}

impl Settling {
    /// Sends the lines to the parent's model.
    fn tell(&mut self) {
        if let Some((done, lines)) = self.told.take() {
            // the send fails if the parent was stopped
            let _ = done.send(lines);
        }
    }

    /// Removes the worktree, then sends the lines, which say so only if it is true.
    async fn end(self) {
        let Settling { tree, commit, keeps_branch, whom, news, told, .. } = self;
        let folder = tree.folder().display().to_string();
        let removed = tree.remove((!keeps_branch).then_some(&*commit)).await;
        if let Some((done, mut lines)) = told {
            if removed.is_ok() && !keeps_branch {
                let all = "The project has all changes of the subagent.";
                lines.push(format!("[{all} Its worktree and branch are removed.]"));
            }
            let _ = done.send(lines);
        }
        if let Err(why) = removed {
            let text = format!("The worktree {folder} was not removed. {why}");
            let _ = news.send((whom, News::Worktree(Message::Told(text))));
        }
    }
}
