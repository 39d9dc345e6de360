//! Renames, copies and exports a session.

use super::models::Models;
use crate::context::export;
use crate::conversation::Conversation;
use crate::conversation::report::{Copy, Level, Report, Show, Wish};
use crate::event::SessionId;
use crate::message::{Block, Role};
use crate::provider::key::Secret;
use crate::regular;
use crate::session::{Cut, Phase};
use crate::text::cause;
use crate::tool::Desk;
use std::fs::File;
use std::io::{self, Write};
use std::path::PathBuf;
use tokio::sync::oneshot;

/// A command about a session as a whole.
pub enum Act {
    /// Renames the session; the name is free. The answer says why not.
    Rename {
        to: SessionId,
        done: oneshot::Sender<Result<(), String>>,
    },
    Title(String),
    Fork(Option<Cut>),
    /// Writes the session to a file. An existing file is overwritten only with `force`.
    Export {
        file: String,
        force: bool,
    },
}

/// Renames a conversation; the name is free. The error is a sentence.
pub(super) fn rename(of: &mut Conversation, to: SessionId) -> Result<(), String> {
    if of.session.phase != Phase::Idle {
        return Err("A turn is running. Stop it first (<C-c>), then rename.".to_owned());
    }
    if let Some(store) = &mut of.store {
        store.rename(&of.session, &to).map_err(|it| it.say(&to.0))?;
    }
    of.id = to;
    Ok(())
}

pub(super) fn fork(of: &mut Conversation, cut: Option<Cut>) {
    if of.store.is_none() && of.reads.is_none() {
        let text = "This conversation is never saved: /save keeps a copy of it.";
        return of.notice(Level::Warn, text.into());
    }
    copy(of, cut, None);
}

pub(super) fn copy(of: &mut Conversation, cut: Option<Cut>, name: Option<String>) {
    of.read_outputs();
    let session = Box::new(of.session.fork(cut));
    if session.is_blank() {
        let text = "There is nothing to copy up to here.";
        return of.notice(Level::Warn, text.into());
    }
    of.wish(Wish::Copy(Copy { session, name }));
}

/// Writes the conversation to a file, relative to the project.
pub(super) fn export(of: &mut Conversation, desk: &Desk, models: &Models, file: &str, force: bool) {
    of.read_outputs();
    let (level, text) = match write_export(of, desk, models, file, force) {
        Ok(text) => (Level::Info, text),
        Err(why) => (Level::Error, why),
    };
    of.notice(level, text);
}

fn write_export(
    of: &Conversation,
    desk: &Desk,
    models: &Models,
    file: &str,
    force: bool,
) -> Result<String, String> {
    let name = &of.id.0;
    let path = export_path(of, desk, file);
    let keys = models.keys();
    let known: Vec<&str> = keys.iter().filter(|it| it.is_long()).map(Secret::expose).collect();
    let session = &of.session;
    let is_json = path.extension().is_some_and(|it| it.eq_ignore_ascii_case("json"));
    let (text, secrets) = if is_json {
        export::json(session, name, &known).map_err(|it| cause(&it))?
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
            1 => format!("Written to {shown}. 1 secret in it was replaced by [secret]."),
            n => format!("Written to {shown}. {n} secrets in it were replaced by [secret]."),
        }),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            Err(format!("{shown} exists already. `:Caliban export! {shown}` overwrites it."))
        }
        Err(error) => Err(format!("{shown} could not be written: {}.", cause(&error))),
    }
}

fn export_path(of: &Conversation, desk: &Desk, file: &str) -> PathBuf {
    match (file.strip_prefix("~/"), &desk.home) {
        (Some(rest), Some(home)) => home.join(rest),
        _ if file.is_empty() => desk.root.join(format!("{}.md", of.id)),
        _ => desk.root.join(file),
    }
}

/// Copies the last reply's text to the clipboard.
pub(super) fn copy_reply(of: &Conversation) {
    let replies = of.session.messages.iter().rev();
    let texts = replies.filter(|it| it.role == Role::Assistant).map(|it| {
        let texts = it.blocks.iter().filter_map(|it| match it {
            Block::Text { text } => Some(text.trim()),
            _ => None,
        });
        texts.collect::<Vec<_>>().join("\n\n")
    });
    match texts.into_iter().find(|it| !it.is_empty()) {
        Some(text) => of.show(Show::Tell(Report::Copied(text))),
        None => of.notice(Level::Info, "There is no reply yet to copy.".into()),
    }
}
