//! Renames, copies, clears and exports a session.

use super::models::Models;
use super::{Act, Agent, todo};
use crate::context::export;
use crate::conversation::Conversation;
use crate::conversation::report::{Copy, Level, Report, Show, Wish};
use crate::event::SessionId;
use crate::message::{Block, Role};
use crate::provider::key::Secret;
use crate::regular;
use crate::session::{Cut, Input, Phase};
use crate::text::cause;
use crate::tool::Desk;
use std::fs::File;
use std::io::{self, Write};
use std::path::PathBuf;

pub(super) fn carry_out(agent: &mut Agent, act: Act) {
    let conversation = &mut agent.conversation;
    match act {
        Act::Rename { to, done } => {
            let renamed = rename(conversation, &agent.desk, to);
            if renamed.is_ok() {
                agent.files.record.reread();
            }
            // The send fails only when the program is ending.
            let _ = done.send(renamed);
        }
        Act::Title(title) => {
            conversation.notice(Level::Info, format!("The title is now “{title}”."));
            conversation.take(Input::Title { title });
        }
        Act::Fork(cut) => fork(conversation, cut),
        Act::Export { file, force } => {
            export(conversation, &agent.desk, &agent.sampler.models, &file, force);
        }
    }
}

/// Renames a conversation to a name that is not in use. The error is a sentence.
fn rename(conversation: &mut Conversation, desk: &Desk, to: SessionId) -> Result<(), String> {
    if conversation.session.phase != Phase::Idle {
        return Err("A turn is running. Stop it first (<C-c>), then rename.".to_owned());
    }
    if let Some(store) = &mut conversation.store {
        store.rename(&conversation.session, &to).map_err(|it| it.say(&to.0))?;
    }
    let from = std::mem::replace(&mut conversation.id, to);
    todo::renamed(desk, &from, &conversation.id);
    Ok(())
}

pub(super) fn fork(conversation: &mut Conversation, cut: Option<Cut>) {
    if conversation.store.is_none() && conversation.read_only.is_none() {
        let text = "This conversation is not saved automatically. Use /save to keep a copy of it.";
        return conversation.notice(Level::Warn, text.into());
    }
    copy(conversation, cut, None);
}

pub(super) fn copy(conversation: &mut Conversation, cut: Option<Cut>, name: Option<String>) {
    conversation.read_outputs();
    let session = Box::new(conversation.session.fork(cut));
    if session.is_blank() {
        let text = match cut {
            Some(_) => "Nothing was copied: there is no message before this place.",
            None => "Nothing was copied: this conversation has no message yet.",
        };
        return conversation.notice(Level::Warn, text.into());
    }
    conversation.wish(Wish::Copy(Copy { session, name }));
}

/// Empties the conversation. Its jobs end.
pub(super) fn clear(agent: &mut Agent) {
    let conversation = &mut agent.conversation;
    if conversation.session.phase != Phase::Idle {
        return conversation.refuse_while_running();
    }
    if let Err(why) = trash(conversation) {
        return conversation.notice(Level::Error, why);
    }
    agent.files.record.clear(conversation);
    agent.desk.jobs.stop_all();
    todo::cleared(&agent.desk, &conversation.id);
    agent.files.todo.show(conversation, &agent.desk, false);
    agent.opening.mode = conversation.session.mode;
    agent.opening.agent = conversation.session.profile.as_ref().map(|it| it.name.clone());
    conversation.session = std::mem::take(&mut conversation.session).emptied();
    agent.begin();
    agent.conversation.save_whole();
    let kept = match &agent.conversation.store {
        Some(_) => " Its old text is in the folder `trash` beside the session files.",
        None => "",
    };
    agent.conversation.notice(Level::Info, format!("This conversation is empty now.{kept}"));
}

/// Keeps a copy of the conversation in the trash, before it is cleared. The error is a sentence.
fn trash(conversation: &mut Conversation) -> Result<(), String> {
    let Some(store) = &mut conversation.store else { return Ok(()) };
    store.trash(&conversation.session).map_err(|error| {
        let why = cause(&error);
        format!(
            "The conversation could not be copied to the trash ({why}), so nothing was cleared."
        )
    })
}

/// Exports the conversation to a file. A relative path starts at the project's folder.
pub(super) fn export(
    conversation: &mut Conversation,
    desk: &Desk,
    models: &Models,
    file: &str,
    force: bool,
) {
    conversation.read_outputs();
    let (level, text) = match write_export(conversation, desk, models, file, force) {
        Ok(text) => (Level::Info, text),
        Err(why) => (Level::Error, why),
    };
    conversation.notice(level, text);
}

fn write_export(
    conversation: &Conversation,
    desk: &Desk,
    models: &Models,
    file: &str,
    force: bool,
) -> Result<String, String> {
    let name = &conversation.id.0;
    let path = export_path(conversation, desk, file);
    let keys = models.keys();
    let known: Vec<&str> = keys.iter().filter(|it| it.is_long()).map(Secret::expose).collect();
    let session = &conversation.session;
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
            1 => format!("Written to {shown}. 1 secret in the text was replaced by [secret]."),
            n => format!("Written to {shown}. {n} secrets in the text were replaced by [secret]."),
        }),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            Err(format!("{shown} already exists. `:Caliban export! {shown}` overwrites it."))
        }
        Err(error) => Err(format!("{shown} could not be written: {}.", cause(&error))),
    }
}

fn export_path(conversation: &Conversation, desk: &Desk, file: &str) -> PathBuf {
    match (file.strip_prefix("~/"), &desk.home) {
        (Some(rest), Some(home)) => home.join(rest),
        _ if file.is_empty() => desk.root.join(format!("{}.md", conversation.id)),
        _ => desk.root.join(file),
    }
}

/// Copies the last reply's text to the clipboard.
pub(super) fn copy_reply(conversation: &Conversation) {
    let replies = conversation.session.messages.iter().rev();
    let texts = replies.filter(|it| it.role == Role::Assistant).map(|it| {
        let texts = it.blocks.iter().filter_map(|it| match it {
            Block::Text { text } => Some(text.trim()),
            _ => None,
        });
        texts.collect::<Vec<_>>().join("\n\n")
    });
    match texts.into_iter().find(|it| !it.is_empty()) {
        Some(text) => conversation.show(Show::Tell(Report::Copied(text))),
        None => conversation.notice(Level::Info, "There is no reply yet to copy.".into()),
    }
}
