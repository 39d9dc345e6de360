//! The sessions of the project as a whole: which there are, new ones, and what becomes of one.

use super::Program;
use super::held::Begin;
use crate::agent::{Act, Command, Copy};
use crate::event::SessionId;
use crate::nvim::buffers::Buffers;
use crate::nvim::wire::{
    Deleted, ExportSession, ForkSession, FromNvim, Level, SessionRow, Sessions, ToNvim, WhereOpen,
};
use crate::session::{Cut, title};
use crate::store::{self, Barred, Listed, Project};
use crate::tool::Workspace;
use std::collections::HashSet;
use std::sync::Arc;
use tokio::sync::oneshot;

impl Program {
    pub(super) async fn about_sessions(&mut self, message: FromNvim) {
        match message {
            FromNvim::ListSessions(asked) => self.list_sessions(asked.text),
            FromNvim::RenameSession(asked) => self.rename(asked.session, &asked.name).await,
            FromNvim::ForkSession(asked) => self.ask_for_fork(asked),
            FromNvim::ExportSession(asked) => self.export(asked),
            FromNvim::DeleteSession(asked) => self.delete(asked.session).await,
            FromNvim::Claim(claim) => self.claim(claim).await,
            FromNvim::Yield(asked) => self.give_up(asked).await,
            _ => (),
        }
    }

    /// Tells the editor which sessions there are, or in which of them a text stands.
    pub(super) fn list_sessions(&self, text: String) {
        let (project, editor) = (self.project.clone(), self.editor.clone());
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

    pub(super) async fn new_session(&mut self, name: Option<String>, ephemeral: bool) {
        let base = name.unwrap_or_else(|| "main".to_owned());
        if !store::is_name(&base) {
            return self.bad_name(&base);
        }
        let id = self.free_name(&base);
        if ephemeral { self.start(id, Begin::in_memory(), None).await } else { self.load(id).await }
    }

    pub(super) fn free_name(&self, base: &str) -> SessionId {
        let open = |name: &str| self.agents.keys().any(|it| it.0.eq_ignore_ascii_case(name));
        SessionId(self.project.free_name(base, open))
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
        let is_current = self.agents.contains_key(id);
        self.renamed.get(id).filter(|_| !is_current).unwrap_or(id)
    }

    pub(super) fn workspace(&self, id: &SessionId) -> Arc<dyn Workspace> {
        Arc::new(Buffers {
            editor: self.editor.clone(),
            session: id.clone(),
            reviews: self.reviews.clone(),
            questions: self.questions.clone(),
        })
    }

    /// Whose name this is, or looks like where a file system minds no case.
    fn like(&self, name: &str) -> Option<String> {
        let open = self.agents.keys().find(|it| it.0.eq_ignore_ascii_case(name));
        open.map(|it| it.0.clone()).or_else(|| self.project.like(name))
    }

    /// Gives a session another name; what cannot be one becomes its title.
    pub(super) async fn rename(&mut self, of: SessionId, text: &str) {
        let (of, text) = (self.now(&of).clone(), text.trim());
        if !store::is_name(text) {
            return match title(text) {
                it if it.is_empty() => self.bad_name(text),
                title => self.tell(&of, Command::Act(Act::Title(title))),
            };
        }
        let to = SessionId(text.to_owned());
        if let Some(taken) = self.like(text).filter(|it| *it != of.0 || of == to) {
            let text = format!("There is a conversation `{taken}` already; nothing was renamed.");
            return self.notice(Level::Warn, text);
        }
        let (done, is_done) = oneshot::channel();
        let workspace = self.workspace(&to);
        self.tell(&of, Command::Act(Act::Rename { to: to.clone(), workspace, done }));
        match is_done.await {
            Ok(Ok(())) => self.renamed(of, &to),
            Ok(Err(why)) => self.notice(Level::Warn, why),
            // That it broke off was said.
            Err(_) => (),
        }
    }

    fn renamed(&mut self, of: SessionId, to: &SessionId) {
        if let Some(agent) = self.agents.remove(&of) {
            self.agents.insert(to.clone(), agent);
        }
        self.renamed.values_mut().filter(|it| **it == of).for_each(|it| it.clone_from(to));
        self.renamed.remove(to);
        self.renamed.insert(of.clone(), to.clone());
        self.notice(Level::Info, format!("`{of}` is `{to}` now."));
        if self.current.take_if(|it| *it == of).is_some() || self.project.last() == Some(of) {
            self.note_last(to);
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

    /// A copy without a name is opened under a free one.
    pub(super) async fn keep_copy(&mut self, of: SessionId, mut copy: Copy) {
        let name = match copy.name.as_deref() {
            None => self.free_name(&of.0).0,
            Some(name) if !store::is_name(name) => return self.bad_name(name),
            Some(name) => match self.like(name) {
                Some(taken) => {
                    let text =
                        format!("There is a conversation `{taken}` already; nothing was saved.");
                    return self.notice(Level::Warn, text);
                }
                None => name.to_owned(),
            },
        };
        let id = SessionId(name);
        let mut opened = match self.project.open(&id) {
            Ok(opened) => opened,
            Err(barred) => return self.notice(Level::Error, barred.say(&id.0)),
        };
        opened.store.keep_outputs(&mut copy.session);
        let turns = copy.session.turns;
        if let Err(error) = self.project.copy_checkpoints(self.now(&of), &id, turns) {
            tracing::warn!("the copy cannot be rewound: {error}");
        }
        if copy.name.is_some() {
            let (level, text) = match opened.store.save(&copy.session) {
                Ok(()) => (Level::Info, format!("A copy is kept as `{id}`.")),
                Err(error) => (Level::Error, Barred::Io(error).say(&id.0)),
            };
            return self.notice(level, text);
        }
        (opened.session, opened.replayed) = (Some(*copy.session), true);
        // what stands in the composer there goes along
        let of = Some(self.now(&of).clone()).filter(|it| self.readers.contains(it));
        self.shows_next = true;
        self.start(id, Begin::of(opened), of.map(|it| (it, String::new()))).await;
        self.shows_next = false;
    }

    /// Ends a session, its turn stopped, and moves its files into the trash.
    pub(super) async fn delete(&mut self, id: SessionId) {
        let id = self.now(&id).clone();
        if !store::is_name(&id.0) {
            return self.bad_name(&id.0);
        }
        let agent = self.agents.remove(&id);
        self.readers.remove(&id);
        if let Some(agent) = &agent {
            // One that broke off is closed already.
            let _ = agent.send(Command::Stop);
            let _ = agent.send(Command::Quit(oneshot::channel().0));
            agent.closed().await;
        }
        self.renamed.retain(|_, it| *it != id);
        self.current.take_if(|it| *it == id);
        match self.project.delete(&id) {
            Ok(()) => {
                let trash = self.project.dir().join("trash");
                let text = format!("`{id}` is in the trash: {}.", trash.display());
                self.notice(Level::Info, text);
            }
            Err(barred) => {
                self.notice(Level::Error, barred.say(&id.0));
                if agent.is_none() {
                    return;
                }
            }
        }
        self.editor.tell(ToNvim::Deleted(Deleted { session: id }));
    }
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
