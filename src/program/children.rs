//! The sessions of subagents: opens them, and removes their records when they have ended.

use super::archive::Archive;
use super::lanes::Lane;
use super::message::{Outcome, Placed};
use super::state::Program;
use crate::agent::{Command, PlaceWanted};
use crate::conversation::report::Level;
use crate::event::SessionId;
use crate::nvim::session_link::Handle;
use crate::nvim::wire::ToNvim;
use crate::session::Input;
use crate::store::Opened;
use crate::tool::worktree::{self, Left};

impl Program {
    /// Looks for subagents' worktrees that a killed program has left with changes.
    pub(super) fn look_for_left_worktrees(&mut self) {
        let root = self.site.places.root.clone();
        self.begin(
            Vec::new(),
            |_| async move { vec![Outcome::Left(worktree::left_over(&root).await)] },
        );
    }

    /// Tells the user of these worktrees, and the conversations that are open.
    pub(super) fn left_worktrees(&mut self, left: Vec<Left>) {
        for it in left.iter().filter(|it| !it.is_told) {
            let text = said_of(it);
            self.editor.tell(ToNvim::Notice { level: Level::Info, text });
        }
        self.left = left;
        for session in self.sessions.agents().map(|it| it.0).collect::<Vec<_>>() {
            self.tell_of_left_worktrees(session);
        }
    }

    /// Tells a conversation, and so its model, of the worktrees of its subagents.
    pub(super) fn tell_of_left_worktrees(&mut self, session: Handle) {
        let (Some(name), Some(agent)) = (self.sessions.name(session), self.sessions.agent(session))
        else {
            return;
        };
        if self.sessions.read_only(session) {
            return;
        }
        for it in self.left.extract_if(.., |it| it.is_of(&name.0)) {
            let input = Input::Note { text: said_of(&it) };
            // the send fails only if the session is ending
            if agent.send(Command::Report(input)).is_ok() {
                it.note_known();
            }
        }
    }

    /// Opens a session for a subagent. If the parent is never saved, neither is the subagent's session.
    pub(super) fn open_place(&mut self, parent: Handle, wanted: PlaceWanted) {
        let taken = self.sessions.taken();
        self.begin(vec![Lane::Unnamed], move |archive| async move {
            let (name, is_saved) = (wanted.name.clone(), wanted.is_saved);
            let open = move |archive: &Archive| Some(free(archive, &name, &taken, is_saved));
            match archive.on_thread(open).await {
                Some(Ok((id, opened))) => {
                    vec![Outcome::Placed(Box::new(Placed { parent, id, opened, wanted }))]
                }
                failed => {
                    let why = failed.and_then(Result::err);
                    let why = why.unwrap_or_else(|| "Its session could not be opened.".to_owned());
                    // the send fails if the parent has stopped
                    let _ = wanted.place.send(Err(why));
                    Vec::new()
                }
            }
        });
    }

    /// Gives a subagent its session, unless its parent has stopped or ended in the meantime.
    pub(super) fn placed(&mut self, placed: Placed) {
        let Placed { parent, id, opened, wanted: PlaceWanted { commands, place, .. } } = placed;
        let Some(owner) = self.sessions.link(parent).filter(|_| !place.is_closed()) else { return };
        let (link, glance) = self.sessions.begin_child(&id, commands.clone(), parent);
        let session = link.session;
        self.begin(Vec::new(), move |_| async move {
            commands.closed().await;
            vec![Outcome::ChildEnded(session)]
        });
        let store = opened.map(|it| it.store);
        let setup = self.setup(id, (link, owner), (store, true), glance);
        let _ = place.send(Ok(Box::new(setup)));
    }

    /// Removes the record of a subagent that has ended. If the subagent's chat is open, its session opens again as
    /// read-only.
    pub(super) fn child_ended(&mut self, session: Handle) {
        let shown = self.sessions.name(session).filter(|_| self.sessions.is_shown(session));
        self.sessions.end(session);
        // a session that was never saved cannot be opened again
        if let Some(id) = shown.filter(|it| !self.archive.project.is_free(&it.0)) {
            let lanes = vec![Lane::Session(self.sessions.reserve(&id))];
            self.open_on_thread(lanes, move |it| it.read(id, false));
        }
    }
}

/// Opens a session under a free name.
fn free(
    archive: &Archive,
    name: &str,
    taken: &[String],
    is_saved: bool,
) -> Result<(SessionId, Option<Opened>), String> {
    if !is_saved {
        let is_taken = |name: &str| taken.iter().any(|it| it.eq_ignore_ascii_case(name));
        return Ok((SessionId(archive.project.free_name(name, is_taken)), None));
    }
    let (id, opened) = archive.project.open_free(name, taken);
    match opened {
        Ok(opened) => Ok((id, Some(opened))),
        Err(unavailable) => Err(unavailable.say(&id.0)),
    }
}

/// Sentences for the user and the model about a worktree that was left.
fn said_of(left: &Left) -> String {
    let Left { branch, folder, is_dirty, .. } = left;
    let folder = folder.display();
    if *is_dirty {
        return format!(
            "A subagent's worktree was left with changes that could not be committed: {folder}, branch {branch}. \
             Only this folder has them."
        );
    }
    format!(
        "The branch {branch} has changes of a subagent that are not all in the project: `git diff HEAD...{branch}` \
         shows them. Its worktree is {folder}."
    )
}
