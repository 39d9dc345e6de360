//! The sessions of the project as a whole: which there are, new ones, and what becomes of one.

use super::Program;
use super::archive::{Archive, Asked};
use super::held::Begin;
use super::lanes::Lane;
use super::news::Outcome;
use crate::agent::{Act, Command};
use crate::conversation::report::{Copy, Level};
use crate::event::SessionId;
use crate::nvim::buffers::Buffers;
use crate::nvim::wire::{
    Deleted, ExportSession, ForkSession, FromNvim, SessionRow, Sessions, ToNvim, WhereOpen,
};
use crate::session::{Cut, title};
use crate::store::{self, Listed, Project};
use crate::tool::Workspace;
use std::collections::HashSet;
use std::sync::Arc;
use tokio::sync::oneshot;

impl Program {
    pub(super) fn about_sessions(&mut self, message: FromNvim) {
        match message {
            FromNvim::ListSessions(asked) => self.list_sessions(asked.text),
            FromNvim::RenameSession(asked) => self.rename(&asked.session, &asked.name),
            FromNvim::ForkSession(asked) => self.ask_for_fork(asked),
            FromNvim::ExportSession(asked) => self.export(asked),
            FromNvim::DeleteSession(asked) => self.delete(&asked.session),
            FromNvim::Claim(claim) => self.claim(claim),
            FromNvim::Yield(asked) => self.give_up(asked),
            _ => (),
        }
    }

