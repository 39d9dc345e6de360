//! What becomes of a session as a whole: another name, a title, a copy.

use super::Agent;
use crate::context::export;
use crate::context::slash::Slash;
use crate::event::SessionId;
use crate::message::{Block, Role};
use crate::nvim::screen::Show;
use crate::nvim::wire::{Copied, History, Level, Renamed, ToNvim};
use crate::provider::key::Secret;
use crate::regular;
use crate::session::{Cut, Input, Phase, Session};
use crate::tool::Workspace;
use std::fs::File;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;
use tokio::sync::oneshot;

/// What the program has an agent do with its session.
pub enum Act {
    /// Give it another name, which is free; `workspace` goes by it. Answers why not.
    Rename {
        to: SessionId,
        workspace: Arc<dyn Workspace>,
        done: oneshot::Sender<Result<(), String>>,
    },
    Title(String),
    Fork(Option<Cut>),
    /// Write it to a file, over one that is there only where the user said so.
    Export {
        file: String,
        force: bool,
    },
}

/// What an agent asks of the program.
pub enum Wish {
    New {
        name: Option<String>,
    },
    /// The user wants to choose a session, of those in which this stands.
    Sessions {
        text: String,
    },
    /// What the user wants it called: a name, or a title.
    Rename {
        text: String,
    },
    Copy(Copy),
    /// The user wants to choose a model from all there are.
    Models,
    /// The user wants to give a key.
    Connect {
        provider: Option<String>,
    },
}

/// A copy of a session, which the program is to keep.
pub struct Copy {
    pub session: Box<Session>,
    /// The user's word for it; it is not opened then.
    pub name: Option<String>,
}

impl Agent {
    pub(super) fn do_with_session(&mut self, act: Act) {
        match act {
            Act::Rename { to, workspace, done } => {
                let renamed = self.rename(to);
                if renamed.is_ok() {
                    self.setup.desk.workspace = workspace;
                }
                // The program waits for it.
                let _ = done.send(renamed);
            }
            Act::Title(title) => {
                self.notice(Level::Info, format!("Titled “{title}”."));
                self.take(Input::Title { title });
            }
            Act::Fork(cut) => self.fork(cut),
            Act::Export { file, force } => self.export(&file, force),
        }
    }

    /// `/rename`, `/fork` and the others of their kind.
    pub(super) fn slash_of_chats(&mut self, slash: Slash, rest: &str) {
        let text = rest.to_owned();
        match slash {
            Slash::Sessions => self.wish(Wish::Sessions { text }),
            Slash::Rename => self.wish(Wish::Rename { text }),
            Slash::Fork => self.fork(None),
            Slash::Export => self.export(rest, false),
            Slash::Copy => self.copy_reply(),
            Slash::History => {
                let session = self.setup.id.clone();
                self.show(Show::Tell(ToNvim::History(History { session })));
            }
            _ => self.copy(None, Some(text)),
        }
    }

    fn rename(&mut self, to: SessionId) -> Result<(), String> {
        if self.setup.session.phase != Phase::Idle {
            return Err("A turn is running. Stop it first (<C-c>), then rename.".to_owned());
        }
        if let Some(store) = &mut self.setup.store {
            store.rename(&self.setup.session, &to).map_err(|it| it.say(&to.0))?;
            self.checkpoints = None;
        }
        let session = std::mem::replace(&mut self.setup.id, to.clone());
        self.show(Show::Tell(ToNvim::Renamed(Renamed { session, to })));
        self.show_status();
        Ok(())
    }

    /// Reads the long outputs that have not been needed till now.
    pub(super) fn read_outputs(&mut self) {
        let Some(store) = &self.setup.store else { return };
        let text = match store.read_outputs(&mut self.setup.session) {
            0 => return,
            1 => "One long output of this conversation is missing; the model is told so.".into(),
            n => {
                format!("{n} long outputs of this conversation are missing; the model is told so.")
            }
        };
        self.take(Input::Tell { text });
    }

    fn fork(&mut self, cut: Option<Cut>) {
        if self.setup.store.is_none() && self.setup.reads.is_none() {
            let text = "This conversation is never saved: /save keeps a copy of it.";
            return self.notice(Level::Warn, text.into());
        }
        self.copy(cut, None);
    }

    fn copy(&mut self, cut: Option<Cut>, name: Option<String>) {
        self.read_outputs();
        let session = Box::new(self.setup.session.fork(cut));
        if session.is_blank() {
            let text = "Nothing has been said up to here that a copy could hold.";
            return self.notice(Level::Warn, text.into());
        }
        self.wish(Wish::Copy(Copy { session, name }));
    }

    pub(super) fn wish(&self, wish: Wish) {
        // The program outlives its agents, or is ending.
        let _ = self.setup.wishes.send((self.setup.id.clone(), wish));
    }

    /// Writes the conversation to a file in the project, or wherever the user says.
    fn export(&mut self, file: &str, force: bool) {
        self.read_outputs();
        let (level, text) = match self.write_export(file, force) {
            Ok(text) => (Level::Info, text),
            Err(why) => (Level::Error, why),
        };
        self.notice(level, text);
    }

    fn write_export(&self, file: &str, force: bool) -> Result<String, String> {
        let name = &self.setup.id.0;
        let path = self.export_path(file);
        let keys = self.setup.models.keys();
        let known: Vec<&str> = keys.iter().filter(|it| it.is_long()).map(Secret::expose).collect();
        let session = &self.setup.session;
        let is_json = path.extension().is_some_and(|it| it.eq_ignore_ascii_case("json"));
        let (text, secrets) = if is_json {
            export::json(session, name, &known).map_err(|it| it.to_string())?
        } else {
            export::markdown(session, name, &known)
        };
        let options = &mut File::options();
        options.write(true).create_new(!force).create(force).truncate(force);
        let written =
            regular::open_with(options, &path).and_then(|mut it| it.write_all(text.as_bytes()));
        let shown = path.display();
        match written {
            Ok(()) => Ok(match secrets {
                0 => format!("Written to {shown}."),
                1 => format!("Written to {shown}; 1 secret in it is marked."),
                n => format!("Written to {shown}; {n} secrets in it are marked."),
            }),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                Err(format!("{shown} is there already. `:Caliban export! {shown}` writes over it."))
            }
            Err(error) => Err(format!("{shown} could not be written: {error}.")),
        }
    }

    fn export_path(&self, file: &str) -> PathBuf {
        let desk = &self.setup.desk;
        match (file.strip_prefix("~/"), &desk.home) {
            (Some(rest), Some(home)) => home.join(rest),
            _ if file.is_empty() => desk.root.join(format!("{}.md", self.setup.id)),
            _ => desk.root.join(file),
        }
    }

    /// The last reply's text goes to the clipboard.
    fn copy_reply(&self) {
        let replies = self.setup.session.messages.iter().rev();
        let texts = replies.filter(|it| it.role == Role::Assistant).map(|it| {
            let texts = it.blocks.iter().filter_map(|it| match it {
                Block::Text { text } => Some(text.trim()),
                _ => None,
            });
            texts.collect::<Vec<_>>().join("\n\n")
        });
        match texts.into_iter().find(|it| !it.is_empty()) {
            Some(text) => self.show(Show::Tell(ToNvim::Copied(Copied { text }))),
            None => self.notice(Level::Info, "There is no reply yet to copy.".into()),
        }
    }
}
