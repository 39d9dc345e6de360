//! Lists, begins, renames, copies and deletes the project's sessions.

use super::archive::{Archive, OpenRequest};
use super::lanes::Lane;
use super::message::{Closed, Outcome, Source};
use super::state::Program;
use crate::agent::{Act, Command, Undo};
use crate::context::agents;
use crate::conversation::report::{Back, Branch, Copy, Level};
use crate::event::SessionId;
use crate::nvim::session_link::Handle;
use crate::nvim::wire::{
    Deleted, PeekSession, Peeked, Renamed, SessionRow, Sessions, ToNvim, WhereOpen,
};
use crate::session::title;
use crate::store::{self, Listed, Project};
use crate::tool::disk::Disk;
use std::collections::HashSet;
use std::sync::Arc;
use tokio::sync::{mpsc, oneshot};

impl Program {
    /// Sends the editor all sessions of the project, or those that contain a text.
    pub(super) fn list_sessions(&self, text: String) {
        let (project, editor) = (self.archive.project.clone(), self.editor.clone());
        let here = self.sessions.agents().filter_map(|(session, _)| self.sessions.name(session));
        let here: HashSet<String> = here.map(|it| it.0).collect();
        tokio::task::spawn_blocking(move || {
            let text = text.trim().to_owned();
            let found = |of: &Project| if text.is_empty() { of.list() } else { of.find(&text) };
            let mut sessions: Vec<SessionRow> =
                found(&project).into_iter().map(|it| row(it, &here)).collect();
            for of in project.relatives() {
                let row = |it| SessionRow {
                    root: Some(of.root().to_owned()),
                    ..row(it, &HashSet::new())
                };
                sessions.extend(found(&of).into_iter().map(row));
            }
            editor.tell(ToNvim::Sessions(Sessions { text, sessions }));
        });
    }

    /// Sends the editor the first and the last messages of a session, for a picker.
    pub(super) fn peek_session(&self, asked: PeekSession) {
        let (project, editor) = (self.archive.project.clone(), self.editor.clone());
        tokio::task::spawn_blocking(move || {
            let PeekSession { id, session, root } = asked;
            let of = match root {
                None => Some(project),
                Some(root) => project.relatives().into_iter().find(|it| *it.root() == *root),
            };
            let lines = of.map(|it| it.peek(&session)).unwrap_or_default();
            editor.tell(ToNvim::Peeked(Peeked { id, lines }));
        });
    }

    /// Begins a new session. `shown` says whether the chat shows it, `agent` is the named agent that the session is.
    pub(super) fn new_session(
        &mut self,
        name: Option<String>,
        ephemeral: bool,
        shown: bool,
        agent: Option<String>,
    ) {
        let base = name.unwrap_or_else(|| "main".to_owned());
        if !store::is_name(&base) {
            return self.bad_name(&base);
        }
        let taken = self.sessions.taken();
        let Some(agent) = agent else {
            return self.open_on_thread(vec![Lane::Unnamed], move |it| {
                it.begun(&base, ephemeral, shown, taken)
            });
        };
        let workspace = Arc::new(Disk { root: self.site.places.root.clone(), is_apart: false });
        let desk = self.site.desk(workspace, mpsc::unbounded_channel().0);
        let has_current = self.current.is_some();
        self.open_on_thread(vec![Lane::Unnamed], move |it| {
            let found = agents::load(&desk).get(&agent).map(|it| it.name.clone());
            let (agent, problem) = match found {
                Ok(agent) => (Some(agent), None),
                Err(why) if has_current => {
                    let text = format!("{why} No conversation was started.");
                    return vec![Outcome::Notice(Level::Error, text)];
                }
                // the editor shows a chat that waits for its conversation
                Err(why) => {
                    let text = format!("{why} This conversation has no agent.");
                    (None, Some(Outcome::Notice(Level::Error, text)))
                }
            };
            let mut outcomes = it.begun(&base, ephemeral, shown, taken);
            for outcome in &mut outcomes {
                if let Outcome::Start(start) = outcome {
                    start.agent.clone_from(&agent);
                }
            }
            problem.into_iter().chain(outcomes).collect()
        });
    }
}

