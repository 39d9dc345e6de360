//! Converts the editor's messages to one session into the commands of that session's agent.

use crate::agent::{Act, Answer, Check, Command};
use crate::event::{Ruling, SessionId};
use crate::message::CallId;
use crate::nvim::wire::{FromNvim, UnderReviewAgain, WireRuling};
use crate::session::{Cut, Input};
use crate::store::Draft;

/// The session's name and the command. If a message is not a command to a session, it is returned as the error.
pub(super) fn session_command(message: FromNvim) -> Result<(SessionId, Command), Box<FromNvim>> {
    Ok(match message {
        FromNvim::Send { session, text, context, steer } => {
            (session, Command::Send { text, context, steer })
        }
        FromNvim::SendHeld { session, id } => (session, Command::SendHeld(id)),
        FromNvim::Unqueue { session, id, edit } => (session, Command::Unqueue { id, edit }),
        FromNvim::Draft { session, text, context } => {
            (session, Command::Draft(Draft { text, context }))
        }
        FromNvim::Stop { session } => (session, Command::Stop),
        FromNvim::Rule { session, call, ruling, reason, command } => {
            let answer = match command {
                Some(command) => Answer::Change(command),
                None => answered(ruling, reason),
            };
            (session, Command::Rule { call: CallId(call), answer })
        }
        FromNvim::Toggle { session, block, line } => (session, Command::Toggle { block, line }),
        FromNvim::Retry { session } => (session, Command::Retry),
        FromNvim::LookAgain { session } => (session, Command::LookAgain),
        FromNvim::SetModel { session, model } => (session, Command::ChooseModel(model)),
        FromNvim::SetMode { session, mode } => {
            (session, mode.map_or(Command::ChooseMode(None), Command::from))
        }
        FromNvim::ShowRequest { session } => (session, Command::ShowRequest),
        FromNvim::ForkSession(it) => {
            let cut = it.after.map(|after| Cut { after: after as usize, is_prompt: it.is_prompt });
            (it.session, Command::Act(Act::Fork(cut)))
        }
        FromNvim::ExportSession(it) => {
            (it.session, Command::Act(Act::Export { file: it.file, force: it.force }))
        }
        FromNvim::Rewind(it) => {
            let (session, rewind) = it.into();
            (session, Command::Rewind(rewind))
        }
        FromNvim::Undo(it) => {
            let (session, undo) = it.into();
            (session, Command::Undo(undo))
        }
        FromNvim::Permissions(it) => {
            let (session, wanted) = it.into();
            (session, Command::Permissions(wanted))
        }
        FromNvim::Jobs(it) => it.into(),
        FromNvim::Worker(it) => it.into(),
        FromNvim::Respond(it) => it.into(),
        FromNvim::Todo(it) => it.into(),
        FromNvim::Plan(it) => it.into(),
        FromNvim::Left(it) => {
            let (session, rest) = it.into();
            (session, Command::Report(Input::Left(rest)))
        }
        FromNvim::UnderReviewAgain(it) => again(it),
        FromNvim::Checked(it) => checked(it.into()),
        FromNvim::Unparsed(it) => checked(it.into()),
        message => return Err(Box::new(message)),
    })
}

fn again(it: UnderReviewAgain) -> (SessionId, Command) {
    let calls = it.calls.into_iter().map(CallId).collect();
    (it.session, Command::Report(Input::ReviewedAgain { path: it.path, calls }))
}

fn checked((session, check): (SessionId, Check)) -> (SessionId, Command) {
    (session, Command::Checked(Box::new(check)))
}

fn answered(ruling: WireRuling, reason: String) -> Answer {
    match ruling {
        WireRuling::Once => Answer::Ruling(Ruling::Once),
        WireRuling::Session => Answer::Ruling(Ruling::Session),
        WireRuling::Always => Answer::Always,
        WireRuling::Deny => Answer::Ruling(Ruling::Denied { reason }),
    }
}