    /// Tells the editor which sessions there are, or in which of them a text stands.
    pub(super) fn list_sessions(&self, text: String) {
        let (project, editor) = (self.archive.project.clone(), self.editor.clone());
        let here: HashSet<String> = self.agents.keys().map(|it| it.0.clone()).collect();
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

    /// `shown`: the user asked for it in a chat.
    pub(super) fn new_session(&mut self, name: Option<String>, ephemeral: bool, shown: bool) {
        let base = name.unwrap_or_else(|| "main".to_owned());
        if !store::is_name(&base) {
            return self.bad_name(&base);
        }
        let (archive, taken) = (self.archive.clone(), self.taken());
        let work = move |it: &Archive| {
            if !ephemeral {
                let (id, opened) = it.open_free(&base, &taken);
                return match opened {
                    Ok(opened) => it.started(id, Begin::of(opened), shown),
                    barred => it.loaded(id, barred, &Asked { shown, has_current: false, taken }),
                };
            }
            let is_taken = |name: &str| taken.iter().any(|it| it.eq_ignore_ascii_case(name));
            let id = SessionId(it.project.free_name(&base, is_taken));
            it.started(id, Begin::in_memory(), shown)
        };
        self.begin_opening(vec![Lane::Unnamed], async move { archive.apart(work).await });
    }

    /// Names that no other session may be given: of those that are open, or being opened.
    pub(super) fn taken(&self) -> Vec<String> {
        self.agents.keys().map(|it| it.0.clone()).chain(self.lanes.names()).collect()
    }

    pub(super) fn bad_name(&self, name: &str) {
        let name: String = title(name).chars().take(20).collect();
        let text = format!(
            "`{name}` cannot name a conversation: 1 to 64 letters, digits, `-` and `_` can."
        );
        self.notice(Level::Error, text);
    }

    /// What a session goes by now.
    pub(super) fn now<'a>(&'a self, id: &'a SessionId) -> &'a SessionId {
        // a session that is being opened has its name already
        let is_current = self.agents.contains_key(id) || self.lanes.is_busy(id);
        self.renamed.get(id).filter(|_| !is_current).unwrap_or(id)
    }

    pub(super) fn workspace(&self, id: &SessionId) -> Arc<dyn Workspace> {
        Arc::new(Buffers {
            editor: self.editor.clone(),
            session: id.clone(),
            owner: id.clone(),
            reviews: self.reviews.clone(),
            questions: self.questions.clone(),
        })
    }

    /// Gives a session another name; what cannot be one becomes its title.
    pub(super) fn rename(&mut self, of: &SessionId, text: &str) {
        let (of, text) = (self.now(of).clone(), text.trim());
        if !store::is_name(text) {
            return match title(text) {
                it if it.is_empty() => self.bad_name(text),
                title => self.tell(&of, Command::Act(Act::Title(title))),
            };
        }
        let to = SessionId(text.to_owned());
        let Some(agent) = self.agents.get(&of).filter(|it| !it.is_closed()).cloned() else {
            return self.absent(&of);
        };
        let mut taken = self.taken();
        taken.retain(|it| *it != of.0 || of == to);
        let (archive, workspace) = (self.archive.clone(), self.workspace(&to));
        let lanes = vec![Lane::Session(of.clone()), Lane::Session(to.clone())];
        let is_current = self.current.as_ref() == Some(&of);
        self.begin(lanes, async move {
            let (name, own) = (to.0.clone(), of.0.clone());
            let free = move |it: &Archive| {
                let other = |it: &String| *it != own || own == name;
                it.like(&name, &taken).filter(other)
            };
            if let Some(taken) = archive.apart(free).await {
                let text = format!("A conversation `{taken}` exists already; nothing was renamed.");
                return vec![Outcome::Notice(Level::Warn, text)];
            }
            let (done, is_done) = oneshot::channel();
            let _ = agent.send(Command::Act(Act::Rename { to: to.clone(), workspace, done }));
            match is_done.await {
                Ok(Ok(())) => {
                    let (old, new) = (of.clone(), to.clone());
                    let note = move |it: &Archive| {
                        let was_last = is_current || it.project.last() == Some(old);
                        was_last.then(|| it.note(&new, true)).is_some()
                    };
                    vec![Outcome::Renamed { was_last: archive.apart(note).await, of, to }]
                }
                Ok(Err(why)) => vec![Outcome::Notice(Level::Warn, why)],
                Err(_) => vec![Outcome::Notice(Level::Error, broke_off(&of))],
            }
        });
    }

    pub(super) fn renamed(&mut self, of: &SessionId, to: &SessionId, was_last: bool) {
        if let Some(agent) = self.agents.remove(of) {
            self.agents.insert(to.clone(), agent);
        }
        self.renamed.values_mut().filter(|it| *it == of).for_each(|it| it.clone_from(to));
        self.renamed.remove(to);
        self.renamed.insert(of.clone(), to.clone());
        self.notice(Level::Info, format!("`{of}` is now called `{to}`."));
        if was_last {
            self.current = Some(to.clone());
        }
    }

    pub(super) fn ask_for_fork(&self, asked: ForkSession) {
        let ForkSession { session, after, is_prompt } = asked;
        let cut = after.map(|it| Cut { after: it as usize, is_prompt });
        self.tell(&session, Command::Act(Act::Fork(cut)));
    }

    pub(super) fn export(&self, asked: ExportSession) {
        let ExportSession { session, file, force } = asked;
        self.tell(&session, Command::Act(Act::Export { file, force }));
    }

    pub(super) fn keep_copy(&mut self, of: &SessionId, copy: Copy) {
        if let Some(name) = copy.name.as_deref().filter(|it| !store::is_name(it)) {
            return self.bad_name(name);
        }
        let of = self.now(of).clone();
        let (reads, taken) = (self.readers.contains(&of), self.taken());
        let named = copy.name.iter().map(|it| Lane::Session(SessionId(it.clone())));
        let lanes = [Lane::Session(of.clone())].into_iter().chain(named).collect();
        let archive = self.archive.clone();
        self.begin_opening(lanes, async move {
            archive.apart(move |it| it.keep_copy((&of, reads), copy, &taken)).await
        });
    }

    /// Ends a session, its turn stopped, and moves its files into the trash.
    pub(super) fn delete(&mut self, id: &SessionId) {
        let id = self.now(id).clone();
        if !store::is_name(&id.0) {
            return self.bad_name(&id.0);
        }
        let agent = self.agents.remove(&id);
        self.readers.remove(&id);
        if let Some(agent) = &agent {
            // One that broke off is closed already.
            let _ = agent.send(Command::Stop);
            let _ = agent.send(Command::Quit(oneshot::channel().0));
        }
        let archive = self.archive.clone();
        self.begin(vec![Lane::Session(id.clone())], async move {
            let was_open = agent.is_some();
            if let Some(agent) = agent {
                agent.closed().await;
            }
            archive.apart(move |it| it.delete(id, was_open)).await
        });
    }

    /// `is_gone`: its chat goes too.
    pub(super) fn deleted(&mut self, session: SessionId, is_gone: bool) {
        self.renamed.retain(|_, it| *it != session);
        self.current.take_if(|it| *it == session);
        if is_gone {
            self.editor.tell(ToNvim::Deleted(Deleted { session }));
        }
    }
}

/// What the user is told of a session whose task has died.
pub(super) fn broke_off(session: &SessionId) -> String {
    format!("The conversation `{session}` failed inside Caliban. :Caliban restart opens it again.")
}

fn row(it: Listed, here: &HashSet<String>) -> SessionRow {
    let open = match (here.contains(&it.name), it.held) {
        (true, _) => WhereOpen::Here,
        (false, true) => WhereOpen::Elsewhere,
        (false, false) => WhereOpen::Nowhere,
    };
    let Listed { name, title, age, bytes, turns, held: _, problem, line } = it;
    let age = age.as_secs();
    SessionRow { name, title, age, bytes, turns, open, problem, line, root: None }
}