impl Archive {
    /// Begins a new session, whose name is made from `base`.
    fn begun(&self, base: &str, ephemeral: bool, shown: bool, taken: Vec<String>) -> Vec<Outcome> {
        if !ephemeral {
            let (id, opened) = self.project.open_free(base, &taken);
            return match opened {
                Ok(opened) => self.started(id, Source::of(opened), shown),
                unavailable => {
                    let asked = OpenRequest { shown, has_current: false, taken };
                    self.loaded(id, unavailable, &asked)
                }
            };
        }
        let is_taken = |name: &str| taken.iter().any(|it| it.eq_ignore_ascii_case(name));
        let id = SessionId(self.project.free_name(base, is_taken));
        self.started(id, Source::in_memory(), shown)
    }
}

impl Program {
    pub(super) fn bad_name(&self, name: &str) {
        let name: String = title(name).chars().take(20).collect();
        let text = format!(
            "`{name}` cannot be the name of a conversation. Use 1 to 64 letters, digits, `-` and `_`."
        );
        self.notice(Level::Error, text);
    }

    /// Renames a session. A text that cannot be a name becomes the session's title.
    pub(super) fn rename(&mut self, session: Handle, text: &str) {
        let text = text.trim();
        if !store::is_name(text) {
            return match title(text) {
                it if it.is_empty() => self.bad_name(text),
                title => self.tell(session, Command::Act(Act::Title(title))),
            };
        }
        let Some(of) = self.sessions.name(session) else { return };
        let Some(agent) = self.sessions.agent(session).filter(|it| !it.is_closed()).cloned() else {
            return self.absent(&of);
        };
        let to = SessionId(text.to_owned());
        let mut taken = self.sessions.taken();
        taken.retain(|it| *it != of.0 || of == to);
        let lanes = [session, self.sessions.reserve(&to)].map(Lane::Session).into();
        let is_current = self.current == Some(session);
        self.begin(lanes, |archive| async move {
            let names = (of.clone(), to.clone());
            let clash = archive.on_thread(move |it| it.clash(&names.0, &names.1, &taken));
            if let Some(taken) = clash.await {
                let text = format!("A conversation `{taken}` already exists; nothing was renamed.");
                return vec![Outcome::Notice(Level::Warn, text)];
            }
            let (done, is_done) = oneshot::channel();
            let _ = agent.send(Command::Act(Act::Rename { to: to.clone(), done }));
            match is_done.await {
                Ok(Ok(())) => {
                    let name = to.clone();
                    let noted = archive.on_thread(move |it| it.note_renamed(of, &name, is_current));
                    vec![Outcome::Renamed { session, was_last: noted.await, to }]
                }
                Ok(Err(why)) => vec![Outcome::Notice(Level::Warn, why)],
                Err(_) => vec![Outcome::Notice(Level::Error, broke_off(&of))],
            }
        });
    }

    pub(super) fn renamed(&mut self, session: Handle, to: SessionId, was_last: bool) {
        let Some(of) = self.sessions.rename(session, &to) else { return };
        if was_last {
            self.current = Some(session);
        }
        let text = format!("`{of}` is now called `{to}`.");
        self.editor.tell(ToNvim::Renamed(Renamed { session: of, to }));
        self.notice(Level::Info, text);
    }

    pub(super) fn keep_copy(&mut self, session: Handle, copy: Copy) {
        if let Some(name) = copy.name.as_deref().filter(|it| !store::is_name(it)) {
            return self.bad_name(name);
        }
        let Some(of) = self.sessions.name(session) else {
            let text = "The conversation was closed before a copy of it was saved.".to_owned();
            return self.notice(Level::Warn, text);
        };
        let (read_only, taken) = (self.sessions.read_only(session), self.sessions.taken());
        let named = copy.name.iter().map(|it| self.sessions.reserve(&SessionId(it.clone())));
        let lanes = named.chain([session]).map(Lane::Session).collect();
        self.open_on_thread(lanes, move |it| it.keep_copy((of, read_only), copy, &taken));
    }

    /// Saves a copy of the whole session, before its agent undoes messages.
    pub(super) fn keep_branch(&mut self, session: Handle, branch: Branch) {
        let Some(of) = self.sessions.name(session) else { return };
        let taken = self.sessions.taken();
        self.open_on_thread(vec![Lane::Session(session)], move |it| {
            it.keep_branch((session, of), branch, &taken)
        });
    }

    pub(super) fn branched(&mut self, session: Handle, name: SessionId, back: Back) {
        // The copy of a session that is never saved has become the current session, but the user stays in the original.
        self.current = Some(session);
        self.tell(session, Command::Undo(Undo::Kept { back, name }));
    }

    /// Stops a session's turn, closes the session and moves its files to the trash.
    pub(super) fn delete(&mut self, id: SessionId) {
        if !store::is_name(&id.0) {
            return self.bad_name(&id.0);
        }
        // Former names of running sessions are ignored here, because the disk may have another session with this name.
        let of = self.sessions.reserve(&id);
        if self.sessions.is_running_child(of) {
            let text = format!(
                "A subagent works in `{id}`; nothing was deleted. Stop it first, with <C-c> in its chat."
            );
            return self.notice(Level::Warn, text);
        }
        let agents: Vec<_> =
            self.sessions.children(of).into_iter().chain(self.sessions.close(of)).collect();
        self.begin(vec![Lane::Session(of)], |archive| async move {
            let was_open = !agents.is_empty();
            for it in agents {
                it.closed().await;
            }
            let name = id.clone();
            let subagents = archive.on_thread(move |it| it.project.subagents(&name)).await;
            vec![Outcome::Closed(Closed { session: id, was_open, subagents })]
        });
    }

    /// Moves a closed session and those of its subagents to the trash.
    pub(super) fn trash(&mut self, closed: Closed) {
        let Closed { session, was_open, subagents } = closed;
        let all = || std::iter::once(&session).chain(&subagents);
        let handles: Vec<Handle> = all().map(|it| self.sessions.reserve(it)).collect();
        let agents: Vec<_> = handles.iter().filter_map(|it| self.sessions.close(*it)).collect();
        self.begin(handles.into_iter().map(Lane::Session).collect(), |archive| async move {
            for it in agents {
                it.closed().await;
            }
            archive.on_thread(move |it| it.delete(session, was_open, subagents)).await
        });
    }

    /// Removes a deleted session from the program. `is_gone` says whether the session's chat is closed too.
    pub(super) fn deleted(&mut self, session: SessionId, is_gone: bool) {
        let of = self.sessions.named(&session);
        self.current.take_if(|it| Some(*it) == of);
        if is_gone {
            self.editor.tell(ToNvim::Deleted(Deleted { session }));
        }
    }
}

/// The sentence for the user about a session whose agent has panicked.
pub(super) fn broke_off(session: &SessionId) -> String {
    format!("The conversation `{session}` failed inside Caliban. :Caliban restart opens it again.")
}

fn row(it: Listed, here: &HashSet<String>) -> SessionRow {
    let open = match (here.contains(&it.name), it.locked) {
        (true, _) => WhereOpen::Here,
        (false, true) => WhereOpen::Elsewhere,
        (false, false) => WhereOpen::Nowhere,
    };
    let Listed { name, title, age, bytes, turns, locked: _, problem, line, parent } = it;
    let (age, parent) = (age.as_secs(), parent.map(|it| it.session));
    SessionRow { name, title, age, bytes, turns, open, problem, line, parent, root: None }
}
